// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks that leave the task's stack, or come to a return address that a tracer has replaced. The
 * kernel's stack_trace_save() knows what was there. It begins with our own frames, and ends where
 * our walk ends: so many of its last addresses are those that are wanted.
 */
#include <linux/sched.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "arch/walk.h"
#include "base/kernel_calls.h"
#include "base/recursion.h"

unsigned long argtrace_replaced_returns[2];

int argtrace_frames_get(void)
{
	if (!ARGTRACE_CAN_WALK)
		return -EOPNOTSUPP;
	/* Kernels without such a tracer have no such address. */
	WRITE_ONCE(argtrace_replaced_returns[0], argtrace_kernel_address("return_to_handler"));
	WRITE_ONCE(argtrace_replaced_returns[1],
		   argtrace_kernel_address("__kretprobe_trampoline"));
	return 0;
}

static bool is_replaced(u64 ip)
{
	return ip == argtrace_replaced_returns[0] || ip == argtrace_replaced_returns[1];
}

bool argtrace_record_may_follow(const struct task_struct *task, u64 fp, u64 next)
{
	if (next & 7 || !argtrace_is_kernel_address(next))
		return false;
	if (argtrace_record_is_on_stack_of(task, next))
		return !argtrace_record_is_on_stack_of(task, fp) || next > fp;
	return !argtrace_record_is_on_stack_of(task, fp) && next > fp && next - fp < THREAD_SIZE;
}

/* Stores up to `max` addresses from the record on, and sets walked->end. */
static u32 walk_records(u64 fp, u64 *frames, u32 max, bool *replaced, enum argtrace_walk_end *end)
{
	enum argtrace_frame_record record;
	u32 count = 0;
	u64 next, ip;

	*end = ARGTRACE_WALK_UNKNOWN;
	for (;;) {
		record = argtrace_read_record(fp, &next, &ip);
		if (record == ARGTRACE_RECORD_LAST)
			*end = ARGTRACE_WALK_WHOLE;
		if (record != ARGTRACE_RECORD_OF_CALL)
			return count;
		if (count == max) {
			*end = ARGTRACE_WALK_CUT;
			return count;
		}
		*replaced |= is_replaced(ip);
		frames[count++] = ip;
		if (!argtrace_record_may_follow(current, fp, next))
			return count;
		fp = next;
	}
}

/* In place of the addresses of a complete walk those that the kernel finds for them. */
static bool restore_replaced(struct argtrace_stack_room *room, u32 count)
{
	const unsigned int found = stack_trace_save((unsigned long *)room->frames,
						    ARRAY_SIZE(room->frames), 0);

	static_assert(sizeof(unsigned long) == sizeof(u64));
	if (found < count || found == ARRAY_SIZE(room->frames))
		return false;
	memmove(room->frames, room->frames + found - count, count * sizeof(u64));
	return true;
}

void argtrace_stack_walk_on(const struct argtrace_stack_start *start,
			    struct argtrace_stack_room *room, u32 max,
			    struct argtrace_walked *walked)
{
	const argtrace_full_regs *full = start->regs ? argtrace_full_regs_of(start->regs) : NULL;
	const u64 fp = full ? full->regs[29] : start->bp;
	bool replaced, known;
	u32 i;

	room->frames[0] = full ? full->pc : *start->sp;
	replaced = is_replaced(room->frames[0]);
	walked->end = ARGTRACE_WALK_UNKNOWN;
	walked->count = 1;
	if (!(fp & 7) && argtrace_is_kernel_address(fp))
		walked->count += walk_records(fp, room->frames + 1, max - 1, &replaced,
					      &walked->end);
	if (walked->end == ARGTRACE_WALK_UNKNOWN)
		return;
	if (replaced) {
		if (walked->end == ARGTRACE_WALK_CUT) {
			walked->end = ARGTRACE_WALK_UNKNOWN;
			return;
		}
		if (!argtrace_recursion_enter()) {
			walked->end = ARGTRACE_WALK_RECURSION;
			return;
		}
		known = restore_replaced(room, walked->count);
		argtrace_recursion_leave();
		if (!known) {
			walked->end = ARGTRACE_WALK_UNKNOWN;
			return;
		}
	}
	walked->hash = 0;
	for (i = 0; i < walked->count; i++)
		walked->hash = argtrace_stack_hash(walked->hash, room->frames[i]);
}
