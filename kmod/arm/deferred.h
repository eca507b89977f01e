/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Deferred probes, which are added to a kernel module whenever it is loaded. The session keeps each
 * request as an entry with templates, which are plans that have the name of a function instead of
 * an address. All under session->lock.
 */
#ifndef ARGTRACE_DEFERRED_H
#define ARGTRACE_DEFERRED_H

#include <linux/types.h>
#include <uapi/argtrace.h>

struct argtrace_deferred;
struct argtrace_plan;
struct argtrace_session;
struct module;

#define ARGTRACE_MAX_DEFERRED	1024u

void argtrace_deferred_init(struct argtrace_deferred *deferred);

/*
 * Adds an entry with `count` templates for the module, and takes over the templates and their array
 * if it returns 0. -EEXIST if another entry has one of them; *failed is its index.
 */
int argtrace_deferred_add(struct argtrace_session *session, const char *module,
			  const char *srcversion, struct argtrace_plan **templates, u32 count,
			  u32 *failed);

/* Removes the entries for that module, or all if it is NULL; false if there is none. */
bool argtrace_deferred_remove(struct argtrace_session *session, const char *module);

/*
 * Arm the probes deferred for a module that has just been loaded and has not run yet: first its
 * functions, then its tracepoints, which the kernel registers later.
 */
void argtrace_deferred_arm(struct argtrace_session *session, const struct module *module);
void argtrace_deferred_arm_tracepoints(struct argtrace_session *session,
				       const struct module *module);

/*
 * Lists the entries with id >= first, as many as fit in `to`, and returns how many; *next is the id
 * of the next one, or 0.
 */
u32 argtrace_deferred_list(const struct argtrace_session *session, u32 first,
			   struct argtrace_on_load_order *to, u32 room, u32 *next);

#endif
