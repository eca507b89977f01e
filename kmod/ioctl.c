// SPDX-License-Identifier: GPL-2.0-only
/* The ioctls: what user space says is copied, checked and handed on; nothing is trusted. */
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "arm.h"
#include "clock.h"
#include "device.h"
#include "limits.h"
#include "memory.h"
#include "session.h"

static int copy_in(void *to, size_t known, size_t least, const void __user *from)
{
	u32 size;

	if (get_user(size, (const u32 __user *)from))
		return -EFAULT;
	if (size < least)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(to, known, from, size);
}

/* As much as the caller knows of. */
static int copy_out(void __user *to, const void *from, size_t known, u32 size)
{
	return copy_to_user(to, from, min_t(size_t, known, size)) ? -EFAULT : 0;
}

static long ioctl_info(void __user *arg)
{
	struct argtrace_info info;
	int ret = copy_in(&info, sizeof(info), ARGTRACE_INFO_SIZE_V1, arg);

	if (ret)
		return ret;
	info = (struct argtrace_info){
		.size = info.size,
		.api_version = ARGTRACE_API_VERSION,
		.record_version = ARGTRACE_RECORD_VERSION,
		.max_args = ARGTRACE_MAX_ARGS,
		.features = ARGTRACE_FEATURE_NAMED | ARGTRACE_FEATURE_FLIGHT |
			    (argtrace_clock_has_tsc() ? ARGTRACE_FEATURE_TSC : 0),
		.memory_limit = argtrace_memory_limit(),
		.memory_used = argtrace_memory_used(),
		.max_probes = ARGTRACE_MAX_PROBES,
		.max_strings = ARGTRACE_MAX_STRINGS,
		.max_types = ARGTRACE_MAX_TYPES,
		.packet_size_min = ARGTRACE_PACKET_SIZE_MIN,
		.packet_size_max = ARGTRACE_PACKET_SIZE_MAX,
		.nr_packets_max = ARGTRACE_NR_PACKETS_MAX,
		.nr_cpus = nr_cpu_ids,
		.nr_sessions = argtrace_sessions_count(),
		.module_version = ARGTRACE_VERSION,
	};
	return copy_out(arg, &info, sizeof(info), info.size);
}

static long ioctl_symbol(void __user *arg)
{
	struct argtrace_symbol symbol;
	int ret = copy_in(&symbol, sizeof(symbol), ARGTRACE_SYMBOL_SIZE_V1, arg);

	if (ret)
		return ret;
	if (symbol.flags)
		return -EINVAL;
	static_assert(sizeof(symbol.text) >= KSYM_SYMBOL_LEN);
	memset(symbol.text, 0, sizeof(symbol.text));
	sprint_symbol(symbol.text, symbol.addr);
	return copy_out(arg, &symbol, sizeof(symbol), symbol.size);
}

static bool name_is_terminated(const char *name)
{
	return strnlen(name, ARGTRACE_NAME_LEN) < ARGTRACE_NAME_LEN;
}

static long ioctl_session(struct argtrace_file *own, void __user *arg)
{
	struct argtrace_session_attr attr;
	struct argtrace_session *session;
	int ret = copy_in(&attr, sizeof(attr), ARGTRACE_SESSION_SIZE_V1, arg);

	if (ret)
		return ret;
	if ((attr.flags & ~(ARGTRACE_SESSION_CREATE | ARGTRACE_SESSION_FLIGHT)) || attr.nr_cpus || attr.reserved ||
	    !name_is_terminated(attr.name))
		return -EINVAL;

	mutex_lock(&own->lock);
	if (own->session) {
		ret = -EBUSY;
		goto out;
	}
	/* It will be written to: not to find out after a session has been made. */
	ret = copy_out(arg, &attr, sizeof(attr), attr.size);
	if (ret)
		goto out;
	session = argtrace_session_get(&attr);
	if (IS_ERR(session)) {
		ret = PTR_ERR(session);
		goto out;
	}
	ret = copy_out(arg, &attr, sizeof(attr), attr.size);
	if (ret)
		argtrace_session_put(session);
	else
		smp_store_release(&own->session, session);
out:
	mutex_unlock(&own->lock);
	return ret;
}

