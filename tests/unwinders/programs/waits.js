// SPDX-License-Identifier: GPL-2.0-only
// JavaScript that waits again and again, a tenth of a second each, in functions that call one another.
function innermost(words) {
	return Atomics.wait(words, 0, 0, 100);
}

function middle(words) {
	return innermost(words) + "";
}

function outermost(words) {
	return [1].map(() => middle(words))[0];
}

const words = new Int32Array(new SharedArrayBuffer(4));
outermost(words);
require("fs").writeSync(1, "ready\n");
for (;;)
	outermost(words);
