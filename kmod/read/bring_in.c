// SPDX-License-Identifier: GPL-2.0-only
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/userfaultfd_k.h>

#include "read/bring_in.h"

/* File systems whose pages are in memory, in swap space or on a local disk. */
static bool is_ordinary(const struct file *file)
{
	switch (file_inode(file)->i_sb->s_magic) {
	case BTRFS_SUPER_MAGIC:
	case EXT4_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
	case RAMFS_MAGIC:
	case TMPFS_MAGIC:
	case XFS_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

/*
 * What a process answers may take for ever: a fault of memory that a userfaultfd is armed for, or
 * of a file of FUSE, or of one on a server. Devices may do as they like.
 */
static bool may_fault(struct vm_area_struct *vma)
{
	if (userfaultfd_armed(vma) || vma->vm_flags & (VM_IO | VM_PFNMAP | VM_MIXEDMAP))
		return false;
	return vma_is_anonymous(vma) || (vma->vm_file && is_ordinary(vma->vm_file));
}

/* Under the mmap_lock. */
static bool bring_in_page(struct mm_struct *mm, u64 addr)
{
	struct vm_area_struct *vma = vma_lookup(mm, addr);

	/* Without FAULT_FLAG_ALLOW_RETRY the lock is kept, so that the VMA remains what it is. */
	return vma && may_fault(vma) && !fixup_user_fault(mm, addr, 0, NULL);
}

/* Two milliseconds at most: who holds the lock may be waiting for a process as well. */
static bool lock_mm(struct mm_struct *mm)
{
	u32 tries;

	for (tries = 0; !mmap_read_trylock(mm); tries++) {
		if (tries == 20)
			return false;
		usleep_range(50, 100);
	}
	return true;
}

bool argtrace_bring_in(u64 addr, u32 bytes)
{
	const u64 last = addr + bytes - 1;
	struct mm_struct *mm = current->mm;
	bool is_there;

	if (!lock_mm(mm))
		return false;
	is_there = bring_in_page(mm, addr) &&
		   (addr >> PAGE_SHIFT == last >> PAGE_SHIFT || bring_in_page(mm, last));
	mmap_read_unlock(mm);
	return is_there;
}
