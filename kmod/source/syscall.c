// SPDX-License-Identifier: GPL-2.0-only
/*
 * A system call: like source/entry.c, this takes no locks, allocates nothing, and ends in exactly one outcome of the probe. If its
 * return is followed, source/returns/callback.c handles it instead.
 */
#include <linux/kallsyms.h>
#include <linux/string.h>

#include "session.h"
#include "call/record_call.h"
#include "call/begin.h"
#include "call/context.h"
#include "call/record_forms.h"
#include "call/program_call.h"
#include "source/source.h"
#include "source/syscall.h"

/*
 * arch/x86/include/asm/syscall_wrapper.h. For a system call without arguments, __do_sys_NAME() has the same address as the others, and
 * is the symbol that the kernel finds first. Where it is a separate function, it is not called with the address of the registers.
 */
static const char *const prefixes[] = {
	"__x64_sys_", "__x64_compat_sys_", "__ia32_sys_", "__ia32_compat_sys_", "__do_sys_", "__do_compat_sys_",
};

bool argtrace_is_syscall(unsigned long addr)
{
	char name[KSYM_SYMBOL_LEN];
	size_t i;

	if (argtrace_is_in_modules(addr))
		return false;
	sprint_symbol_no_offset(name, addr);
	for (i = 0; i < ARRAY_SIZE(prefixes); i++) {
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	}
	return false;
}

static __always_inline void record_syscall(struct argtrace_plan *plan, struct ftrace_ops *ops, unsigned long parent_ip,
					   const struct pt_regs *regs, const void *called_from, const u32 clock_id, const bool flight)
{
	const struct argtrace_lane *lane = container_of(ops, struct argtrace_lane, ops);
	const unsigned int levels = argtrace_own_preempt_levels(ops, called_from);
	const u32 context = likely(argtrace_context_is_plain()) ? 0 : argtrace_context_word(levels);

	argtrace_record_call(plan, this_cpu_ptr(lane->rings), context, parent_ip, (const struct ftrace_regs *)regs, clock_id, flight);
}

static __always_inline void trace_syscall(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
					  struct ftrace_regs *fregs, const void *called_from, const u32 clock_id, const bool flight)
{
	struct argtrace_lane *lane = container_of(ops, struct argtrace_lane, ops);
	struct pt_regs regs argtrace_uninitialized;
	struct argtrace_plan *plan;

	plan = argtrace_begin(lane, ip);
	if (unlikely(!plan))
		return;
	argtrace_syscall_regs(&regs, argtrace_regs(fregs));
	if (plan->code)
		argtrace_program_call(plan, parent_ip, ops, (const struct ftrace_regs *)&regs,
				      called_from);
	else
		record_syscall(plan, ops, parent_ip, &regs, called_from, clock_id, flight);
}

/* One variant for each clock and kind of ring, as in source/entry.c. No stack protector: there is no array that could overflow. */
#define DEFINE_CALLBACK(name, clock, flight)							\
static __no_stack_protector void name(unsigned long ip, unsigned long parent_ip,		\
				      struct ftrace_ops *ops, struct ftrace_regs *fregs)	\
{												\
	trace_syscall(ip, parent_ip, ops, fregs, __builtin_return_address(0), clock, flight);	\
}

DEFINE_CALLBACK(syscall_stream_tsc, ARGTRACE_CLOCK_TSC, false)
DEFINE_CALLBACK(syscall_stream_monotonic, ARGTRACE_CLOCK_MONOTONIC, false)
DEFINE_CALLBACK(syscall_flight_tsc, ARGTRACE_CLOCK_TSC, true)
DEFINE_CALLBACK(syscall_flight_monotonic, ARGTRACE_CLOCK_MONOTONIC, true)

ftrace_func_t argtrace_syscall_callback(const struct argtrace_lane *lane)
{
	const bool tsc = lane->session->clock == ARGTRACE_CLOCK_TSC;

	if (lane->session->flight)
		return tsc ? syscall_flight_tsc : syscall_flight_monotonic;
	return tsc ? syscall_stream_tsc : syscall_stream_monotonic;
}
