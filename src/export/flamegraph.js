// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What moves in a flame graph.  Runs inside the SVG, after `profile`, which
// flamegraph.c describes, and draws the frames anew in place of the still
// picture: only those that can be seen at the present zoom.
const svg = document.currentScript.closest("svg");
const HTML = "http://www.w3.org/1999/xhtml";
const ROW = profile.row, EDGE = profile.edge, BAR = 540;
const part = (name) => svg.querySelector("." + name);
const head = part("head"), title = part("title");
const details = part("details"), legend = part("legend");
const titleText = title.textContent;

// profile.nodes holds four numbers for each frame, callers first: symbol,
// levels to climb from the frame before, weight skipped since the last
// sibling, weight.
const frames = [];
let deepest = 0;

function readFrames() {
	const path = [], nodes = profile.nodes;
	const leave = () => { path.pop().end = frames.length; };

	for (let i = 0; i < nodes.length; i += 4) {
		for (let up = nodes[i + 1]; up > 0; up--)
			leave();
		const parent = path[path.length - 1];
		const start = parent ? parent.next + nodes[i + 2] : 0;
		const frame = { index: frames.length, symbol: nodes[i], start, total: nodes[i + 3],
			depth: path.length, parent, next: start };
		if (parent)
			parent.next = start + frame.total;
		deepest = Math.max(deepest, frame.depth);
		path.push(frame);
		frames.push(frame);
	}
	while (path.length)
		leave();
}

// profile.symbols holds three fields for each: name, number of its file, colour.
const nameOf = (frame) => profile.symbols[3 * frame.symbol];
// profile.levels: of recursions, by the number of the frame.
const levelsOf = (frame) => profile.levels[frame.index] || 1;
const labelOf = (frame) => nameOf(frame) + (levelsOf(frame) > 1 ? " x" + levelsOf(frame) : "");
const fileOf = (frame) => profile.files[profile.symbols[3 * frame.symbol + 1]];
const kindOf = (frame) => Math.floor(profile.symbols[3 * frame.symbol + 2] / profile.shades);
// profile.changes, if it is there, holds two numbers for each frame: colour, and how many
// hundredths of a point its share has grown.
const changes = profile.changes;
const numberOf = (frame) =>
	changes ? changes[2 * frame.index] : profile.symbols[3 * frame.symbol + 2];
const colourOf = (frame) => profile.classes[Math.floor(numberOf(frame) / profile.shades)] +
	numberOf(frame) % profile.shades;
const pointsOf = (frame) => (changes[2 * frame.index + 1] / 100).toFixed(2);

const count = (n) => profile.time
	? (n < 1e9 ? (n / 1e6).toFixed(2) + " ms" : (n / 1e9).toFixed(3) + " s")
	: n.toLocaleString("en") + " samples";
const percent = (n, of) => (100 * n / of).toFixed(2) + "%";
const within = (frame, outer) => frame.index >= outer.index && frame.index < outer.end;

// State: which frame fills the width, and which symbols match the search.
let width = 1200, column = 7.3;
let zoom, shown = [], matches = null;

function facts(frame) {
	let text = count(frame.total) + ", " + percent(frame.total, frames[0].total) + " of all";

	if (changes)
		text += " (" + (pointsOf(frame) > 0 ? "+" : "") + pointsOf(frame) + " points)";
	if (zoom !== frames[0] && zoom !== frame && within(frame, zoom))
		text += ", " + percent(frame.total, zoom.total) + " of " + nameOf(zoom);
	if (levelsOf(frame) > 1)
		text += ", recursion of up to " + levelsOf(frame).toLocaleString("en") + " levels";
	return text;
}

function origin(frame) {
	const kind = profile.labels[kindOf(frame)];
	const notable = kind !== "user" && kind !== "command" && kind !== "unknown" &&
		!kind.endsWith(" CPU");

	return [fileOf(frame), notable ? kind : ""].filter((word) => word).join(", ");
}

