// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// speedscope_reader.js APPLICATION FILE [PATTERN] - what speedscope makes of a file.
//
// APPLICATION is the script of its web page.  There is no page here to draw on; what imports files
// is caught when the script defines it.  Printed are lines of
//
//	group<tab>NAME<tab>NUMBER OF THE PROFILE THAT IS SHOWN
//	profile<tab>NAME<tab>UNIT<tab>WEIGHT OF WHAT HAS A STACK
//	function<tab>NAME<tab>SELF<tab>TOTAL<tab>FILE:LINE
//
// where functions have what they weigh in all profiles whose names match PATTERN.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [application, file, pattern] = process.argv.slice(2);

// Whatever is asked of it.
const nothing = new Proxy(function () {}, {
	get: (target, key) => key === Symbol.toPrimitive ? () => "" : nothing,
	set: () => true,
	apply: () => nothing,
	construct: () => nothing,
	has: () => true,
});

function importersOf(script) {
	let importers;
	const page = {
		console: { ...console, log() {} },
		document: nothing, localStorage: nothing, navigator: nothing, matchMedia: nothing,
		location: { hash: "", protocol: "file:" }, requestAnimationFrame() {},
		addEventListener() {}, removeEventListener() {}, devicePixelRatio: 1,
		setTimeout, clearTimeout, performance, TextDecoder, TextEncoder, URL, Blob,
		caught: (object) => { importers = object; },
	};

	page.window = page.self = page;
	vm.createContext(page);
	vm.runInContext(`{
		const define = Object.defineProperty;
		Object.defineProperty = (object, key, how) => {
			if (key === "importProfilesFromArrayBuffer")
				caught(object);
			return define(object, key, how);
		};
	}`, page);
	try {
		vm.runInContext(fs.readFileSync(script, "utf8"), page);
	} catch (error) {
		// it fails at last, when it is to draw
		if (!importers)
			throw error;
	}
	if (!importers)
		throw new Error("this speedscope has no importProfilesFromArrayBuffer");
	return importers;
}

function print(...words) {
	// eslint-disable-next-line no-control-regex
	console.log(words.map((word) => String(word).replace(/[\x00-\x1f]/g, "^")).join("\t"));
}

function add(functions, frame) {
	const known = functions.get(frame.name) || { self: 0, total: 0, place: "" };

	known.self += frame.getSelfWeight();
	known.total += frame.getTotalWeight();
	known.place = known.place || (frame.line ? `${frame.file}:${frame.line}` : "");
	functions.set(frame.name, known);
}

async function main() {
	const importers = importersOf(application);
	const bytes = fs.readFileSync(file);
	const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
	const functions = new Map();

	// modules begin once the script is over
	await new Promise((resolve) => setTimeout(resolve, 0));
	const group = await importers.importProfilesFromArrayBuffer(path.basename(file), buffer);
	if (!group)
		throw new Error("speedscope does not know the format");
	print("group", group.name, group.indexToView);
	for (const profile of group.profiles) {
		const name = profile.getName();

		print("profile", name, profile.getWeightUnit(), profile.getTotalNonIdleWeight());
		if (!pattern || new RegExp(pattern).test(name))
			profile.forEachFrame((frame) => add(functions, frame));
	}
	for (const [name, { self, total, place }] of functions)
		print("function", name, self, total, place);
}

main().catch((error) => {
	console.error(error.message);
	process.exit(1);
});