static long ioctl_session_remove(void __user *arg)
{
	struct argtrace_session_remove remove;
	int ret = copy_in(&remove, sizeof(remove), ARGTRACE_SESSION_REMOVE_SIZE_V1, arg);

	if (ret)
		return ret;
	if (remove.flags || !remove.name[0] || !name_is_terminated(remove.name))
		return -EINVAL;
	return argtrace_session_remove(remove.name);
}

typedef struct argtrace_plan *read_probe_t(const void __user *entry, u64 *length,
					   const struct argtrace_plan_format *format);

/* Reads and prepares all probes, or none; *failed is then the one to blame, or count. */
static struct argtrace_plan **read_probes(const struct argtrace_session *session,
					  const struct argtrace_probe_add *add, u32 *failed,
					  read_probe_t *read_probe)
{
	const struct argtrace_plan_format format = {
		.format = session->format,
		.max_record = min_t(u32, session->packet_size - ARGTRACE_PACKET_OVERHEAD,
				    ALIGN_DOWN(U16_MAX, 8)),
	};
	struct argtrace_plan **plans;
	u64 left = add->length;
	u32 i;

	*failed = add->count;
	plans = kvmalloc_array(add->count, sizeof(*plans), GFP_KERNEL);
	if (!plans)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < add->count; i++) {
		struct argtrace_plan *plan;

		plan = read_probe(u64_to_user_ptr(add->probes + add->length - left), &left,
				  &format);
		if (IS_ERR(plan)) {
			*failed = i;
			while (i--)
				argtrace_plan_free(plans[i]);
			kvfree(plans);
			return ERR_CAST(plan);
		}
		plans[i] = plan;
		cond_resched();
	}
	if (left) {
		while (i--)
			argtrace_plan_free(plans[i]);
		kvfree(plans);
		return ERR_PTR(-EINVAL);
	}
	return plans;
}

/* The index of the last probe with that address: of two with the same, the second is too many. */
static u32 index_of_probe(const struct argtrace_probe_add *add, unsigned long addr)
{
	u64 at = 0;
	u32 i, found = add->count;

	for (i = 0; i < add->count; i++) {
		struct argtrace_probe probe;

		if (copy_from_user(&probe, u64_to_user_ptr(add->probes + at), sizeof(probe)))
			break;
		if (probe.addr == addr)
			found = i;
		at += probe.size;
		if (at + sizeof(probe) > add->length)
			break;
	}
	return found;
}

static long ioctl_probe_add(struct argtrace_session *session, void __user *arg)
{
	struct argtrace_probe_add add;
	struct argtrace_plan **plans;
	unsigned long failed_addr = 0;
	int ret = copy_in(&add, sizeof(add), ARGTRACE_PROBE_ADD_SIZE_V1, arg);

	if (ret)
		return ret;
	if (add.flags || add.failed || !add.count)
		return -EINVAL;
	if (add.count > ARGTRACE_MAX_PROBES) {
		add.failed = add.count;
		return copy_out(arg, &add, sizeof(add), add.size) ?: -E2BIG;
	}

	plans = read_probes(session, &add, &add.failed, argtrace_plan_create);
	if (IS_ERR(plans)) {
		ret = PTR_ERR(plans);
	} else {
		mutex_lock(&session->lock);
		ret = argtrace_arm_add(session, plans, add.count, &failed_addr);
		mutex_unlock(&session->lock);
		kvfree(plans);
		add.failed = ret == -EEXIST || ret == -EINVAL ?
			     index_of_probe(&add, failed_addr) : add.count;
	}
	if (ret)
		copy_out(arg, &add, sizeof(add), add.size);
	return ret;
}

