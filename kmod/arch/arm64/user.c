// SPDX-License-Identifier: GPL-2.0-only
#include <linux/compat.h>
#include <linux/compiler.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "arch/user.h"

u64 argtrace_user_vdso_size;

/* The kernel exports nothing that would tell. Each process of 64 bits maps the same image. */
void argtrace_user_learn(void)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *area;
	unsigned long vdso;

	if (READ_ONCE(argtrace_user_vdso_size) || !mm || is_compat_task())
		return;
	vdso = (unsigned long)READ_ONCE(mm->context.vdso);
	if (!vdso)
		return;
	mmap_read_lock(mm);
	area = find_vma(mm, vdso);
	/* A process may have unmapped it, or a part of it. */
	if (area && area->vm_start == vdso && !area->vm_file)
		WRITE_ONCE(argtrace_user_vdso_size, area->vm_end - vdso);
	mmap_read_unlock(mm);
}
