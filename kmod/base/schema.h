/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the parts of a probe's entry lie, as user space describes it: struct argtrace_probe in
 * include/uapi/argtrace.h.
 */
#ifndef ARGTRACE_SCHEMA_H
#define ARGTRACE_SCHEMA_H

#include <linux/align.h>
#include <uapi/argtrace.h>

static inline const struct argtrace_arg *argtrace_schema_args(const struct argtrace_probe *schema)
{
	return (const void *)(schema + 1);
}

static inline const char *argtrace_schema_strings(const struct argtrace_probe *schema)
{
	return (const char *)(argtrace_schema_args(schema) + schema->nr_args);
}

/* Only where schema->program is not 0. */
static inline const struct argtrace_program *
argtrace_schema_program(const struct argtrace_probe *schema)
{
	const char *const end = argtrace_schema_strings(schema) + schema->strings + schema->types;

	return (const void *)schema + ALIGN(end - (const char *)schema, 8);
}

/* Where a user function returns, relative to it: so many as argtrace_schema_nr_returns() says. */
static inline u32 argtrace_schema_nr_returns(const struct argtrace_probe *schema)
{
	return (schema->flags & ARGTRACE_PROBE_RETURNS_MASK) >> ARGTRACE_PROBE_RETURNS_SHIFT;
}

/* Whether the kernel's uretprobe says when calls of a user function return. */
static inline bool argtrace_schema_is_by_uretprobe(const struct argtrace_probe *schema)
{
	return schema->flags & ARGTRACE_PROBE_RETURN && !argtrace_schema_nr_returns(schema) &&
	       !(schema->flags & ARGTRACE_PROBE_NEVER_RETURNS);
}

static inline u32 argtrace_schema_returns_size(const struct argtrace_probe *schema)
{
	return ALIGN(argtrace_schema_nr_returns(schema) * sizeof(s32), 8);
}

static inline const s32 *argtrace_schema_returns(const struct argtrace_probe *schema)
{
	return (const void *)schema + schema->size - argtrace_schema_returns_size(schema);
}

#endif
