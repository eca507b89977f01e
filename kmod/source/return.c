// SPDX-License-Identifier: GPL-2.0-only
/*
 * One call that is followed: ftrace's callback at its entry, which is like that of source/entry.c but that it has the call go on in a
 * trampoline, and what the trampoline calls. Each call ends in exactly one outcome of its probe, and is in flight before.
 *
 * The counters of a plan count what has become of the calls that have been entered; those of its struct argtrace_return count the
 * calls that have been entered, and all the others.
 */
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include "compat.h"
#include "fetch/exec.h"
#include "fetch/scratch.h"
#include "filter/throttle.h"
#include "session.h"
#include "sink/record.h"
#include "source/aggregate.h"
#include "source/context.h"
#include "source/return.h"
#include "source/syscall.h"

DEFINE_PER_CPU(u8, argtrace_return_depth);

/* Calls that may be inside each other in interrupts, which have stacks of their own: the smallest has 8 KiB, that of NMIs. */
#define DEPTH_BYTES	128	/* of values that are kept count as one more */
#define MAX_DEPTH	24
#define MAX_DEPTH_NMI	6

#define MAX_QUICKLY_KEPT 256	/* bytes, for which the quick way need not look how much of the stack is left */

#define OWN_PREEMPT_LEVELS	(PREEMPT_DISABLE_OFFSET ? 1 : 0)

u32 argtrace_return_prepare(struct argtrace_plan *plan, u32 at)
{
	const struct argtrace_arg *arg = argtrace_schema_args(plan->schema);
	const u32 flags = plan->schema->flags;
	struct argtrace_return *returns = plan->returns;
	u32 i;

	returns->plan = plan;
	returns->care = ARGTRACE_CARE_STOPPED;
	returns->words = ((flags & ARGTRACE_PROBE_WORDS_MASK) >> ARGTRACE_PROBE_WORDS_SHIFT) - 1;
	returns->above = returns->words * sizeof(u64);
	for (i = 0; i < plan->schema->nr_args; i++, arg++) {
		if (arg->loc != ARGTRACE_LOC_RETURN)
			continue;
		returns->value_at = at;
		returns->value_size = arg->size;
		returns->value_has_length = arg->type == ARGTRACE_TYPE_BYTES;
		at += arg->size + (returns->value_has_length ? sizeof(u16) : 0);
	}
	return at;
}

unsigned long argtrace_return_quickly_kept(const struct argtrace_plan *plan)
{
	const struct argtrace_code *code = plan->code;
	const unsigned long kept = code && code->keeps ? ALIGN(sizeof(u64) + code->kept, sizeof(u64)) : 0;

	return kept && code->outputs == ARGTRACE_OUTPUTS_QUICK && kept <= MAX_QUICKLY_KEPT ? kept : 0;
}

/* Whether the upper half of the task's stack is where `sp` is, and has `above` bytes more. */
static __always_inline bool has_half_a_stack(unsigned long sp, unsigned long above)
{
	return sp - (unsigned long)task_stack_page(current) - THREAD_SIZE / 2 < THREAD_SIZE / 2 - above;
}

static __always_inline bool is_on_task_stack(unsigned long sp)
{
	return sp - (unsigned long)task_stack_page(current) < THREAD_SIZE;
}

void argtrace_return_lose(struct argtrace_return *returns, enum argtrace_lost cause)
{
	argtrace_count_following(returns->following, entered);
	argtrace_count_here(returns->plan->counters, lost[cause]);
}

noinline bool argtrace_return_accepts(struct argtrace_plan *plan, const struct ftrace_regs *fregs)
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
	run.caller = argtrace_read_stack(argtrace_stack(fregs));
	verdict = argtrace_run_filter(&run, code->filter);
	argtrace_scratch_leave();
	if (verdict == ARGTRACE_VERDICT_ACCEPT)
		return true;
	if (verdict == ARGTRACE_VERDICT_FAULT)
		argtrace_count_following(following, faults);
	argtrace_count_following(following, filtered);
	return false;
}

/* The same of a system call, of whose arguments the function is given the address. */
static noinline bool is_syscall_accepted(struct argtrace_plan *plan, const struct pt_regs *regs)
{
	struct pt_regs passed argtrace_uninitialized;

	argtrace_syscall_regs(&passed, regs);
	return argtrace_return_accepts(plan, (const struct ftrace_regs *)&passed);
}

