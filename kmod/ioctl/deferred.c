// SPDX-License-Identifier: GPL-2.0-only
/* Probes for modules that are yet to be loaded. */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "arm/deferred.h"
#include "base/memory.h"
#include "ioctl/ioctl.h"
#include "session.h"

static bool module_name_is_valid(const char *name)
{
	size_t length = strnlen(name, ARGTRACE_MODULE_LEN);

	/* The kernel's module names contain no `-`: a request with one would wait for ever. */
	return length && length < ARGTRACE_MODULE_LEN && !strchr(name, '-');
}

long argtrace_ioctl_on_load(struct file *file, struct argtrace_session *session,
			    void __user *arg)
{
	struct argtrace_on_load on_load;
	struct argtrace_plan **templates;
	u32 i;
	int ret = argtrace_copy_in(&on_load, sizeof(on_load), ARGTRACE_ON_LOAD_SIZE_V1, arg);

	if (ret)
		return ret;
	if (on_load.flags || on_load.failed || on_load.cost || !on_load.count ||
	    !module_name_is_valid(on_load.module) ||
	    strnlen(on_load.srcversion, ARGTRACE_SRCVERSION_LEN) == ARGTRACE_SRCVERSION_LEN)
		return -EINVAL;
	on_load.failed = on_load.count;
	if (on_load.count > ARGTRACE_MAX_PROBES)
		return argtrace_copy_out(arg, &on_load, sizeof(on_load), on_load.size) ?: -E2BIG;

	templates = argtrace_read_probes(session, on_load.probes, on_load.length, on_load.count,
					 &on_load.failed, &on_load.cost,
					 argtrace_plan_create_template);
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
		argtrace_copy_out(arg, &on_load, sizeof(on_load), on_load.size);
	return ret;
}

long argtrace_ioctl_on_load_remove(struct file *file, struct argtrace_session *session,
				   void __user *arg)
{
	struct argtrace_on_load_remove remove;
	bool all, any;
	int ret = argtrace_copy_in(&remove, sizeof(remove), ARGTRACE_ON_LOAD_REMOVE_SIZE_V1, arg);

	if (ret)
		return ret;
	all = remove.flags & ARGTRACE_REMOVE_ALL;
	if ((remove.flags & ~ARGTRACE_REMOVE_ALL) ||
	    (all ? !!memchr_inv(remove.module, 0, sizeof(remove.module)) :
		   !module_name_is_valid(remove.module)))
		return -EINVAL;
	mutex_lock(&session->lock);
	any = argtrace_deferred_remove(session, all ? NULL : remove.module);
	mutex_unlock(&session->lock);
	return any ? 0 : -ENOENT;
}

long argtrace_ioctl_on_load_list(struct file *file, struct argtrace_session *session,
				 void __user *arg)
{
	struct argtrace_on_load_order *deferred;
	struct argtrace_list list;
	u32 room;
	int ret = argtrace_copy_in(&list, sizeof(list), ARGTRACE_LIST_SIZE_V1, arg);

	if (ret)
		return ret;
	if (list.flags || list.next || list.count || list.generation)
		return -EINVAL;
	room = min_t(u64, list.length, ARGTRACE_LIST_PIECE) / sizeof(*deferred);
	deferred = argtrace_kvmalloc_array(max(room, 1u), sizeof(*deferred));
	if (!deferred)
		return -ENOMEM;
	mutex_lock(&session->lock);
	list.count = argtrace_deferred_list(session, list.first, deferred, room, &list.next);
	mutex_unlock(&session->lock);
	if (copy_to_user(u64_to_user_ptr(list.buffer), deferred, list.count * sizeof(*deferred)))
		ret = -EFAULT;
	kvfree(deferred);
	return ret ?: argtrace_copy_out(arg, &list, sizeof(list), list.size);
}