static long ioctl_probe_remove(struct argtrace_session *session, void __user *arg)
{
	struct argtrace_probe_remove remove;
	unsigned long *addrs, *sorted;
	unsigned long failed_addr = 0;
	int ret = copy_in(&remove, sizeof(remove), ARGTRACE_PROBE_REMOVE_SIZE_V1, arg);

	if (ret)
		return ret;
	if ((remove.flags & ~ARGTRACE_REMOVE_ALL) || remove.failed)
		return -EINVAL;
	if (remove.flags & ARGTRACE_REMOVE_ALL) {
		if (remove.count || remove.addrs)
			return -EINVAL;
		mutex_lock(&session->lock);
		argtrace_arm_remove_all(session);
		mutex_unlock(&session->lock);
		return 0;
	}
	if (!remove.count)
		return -EINVAL;
	if (remove.count > ARGTRACE_MAX_PROBES)
		return -E2BIG;

	/* __u64 and unsigned long are the same: see compat.h. */
	addrs = vmemdup_user(u64_to_user_ptr(remove.addrs), remove.count * sizeof(*addrs));
	if (IS_ERR(addrs))
		return PTR_ERR(addrs);
	sorted = kvmalloc_array(remove.count, sizeof(*sorted), GFP_KERNEL);
	if (!sorted) {
		kvfree(addrs);
		return -ENOMEM;
	}
	memcpy(sorted, addrs, remove.count * sizeof(*sorted));
	mutex_lock(&session->lock);
	ret = argtrace_arm_remove(session, sorted, remove.count, &failed_addr);
	mutex_unlock(&session->lock);
	if (ret) {
		u32 i;

		remove.failed = remove.count;
		for (i = 0; ret == -ENOENT && i < remove.count; i++) {
			if (addrs[i] == failed_addr)
				remove.failed = i;
		}
		copy_out(arg, &remove, sizeof(remove), remove.size);
	}
	kvfree(sorted);
	kvfree(addrs);
	return ret;
}

/* What one entry of a list is made of; `counts` is room for it. */
static const void *list_entry_of(const struct argtrace_plan *plan, unsigned int cmd,
				 struct argtrace_counts *counts, u32 *bytes)
{
	if (cmd == ARGTRACE_IOC_PROBE_LIST) {
		*bytes = plan->schema->size;
		return plan->schema;
	}
	argtrace_plan_counts(plan, counts);
	*bytes = sizeof(*counts);
	return counts;
}

/* Fills `to` with what fits and says in `list` how far that was; returns the bytes. */
static u64 fill_list(const struct argtrace_catalog *catalog, unsigned int cmd, u8 *to, u64 room,
		     struct argtrace_list *list)
{
	u64 used = 0;
	u32 id;

	list->generation = catalog->generation;
	for (id = list->first; id < catalog->nr_ids; id++) {
		const struct argtrace_plan *plan = catalog->by_id[id];
		struct argtrace_counts counts;
		const void *entry;
		u32 bytes;

		if (!plan || (plan->removed && !(list->flags & ARGTRACE_LIST_REMOVED)))
			continue;
		entry = list_entry_of(plan, cmd, &counts, &bytes);
		if (bytes > room - used) {
			list->next = id;
			break;
		}
		memcpy(to + used, entry, bytes);
		used += bytes;
		list->count++;
		cond_resched();
	}
	return used;
}

/* In pieces: user memory may make us wait, and nobody else is to wait for that. */
#define LIST_PIECE	(1u << 20)

static long ioctl_list(struct argtrace_session *session, unsigned int cmd, void __user *arg)
{
	struct argtrace_list list;
	u64 room, used;
	u8 *piece;
	int ret = copy_in(&list, sizeof(list), ARGTRACE_LIST_SIZE_V1, arg);

	if (ret)
		return ret;
	if ((list.flags & ~ARGTRACE_LIST_REMOVED) || list.next || list.count || list.generation)
		return -EINVAL;

	room = min_t(u64, list.length, LIST_PIECE);
	piece = kvmalloc(max_t(u64, room, 1), GFP_KERNEL);
	if (!piece)
		return -ENOMEM;
	mutex_lock(&session->lock);
	used = fill_list(&session->catalog, cmd, piece, room, &list);
	mutex_unlock(&session->lock);
	if (copy_to_user(u64_to_user_ptr(list.buffer), piece, used))
		ret = -EFAULT;
	kvfree(piece);
	return ret ?: copy_out(arg, &list, sizeof(list), list.size);
}

static bool module_name_is_valid(const char *name)
{
	size_t length = strnlen(name, ARGTRACE_MODULE_LEN);

	/* The kernel never has one with a `-`: whoever waits for it has forgotten to change it. */
	return length && length < ARGTRACE_MODULE_LEN && !strchr(name, '-');
}