/*
 * A call that takes more than the callback does itself goes on in a trampoline that finds out whether to follow it. Until that has
 * been entered, which others can prevent that ftrace calls after us, the call counts as taken.
 *
 * `in_list`: others trace the same function. If one of them has asked for all registers there may be a direct caller, which goes
 * before whatever the instruction pointer says: then we are one too. Another that is there already, we call, unless it is one of
 * our own, of another session: that would not find in rax what it needs.
 */
static noinline __noclone void go_with_care(struct argtrace_return *returns, unsigned long ip, bool in_list, struct pt_regs *regs)
{
	const bool is_syscall = returns->plan->kind == ARGTRACE_KIND_SYSCALL;
	const struct argtrace_code *code = returns->plan->code;
	const bool has_caller = in_list && regs->cs && regs->orig_ax;

	/* Since Linux 7 bit 0 says how the direct caller is to be reached. */
	if (regs->ip != ip + MCOUNT_INSN_SIZE || (has_caller && argtrace_in_trampoline(regs->orig_ax & ~1ul))) {
		argtrace_count_following(returns->following, taken);
		goto out;
	}
	if (code && !(is_syscall ? is_syscall_accepted(returns->plan, regs) :
				   argtrace_return_accepts(returns->plan, (const struct ftrace_regs *)regs)))
		goto out;
	argtrace_count_following(returns->following, taken);
	WRITE_ONCE(returns->body, regs->ip);
	/* The quick ways take the registers as they are: none of them is for system calls. */
	if (!is_syscall && (!code || argtrace_code_waits_for_return(code)))
		WRITE_ONCE(returns->quick_body, regs->ip);
	else if (!is_syscall && (!code->keeps || returns->kept))
		WRITE_ONCE(returns->accepted_body, regs->ip);
	regs->ax = (unsigned long)returns;
	if (!in_list || !regs->cs) {
		regs->ip = (unsigned long)argtrace_return_slow;
	} else if (!has_caller) {
		regs->orig_ax = (unsigned long)argtrace_return_direct;
	} else {
		regs->r10 = regs->orig_ax;
		regs->orig_ax = (unsigned long)argtrace_return_chain;
	}
out:
	preempt_enable_notrace();
}

/*
 * As far as quick operations decide whether a program lets a call go on: what is left of its filter, then, or the verdict. Such a call
 * may go by the filter once more, which finds the same, but is sampled once.
 */
static __always_inline const struct argtrace_op *filter_quickly(const struct argtrace_op *op, const struct ftrace_regs *fregs)
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
		/* It may have stopped at one that has to be repeated with care. */
		if (argtrace_op_ends(op) || argtrace_op_is_load(op))
			break;
	}
	return op;
}

static __always_inline void count_filtered(const struct argtrace_return *returns)
{
	argtrace_count_following(returns->following, filtered);
	preempt_enable_notrace();
}

/* The way of a call on which nothing needs a second look, but for what a program says. */
static __always_inline void go(struct argtrace_return *returns, unsigned long ip, struct ftrace_ops *ops, struct pt_regs *regs,
			       const bool quick, const unsigned long body, void (*trampoline)(void))
{
	const bool in_list = (unsigned long)__builtin_return_address(0) - ops->trampoline >= ops->trampoline_size;

	if (unlikely(in_list) || unlikely(regs->ip != body) || unlikely(!quick) || unlikely(!argtrace_context_is_plain()) ||
	    unlikely(!has_half_a_stack((unsigned long)regs, sizeof(*regs) + sizeof(u64) + returns->above)))
		return go_with_care(returns, ip, in_list, regs);
	argtrace_count_following(returns->following, entered);
	regs->ax = (unsigned long)returns;
	regs->ip = (unsigned long)trampoline;
	preempt_enable_notrace();
}

/* A call of a probe with a program, unless that waits for the return. In place of the callback, and called by ftrace like it. */
static __always_inline void go_by_program(struct argtrace_return *returns, unsigned long ip, struct ftrace_ops *ops,
					  struct pt_regs *regs, const bool quick)
{
	const struct argtrace_op *op = filter_quickly(returns->plan->start, (const struct ftrace_regs *)regs);

	if (op == ARGTRACE_OP_REJECT)
		return count_filtered(returns);
	/* What is not decided is not at a place that is known. */
	go(returns, ip, ops, regs, quick, argtrace_op_ends(op) ? returns->accepted_body : 0,
	   returns->kept ? argtrace_return_keeping : argtrace_return_quick);
}

static noinline __noclone void go_by_program_quickly(struct argtrace_return *returns, unsigned long ip, struct ftrace_ops *ops,
						     struct pt_regs *regs)
{
	go_by_program(returns, ip, ops, regs, true);
}

