/* SPDX-License-Identifier: GPL-2.0-only */
/* The fprobes of different kernels, as far as they may follow calls for us. */
#ifndef ARGTRACE_FPROBE_H
#define ARGTRACE_FPROBE_H

#include <linux/fprobe.h>
#include <linux/rethook.h>
#include <linux/types.h>

/*
 * Since Linux 6.6, fprobes pass the caller's address. Since 6.14 all of them are one user of the
 * function graph tracer (fgraph.c), which takes one of 16 indices whenever the first of them is
 * registered. At the return of a call, the kernel also calls the user of index 0 where another
 * user, or an earlier one, follows the call (function_graph_enter() sets that bit always), and
 * fprobe_return() warns that it does not know the call: when function_graph is started, and when a
 * call sleeps while others of our probes come and go. Where that is so we have no fprobes. Seen
 * with fprobe events and function_graph alone on 7.2 and 7.3.
 */
#if defined(CONFIG_FPROBE) && defined(ARGTRACE_FPROBE_HAS_CALLER) && \
	!defined(ARGTRACE_FPROBES_ARE_ON_FGRAPH)
#define ARGTRACE_HAS_FPROBE	true

/* What the kernel takes for a call beside our data, for as many calls as it can follow at once. */
#define ARGTRACE_FPROBE_INSTANCE	(sizeof(struct rethook_node) + 2 * sizeof(long))

static inline void argtrace_fprobe_init(struct fprobe *fprobe, fprobe_entry_cb entered,
					fprobe_exit_cb returned, size_t size, u32 at_once)
{
	*fprobe = (struct fprobe){
		.entry_handler = entered,
		.exit_handler = returned,
		.entry_data_size = size,
		.nr_maxactive = at_once,
	};
}
#else
#define ARGTRACE_HAS_FPROBE	false
#define ARGTRACE_FPROBE_INSTANCE	0
#define argtrace_fprobe_init(fprobe, entered, returned, size, at_once) \
	((void)(fprobe), (void)(entered), (void)(returned))
#endif

#endif
