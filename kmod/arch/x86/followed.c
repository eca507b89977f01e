// SPDX-License-Identifier: GPL-2.0-only
#include <linux/sched.h>

#include "arch/followed.h"
#include "arch/walk.h"
#include "arch/x86/unwind.h"

bool argtrace_can_find_followed(void)
{
	return ARGTRACE_CAN_WALK;
}

/*
 * Whether a call that returns to `addr` is that of a function's body: the trampolines call a piece
 * of their own for that, and functions of ours, outside of their text, before and after it.
 */
static bool is_in_body(unsigned long addr)
{
	return argtrace_in_trampoline(addr + *(const s32 *)(addr - sizeof(s32)));
}

void argtrace_for_each_followed(struct task_struct *task,
				void (*found)(struct argtrace_frame *frame, bool in_body,
					      void *data),
				void *data)
{
	struct unwind_state state;

	for (unwind_start(&state, task, NULL, NULL); !unwind_done(&state);
	     unwind_next_frame(&state)) {
		const unsigned long addr = unwind_get_return_address(&state);
		struct argtrace_frame *frame;

		if (!argtrace_in_trampoline(addr))
			continue;
		/*
		 * Where an interrupt has come, nothing returns to, and rbp may not have been set up
		 * yet.
		 */
		frame = (void *)(argtrace_unwind_bp(&state) - ARGTRACE_FRAME_BELOW);
		found(frame, !unwind_get_entry_regs(&state, NULL) && is_in_body(addr), data);
	}
}