static noinline __noclone void go_by_program_carefully(struct argtrace_return *returns, unsigned long ip, struct ftrace_ops *ops,
						       struct pt_regs *regs)
{
	go_by_program(returns, ip, ops, regs, false);
}

static __always_inline void callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
				     struct ftrace_regs *fregs, const bool quick, const bool by_pid)
{
	struct argtrace_lane *lane = container_of(ops, struct argtrace_lane, ops);
	struct pt_regs *regs = argtrace_regs(fregs);
	struct argtrace_return *returns;
	struct argtrace_plan *plan;

	preempt_disable_notrace();
	plan = argtrace_table_lookup(rcu_dereference_raw(lane->table), ip);
	if (unlikely(!plan)) {
		preempt_enable_notrace();
		return;
	}
	returns = plan->returns;
	if (unlikely(argtrace_is_filtered(lane, by_pid)))
		return count_filtered(returns);
	if (unlikely(regs->ip != returns->quick_body) && plan->code)
		return quick ? go_by_program_quickly(returns, ip, ops, regs) : go_by_program_carefully(returns, ip, ops, regs);
	go(returns, ip, ops, regs, quick, returns->quick_body, argtrace_return_quick);
}

#define DEFINE_CALLBACK(name, quick, by_pid)							\
static void name(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,		\
		 struct ftrace_regs *fregs)							\
{												\
	callback(ip, parent_ip, ops, fregs, quick, by_pid);					\
}

DEFINE_CALLBACK(returns_tsc, true, false)
DEFINE_CALLBACK(returns_tsc_by_pid, true, true)
DEFINE_CALLBACK(returns_monotonic, false, false)
DEFINE_CALLBACK(returns_monotonic_by_pid, false, true)

/* A call whose function is given the address of its arguments always takes care. */
static __always_inline void syscall_callback(unsigned long ip, struct ftrace_ops *ops, struct ftrace_regs *fregs, const bool by_pid)
{
	struct argtrace_lane *lane = container_of(ops, struct argtrace_lane, ops);
	struct argtrace_plan *plan;

	preempt_disable_notrace();
	plan = argtrace_table_lookup(rcu_dereference_raw(lane->table), ip);
	if (unlikely(!plan)) {
		preempt_enable_notrace();
		return;
	}
	if (unlikely(argtrace_is_filtered(lane, by_pid)))
		return count_filtered(plan->returns);
	go_with_care(plan->returns, ip, (unsigned long)__builtin_return_address(0) - ops->trampoline >= ops->trampoline_size,
		     argtrace_regs(fregs));
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
		return rcu_access_pointer(lane->pid_bits) ? syscall_returns_by_pid : syscall_returns;
	if (rcu_access_pointer(lane->pid_bits))
		return lane->session->clock == ARGTRACE_CLOCK_TSC ? returns_tsc_by_pid : returns_monotonic_by_pid;
	return lane->session->clock == ARGTRACE_CLOCK_TSC ? returns_tsc : returns_monotonic;
}

static u32 depth_of(unsigned long kept)
{
	return 1 + DIV_ROUND_UP(kept, DEPTH_BYTES);
}

/*
 * Whether there is room for what the frame calls, and for `kept` bytes below it, and what is to be copied above it is there.
 */
static bool has_room(const struct argtrace_frame *frame, unsigned long kept)
{
	const unsigned long above = frame->returns->above;

	if (is_on_task_stack((unsigned long)frame))
		return has_half_a_stack((unsigned long)frame - kept, kept + sizeof(*frame) + above);
	/* The page is sure to be there; an honest number of words is not near the end of the stack either. */
	if (offset_in_page(frame + 1) + above > PAGE_SIZE)
		return false;
	return this_cpu_read(argtrace_return_depth) + depth_of(kept) <= (in_nmi() ? MAX_DEPTH_NMI : MAX_DEPTH);
}

/* Takes it. The state says what leave_stack() is to undo. */
static u64 enter_stack(const struct argtrace_frame *frame, unsigned long kept)
{
	u64 depth = 0;

	if (!is_on_task_stack((unsigned long)frame)) {
		depth = depth_of(kept);
		this_cpu_add(argtrace_return_depth, depth);
	}
	return depth << ARGTRACE_FRAME_DEPTH_SHIFT | (u64)kept << ARGTRACE_FRAME_KEPT_SHIFT;
}

static void leave_stack(const struct argtrace_frame *frame)
{
	const u32 depth = frame->state >> ARGTRACE_FRAME_DEPTH_SHIFT & ARGTRACE_FRAME_DEPTH_MASK;

	if (depth)
		this_cpu_sub(argtrace_return_depth, depth);
}

