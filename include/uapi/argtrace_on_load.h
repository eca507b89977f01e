/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* argtrace: probes that wait for their module. See argtrace.h. */
#ifndef _UAPI_ARGTRACE_ON_LOAD_H
#define _UAPI_ARGTRACE_ON_LOAD_H

#include <linux/types.h>

#define ARGTRACE_MODULE_LEN	64	/* a kernel module's name, with its NUL */
#define ARGTRACE_SRCVERSION_LEN	32	/* its srcversion, with its NUL */

/*
 * ARGTRACE_IOC_ON_LOAD: a request to add `count` probes each time the kernel loads `module`,
 * before its first function runs. They are validated now, as by PROBE_ADD. Their addr is 0; it
 * becomes that of the module's symbol with the function's name (without the ~ after it), or of
 * the tracepoint that is named by the last part of t:GROUP:NAME. Their kind is KIND_ENTRY or
 * KIND_TRACEPOINT. A name
 * that n symbols share must be given n times; if the module has a different number of them, none
 * of these is added. If both `srcversion` and the module's own are known and differ, nothing is
 * added, since it is another build. The order remains until it or the session is removed; the
 * probes that it has added go with the module. It never makes the loading of a module fail.
 *
 * `module` is the name that the kernel gives it (with `_`, not `-`). -EINVAL a malformed
 * probe or name, -EEXIST a name that another order has for that module, -EOPNOTSUPP a function of that name is one whose return
 * cannot be followed, -E2BIG, -ENOSPC, -ENOENT, -EPERM and `failed` as PROBE_ADD, where probes that wait count as probes.
 */
struct argtrace_on_load {
	__u32	size;
	__u32	flags;			/* 0 */
	__u64	probes;			/* address of the probes, one after the other */
	__u64	length;			/* of all of them, in bytes */
	__u32	count;
	__u32	failed;			/* out */
	char	module[ARGTRACE_MODULE_LEN];
	char	srcversion[ARGTRACE_SRCVERSION_LEN];	/* of the build that they are for; "" if it is not known */
	__u64	cost;			/* out, as in struct argtrace_probe_add */
};

/*
 * ARGTRACE_IOC_ON_LOAD_REMOVE: removes the orders for `module`, or with ALL (and no name) all
 * orders of the session. What they have added remains. -ENOENT there are none.
 */
struct argtrace_on_load_remove {
	__u32	size;
	__u32	flags;			/* ARGTRACE_REMOVE_ALL */
	char	module[ARGTRACE_MODULE_LEN];
};

/*
 * ARGTRACE_IOC_ON_LOAD_LIST: the session's orders with id >= first, listed as struct
 * argtrace_list describes it, one of these for each. flags and generation are 0.
 */
struct argtrace_on_load_order {
	__u32	id;
	__u32	count;			/* probes */
	__u32	loads;			/* how often the module has been loaded since */
	__u32	other_builds;		/* how many of these loads were of another build, for which nothing is added */
	/* The result of the last load: */
	__u32	armed;			/* added */
	__u32	absent;			/* the module had no such function, or another number of that name */
	__u32	refused;		/* ftrace does not trace them */
	__s32	error;			/* why none was added: -ENOMEM, -ENOSPC, -E2BIG, -EBUSY, -ENODEV, -ESHUTDOWN; else 0 */
	char	module[ARGTRACE_MODULE_LEN];
	char	srcversion[ARGTRACE_SRCVERSION_LEN];
};

#endif
