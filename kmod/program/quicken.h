/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which operations have a quick form (enum argtrace_op_kind): they read registers, the task, or
 * memory reached from them, of which a mask selects what is wanted.
 */
#ifndef ARGTRACE_QUICKEN_H
#define ARGTRACE_QUICKEN_H

#include <linux/types.h>

#include "program/program.h"
#include "program/verify.h"

/* Gives a TEST of a filter its quick form, if it has one. */
void argtrace_quicken_test(struct argtrace_op *op, const struct argtrace_insn *insn);

/* The same for an operation of a value, which is recorded; false if it has none. */
bool argtrace_quicken_output(struct argtrace_op *op, const struct argtrace_insn *insn);

/*
 * The same for outputs that go to a map, `ops` being the operations of the whole program. Returns
 * how the key and the value are computed.
 */
enum argtrace_outputs argtrace_quicken_map(const struct argtrace_verified *program,
					   struct argtrace_op *ops);

/* Prepares the operation that stands in place of ACCEPT if nothing is recorded. */
void argtrace_quicken_sink(struct argtrace_op *sink, const struct argtrace_code *code,
			   const struct argtrace_verified *program);

#endif
