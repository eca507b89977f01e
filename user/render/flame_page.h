// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string_view>

namespace argtrace {

// What a flame graph consists of beside its frames.

inline constexpr std::string_view html_head =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>argtrace</title>"
    "<style>body{margin:0}</style></head><body>\n";
inline constexpr std::string_view html_tail = "</body></html>\n";

/// A format: width, height, style, title, lost, bottom.
inline constexpr const char flame_head[] =
    R"(<svg id="flame" xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">
<style>{style}</style>
<rect class="ground" width="100%" height="100%"/>
<text class="title" x="600" y="22">{title}</text>
<text id="reset" class="button off" x="10" y="22">Reset</text>
<text id="found" class="right" x="1190" y="48"></text>
<text class="warning" x="10" y="48">{lost}</text>
<foreignObject x="990" y="6" width="200" height="26"><input xmlns="http://www.w3.org/1999/xhtml" id="search" placeholder="Search" type="search"/></foreignObject>
<text id="about" x="10" y="{bottom}"> </text>
)";

inline constexpr std::string_view flame_style =
    "#flame{font:12px monospace}.ground{fill:#fafafa}.title{font-size:16px;text-anchor:middle}"
    ".right{text-anchor:end}.warning{fill:#b00020}.button{cursor:pointer;fill:#0050a0}"
    ".off{display:none}.frame{cursor:pointer}.frame text{pointer-events:none}"
    ".frame:hover rect{stroke:#000}.frame.faded{opacity:.5}.frame.hit rect{fill:#d050e0}"
    "#search{width:190px;font:12px monospace;box-sizing:border-box}";

inline constexpr std::string_view flame_script = R"(<script><![CDATA[
(function () {
	"use strict";
	var left = 10, room = 1180, letter = 7.25;
	var get = document.getElementById.bind(document);
	var about = get("about"), reset = get("reset"), search = get("search"), found = get("found");
	var frames = Array.from(document.querySelectorAll("#flame .frame"), function (g) {
		return {g: g, rect: g.querySelector("rect"), text: g.querySelector("text"), name: g.dataset.name,
			title: g.querySelector("title").textContent, x: +g.dataset.x, w: +g.dataset.w, d: +g.dataset.d};
	});
	var close = 1e-7;

	function label(frame, pixels) {
		var letters = Math.floor(Math.max(0, pixels - 6) / letter), name = frame.name;
		return letters >= name.length ? name : letters >= 4 ? name.slice(0, letters - 2) + ".." : "";
	}
	function zoom(to) {
		frames.forEach(function (frame) {
			var below = frame.d < to.d && frame.x <= to.x + close && frame.x + frame.w >= to.x + to.w - close;
			var above = frame.d >= to.d && frame.x >= to.x - close && frame.x + frame.w <= to.x + to.w + close;
			var x = below ? 0 : (frame.x - to.x) / to.w, w = below ? 1 : frame.w / to.w;
			frame.g.classList.toggle("off", !below && !above);
			frame.g.classList.toggle("faded", below);
			frame.rect.setAttribute("x", left + x * room);
			frame.rect.setAttribute("width", w * room);
			frame.text.setAttribute("x", left + x * room + 3);
			frame.text.textContent = label(frame, w * room);
		});
		reset.classList.toggle("off", to.d === 0);
	}
	function find() {
		var words = search.value, part = 0, end = -1, test = null;
		try {
			test = words ? new RegExp(words) : null;
		} catch (error) {
			found.textContent = "not a regular expression";
			return;
		}
		frames.forEach(function (frame) {
			var hit = test !== null && frame.d > 0 && test.test(frame.name);
			frame.g.classList.toggle("hit", hit);
			// A frame within one that was found counts with it; frames come from left to right, callers first.
			if (hit && frame.x >= end - close) {
				part += frame.w;
				end = frame.x + frame.w;
			}
		});
		found.textContent = test ? "found: " + (100 * part).toFixed(2) + "%" : "";
	}
	frames.forEach(function (frame) {
		frame.g.addEventListener("mouseover", function () { about.textContent = frame.title; });
		frame.g.addEventListener("mouseout", function () { about.textContent = " "; });
		frame.g.addEventListener("click", function () { zoom(frame); });
	});
	reset.addEventListener("click", function () { zoom({x: 0, w: 1, d: 0}); });
	search.addEventListener("input", find);
}());
]]></script>
</svg>
)";

} // namespace argtrace
