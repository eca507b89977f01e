// SPDX-License-Identifier: GPL-2.0-only
/* /dev/argtrace: open, mmap, poll, close. */
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "arm/sessions.h"
#include "base/authority.h"
#include "base/compat.h"
#include "base/memory.h"
#include "device.h"
#include "ioctl/file.h"
#include "session.h"

static int device_open(struct inode *inode, struct file *file)
{
	struct argtrace_file *own;
	int ret;

	ret = argtrace_may_trace();
	if (ret)
		return ret;
	own = kzalloc(sizeof(*own), ARGTRACE_GFP);
	if (!own)
		return -ENOMEM;
	mutex_init(&own->lock);
	file->private_data = own;
	return stream_open(inode, file);
}

static int device_release(struct inode *inode, struct file *file)
{
	struct argtrace_file *own = file->private_data;

	if (own->session) {
		argtrace_session_drop_reader(own->session, file);
		argtrace_session_desert(own->session, file);
		if (own->watches)
			argtrace_fork_watch_remove(&own->watch);
		argtrace_session_put(own->session);
	}
	mutex_destroy(&own->lock);
	kfree(own);
	return 0;
}

/*
 * Whether rings or probes have changed since the last report to this file; each change is reported
 * once, as by /proc/mounts.
 */
static bool has_news(struct argtrace_file *own, struct argtrace_session *session)
{
	const int changes = atomic_read(&session->notice.changes);

	if (READ_ONCE(own->changes_seen) == changes)
		return false;
	WRITE_ONCE(own->changes_seen, changes);
	return true;
}

static __poll_t device_poll(struct file *file, poll_table *wait)
{
	struct argtrace_file *own = file->private_data;
	struct argtrace_session *session = argtrace_file_session(own);
	const __poll_t asked = poll_requested_events(wait);
	__poll_t events = 0;

	if (!session)
		return EPOLLERR;
	poll_wait(file, &session->notice.wait, wait);
	if (asked & (EPOLLIN | EPOLLRDNORM)) {
		/*
		 * Even if there is data: an edge-triggered poller will not ask again before the
		 * next wakeup.
		 */
		if (!session->flight)
			argtrace_notice_await(&session->notice);
		if (argtrace_rings_have_data(session->rings))
			events |= EPOLLIN | EPOLLRDNORM;
	}
	if ((asked & EPOLLPRI) && has_news(own, session))
		events |= EPOLLPRI;
	if (READ_ONCE(session->removed))
		events |= EPOLLHUP;
	return events;
}

static int map_reader(struct argtrace_session *session, struct argtrace_ring *ring,
		      struct file *file, struct vm_area_struct *vma)
{
	/*
	 * Without session->lock, which must not be taken under mmap_lock. Only this file can
	 * make itself the reader, and it remains the reader until it is closed.
	 */
	if (READ_ONCE(session->reader) != file)
		return -EPERM;
	return remap_vmalloc_range(vma, ring->reader, 0);
}

static int map_read_only(struct vm_area_struct *vma, void *memory)
{
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	argtrace_vm_flags_mod(vma, 0, VM_MAYWRITE);
	return remap_vmalloc_range(vma, memory, 0);
}

static int map_slots(const struct argtrace_map_set *map, int cpu, struct vm_area_struct *vma)
{
	void *slots = map ? argtrace_map_memory(map, cpu) : NULL;

	if (!map)
		return -EINVAL;
	return slots ? map_read_only(vma, slots) : -ENXIO;
}

static int map_stacks(struct argtrace_session *session, bool user, int cpu,
		      struct vm_area_struct *vma)
{
	const struct argtrace_stack_set *set = argtrace_session_stacks(session, user);
	void *memory = set ? argtrace_stacks_memory(set, cpu) : NULL;

	if (!set)
		return -EINVAL;
	return memory ? map_read_only(vma, memory) : -ENXIO;
}

static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct argtrace_session *session = argtrace_file_session(file->private_data);
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 index = offset >> 32, cpu = index >> ARGTRACE_MMAP_REGION_BITS;
	const u64 region = index & (BIT(ARGTRACE_MMAP_REGION_BITS) - 1);
	struct argtrace_ring *ring;

	if (!session)
		return -EBADFD;
	/* Not VM_SHARED, which the kernel clears if the file is not open for writing. */
	if ((u32)offset || !(vma->vm_flags & VM_MAYSHARE) || (vma->vm_flags & VM_EXEC))
		return -EINVAL;
	if (cpu >= nr_cpu_ids)
		return -ENXIO;
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	if (!cpu_possible(cpu))
		return -ENXIO;
	/* A child must not keep its parent's mappings alive. */
	argtrace_vm_flags_mod(vma, VM_DONTCOPY, VM_MAYEXEC);
	if (region >= ARGTRACE_MMAP_MAP)
		return map_slots(argtrace_map_of(session->maps, region - ARGTRACE_MMAP_MAP), cpu,
				 vma);
	if (region == ARGTRACE_MMAP_STACKS || region == ARGTRACE_MMAP_USER_STACKS)
		return map_stacks(session, region == ARGTRACE_MMAP_USER_STACKS, cpu, vma);
	ring = per_cpu_ptr(session->rings, cpu);
	if (!argtrace_ring_exists(ring))
		return -ENXIO;
	switch (region) {
	case ARGTRACE_MMAP_READER:
		return map_reader(session, ring, file, vma);
	case ARGTRACE_MMAP_PACKETS:
		return map_read_only(vma, ring->control);
	default:
		return -EINVAL;
	}
}

static const struct file_operations device_fops = {
	.owner		= THIS_MODULE,
	.open		= device_open,
	.release	= device_release,
	.unlocked_ioctl	= argtrace_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.mmap		= device_mmap,
	.poll		= device_poll,
};

static struct miscdevice device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "argtrace",
	.fops	= &device_fops,
	.mode	= 0600,
};

int argtrace_device_register(void)
{
	return misc_register(&device);
}

void argtrace_device_unregister(void)
{
	misc_deregister(&device);
}