/* The kernel may read its clock through functions that can be traced. */
bool argtrace_return_read_clock(u32 clock, u64 *now)
{
	if (clock == ARGTRACE_CLOCK_TSC) {
		*now = rdtsc();
		return true;
	}
	if (!argtrace_recursion_enter())
		return false;
	*now = argtrace_clock_read(clock);
	argtrace_recursion_leave();
	return true;
}

/* Follows a call for which there is room. False: it is lost. */
static bool enter(struct argtrace_frame *frame, unsigned long kept)
{
	struct argtrace_return *returns = frame->returns;

	frame->state = enter_stack(frame, kept) | argtrace_context_word(OWN_PREEMPT_LEVELS);
	argtrace_count_following(returns->following, entered);
	if (likely(argtrace_return_read_clock(returns->clock, &frame->clock)))
		return true;
	leave_stack(frame);
	argtrace_count_here(returns->plan->counters, lost[ARGTRACE_LOST_RECURSION]);
	return false;
}

/* Computes what is to be kept, from the word on that says which values could not be read. Returns how many bytes that takes. */
unsigned long argtrace_return_gather_to(struct argtrace_frame *frame, u8 *scratch)
{
	/* A call that goes on in another direct caller has that one's: see argtrace_return_chain. */
	const unsigned long sp = frame->sp;
	struct argtrace_run run argtrace_uninitialized;
	u8 *end;

	run.code = frame->returns->plan->code;
	run.fregs = argtrace_frame_regs(frame);
	run.caller = frame->caller;
	argtrace_frame_set_stack(frame);
	end = argtrace_run_entry_values(&run, scratch + sizeof(u64));
	frame->sp = sp;
	*(u64 *)scratch = run.unreadable;
	return ALIGN(end - scratch, sizeof(u64));
}

/* The same below the frame, where there is room for them. */
static noinline void gather_slowly(struct argtrace_frame *frame)
{
	struct argtrace_run run argtrace_uninitialized;
	u8 *to = (u8 *)frame - frame->returns->kept;

	run.code = frame->returns->plan->code;
	run.fregs = argtrace_frame_regs(frame);
	run.caller = frame->caller;
	argtrace_frame_set_stack(frame);
	argtrace_run_entry_values(&run, to + sizeof(u64));
	*(u64 *)to = run.unreadable;
}

unsigned long argtrace_return_gather(struct argtrace_frame *frame)
{
	struct argtrace_return *returns = frame->returns;
	u8 *to = (u8 *)frame - returns->kept;
	const struct argtrace_op *op;
	u64 value;

	preempt_disable_notrace();
	if (unlikely(!argtrace_scratch_enter())) {
		argtrace_count_here(returns->plan->counters, lost[ARGTRACE_LOST_RECURSION]);
		preempt_enable_notrace();
		return 0;
	}
	frame->state = (u64)returns->kept << ARGTRACE_FRAME_KEPT_SHIFT;
	*(u64 *)to = 0;
	to += sizeof(u64);
	for (op = returns->plan->code->values; op; op = op->next[1]) {
		if (op->flags & ARGTRACE_INSN_RETURN)
			continue;
		if (unlikely(!argtrace_op_quickly(op, argtrace_frame_regs(frame), &value))) {
			gather_slowly(frame);
			break;
		}
		to = argtrace_encode_value(to, value & op->mask, op->arg);
	}
	argtrace_scratch_leave();
	frame->clock = rdtsc();
	preempt_enable_notrace();
	return ARGTRACE_ENTER_FOLLOW;
}

/*
 * A call of which values are kept. As many bytes as they take are read from the scratch memory by argtrace_return_keep(); until
 * then preemption stays off. 0: the call is let pass.
 */
static noinline unsigned long enter_with_values(struct argtrace_frame *frame)
{
	struct argtrace_return *returns = frame->returns;
	enum argtrace_lost cause = ARGTRACE_LOST_RECURSION;
	unsigned long bytes;
	u8 *scratch;

	if (unlikely(!argtrace_scratch_enter()))
		goto lost;
	scratch = argtrace_scratch_here();
	if (unlikely(!scratch)) {
		argtrace_scratch_leave();
		cause = ARGTRACE_LOST_NO_BUFFER;
		goto lost;
	}
	bytes = argtrace_return_gather_to(frame, scratch);
	if (likely(has_room(frame, bytes))) {
		if (likely(enter(frame, bytes)))
			return bytes;
	} else {
		argtrace_count_following(returns->following, low_stack);
	}
	argtrace_scratch_leave();
	goto out;
lost:
	argtrace_return_lose(returns, cause);
out:
	preempt_enable_notrace();
	return 0;
}

