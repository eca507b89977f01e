// SPDX-License-Identifier: GPL-2.0-only
/*
 * One call that is followed: ftrace's callback at its entry, which is like that of source/entry.c
 * but that it has the call go on in a trampoline. Each call ends in exactly one outcome of its
 * probe, and is in flight before.
 *
 * The counters of a plan count what has become of the calls that have been entered; those of its
 * struct argtrace_return count the calls that have been entered, and all the others.
 */
#include "arch/divert.h"
#include "base/compat.h"
#include "program/exec.h"
#include "read/absent.h"
#include "read/scratch.h"
#include "call/throttle.h"
#include "session.h"
#include "call/context.h"
#include "source/returns/begin.h"
#include "source/returns/enter.h"
#include "source/returns/returns.h"
#include "source/returns/stack.h"
#include "source/syscall.h"

/*
 * A filter has met a fault. Whether that was for memory that the call waits for, and then decides
 * in the trampoline, from which it is in flight. `regs`: ftrace's.
 */
static noinline bool decides_later(struct argtrace_run *run, struct argtrace_return *returns,
				   struct argtrace_regs *regs)
{
	enum argtrace_verdict verdict;

	if (!argtrace_return_can_wait(returns, (unsigned long)regs) || !argtrace_scratch_enter())
		return false;
	argtrace_absent_reset();
	verdict = argtrace_run_filter(run, run->code->filter);
	argtrace_scratch_leave();
	if (verdict != ARGTRACE_VERDICT_FAULT || !argtrace_absent_here().size)
		return false;
	argtrace_return_count_undecided(returns);
	WRITE_ONCE(returns->body, argtrace_body_of(regs));
	argtrace_divert(regs, returns, argtrace_return_undecided);
	return true;
}

/* `later`: the registers of ftrace, if the call can decide later; else NULL. */
static __always_inline bool accepts(struct argtrace_plan *plan, const struct argtrace_regs *fregs,
				    unsigned long caller, struct argtrace_regs *later)
{
	struct argtrace_counters *following = plan->returns->following;
	const struct argtrace_code *code = plan->code;
	struct argtrace_run run argtrace_uninitialized;
	enum argtrace_verdict verdict;

	if (code->sample && !argtrace_is_sampled(plan)) {
		argtrace_count_following(following, sampled);
		return false;
	}
	if (!code->filter)
		return true;
	if (unlikely(!argtrace_scratch_enter())) {
		argtrace_return_lose(plan->returns, ARGTRACE_LOST_RECURSION);
		return false;
	}
	run.code = code;
	run.fregs = fregs;
	run.caller = caller;
	verdict = argtrace_run_filter(&run, code->filter);
	argtrace_scratch_leave();
	if (verdict == ARGTRACE_VERDICT_ACCEPT)
		return true;
	if (verdict == ARGTRACE_VERDICT_FAULT) {
		if (later && plan->returns->waits && decides_later(&run, plan->returns, later))
			return false;
		argtrace_count_following(following, faults);
	}
	argtrace_count_following(following, filtered);
	return false;
}

noinline bool argtrace_return_accepts(struct argtrace_plan *plan, const struct argtrace_regs *fregs,
				      unsigned long caller)
{
	return accepts(plan, fregs, caller, NULL);
}

/*
 * The same of a system call, of whose arguments the function is given the address. False, too, if
 * it decides later.
 */
static noinline bool is_syscall_accepted(struct argtrace_plan *plan, struct argtrace_regs *regs,
					 bool in_list)
{
	struct argtrace_regs passed argtrace_uninitialized;

	argtrace_syscall_regs(&passed, regs);
	/* A tracer called after us might redirect the call, which would then never decide. */
	return accepts(plan, &passed, *argtrace_regs_return_slot(regs),
		       in_list && !ARGTRACE_IS_ALWAYS_IN_LIST ? NULL : regs);
}

/*
 * The slow path: the trampoline finds out whether to follow the call. The call counts as taken
 * until the trampoline has been entered, as an ops that is called after ours may redirect the call.
 * `in_list`: others trace the same function.
 */