static long ioctl_on_load(struct argtrace_session *session, void __user *arg)
{
	struct argtrace_on_load on_load;
	struct argtrace_probe_add add;
	struct argtrace_plan **templates;
	u32 i;
	int ret = copy_in(&on_load, sizeof(on_load), ARGTRACE_ON_LOAD_SIZE_V1, arg);

	if (ret)
		return ret;
	if (on_load.flags || on_load.failed || !on_load.count ||
	    !module_name_is_valid(on_load.module) ||
	    strnlen(on_load.srcversion, ARGTRACE_SRCVERSION_LEN) == ARGTRACE_SRCVERSION_LEN)
		return -EINVAL;
	on_load.failed = on_load.count;
	if (on_load.count > ARGTRACE_MAX_PROBES)
		return copy_out(arg, &on_load, sizeof(on_load), on_load.size) ?: -E2BIG;

	add = (struct argtrace_probe_add){
		.probes = on_load.probes,
		.length = on_load.length,
		.count = on_load.count,
	};
	templates = read_probes(session, &add, &on_load.failed, argtrace_plan_create_template);
	if (IS_ERR(templates)) {
		ret = PTR_ERR(templates);
		goto out;
	}
	mutex_lock(&session->lock);
	ret = argtrace_deferred_add(session, on_load.module, on_load.srcversion, templates,
				 on_load.count, &on_load.failed);
	mutex_unlock(&session->lock);
	if (ret) {
		for (i = 0; i < on_load.count; i++)
			argtrace_plan_free(templates[i]);
		kvfree(templates);
	}
out:
	if (ret)
		copy_out(arg, &on_load, sizeof(on_load), on_load.size);
	return ret;
}

static long ioctl_on_load_remove(struct argtrace_session *session, void __user *arg)
{
	struct argtrace_on_load_remove remove;
	bool all, any;
	int ret = copy_in(&remove, sizeof(remove), ARGTRACE_ON_LOAD_REMOVE_SIZE_V1, arg);

	if (ret)
		return ret;
	all = remove.flags & ARGTRACE_REMOVE_ALL;
	if ((remove.flags & ~ARGTRACE_REMOVE_ALL) ||
	    (all ? memchr_inv(remove.module, 0, sizeof(remove.module)) != NULL :
		   !module_name_is_valid(remove.module)))
		return -EINVAL;
	mutex_lock(&session->lock);
	any = argtrace_deferred_remove(session, all ? NULL : remove.module);
	mutex_unlock(&session->lock);
	return any ? 0 : -ENOENT;
}

static long ioctl_on_load_list(struct argtrace_session *session, void __user *arg)
{
	struct argtrace_on_load_order *deferred;
	struct argtrace_list list;
	u32 room;
	int ret = copy_in(&list, sizeof(list), ARGTRACE_LIST_SIZE_V1, arg);

	if (ret)
		return ret;
	if (list.flags || list.next || list.count || list.generation)
		return -EINVAL;
	room = min_t(u64, list.length, LIST_PIECE) / sizeof(*deferred);
	deferred = kvmalloc_array(max(room, 1u), sizeof(*deferred), GFP_KERNEL);
	if (!deferred)
		return -ENOMEM;
	mutex_lock(&session->lock);
	list.count = argtrace_deferred_list(session, list.first, deferred, room, &list.next);
	mutex_unlock(&session->lock);
	if (copy_to_user(u64_to_user_ptr(list.buffer), deferred, list.count * sizeof(*deferred)))
		ret = -EFAULT;
	kvfree(deferred);
	return ret ?: copy_out(arg, &list, sizeof(list), list.size);
}

static long ioctl_reader(struct argtrace_session *session, struct file *file, void __user *arg)
{
	struct argtrace_reader reader;
	int ret = copy_in(&reader, sizeof(reader), ARGTRACE_READER_SIZE_V1, arg);

	if (ret)
		return ret;
	if (reader.flags & ~ARGTRACE_READER_EXCLUDE_SELF)
		return -EINVAL;
	return argtrace_session_set_reader(session, file,
					   reader.flags & ARGTRACE_READER_EXCLUDE_SELF);
}

