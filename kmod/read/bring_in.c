// SPDX-License-Identifier: GPL-2.0-only
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/userfaultfd_k.h>

#include "read/bring_in.h"

DEFINE_PER_CPU(struct argtrace_absent, argtrace_absent);

/* In memory, or on a disk. Who answers for the others may take any time. */
static bool is_of_ordinary_file(const struct vm_area_struct *vma)
{
	const struct inode *inode = file_inode(vma->vm_file);
	const unsigned long magic = inode->i_sb->s_magic;

	if (!S_ISREG(inode->i_mode) || magic == FUSE_SUPER_MAGIC)
		return false;
	return magic == TMPFS_MAGIC || magic == RAMFS_MAGIC ||
	       inode->i_sb->s_type->fs_flags & FS_REQUIRES_DEV;
}

static bool may_bring_in(struct vm_area_struct *vma)
{
	if (!(vma->vm_flags & VM_READ) || vma->vm_flags & (VM_IO | VM_PFNMAP) ||
	    userfaultfd_armed(vma))
		return false;
	return vma_is_anonymous(vma) || (vma->vm_file && is_of_ordinary_file(vma));
}

static bool bring_in_page(struct mm_struct *mm, u64 addr)
{
	struct vm_area_struct *vma;
	bool unlocked = false;
	int ret = -EFAULT;

	if (mmap_read_lock_killable(mm))
		return false;
	vma = vma_lookup(mm, addr);
	if (vma && may_bring_in(vma))
		ret = fixup_user_fault(mm, addr, 0, &unlocked);
	mmap_read_unlock(mm);
	return !ret;
}

bool argtrace_bring_in(u64 addr, u32 size)
{
	struct mm_struct *mm = current->mm;
	const u64 last = (addr + size - 1) & PAGE_MASK;
	u64 page;

	if (!mm || !size || addr + size < addr)
		return false;
	for (page = addr & PAGE_MASK; page <= last; page += PAGE_SIZE) {
		if (!bring_in_page(mm, page))
			return false;
	}
	return true;
}