static noinline __noclone void call_divert_slow(struct argtrace_return *returns, unsigned long ip,
						bool in_list, struct argtrace_regs *regs)
{
	const bool is_syscall = returns->plan->kind == ARGTRACE_KIND_SYSCALL;
	const struct argtrace_code *code = returns->plan->code;

	if (argtrace_is_diverted(regs, ip, in_list)) {
		argtrace_count_following(returns->following, taken);
		goto out;
	}
	if (code && (code->filter || code->sample) &&
	    !(is_syscall ? is_syscall_accepted(returns->plan, regs, in_list) :
				   argtrace_return_accepts(returns->plan, regs,
							   *argtrace_regs_return_slot(regs))))
		goto out;
	argtrace_count_following(returns->following, taken);
	/* Before the others: a call that finds one of them goes to a trampoline, which reads it. */
	WRITE_ONCE(returns->body, argtrace_body_of(regs));
	if (ARGTRACE_RESULT_HAS_REGISTER && returns->in_memory) {
		argtrace_divert_in_memory(regs, returns);
		goto out;
	}
	/* The quick ways take the registers as they are: none of them is for system calls. */
	if (!is_syscall && (!code || argtrace_code_waits_for_return(code)))
		/* Pairs with argtrace_load_body(). */
		smp_store_release(&returns->quick_body, argtrace_body_of(regs));
	else if (!is_syscall && (!code->keeps || returns->kept))
		/* Pairs with argtrace_load_body(). */
		smp_store_release(&returns->accepted_body, argtrace_body_of(regs));
	argtrace_divert_with_others(regs, returns, in_list);
out:
	preempt_enable_notrace();
}

/*
 * As far as quick operations decide whether a program lets a call go on: what is left of its
 * filter, then, or the verdict. Such a call may go by the filter once more, which finds the same,
 * but is sampled once.
 */
static __always_inline const struct argtrace_op *filter_quickly(const struct argtrace_op *op,
								const struct argtrace_regs *fregs)
{
	while (!argtrace_op_ends(op)) {
		if (op->kind == ARGTRACE_OP_REG) {
			op = argtrace_op_test(op, argtrace_op_reg(op, fregs));
			continue;
		}
		if (op->kind == ARGTRACE_OP_TASK) {
			op = argtrace_op_test(op, argtrace_op_task(op));
			continue;
		}
		if (!argtrace_op_is_load(op) || unlikely(!argtrace_scratch_enter()))
			break;
		op = argtrace_run_loads(op, fregs);
		argtrace_scratch_leave();
		/* It may have stopped at a load that the slow path has to repeat. */
		if (argtrace_op_ends(op) || argtrace_op_is_load(op))
			break;
	}
	return op;
}

/* Fast path: divert to the trampoline. */
static __always_inline void call_divert(struct argtrace_return *returns, unsigned long ip,
					struct ftrace_ops *ops, struct argtrace_regs *regs,
					const bool quick, const unsigned long body,
					void (*trampoline)(void))
{
	const bool in_list = argtrace_is_called_by_list(ops, __builtin_return_address(0));

	if (unlikely(in_list) || unlikely(argtrace_body_of(regs) != body) || unlikely(!quick) ||
	    unlikely(!argtrace_context_is_plain()) ||
	    unlikely(!argtrace_return_has_half_a_stack((unsigned long)regs,
						       sizeof(*regs) + sizeof(u64) +
						       returns->above)))
		return call_divert_slow(returns, ip, in_list, regs);
	argtrace_count_following(returns->following, entered);
	argtrace_divert(regs, returns, trampoline);
	preempt_enable_notrace();
}

/*
 * A call of a probe with a program, unless that waits for the return. In place of the callback, and
 * called by ftrace like it.
 */
