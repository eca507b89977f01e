// SPDX-License-Identifier: GPL-2.0-only
//
// node duckdb.mjs MODULES SQL...: what DuckDB answers, a line for each row; MODULES is a folder node_modules that has it.
import { createRequire } from "node:module";

const [modules, ...queries] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(`${modules}/`)("@duckdb/node-api");
const connection = await (await DuckDBInstance.create(":memory:")).connect();
for (const sql of queries) {
	const result = await connection.runAndReadAll(sql);
	for (const row of result.getRows())
		console.log(row.map(String).join("\t"));
}
