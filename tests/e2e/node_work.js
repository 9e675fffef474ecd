// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// node_work.js ROUNDS - stores to objects of many shapes, maps, and texts of objects.
const objects = [];
for (let i = 0; i < 64; i++)
	objects.push({ ['key' + i]: i, value: i });

function store(x) {
	for (const object of objects)
		object.value = x + object.value % 7;
}

function count(words) {
	const counts = new Map();

	for (let i = 0; i < words; i++)
		counts.set('word' + i % 97, (counts.get('word' + i % 97) || 0) + 1);
	return counts.size;
}

let sum = 0;
for (let i = 0; i < Number(process.argv[2]); i++) {
	store(sum & 255);
	sum += count(200) + JSON.parse(JSON.stringify(objects)).length;
}
