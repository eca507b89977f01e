// SPDX-License-Identifier: GPL-2.0-only
/* The session as a whole: binding a file to it, removing it, its reader, its filter by process. */
#include <linux/err.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "arm/lanes.h"
#include "arm/sessions.h"
#include "base/authority.h"
#include "base/memory.h"
#include "ioctl/file.h"
#include "ioctl/ioctl.h"
#include "session.h"

static bool name_is_terminated(const char *name)
{
	return strnlen(name, ARGTRACE_NAME_LEN) < ARGTRACE_NAME_LEN;
}

long argtrace_ioctl_session(struct file *file, struct argtrace_session *session,
			    void __user *arg)
{
	struct argtrace_file *own = file->private_data;
	struct argtrace_session_attr attr;
	int ret = argtrace_copy_in(&attr, sizeof(attr), ARGTRACE_SESSION_SIZE_V1, arg);

	if (ret)
		return ret;
	if ((attr.flags & ~(ARGTRACE_SESSION_CREATE | ARGTRACE_SESSION_FLIGHT)) || attr.nr_cpus ||
	    attr.reserved || !name_is_terminated(attr.name))
		return -EINVAL;
	if ((!attr.name[0] || (attr.flags & ARGTRACE_SESSION_CREATE)) &&
	    !(file->f_mode & FMODE_WRITE))
		return -EBADF;

	mutex_lock(&own->lock);
	if (own->session) {
		ret = -EBUSY;
		goto out;
	}
	/* Find out that it cannot be written before a session is made rather than after. */
	ret = argtrace_copy_out(arg, &attr, sizeof(attr), attr.size);
	if (ret)
		goto out;
	session = argtrace_session_get(&attr);
	if (IS_ERR(session)) {
		ret = PTR_ERR(session);
		goto out;
	}
	ret = argtrace_copy_out(arg, &attr, sizeof(attr), attr.size);
	if (ret) {
		argtrace_session_put(session);
	} else {
		/* Before the caller can see rings or probes, so that later changes are reported. */
		own->changes_seen = atomic_read(&session->notice.changes);
		/* Pairs with the acquire of argtrace_file_session(). */
		smp_store_release(&own->session, session);
	}
out:
	mutex_unlock(&own->lock);
	return ret;
}

long argtrace_ioctl_session_remove(struct file *file, struct argtrace_session *session,
				   void __user *arg)
{
	struct argtrace_session_remove remove;
	int ret = argtrace_copy_in(&remove, sizeof(remove), ARGTRACE_SESSION_REMOVE_SIZE_V1, arg);

	if (ret)
		return ret;
	if (remove.flags || !remove.name[0] || !name_is_terminated(remove.name))
		return -EINVAL;
	return argtrace_session_remove(remove.name);
}

/* The PID of the excluded process is reused: calls of the new one must be recorded. */
static void watched_process_begins(struct argtrace_fork_watch *watch,
				   const struct task_struct *parent,
				   const struct task_struct *child)
{
	struct argtrace_file *own = container_of(watch, struct argtrace_file, watch);

	argtrace_lanes_stop_excluding(own->session, child->tgid);
}

/*
 * The process may end while another one holds its file, which remains the session's reader, or
 * looks at it. So it is the file that watches for a reuse of the PID.
 */
static int watch_for_reuse(struct argtrace_file *own)
{
	int ret = 0;

	mutex_lock(&own->lock);
	if (!own->watches) {
		own->watch.begins = watched_process_begins;
		ret = argtrace_fork_watch_add(&own->watch);
		own->watches = !ret;
	}
	mutex_unlock(&own->lock);
	return ret;
}

long argtrace_ioctl_reader(struct file *file, struct argtrace_session *session,
			   void __user *arg)
{
	struct argtrace_reader reader;
	int ret = argtrace_copy_in(&reader, sizeof(reader), ARGTRACE_READER_SIZE_V1, arg);

	if (ret)
		return ret;
	if (reader.flags & ~(ARGTRACE_READER_EXCLUDE_SELF | ARGTRACE_READER_LOOK) ||
	    reader.flags == ARGTRACE_READER_LOOK)
		return -EINVAL;
	if (reader.flags & ARGTRACE_READER_EXCLUDE_SELF) {
		ret = watch_for_reuse(file->private_data);
		if (ret)
			return ret;
	}
	if (reader.flags & ARGTRACE_READER_LOOK)
		return argtrace_session_look(session, file);
	return argtrace_session_set_reader(session, file,
					   reader.flags & ARGTRACE_READER_EXCLUDE_SELF);
}