unsigned long argtrace_return_enter(struct argtrace_frame *frame)
{
	struct argtrace_return *returns = frame->returns;
	const struct argtrace_code *code;
	bool follow = false;

	preempt_disable_notrace();
	argtrace_uncount_following(returns->following, taken);
	if (returns->plan->kind == ARGTRACE_KIND_SYSCALL)
		argtrace_syscall_arguments(argtrace_regs((struct ftrace_regs *)argtrace_frame_regs(frame)), frame->high);
	if (unlikely(!has_room(frame, 0))) {
		argtrace_count_following(returns->following, low_stack);
	} else {
		code = returns->plan->code;
		if (code && code->keeps)
			return enter_with_values(frame);
		follow = enter(frame, 0);
	}
	preempt_enable_notrace();
	return follow ? ARGTRACE_ENTER_FOLLOW : 0;
}

void argtrace_return_keep(struct argtrace_frame *frame, unsigned long bytes)
{
	const u8 *scratch = argtrace_scratch_here();

	argtrace_copy_words((u8 *)frame - bytes, scratch, bytes);
	argtrace_scratch_leave();
	preempt_enable_notrace();
}

/* The values that are kept, after the word that says which of them could not be read. NULL: there are none. */
static const u8 *kept_values(const struct argtrace_frame *frame)
{
	const unsigned long bytes = frame->state >> ARGTRACE_FRAME_KEPT_SHIFT;

	return bytes ? (const u8 *)frame - bytes + sizeof(u64) : NULL;
}

/*
 * The time of a record that argtrace_ring_reserve() has reserved, from its lower half. The upper one is the ring's, and was
 * `high` before: should an interrupt have found the next one since, then the lower half says which of them it is.
 */
static __always_inline u64 full_time(const struct argtrace_ring *ring, u32 high, u32 low)
{
	const u32 now = READ_ONCE(ring->clock_high);

	if (likely(now == high) || low < 0x80000000u)
		high = now;
	return (u64)high << 32 | low;
}

static __always_inline void write_duration(u8 *to, const struct argtrace_return *returns,
					   const struct argtrace_frame *frame, u64 now)
{
	const s64 duration = now - frame->clock;

	/* The counters of two CPUs may differ by a few ticks. */
	*(u64 *)(to + returns->duration_at) = max_t(s64, duration, 0);
}

/* The value, to the byte: other data may follow, or another record. */
static void write_value(u8 *to, const struct argtrace_return *returns, const struct argtrace_frame *frame)
{
	const unsigned long words[] = { frame->value, frame->high };

	if (!returns->value_at)
		return;
	to += returns->value_at;
	if (returns->value_has_length) {
		__builtin_memcpy(to, &returns->value_size, sizeof(returns->value_size));
		to += sizeof(returns->value_size);
	}
	argtrace_copy_words(to, (const u8 *)words, returns->value_size);
}

/* Any record but the outputs of a program. */
static void write_carefully(u8 *to, struct argtrace_frame *frame, struct argtrace_ring *ring, u64 now, u32 context)
{
	const struct argtrace_return *returns = frame->returns;
	struct argtrace_plan *plan = returns->plan;

	argtrace_frame_set_stack(frame);
	argtrace_record_registers(to, plan, frame->caller, argtrace_frame_regs(frame));
	write_duration(to, returns, frame, now);
	argtrace_record_header(to, plan, now, current->pid, context);
	if (plan->layout.has_rest)
		argtrace_record_rest(to, ring->format, plan, argtrace_frame_regs(frame));
	write_value(to, returns, frame);
}

/* Where a record goes for which argtrace_ring_reserve() has found no room; NULL: it is counted as lost. */
static u8 *reserve_slowly(struct argtrace_plan *plan, struct argtrace_ring *ring, u32 size, u64 *now)
{
	if (argtrace_record_is_lost(plan, ring, size))
		return NULL;
	return argtrace_record_reserve(plan, ring, size, now);
}

/* The same with any clock, in any ring. */
static u8 *reserve(struct argtrace_plan *plan, struct argtrace_ring *ring, u32 size, u64 *now)
{
	struct argtrace_ring_control *control = ring->control;
	const u32 high = READ_ONCE(ring->clock_high), tid = current->pid;
	u32 clock;
	u8 *to;

	if (!(ring->clock == ARGTRACE_CLOCK_TSC ?
		      argtrace_ring_reserve(ring, control, size, tid, ARGTRACE_CLOCK_TSC, ring->flight, &clock, &to) :
		      argtrace_ring_reserve(ring, control, size, tid, ARGTRACE_CLOCK_MONOTONIC, ring->flight, &clock, &to)))
		return reserve_slowly(plan, ring, size, now);
	*now = full_time(ring, high, clock);
	return to;
}

