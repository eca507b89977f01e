// SPDX-License-Identifier: GPL-2.0-only
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include "arch/followed.h"
#include "arch/walk.h"

bool argtrace_can_find_followed(void)
{
	return ARGTRACE_CAN_WALK;
}

/* Where a BL leads, or 0 if the instruction is another (Arm ARM, C6.2, "BL"). */
static unsigned long called_by(unsigned long addr)
{
	const u32 insn = *(const u32 *)addr;

	if (insn >> 26 != 0x25)
		return 0;
	return addr + ((s64)((u64)insn << 38) >> 36);
}

/*
 * A return address in the trampolines follows a BL, and x29 leads to the frame's record then. An
 * address that was interrupted there may follow another instruction: x29 may be the caller's, and
 * there is nothing to be found yet, or any more.
 */
void argtrace_for_each_followed(struct task_struct *task,
				void (*found)(struct argtrace_frame *frame, bool in_body,
					      void *data),
				void *data)
{
	u64 fp = task == current ? (u64)__builtin_frame_address(0) : thread_saved_fp(task);
	u64 next, ip;

	/* An interrupt is on the CPU's stack, from which records lead to the task's. */
	if (task != current && (fp & 7 || !argtrace_record_is_on_stack_of(task, fp)))
		return;
	while (argtrace_read_record(fp, &next, &ip) == ARGTRACE_RECORD_OF_CALL &&
	       argtrace_record_may_follow(task, fp, next)) {
		if (argtrace_in_trampoline(ip) && called_by(ip - sizeof(u32)))
			found((void *)(next - ARGTRACE_FRAME_RECORD),
			      argtrace_in_trampoline(called_by(ip - sizeof(u32))), data);
		fp = next;
	}
}