static long ioctl_processes(struct argtrace_session *session, void __user *arg)
{
	struct argtrace_process_filter filter;
	struct argtrace_pid_filter *pid_filter = NULL;
	u32 *numbers;
	int ret = copy_in(&filter, sizeof(filter), ARGTRACE_PROCESS_FILTER_SIZE_V1, arg);

	if (ret)
		return ret;
	if ((filter.flags & ~ARGTRACE_PROCESSES_CHILDREN) || filter.failed ||
	    (!filter.count && (filter.flags || filter.pids)))
		return -EINVAL;
	if (filter.count > ARGTRACE_PROCESSES_MAX)
		return -E2BIG;

	if (filter.count) {
		numbers = memdup_user(u64_to_user_ptr(filter.pids),
				      filter.count * sizeof(*numbers));
		if (IS_ERR(numbers))
			return PTR_ERR(numbers);
		pid_filter = argtrace_pid_filter_create(numbers, filter.count,
						      filter.flags & ARGTRACE_PROCESSES_CHILDREN,
						      &filter.failed);
		kfree(numbers);
		if (IS_ERR(pid_filter)) {
			copy_out(arg, &filter, sizeof(filter), filter.size);
			return PTR_ERR(pid_filter);
		}
	}
	ret = argtrace_session_set_pid_filter(session, pid_filter);
	if (ret)
		argtrace_pid_filter_free(pid_filter);
	return ret;
}

static long ioctl_processes_list(struct argtrace_session *session, void __user *arg)
{
	struct argtrace_process_filter filter;
	const struct argtrace_pid_filter *pid_filter;
	u32 room, listed = 0, *numbers;
	int ret = copy_in(&filter, sizeof(filter), ARGTRACE_PROCESS_FILTER_SIZE_V1, arg);

	if (ret)
		return ret;
	if (filter.flags || filter.failed)
		return -EINVAL;
	room = min_t(u32, filter.count, ARGTRACE_PROCESSES_MAX);
	numbers = kmalloc_array(max(room, 1u), sizeof(*numbers), GFP_KERNEL);
	if (!numbers)
		return -ENOMEM;
	filter.count = 0;
	mutex_lock(&session->lock);
	pid_filter = rcu_dereference_protected(session->pid_filter, lockdep_is_held(&session->lock));
	if (pid_filter) {
		filter.count = pid_filter->nr_asked;
		filter.flags = pid_filter->children ? ARGTRACE_PROCESSES_CHILDREN : 0;
		listed = min(room, filter.count);
		argtrace_pid_filter_list(pid_filter, numbers, listed);
	}
	mutex_unlock(&session->lock);
	if (copy_to_user(u64_to_user_ptr(filter.pids), numbers, listed * sizeof(*numbers)))
		ret = -EFAULT;
	kfree(numbers);
	return ret ?: copy_out(arg, &filter, sizeof(filter), filter.size);
}

long argtrace_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct argtrace_file *own = file->private_data;
	struct argtrace_session *session = smp_load_acquire(&own->session);
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case ARGTRACE_IOC_INFO:
		return ioctl_info(user);
	case ARGTRACE_IOC_SYMBOL:
		return ioctl_symbol(user);
	case ARGTRACE_IOC_SESSION:
		return ioctl_session(own, user);
	case ARGTRACE_IOC_SESSION_REMOVE:
		return ioctl_session_remove(user);
	case ARGTRACE_IOC_PROBE_ADD:
		return session ? ioctl_probe_add(session, user) : -EBADFD;
	case ARGTRACE_IOC_PROBE_REMOVE:
		return session ? ioctl_probe_remove(session, user) : -EBADFD;
	case ARGTRACE_IOC_PROBE_LIST:
	case ARGTRACE_IOC_COUNTS:
		return session ? ioctl_list(session, cmd, user) : -EBADFD;
	case ARGTRACE_IOC_READER:
		return session ? ioctl_reader(session, file, user) : -EBADFD;
	case ARGTRACE_IOC_ON_LOAD:
		return session ? ioctl_on_load(session, user) : -EBADFD;
	case ARGTRACE_IOC_ON_LOAD_REMOVE:
		return session ? ioctl_on_load_remove(session, user) : -EBADFD;
	case ARGTRACE_IOC_ON_LOAD_LIST:
		return session ? ioctl_on_load_list(session, user) : -EBADFD;
	case ARGTRACE_IOC_PROCESSES:
		return session ? ioctl_processes(session, user) : -EBADFD;
	case ARGTRACE_IOC_PROCESSES_LIST:
		return session ? ioctl_processes_list(session, user) : -EBADFD;
	default:
		return -ENOTTY;
	}
}