/* argtrace_ring_reserve() failed. */
static noinline void record_slow(struct argtrace_frame *frame, struct argtrace_ring *ring)
{
	struct argtrace_plan *plan = frame->returns->plan;
	u64 now;
	u8 *to = reserve_slowly(plan, ring, plan->record_size, &now);

	if (unlikely(!to))
		return argtrace_record_finish(ring);
	write_carefully(to, frame, ring, now, frame->state);
	argtrace_record_complete(plan, ring);
}

static noinline void record_with_care(struct argtrace_frame *frame, struct argtrace_ring *ring, u32 context)
{
	struct argtrace_plan *plan = frame->returns->plan;
	u64 now;
	u8 *to;

	argtrace_ring_begin(ring->control);
	to = reserve(plan, ring, plan->record_size, &now);
	if (unlikely(!to))
		return argtrace_record_finish(ring);
	write_carefully(to, frame, ring, now, context);
	argtrace_record_complete(plan, ring);
}

/* Where a record of the call is, complete but for the outputs of the program. NULL: it is counted as lost. */
static u8 *begin_record(struct argtrace_frame *frame, struct argtrace_ring *ring, u32 context, u32 size)
{
	u64 now;
	u8 *to;

	argtrace_ring_begin(ring->control);
	to = reserve(frame->returns->plan, ring, size, &now);
	if (likely(to))
		write_carefully(to, frame, ring, now, context);
	return to;
}

static void end_record(struct argtrace_plan *plan, struct argtrace_ring *ring, const u8 *to)
{
	argtrace_scratch_leave();
	if (likely(to))
		argtrace_record_complete(plan, ring);
	else
		argtrace_record_finish(ring);
}

/* Writes the outputs, whose sizes are known, into a record that is complete otherwise. */
static void finish_in_place(u8 *to, struct argtrace_plan *plan, struct argtrace_ring *ring, struct argtrace_run *run)
{
	u8 *outputs;

	if (likely(to)) {
		outputs = to + plan->code->unreadable_at;
		argtrace_run_return_values(run, outputs + sizeof(u64));
		__builtin_memcpy(outputs, &run->unreadable, sizeof(u64));
		if (unlikely(run->unreadable))
			argtrace_count_here(plan->counters, faults);
	}
	end_record(plan, ring, to);
}

/* Others are gathered in the scratch memory first, as they are in a record from the word on that says which could not be read. */
static void record_gathered(struct argtrace_frame *frame, struct argtrace_ring *ring, u32 context, struct argtrace_run *run, u8 *scratch)
{
	struct argtrace_plan *plan = frame->returns->plan;
	const u32 length = argtrace_run_return_values(run, scratch + sizeof(u64)) - scratch;
	const u32 size = ALIGN(plan->code->unreadable_at + length, 8);
	u8 *to;

	*(u64 *)scratch = run->unreadable;
	if (run->unreadable)
		argtrace_count_here(plan->counters, faults);
	to = begin_record(frame, ring, context, size);
	if (likely(to)) {
		((struct argtrace_record *)to)->size = size;
		argtrace_copy_words(to + plan->code->unreadable_at, scratch, length);
	}
	end_record(plan, ring, to);
}

static __always_inline u64 nanoseconds_until(u64 now, const struct argtrace_frame *frame, const struct argtrace_ring *ring,
					     const u32 clock)
{
	/* The counters of two CPUs may differ by a few ticks. */
	const u64 ticks = max_t(s64, now - frame->clock, 0);

	return clock == ARGTRACE_CLOCK_TSC ? mul_u64_u32_shr(ticks, ring->mult, ARGTRACE_MULT_SHIFT) : ticks;
}

/* How long the call has taken until now, for the program. False: the clock cannot be read here. */
static bool set_duration(struct argtrace_frame *frame, const struct argtrace_ring *ring)
{
	u64 now;

	if (!argtrace_return_read_clock(ring->clock, &now))
		return false;
	frame->duration = nanoseconds_until(now, frame, ring, ring->clock);
	return true;
}

static enum argtrace_verdict run_return_filter(struct argtrace_run *run)
{
	const struct argtrace_op *op = run->code->return_filter;
	u64 value;

	while (!argtrace_op_ends(op) && argtrace_op_has_quick_value(op) && argtrace_op_quickly(op, run->fregs, &value))
		op = argtrace_op_test(op, value);
	return argtrace_op_ends(op) ? (unsigned long)op : argtrace_run_filter(run, op);
}