function summary() {
	if (zoom !== frames[0])
		return nameOf(zoom) + " fills the width: " + facts(zoom) + ". Esc goes back.";
	return count(zoom.total) + ". Click a frame to zoom, Ctrl-F to search.";
}

function fit(element, text, room) {
	element.textContent = text;
	const length = element.getComputedTextLength();

	if (length > room)
		element.textContent = text.slice(0, Math.max(0, text.length * room / length - 2)) + "\u2026";
}

function say(frame) {
	const where = frame && origin(frame);
	const text = frame ? nameOf(frame) + (where ? " (" + where + ")" : "") : summary();
	const tail = frame ? ": " + facts(frame) : "";

	fit(details, text + tail, width - 2 * EDGE);
	if (frame && details.textContent !== text + tail) {
		fit(details, text, width - 2 * EDGE - tail.length * column);
		details.textContent += tail;
	}
}

function cut(text, columns) {
	let used = 0, out = "";

	if (text.length * 2 <= columns)
		return text;
	for (const letter of text) {
		const code = letter.codePointAt(0);
		const wide = code >= 0x1100 && (code < 0x2000 || code >= 0x2e80) ? 2 : 1;

		used += wide;
		if (used > columns)
			return out.slice(0, out.length - 1) + "\u2026";
		out += letter;
	}
	return text;
}

function make(name, attributes, namespace = svg.namespaceURI) {
	const element = document.createElementNS(namespace, name);

	for (const key in attributes)
		element.setAttribute(key, attributes[key]);
	return element;
}

function place(frame, x, length, outer, into) {
	const y = profile.head + ROW * (profile.inverted ? frame.depth : deepest - frame.depth);
	const drawnLength = Math.max(length > 3 ? length - 0.7 : length, 0.1); // a gap between siblings
	const rect = make("rect", { x: x.toFixed(2), y, width: drawnLength.toFixed(2), height: ROW - 1 });
	const drawn = { frame, rect, text: null, base: outer ? " outer" : "" };
	const columns = Math.floor((length - 6) / column);

	rect.frame = frame;
	into.append(rect);
	if (columns >= 3) {
		drawn.text = make("text", { x: (x + 3).toFixed(2), y: y + 13 });
		drawn.text.textContent = cut(labelOf(frame), columns);
		into.append(drawn.text);
	}
	shown.push(drawn);
}

function paint() {
	for (const drawn of shown) {
		const mark = matches && matches[drawn.frame.symbol] ? " match" : "";

		drawn.rect.setAttribute("class", colourOf(drawn.frame) + drawn.base + mark);
		if (drawn.text)
			drawn.text.setAttribute("class", drawn.base + mark);
	}
}

function draw() {
	const inner = width - 2 * EDGE, scale = inner / zoom.total;
	const into = document.createDocumentFragment();

	shown = [];
	for (let frame = zoom.parent; frame; frame = frame.parent)
		place(frame, EDGE, inner, true, into);
	for (let i = zoom.index; i < zoom.end;) {
		const frame = frames[i], length = frame.total * scale;

		if (length < profile.min) {
			i = frame.end;
			continue;
		}
		place(frame, EDGE + (frame.start - zoom.start) * scale, length, false, into);
		i++;
	}
	paint();
	layer.replaceChildren(into);
}

// The weight of stacks below the zoomed frame with a match, each counted once.
function matched() {
	let sum = 0;

	for (let i = zoom.index; i < zoom.end;) {
		const hit = matches[frames[i].symbol];

		sum += hit ? frames[i].total : 0;
		i = hit ? frames[i].end : i + 1;
	}
	return sum;
}

function remember() {
	const state = new URLSearchParams();

	if (zoom !== frames[0])
		state.set("zoom", zoom.index);
	if (search.value)
		state.set("search", search.value);
	try {
		history.replaceState(null, "", "#" + state);
	} catch (refused) {
		// an embedded picture has no address of its own
	}
}

function refresh() {
	reset.hidden = zoom === frames[0];
	if (matches)
		hits.textContent = percent(matched(), zoom.total) + " matched" +
			(reset.hidden ? "" : ", " + percent(matched(), frames[0].total) + " of all");
	say(null);
	remember();
}