long argtrace_ioctl_processes(struct file *file, struct argtrace_session *session,
			      void __user *arg)
{
	struct argtrace_process_filter filter;
	struct argtrace_pid_filter *pid_filter = NULL;
	u32 *numbers;
	int ret = argtrace_copy_in(&filter, sizeof(filter), ARGTRACE_PROCESS_FILTER_SIZE_V1, arg);

	if (ret)
		return ret;
	if ((filter.flags & ~(ARGTRACE_PROCESSES_CHILDREN | ARGTRACE_PROCESSES_EXCLUDE)) ||
	    filter.failed || (!filter.count && (filter.flags || filter.pids)))
		return -EINVAL;
	if (filter.count > ARGTRACE_PROCESSES_MAX)
		return -E2BIG;

	if (filter.count) {
		numbers = memdup_user(u64_to_user_ptr(filter.pids),
				      filter.count * sizeof(*numbers));
		if (IS_ERR(numbers))
			return PTR_ERR(numbers);
		pid_filter = argtrace_pid_filter_create(numbers, filter.count,
							filter.flags, &filter.failed);
		kfree(numbers);
		if (IS_ERR(pid_filter)) {
			argtrace_copy_out(arg, &filter, sizeof(filter), filter.size);
			return PTR_ERR(pid_filter);
		}
	}
	ret = argtrace_lanes_set_pid_filter(session, pid_filter);
	if (ret)
		argtrace_pid_filter_free(pid_filter);
	return ret;
}

long argtrace_ioctl_processes_list(struct file *file, struct argtrace_session *session,
				   void __user *arg)
{
	struct argtrace_process_filter filter;
	const struct argtrace_pid_filter *pid_filter;
	struct pid_namespace *ns;
	u32 room, listed = 0, *numbers;
	int ret = argtrace_copy_in(&filter, sizeof(filter), ARGTRACE_PROCESS_FILTER_SIZE_V1, arg);

	if (ret)
		return ret;
	if (filter.flags & ~ARGTRACE_PROCESSES_INITIAL || filter.failed)
		return -EINVAL;
	ns = filter.flags & ARGTRACE_PROCESSES_INITIAL ? &init_pid_ns : task_active_pid_ns(current);
	filter.flags = 0;
	room = min_t(u32, filter.count, ARGTRACE_PROCESSES_MAX);
	numbers = kmalloc_array(max(room, 1u), sizeof(*numbers), ARGTRACE_GFP);
	if (!numbers)
		return -ENOMEM;
	filter.count = 0;
	mutex_lock(&session->lock);
	pid_filter = session->pid_filter;
	if (pid_filter) {
		filter.count = pid_filter->nr_asked;
		filter.flags = (pid_filter->children ? ARGTRACE_PROCESSES_CHILDREN : 0) |
			       (pid_filter->excludes ? ARGTRACE_PROCESSES_EXCLUDE : 0);
		listed = min(room, filter.count);
		argtrace_pid_filter_list(pid_filter, ns, numbers, listed);
	}
	mutex_unlock(&session->lock);
	if (copy_to_user(u64_to_user_ptr(filter.pids), numbers, listed * sizeof(*numbers)))
		ret = -EFAULT;
	kfree(numbers);
	return ret ?: argtrace_copy_out(arg, &filter, sizeof(filter), filter.size);
}

static int existing_stacks(struct argtrace_session *session, struct argtrace_stacks *stacks)
{
	const struct argtrace_stack_set *set =
		argtrace_session_stacks(session, stacks->flags & ARGTRACE_STACKS_USER);

	if (stacks->entries || stacks->words || stacks->depth)
		return -EINVAL;
	if (!set)
		return -ENOENT;
	argtrace_stacks_describe(set, stacks);
	return 0;
}

long argtrace_ioctl_stacks(struct file *file, struct argtrace_session *session, void __user *arg)
{
	struct argtrace_stacks stacks;
	int ret = argtrace_copy_in(&stacks, sizeof(stacks), ARGTRACE_STACKS_SIZE_V1, arg);

	if (ret)
		return ret;
	if (stacks.flags & ~(ARGTRACE_STACKS_EXISTING | ARGTRACE_STACKS_USER) || stacks.reserved)
		return -EINVAL;
	if (stacks.flags & ARGTRACE_STACKS_EXISTING) {
		ret = existing_stacks(session, &stacks);
	} else if (!(file->f_mode & FMODE_WRITE)) {
		ret = -EBADF;
	} else {
		ret = argtrace_may_trace();
		if (!ret && stacks.flags & ARGTRACE_STACKS_USER && !argtrace_may_read_memory())
			ret = -EPERM;
		/* Find out that it cannot be written before tables are made rather than after. */
		if (!ret)
			ret = argtrace_copy_out(arg, &stacks, sizeof(stacks), stacks.size);
		if (!ret)
			ret = argtrace_session_make_stacks(session, &stacks);
	}
	return ret ?: argtrace_copy_out(arg, &stacks, sizeof(stacks), stacks.size);
}
