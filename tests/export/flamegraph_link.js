// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A reader who was sent a link to a part of the sample's flame graph, with a search.
(() => {
	const root = document.documentElement;
	const one = (selector) => document.querySelector(selector);
	const labels = () => [...document.querySelectorAll(".frames text")].map((text) => text.textContent);
	const faults = [];
	const check = (what, got, wanted) => {
		if (got !== wanted)
			faults.push(what + ": " + got + " instead of " + wanted);
	};

	try {
		check("the search", one(".search").value, "beta|gamma");
		check("matches in sight", document.querySelectorAll(".frames rect.match").length, 1);
		check("the zoom", labels().includes("beta") && !labels().includes("gamma"), true);
		check("a way back", one(".reset").hidden, false);
		one(".reset").dispatchEvent(new MouseEvent("click", { bubbles: true }));
		check("the link without the zoom", location.hash, "#search=beta%7Cgamma");
		one(".search").value = "";
		one(".search").dispatchEvent(new Event("input", { bubbles: true }));
		check("the link of the whole", location.hash, "");
	} catch (error) {
		faults.push("exception: " + error);
	}
	root.setAttribute("data-verdict", faults.length ? faults.join("; ") : "all is well");
})();
