// SPDX-License-Identifier: GPL-2.0-only
/* Adding, removing and listing probes, and their counts. */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "arm/arm.h"
#include "arm/lanes.h"
#include "base/authority.h"
#include "ioctl/ioctl.h"
#include "base/memory.h"
#include "session.h"
#include "source/returns/returns.h"
#include "source/source.h"

struct argtrace_plan **argtrace_read_probes(const struct argtrace_session *session, u64 probes,
					    u64 length, u32 count, u32 *failed, u64 *cost,
					    argtrace_read_probe *read_probe)
{
	const struct argtrace_plan_format format = {
		.format = session->format,
		.max_record = min_t(u32, session->packet_size - ARGTRACE_PACKET_OVERHEAD,
				    ALIGN_DOWN(U16_MAX, 8)),
		.registers_only = !argtrace_may_read_memory(),
		.rules_of = argtrace_plan_rules_of,
		.may_follow = argtrace_may_follow,
		.maps = session->maps,
		.stacks = { .kernel = argtrace_session_stacks(session, false),
			    .user = argtrace_session_stacks(session, true) },
		.cost = cost,
	};
	struct argtrace_plan **plans;
	u64 left = length;
	u32 i;

	*failed = count;
	plans = argtrace_kvmalloc_array(count, sizeof(*plans));
	if (!plans)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < count; i++) {
		struct argtrace_plan *plan;

		plan = read_probe(u64_to_user_ptr(probes + length - left), &left, &format);
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

/*
 * The index of the last probe with that address: of two that share it, the second is the one to
 * blame.
 */
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

long argtrace_ioctl_probe_add(struct file *file, struct argtrace_session *session,
			      void __user *arg)
{
	struct argtrace_probe_add add;
	struct argtrace_plan **plans;
	unsigned long failed_addr = 0;
	int ret = argtrace_copy_in(&add, sizeof(add), ARGTRACE_PROBE_ADD_SIZE_V1, arg);

	if (ret)
		return ret;
	if (add.flags || add.failed || add.cost || !add.count)
		return -EINVAL;
	if (add.count > ARGTRACE_MAX_PROBES) {
		add.failed = add.count;
		return argtrace_copy_out(arg, &add, sizeof(add), add.size) ?: -E2BIG;
	}

	plans = argtrace_read_probes(session, add.probes, add.length, add.count, &add.failed,
				     &add.cost, argtrace_plan_create);
	if (IS_ERR(plans)) {
		ret = PTR_ERR(plans);
	} else {
		mutex_lock(&session->lock);
		ret = argtrace_arm_add(session, plans, add.count, &failed_addr);
		mutex_unlock(&session->lock);
		kvfree(plans);
		add.failed = ret == -EEXIST || ret == -EINVAL || ret == -EOPNOTSUPP ?
			     index_of_probe(&add, failed_addr) : add.count;
	}
	if (ret)
		argtrace_copy_out(arg, &add, sizeof(add), add.size);
	return ret;
}

static bool removal_is_valid(const struct argtrace_probe_remove *remove)
{
	if (remove->flags & ~ARGTRACE_REMOVE_ALL || remove->failed ||
	    memchr_inv(remove->reserved, 0, sizeof(remove->reserved)))
		return false;
	if (remove->flags & ARGTRACE_REMOVE_ALL)
		return !remove->count && !remove->addrs && !remove->kind;
	return remove->count && argtrace_kind_source(remove->kind);
}

long argtrace_ioctl_probe_remove(struct file *file, struct argtrace_session *session,
				 void __user *arg)
{
	struct argtrace_probe_remove remove;
	unsigned long *addrs, *sorted;
	unsigned long failed_addr = 0;
	int ret = argtrace_copy_in(&remove, sizeof(remove), ARGTRACE_PROBE_REMOVE_SIZE_V1, arg);

	if (ret)
		return ret;
	if (!removal_is_valid(&remove))
		return -EINVAL;
	if (remove.flags & ARGTRACE_REMOVE_ALL) {
		mutex_lock(&session->lock);
		argtrace_arm_remove_all(session);
		mutex_unlock(&session->lock);
		argtrace_returns_flush();
		return 0;
	}
	if (remove.count > ARGTRACE_MAX_PROBES)
		return -E2BIG;

	/* __u64 and unsigned long have the same size: compat.h refuses other architectures. */
	addrs = vmemdup_user(u64_to_user_ptr(remove.addrs), remove.count * sizeof(*addrs));
	if (IS_ERR(addrs))
		return PTR_ERR(addrs);
	sorted = kvmalloc_array(remove.count, sizeof(*sorted), ARGTRACE_GFP_REMOVAL);
	if (!sorted) {
		kvfree(addrs);
		return -ENOMEM;
	}
	memcpy(sorted, addrs, remove.count * sizeof(*sorted));
	mutex_lock(&session->lock);
	ret = argtrace_arm_remove(session, remove.kind, sorted, remove.count, &failed_addr);
	mutex_unlock(&session->lock);
	argtrace_returns_flush();
	if (ret) {
		u32 i;

		remove.failed = remove.count;
		for (i = 0; ret == -ENOENT && i < remove.count; i++) {
			if (addrs[i] == failed_addr)
				remove.failed = i;
		}
		argtrace_copy_out(arg, &remove, sizeof(remove), remove.size);
	}
	kvfree(sorted);
	kvfree(addrs);
	return ret;
}

/*
 * The bytes of a list's entry for the plan, which may be written to `counts`; NULL if it has none.
 */
static const void *list_entry_of(const struct argtrace_plan *plan, unsigned int cmd,
				 struct argtrace_return_counts *counts, u32 *bytes)
{
	switch (cmd) {
	case ARGTRACE_IOC_PROBE_LIST:
		*bytes = plan->schema->size;
		return plan->schema;
	case ARGTRACE_IOC_COUNTS:
		*bytes = sizeof(counts->counts);
		argtrace_plan_counts(plan, &counts->counts);
		return counts;
	default:
		if (!plan->returns || plan->returns->is_entry)
			return NULL;
		*bytes = sizeof(*counts);
		argtrace_plan_return_counts(plan, counts);
		return counts;
	}
}

#define ENTRIES_TO_RESCHED	64

/*
 * Fills `to` with the entries that fit and sets next and count in `list`; returns the bytes used.
 */
static u64 fill_list(const struct argtrace_catalog *catalog, unsigned int cmd, u8 *to, u64 room,
		     struct argtrace_list *list)
{
	u64 used = 0;
	u32 id;

	list->generation = catalog->generation;
	for (id = list->first; id < catalog->nr_ids; id++) {
		const struct argtrace_plan *plan =
			catalog->by_id[array_index_nospec(id, catalog->nr_ids)];
		struct argtrace_return_counts counts;
		const void *entry;
		u32 bytes;

		if (!plan || (plan->removed && !(list->flags & ARGTRACE_LIST_REMOVED)))
			continue;
		entry = list_entry_of(plan, cmd, &counts, &bytes);
		if (!entry)
			continue;
		if (bytes > room - used) {
			list->next = id;
			break;
		}
		memcpy(to + used, entry, bytes);
		used += bytes;
		/* It may be traced itself. */
		if (!(++list->count % ENTRIES_TO_RESCHED))
			cond_resched();
	}
	return used;
}

static long list_probes(struct argtrace_session *session, unsigned int cmd, void __user *arg)
{
	struct argtrace_list list;
	u64 room, used;
	u8 *piece;
	int ret = argtrace_copy_in(&list, sizeof(list), ARGTRACE_LIST_SIZE_V1, arg);

	if (ret)
		return ret;
	if ((list.flags & ~ARGTRACE_LIST_REMOVED) || list.next || list.count || list.generation)
		return -EINVAL;

	room = min_t(u64, list.length, ARGTRACE_LIST_PIECE);
	piece = argtrace_kvmalloc(max_t(u64, room, 1));
	if (!piece)
		return -ENOMEM;
	mutex_lock(&session->lock);
	used = fill_list(&session->catalog, cmd, piece, room, &list);
	mutex_unlock(&session->lock);
	if (copy_to_user(u64_to_user_ptr(list.buffer), piece, used))
		ret = -EFAULT;
	kvfree(piece);
	return ret ?: argtrace_copy_out(arg, &list, sizeof(list), list.size);
}

long argtrace_ioctl_probe_list(struct file *file, struct argtrace_session *session,
			       void __user *arg)
{
	return list_probes(session, ARGTRACE_IOC_PROBE_LIST, arg);
}

long argtrace_ioctl_counts(struct file *file, struct argtrace_session *session,
			   void __user *arg)
{
	return list_probes(session, ARGTRACE_IOC_COUNTS, arg);
}

long argtrace_ioctl_return_counts(struct file *file, struct argtrace_session *session,
				  void __user *arg)
{
	return list_probes(session, ARGTRACE_IOC_RETURN_COUNTS, arg);
}
