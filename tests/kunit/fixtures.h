/* SPDX-License-Identifier: GPL-2.0-only */
/* Probes, plans and sessions for the suites. All of them are freed at the end of the test. */
#ifndef ARGTRACE_KUNIT_FIXTURES_H
#define ARGTRACE_KUNIT_FIXTURES_H

#include <kunit/test.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

#include "probe/probe.h"
#include "arm/deferred.h"
#include "arm/lanes.h"
#include "arm/sessions.h"
#include "session.h"
#include "source/returns/returns.h"
#include "source/source.h"

/* Whether what is at the return address is a part of the function, as the kernel's symbols say: its neighbours are placed by the compiler. */
bool is_in_function(unsigned long return_address, const void *function);

/* Filler for types, which the module only keeps. Not zero, so that an unterminated string would continue into them. */
#define TYPES_BYTE	0x7e

/* A probe as user space would send it, for a test to spoil. */
struct made_probe {
	struct argtrace_probe head;
	struct argtrace_arg args[ARGTRACE_MAX_ARGS + 1];
	char strings[ARGTRACE_MAX_STRINGS + 1];
	u32 types;			/* bytes of types after the strings, each TYPES_BYTE */
	u8 padding;			/* what the bytes up to the program are */
	u8 program[1024];		/* head.program bytes of it */
};

/* A function "f" of `nr_args` u64 arguments in registers, a0, a1 ...; later ones take register 0 as well. */
struct made_probe *make_probe(struct kunit *test, unsigned long addr, u32 nr_args);

/* Adds a string; returns its offset. */
u16 made_probe_string(struct made_probe *probe, const char *text);

/* Sets the size to what the parts add up to. */
void made_probe_seal(struct made_probe *probe);

/* Gives it a program; the `data` bytes come from text. */
void set_program(struct made_probe *probe, const struct argtrace_insn *insns, u32 nr_insns, u32 nr_filter,
		 const char *data);

/* Adds an argument that is an output. */
void add_output(struct made_probe *probe, u8 type, u32 size);

/* Copies the probe to user memory, followed by zeros; returns its address. */
const void __user *put_probe(struct kunit *test, const struct made_probe *probe);

/*
 * What argtrace_plan_create() makes of it, given `length` bytes of user memory that hold
 * it. The caller owns the plan.
 */
struct argtrace_plan *make_plan_from(struct kunit *test, const struct made_probe *probe,
				     u64 *length, const struct argtrace_plan_format *format);

/* The same in the compact encoding with the largest record allowed; the test fails if it is refused. */
struct argtrace_plan *make_plan(struct kunit *test, const struct made_probe *probe);

/* The plan of a function without arguments whose address is not known yet. The caller owns it. `flags`: ARGTRACE_PROBE_* */
struct argtrace_plan *make_template(struct kunit *test, const char *function, u32 flags);

/* Frees a plan at the end of the test. */
void free_plan_later(struct kunit *test, struct argtrace_plan *plan);

/* A session with small rings, released at the end of the test; nameless if `name` is "". */
struct argtrace_session *make_session(struct kunit *test, const char *name, u32 format);
/* The same, with everything else as in `wanted`. */
struct argtrace_session *make_session_like(struct kunit *test,
					   const struct argtrace_session_attr *wanted);

/*
 * For KUNIT_ARRAY_PARAM(): the clocks, and the attributes of a session with the one that the case's parameter is, or without a parameter
 * with MONOTONIC. Where the TSC is none to keep time by, its cases are skipped.
 */
#define SESSION_CLOCKS	2
extern const u32 session_clocks[SESSION_CLOCKS];
void describe_clock(const u32 *clock, char *text);
const struct argtrace_session_attr *attr_of_clock(struct kunit *test);

/* Adds or removes one probe, or all; returns what the module says. */
int session_add(struct kunit *test, struct argtrace_session *session,
		const struct made_probe *probe);
int session_remove(struct argtrace_session *session, unsigned long addr);
void session_remove_all(struct argtrace_session *session);

#endif