/*
 * The call has returned, of a probe with a program. What its filter, its cap and its values are given is the frame, with the
 * duration in place of the state.
 */
static noinline void run_program(struct argtrace_frame *frame, struct argtrace_ring *ring, u32 context)
{
	struct argtrace_plan *plan = frame->returns->plan;
	enum argtrace_verdict verdict = ARGTRACE_VERDICT_ACCEPT;
	struct argtrace_run run argtrace_uninitialized;
	u8 *scratch;

	if (unlikely(!argtrace_scratch_enter())) {
		argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_RECURSION]);
		goto out;
	}
	/* Before the duration takes the place of what says where they are. */
	run.kept = kept_values(frame);
	if (plan->code->times && unlikely(!set_duration(frame, ring))) {
		argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_RECURSION]);
		goto leave;
	}
	argtrace_frame_set_stack(frame);
	run.code = plan->code;
	run.fregs = argtrace_frame_regs(frame);
	run.caller = frame->caller;
	if (plan->code->return_filter)
		verdict = run_return_filter(&run);
	if (verdict != ARGTRACE_VERDICT_ACCEPT) {
		if (verdict == ARGTRACE_VERDICT_FAULT)
			argtrace_count_here(plan->counters, faults);
		argtrace_count_here(plan->counters, filtered);
		goto leave;
	}
	if (plan->code->max_rate && !argtrace_may_record(plan->code)) {
		argtrace_count_here(plan->counters, capped);
		goto leave;
	}
	if (plan->code->outputs == ARGTRACE_OUTPUTS_NONE) {
		argtrace_scratch_leave();
		return record_with_care(frame, ring, context);
	}
	if (argtrace_code_aggregates(plan->code)) {
		argtrace_aggregate_return(plan, &run);
		goto leave;
	}
	if (plan->code->outputs == ARGTRACE_OUTPUTS_QUICK || plan->code->outputs == ARGTRACE_OUTPUTS_FIXED)
		return finish_in_place(begin_record(frame, ring, context, plan->record_size), plan, ring, &run);
	scratch = argtrace_scratch_here();
	if (likely(scratch))
		return record_gathered(frame, ring, context, &run, scratch);
	argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_NO_BUFFER]);
leave:
	argtrace_scratch_leave();
out:
	preempt_enable_notrace();
}

/* The record takes care, of which there is as much as leave_with_outputs() has found out. */
static noinline void finish_outputs(struct argtrace_frame *frame, struct argtrace_ring *ring, u8 *to)
{
	struct argtrace_run run argtrace_uninitialized;

	run.kept = kept_values(frame);
	run.code = frame->returns->plan->code;
	run.fregs = argtrace_frame_regs(frame);
	run.caller = frame->caller;
	argtrace_frame_set_stack(frame);
	finish_in_place(to, frame->returns->plan, ring, &run);
}

static noinline void record_outputs_slowly(struct argtrace_frame *frame, struct argtrace_ring *ring)
{
	struct argtrace_plan *plan = frame->returns->plan;
	u64 now;
	u8 *to = reserve_slowly(plan, ring, plan->record_size, &now);

	if (likely(to))
		write_carefully(to, frame, ring, now, 0);
	finish_outputs(frame, ring, to);
}

/*
 * Writes a record that takes no care, complete but for the outputs of the program. False: argtrace_ring_reserve() failed, and
 * nothing is written.
 */
static __always_inline bool write_quickly(const struct argtrace_frame *frame, const struct argtrace_return *returns,
					  const struct argtrace_plan *plan, struct argtrace_ring *ring, u8 **to)
{
	const u32 high = READ_ONCE(ring->clock_high);
	u32 clock;

	argtrace_ring_begin(ring->control);
	if (unlikely(!argtrace_ring_reserve(ring, ring->control, plan->record_size, current->pid, ARGTRACE_CLOCK_TSC, false,
					    &clock, to)))
		return false;
	argtrace_record_registers(*to, plan, frame->caller, argtrace_frame_regs(frame));
	write_duration(*to, returns, frame, full_time(ring, high, clock));
	*(u64 *)(*to + returns->value_at) = frame->value;
	argtrace_record_header(*to, plan, clock, ring->last_tid, 0);
	return true;
}

