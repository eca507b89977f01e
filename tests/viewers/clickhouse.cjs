// SPDX-License-Identifier: GPL-2.0-only
//
// node clickhouse.cjs MODULES SQL: what ClickHouse answers, a line for each row; MODULES is a folder node_modules that has chdb.
const [modules, sql] = process.argv.slice(2);
const { query } = require(`${modules}/chdb`);
process.stdout.write(query(sql, "TSV"));
