/* SPDX-License-Identifier: GPL-2.0-only */
/* Probes as user space describes them: read, checked, and made into plans. Nothing is trusted. */
#ifndef ARGTRACE_PROBE_H
#define ARGTRACE_PROBE_H

#include <linux/types.h>
#include <uapi/argtrace.h>

#include "probe/plan.h"

#define ARGTRACE_MAX_ARGS	64
#define ARGTRACE_MAX_STRINGS	8192
#define ARGTRACE_MAX_TYPES	(64u << 10)
#define ARGTRACE_MAX_PROBES	(1u << 18)

/*
 * Reads one struct argtrace_probe from user space, validates it and makes it a plan.
 * *length is what is left of the caller's buffer, and is reduced by the entry.
 * ERR_PTR: -EFAULT, -EINVAL, -EPERM, -E2BIG, -ENOMEM, -ENOSPC. The caller owns the plan.
 */
struct argtrace_plan *argtrace_plan_create(const void __user *entry, u64 *length,
					   const struct argtrace_plan_format *format);

/*
 * A plan for a function whose address is not known yet: it is 0. Not to be armed, but
 * made into plans that are.
 */
struct argtrace_plan *argtrace_plan_create_template(const void __user *entry, u64 *length,
						    const struct argtrace_plan_format *format);

#endif
