/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Points between two steps at which KUnit tests act as an interrupt or another CPU would; at any
 * other time that would show nothing. tests/kunit/Kbuild defines ARGTRACE_KUNIT; the module that is
 * installed has no such points.
 */
#ifndef ARGTRACE_HOOK_H
#define ARGTRACE_HOOK_H

enum argtrace_hook {
	/* ftrace has called us for a function that the table does not have */
	ARGTRACE_HOOK_NO_PROBE,
	ARGTRACE_HOOK_RESERVE_AB,	/* between the steps of argtrace_ring_reserve() ... */
	ARGTRACE_HOOK_RESERVE_BC,
	ARGTRACE_HOOK_GIVE_BACK,	/* before the position is changed again */
	ARGTRACE_HOOK_SLOW_AB,		/* ... of argtrace_ring_reserve_slow() ... */
	ARGTRACE_HOOK_SLOW_BC,
	ARGTRACE_HOOK_SLOW_AFTER_C,
	ARGTRACE_HOOK_END_DE,		/* ... of argtrace_ring_end() ... */
	ARGTRACE_HOOK_END_EF,
	ARGTRACE_HOOK_END_FG,
	ARGTRACE_HOOK_MAP_AB,		/* ... and of claiming a slot of a map */
	ARGTRACE_HOOK_MAP_BC,
	ARGTRACE_HOOK_MAP_CD,
	/* a value is about to become the least or the greatest of its slot */
	ARGTRACE_HOOK_MAP_EXTEND,
	/* the sum of a slot has wrapped, which is not in its carry yet */
	ARGTRACE_HOOK_MAP_CARRY,
	/* a probe's header has been checked, and all of it is about to be read */
	ARGTRACE_HOOK_PROBE_READ,
	/* between the steps of find_or_add() in stack/table.c ... */
	ARGTRACE_HOOK_STACK_AB,
	ARGTRACE_HOOK_STACK_BC,
	ARGTRACE_HOOK_FRAME_LEARNED,	/* the unwinder is about to be asked about an address */
	ARGTRACE_HOOK_PID_FILTERS,	/* the PID filters have to take note of a new process */
	ARGTRACE_HOOK_WAIT_FOR_TRAMPOLINES, /* nobody is to be in them */
	/* probes are marked as removed, and their lane still calls them */
	ARGTRACE_HOOK_LANE_REMOVAL,
	ARGTRACE_HOOK_TASK_WALKED,	/* the stack of a task that waits has been walked */
};

#ifdef ARGTRACE_KUNIT
/* NULL, or the test's function, which is called in the context of that point. */
extern void (*argtrace_kunit_hook)(enum argtrace_hook at);

#define ARGTRACE_HOOK(at) do {						\
	void (*hook_)(enum argtrace_hook) = READ_ONCE(argtrace_kunit_hook); \
									\
	if (hook_)							\
		hook_(ARGTRACE_HOOK_##at);				\
} while (0)
#else
#define ARGTRACE_HOOK(at) do { } while (0)
#endif

#endif