static __always_inline void call_filter(struct argtrace_return *returns, unsigned long ip,
					struct ftrace_ops *ops, struct argtrace_regs *regs,
					const bool quick)
{
	const struct argtrace_op *op = filter_quickly(returns->plan->start, regs);

	if (op == ARGTRACE_OP_REJECT)
		return argtrace_return_filter(returns);
	/* Undecided: take the slow path. */
	call_divert(returns, ip, ops, regs, quick,
		    argtrace_op_ends(op) ? argtrace_load_body(&returns->accepted_body) : 0,
		    returns->kept ? argtrace_return_keeping : argtrace_return_quick);
}

static noinline __noclone void call_filter_tsc(struct argtrace_return *returns, unsigned long ip,
					       struct ftrace_ops *ops, struct argtrace_regs *regs)
{
	call_filter(returns, ip, ops, regs, true);
}

static noinline __noclone void call_filter_monotonic(struct argtrace_return *returns,
						     unsigned long ip, struct ftrace_ops *ops,
						     struct argtrace_regs *regs)
{
	call_filter(returns, ip, ops, regs, false);
}

static __always_inline void returns_callback(unsigned long ip, struct ftrace_ops *ops,
					     struct ftrace_regs *fregs, const bool quick,
					     const bool by_pid)
{
	struct argtrace_lane *lane = container_of(ops, struct argtrace_lane, ops);
	struct argtrace_regs *regs = argtrace_regs_of_ftrace(fregs);
	struct argtrace_return *returns;
	struct argtrace_plan *plan;

	plan = argtrace_return_begin(lane, ip, by_pid);
	if (unlikely(!plan))
		return;
	returns = plan->returns;
	if (unlikely(argtrace_body_of(regs) != argtrace_load_body(&returns->quick_body)) &&
	    plan->code)
		return quick ? call_filter_tsc(returns, ip, ops, regs) :
			       call_filter_monotonic(returns, ip, ops, regs);
	call_divert(returns, ip, ops, regs, quick, argtrace_load_body(&returns->quick_body),
		    argtrace_return_quick);
}

#define DEFINE_CALLBACK(name, quick, by_pid)							\
static void name(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,		\
		 struct ftrace_regs *fregs)							\
{												\
	returns_callback(ip, ops, fregs, quick, by_pid);					\
}

DEFINE_CALLBACK(returns_tsc, true, false)
DEFINE_CALLBACK(returns_tsc_by_pid, true, true)
DEFINE_CALLBACK(returns_monotonic, false, false)
DEFINE_CALLBACK(returns_monotonic_by_pid, false, true)

/* System calls always take the slow path. */
static __always_inline void syscall_callback(unsigned long ip, struct ftrace_ops *ops,
					     struct ftrace_regs *fregs, const bool by_pid)
{
	struct argtrace_lane *lane = container_of(ops, struct argtrace_lane, ops);
	struct argtrace_plan *plan;

	plan = argtrace_return_begin(lane, ip, by_pid);
	if (unlikely(!plan))
		return;
	call_divert_slow(plan->returns, ip,
			 argtrace_is_called_by_list(ops, __builtin_return_address(0)),
			 argtrace_regs_of_ftrace(fregs));
}

#define DEFINE_SYSCALL_CALLBACK(name, by_pid)							\
static void name(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,		\
		 struct ftrace_regs *fregs)							\
{												\
	syscall_callback(ip, ops, fregs, by_pid);						\
}

DEFINE_SYSCALL_CALLBACK(syscall_returns, false)
DEFINE_SYSCALL_CALLBACK(syscall_returns_by_pid, true)

ftrace_func_t argtrace_return_callback(const struct argtrace_lane *lane)
{
	if (lane->kind == ARGTRACE_LANE_SYSCALL_RETURN)
		return rcu_access_pointer(lane->pid_bits) ? syscall_returns_by_pid :
							    syscall_returns;
	if (rcu_access_pointer(lane->pid_bits))
		return lane->session->clock == ARGTRACE_CLOCK_TSC ? returns_tsc_by_pid :
								    returns_monotonic_by_pid;
	return lane->session->clock == ARGTRACE_CLOCK_TSC ? returns_tsc : returns_monotonic;
}