/* ARGTRACE_CARE_OUTPUTS, in plain context. */
static noinline void leave_with_outputs(struct argtrace_frame *frame)
{
	const struct argtrace_return *returns = frame->returns;
	struct argtrace_plan *plan = returns->plan;
	struct argtrace_ring *ring = this_cpu_ptr(returns->rings);
	const u8 *kept = kept_values(frame);
	const struct argtrace_op *op;
	u64 value;
	u8 *to;

	if (unlikely(!argtrace_scratch_enter())) {
		argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_RECURSION]);
		preempt_enable_notrace();
		return;
	}
	if (unlikely(!write_quickly(frame, returns, plan, ring, &to)))
		return record_outputs_slowly(frame, ring);
	if (unlikely(kept && *((const u64 *)kept - 1)))
		return finish_outputs(frame, ring, to);
	*(u64 *)(to + plan->code->unreadable_at) = 0;
	op = plan->code->values;
	do {
		if (!(op->flags & ARGTRACE_INSN_RETURN)) {
			/* A word may be read wherever a value is: the frame is above what is kept. */
			__builtin_memcpy(&value, kept, sizeof(value));
			kept += op->arg;
		} else if (unlikely(!argtrace_op_quickly(op, argtrace_frame_regs(frame), &value))) {
			return finish_outputs(frame, ring, to);
		} else {
			value &= op->mask;
		}
		argtrace_encode_value(to + op->base, value, op->arg);
		op = op->next[1];
	} while (op);
	argtrace_scratch_leave();
	argtrace_record_complete(plan, ring);
}

/* ARGTRACE_CARE_WORDS, in plain context. */
static noinline void leave_with_words(struct argtrace_frame *frame)
{
	const struct argtrace_return *returns = frame->returns;

	frame->duration = nanoseconds_until(rdtsc(), frame, this_cpu_ptr(returns->rings), ARGTRACE_CLOCK_TSC);
	argtrace_aggregate_returned(returns->plan, argtrace_frame_regs(frame));
}

/* The record of a call that takes no care. */
static __always_inline void record_quickly(struct argtrace_frame *frame, const struct argtrace_return *returns)
{
	struct argtrace_plan *plan = returns->plan;
	struct argtrace_ring *ring = this_cpu_ptr(returns->rings);
	u8 *to;

	if (unlikely(!write_quickly(frame, returns, plan, ring, &to)))
		return record_slow(frame, ring);
	argtrace_record_complete(plan, ring);
}

/* ARGTRACE_CARE_FILTER, in plain context. */
static noinline void leave_with_filter(struct argtrace_frame *frame)
{
	const struct argtrace_return *returns = frame->returns;
	const struct argtrace_code *code = returns->plan->code;
	const struct ftrace_regs *fregs = argtrace_frame_regs(frame);
	const struct argtrace_op *op = code->return_filter;

	if (code->times)
		frame->duration = nanoseconds_until(rdtsc(), frame, this_cpu_ptr(returns->rings), ARGTRACE_CLOCK_TSC);
	do {
		op = argtrace_op_test(op, op->kind == ARGTRACE_OP_REG ? argtrace_op_reg(op, fregs) : argtrace_op_task(op));
	} while (!argtrace_op_ends(op));
	if (op == ARGTRACE_OP_REJECT) {
		argtrace_count_here(returns->plan->counters, filtered);
		preempt_enable_notrace();
		return;
	}
	/* The duration took its place. */
	frame->state = 0;
	record_quickly(frame, returns);
}

static noinline void leave_with_care(struct argtrace_frame *frame)
{
	struct argtrace_return *returns = frame->returns;
	const unsigned long care = smp_load_acquire(&returns->care);
	const u32 context = frame->state;

	if (!(frame->state << (64 - ARGTRACE_FRAME_KEPT_SHIFT))) {
		if (care == ARGTRACE_CARE_OUTPUTS)
			return leave_with_outputs(frame);
		if (care == ARGTRACE_CARE_WORDS)
			return leave_with_words(frame);
		if (care == ARGTRACE_CARE_FILTER)
			return leave_with_filter(frame);
	}
	leave_stack(frame);
	if (unlikely(care & ARGTRACE_CARE_STOPPED)) {
		if (returns != &argtrace_return_given_up)
			argtrace_count_following(returns->following, removed);
		preempt_enable_notrace();
	} else if (returns->plan->code) {
		run_program(frame, this_cpu_ptr(returns->rings), context);
	} else {
		record_with_care(frame, this_cpu_ptr(returns->rings), context);
	}
}

/* Preemption off is our read side of RCU here too. */
void argtrace_return_leave(struct argtrace_frame *frame)
{
	const struct argtrace_return *returns = frame->returns;

	preempt_disable_notrace();
	if (unlikely(smp_load_acquire(&returns->care) | frame->state))
		return leave_with_care(frame);
	record_quickly(frame, returns);
}