function zoomTo(frame) {
	zoom = frame;
	draw();
	refresh();
}

// Upper case in the pattern makes it exact, as in most editors.
function find(pattern) {
	let regex = null, wrong = false;

	try {
		regex = pattern ? new RegExp(pattern, /[A-Z]/.test(pattern) ? "" : "i") : null;
	} catch (error) {
		wrong = true;
	}
	matches = null;
	if (regex) {
		matches = [];
		for (let i = 0; i < profile.symbols.length; i += 3)
			matches.push(regex.test(profile.symbols[i]));
	}
	search.classList.toggle("wrong", wrong);
	hits.textContent = wrong ? "not a regular expression" : "";
	paint();
	refresh();
}

function arrangeLegend() {
	let x = 0;

	for (const text of legend.querySelectorAll("text")) {
		text.previousElementSibling.setAttribute("x", x);
		text.setAttribute("x", x + 16);
		x += 32 + text.getComputedTextLength();
	}
	return x - 16;
}

function arrange() {
	svg.setAttribute("width", "100%");
	width = Math.max(svg.getBoundingClientRect().width, 320);

	const bar = Math.min(BAR, width - 2 * EDGE);

	box.setAttribute("x", width - EDGE - bar);
	box.setAttribute("width", bar);
	const kinds = arrangeLegend();

	legend.setAttribute("transform", "translate(" + (width - EDGE - kinds) + ",0)");
	fit(title, titleText, width - bar - 3 * EDGE);
	draw();
	say(null);
}

function follow() {
	if (document.documentElement === svg)
		head.setAttribute("transform", "translate(" + scrollX + "," + scrollY + ")");
}

function onKey(event) {
	const chord = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f";

	if (chord || event.key === "F3") {
		event.preventDefault();
		search.focus();
		search.select();
	} else if (event.key === "Escape") {
		event.preventDefault();
		if (zoom !== frames[0] && document.activeElement !== search) {
			zoomTo(frames[0]);
		} else {
			search.value = "";
			search.blur();
			find("");
		}
	}
}

function onHover(event) {
	const frame = event.target.frame;

	if (!frame)
		return;
	say(frame);
	const tip = make("title");

	tip.textContent = [nameOf(frame), origin(frame), facts(frame)].filter((line) => line).join("\n");
	event.target.replaceChildren(tip);
}

function recall() {
	const state = new URLSearchParams(location.hash.slice(1));

	zoom = frames[Number(state.get("zoom"))] || frames[0];
	search.value = state.get("search") || "";
}

readFrames();
const layer = make("g", { class: "frames" });
const box = make("foreignObject", { y: 6, height: 34 });
const bar = make("div", { class: "bar" }, HTML);
const hits = make("span", { class: "hits", role: "status" }, HTML);
const reset = make("button", { class: "reset", type: "button" }, HTML);
const search = make("input", { class: "search", type: "search", placeholder: "Search (regex)",
	"aria-label": "Search for functions by regular expression", title: "Ctrl-F" }, HTML);

reset.textContent = "Reset zoom";
bar.append(hits, reset, search);
box.append(bar);
head.append(box);
part("picture").replaceWith(layer);

const sample = make("text");
sample.textContent = "0".repeat(100);
layer.append(sample);
column = sample.getComputedTextLength() / 100 || column;

recall();
arrange();
find(search.value);
layer.addEventListener("click", (event) => event.target.frame && zoomTo(event.target.frame));
layer.addEventListener("mouseover", onHover);
layer.addEventListener("mouseout", () => say(null));
reset.addEventListener("click", () => zoomTo(frames[0]));
search.addEventListener("input", () => find(search.value));
addEventListener("keydown", onKey);
addEventListener("resize", arrange);
addEventListener("scroll", follow);
if (!profile.inverted && document.documentElement === svg)
	scrollTo(0, svg.getBoundingClientRect().height);
