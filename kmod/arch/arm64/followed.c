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
	const u64 begin = (u64)task_stack_page(task);
	u64 fp = task == current ? (u64)__builtin_frame_address(0) : thread_saved_fp(task);
	u64 next, ip;

	/* A task that ends or is asleep is on its own stack. */
	while (fp - begin <= THREAD_SIZE - 2 * sizeof(u64) && !(fp & 7)) {
		if (argtrace_read_record(fp, &next, &ip) != ARGTRACE_RECORD_OF_CALL || next <= fp)
			break;
		if (argtrace_in_trampoline(ip) && called_by(ip - sizeof(u32)))
			found((void *)(next - ARGTRACE_FRAME_RECORD),
			      argtrace_in_trampoline(called_by(ip - sizeof(u32))), data);
		fp = next;
	}
}
