/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads and validates the probes that user space describes, and makes plans of them. Nothing is
 * trusted.
 */
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
 * Reads one struct argtrace_probe from user space, validates it and makes a plan of it.
 * *length is the size of the rest of the caller's buffer, and is reduced by the entry.
 * ERR_PTR: -EFAULT, -EINVAL, -EPERM, -E2BIG, -ENOMEM, -ENOSPC. The caller owns the plan.
 */
struct argtrace_plan *argtrace_plan_create(const void __user *entry, u64 *length,
					   const struct argtrace_plan_format *format);

/*
 * Makes a plan for a function whose address is not known yet, and is 0. It cannot be armed;
 * argtrace_plan_create_at() copies it for an address.
 */
struct argtrace_plan *argtrace_plan_create_template(const void __user *entry, u64 *length,
						    const struct argtrace_plan_format *format);

#endif
