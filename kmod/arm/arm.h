/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adding and removing probes: the catalog, the table that callbacks read and ftrace's
 * filter are changed together or not at all. However many probes, ftrace patches text
 * once. All under session->lock.
 */
#ifndef ARGTRACE_ARM_H
#define ARGTRACE_ARM_H

#include <linux/types.h>

struct argtrace_plan;
struct argtrace_session;
struct module;

/*
 * Adds `count` plans, or none. Takes them all over, whatever the result; their order is
 * not kept. -EEXIST, -EINVAL: *failed_addr is the address that was refused.
 */
int argtrace_arm_add(struct argtrace_session *session, struct argtrace_plan **plans, u32 count,
		     unsigned long *failed_addr);

/*
 * Removes the probes at the addresses (which are sorted in place), or none. -ENOENT: *failed_addr
 * is not there, or is there twice in the list. -ENOMEM: those of the lanes that had been detached
 * by then are removed, and the others go on as before.
 */
int argtrace_arm_remove(struct argtrace_session *session, u16 kind, unsigned long *addrs, u32 count,
			unsigned long *failed_addr);

/* Cannot fail. */
void argtrace_arm_remove_all(struct argtrace_session *session);

/* Removes the probes in `module`, or only those in its init code, which is about to be freed. */
void argtrace_arm_module_going(struct argtrace_session *session, const struct module *module,
			       bool only_init);

#endif
