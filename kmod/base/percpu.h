/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of which each CPU has a part of its own: rings, the slots of maps, tables of stacks. CPUs
 * that are present get their parts when the set is created, others before they come online, and
 * none loses its part before the set is freed.
 *
 * CPUs that are offline get theirs as well, so that a reader which maps the parts now has them all.
 * Lack of memory does not keep a CPU offline: it then has no part, and its calls, or their stacks,
 * are counted as lost.
 */
#ifndef ARGTRACE_PERCPU_H
#define ARGTRACE_PERCPU_H

#include <linux/types.h>

struct argtrace_percpu;

/* What there are parts of. Under the lock of CPU hotplug. */
struct argtrace_percpu_kind {
	/* Bytes of memory that a part takes. */
	u64 (*charge)(const struct argtrace_percpu *set);
	bool (*exists)(const struct argtrace_percpu *set, unsigned int cpu);
	/* Makes the part of a CPU on which no callback uses the set. 0 or -ENOMEM. */
	int (*create)(struct argtrace_percpu *set, unsigned int cpu);
	/* A CPU that came later has got its part. Or NULL. */
	void (*came)(struct argtrace_percpu *set);
};

struct argtrace_percpu {
	const struct argtrace_percpu_kind *kind;
	struct hlist_node node;		/* in the CPU hotplug state */
	u64 charged;			/* for the parts; under the lock of CPU hotplug */
};

/* At module load and unload. */
int argtrace_percpu_init(void);
void argtrace_percpu_exit(void);

/*
 * Gives each present CPU its part, and from now on those that come. 0, -ENOMEM, -ENOSPC. On error
 * some CPUs may have theirs.
 */
int argtrace_percpu_provide(struct argtrace_percpu *set, const struct argtrace_percpu_kind *kind);

/*
 * No CPU gets a part any more. The caller frees those that there are, and uncharges set->charged.
 */
void argtrace_percpu_stop(struct argtrace_percpu *set);

#endif
