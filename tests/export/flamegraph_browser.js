// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A reader of the sample's flame graph.  flamegraph-browser puts this at the
// end of the picture; what it finds goes to the attribute data-verdict.
(() => {
	const root = document.documentElement;
	const one = (selector) => document.querySelector(selector);
	const rects = () => [...document.querySelectorAll(".frames rect")];
	const label = (name) => [...document.querySelectorAll(".frames text")]
		.find((text) => text.textContent === name);
	const rect = (name) => label(name).previousElementSibling;
	const width = (name) => Number(rect(name).getAttribute("width"));
	const send = (target, type, event = MouseEvent, init = {}) =>
		target.dispatchEvent(new event(type, { bubbles: true, cancelable: true, ...init }));
	const key = (name, init = {}) =>
		send(document.activeElement || root, "keydown", KeyboardEvent, { key: name, ...init });
	const type = (text) => { one(".search").value = text; send(one(".search"), "input", Event); };
	const matches = () => document.querySelectorAll(".frames rect.match").length;
	const faults = [];
	const check = (what, got, wanted) => {
		if (got !== wanted)
			faults.push(what + ": " + got + " instead of " + wanted);
	};
	const checkHolds = (what, text, part) => {
		if (!text.includes(part))
			faults.push(what + ": no '" + part + "' in '" + text + "'");
	};

	try {
		const inner = root.getBoundingClientRect().width - 20;
		const whole = width("main");

		check("the still picture is gone", one(".picture"), null);
		check("frames", rects().length, 8);
		check("main is as wide as the window", Math.abs(whole - inner) < 2, true);
		check("alpha has its share", Math.abs(width("alpha") - 0.8 * inner) < 2, true);
		check("no way back when not zoomed", one(".reset").hidden, true);

		send(rect("beta"), "mouseover");
		checkHolds("details", one(".details").textContent, "beta (/bin/app): 60 samples, 60.00% of all");
		checkHolds("tip", rect("beta").querySelector("title").textContent, "60 samples, 60.00% of all");
		send(rect("write"), "mouseover");
		checkHolds("kind", one(".details").textContent, "write ([kernel], kernel): 20 samples");

		send(rect("alpha"), "click");
		check("alpha fills the width", Math.abs(width("alpha") - inner) < 2, true);
		check("beta grew", Math.abs(width("beta") - 0.75 * inner) < 2, true);
		check("gamma is out of sight", label("gamma"), undefined);
		check("callers are faint", rect("main").classList.contains("outer"), true);
		check("a way back", one(".reset").hidden, false);
		send(rect("beta"), "mouseover");
		checkHolds("share of the zoomed frame", one(".details").textContent, "75.00% of alpha");

		check("Ctrl-F is ours", key("f", { ctrlKey: true }), false);
		check("the search has the focus", document.activeElement, one(".search"));
		type("^write$");
		check("matches", matches(), 1);
		check("the match is marked", rect("write").classList.contains("match"), true);
		checkHolds("matched", one(".hits").textContent, "25.00% matched, 20.00% of all");
		one(".search").blur();

		key("Escape");
		check("Esc resets the zoom", width("main") === whole && width("alpha") < whole, true);
		checkHolds("matched of all", one(".hits").textContent, "20.00% matched");
		type("ALPHA");
		check("upper case is exact", matches(), 0);
		type("alpha|beta|tiny");
		checkHolds("nested matches count once", one(".hits").textContent, "95.00% matched");
		key("Escape");
		check("Esc clears the search", one(".search").value + matches(), "0");

		type("(");
		checkHolds("wrong pattern", one(".hits").textContent, "not a regular expression");
		check("wrong pattern is marked", one(".search").classList.contains("wrong"), true);
		type("script");
		check("hostile names are found", matches(), 1);
		type("");

		send(rect("gamma"), "click");
		check("zoomed to gamma", label("alpha"), undefined);
		send(one(".reset"), "click");
		check("the button resets the zoom", width("main"), whole);
		send(rect("alpha"), "click");
		send(rect("main"), "click");
		check("a caller zooms out", Math.abs(width("alpha") - 0.8 * inner) < 2, true);
	} catch (error) {
		faults.push("exception: " + error);
	}
	root.setAttribute("data-verdict", faults.length ? faults.join("; ") : "all is well");
})();
