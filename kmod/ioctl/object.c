// SPDX-License-Identifier: GPL-2.0-only
/* What user stacks lead to: the files that are mapped, and how to unwind them. */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include "base/authority.h"
#include "base/memory.h"
#include "ioctl/ioctl.h"
#include "mapping/atlas.h"
#include "session.h"

static struct argtrace_atlas *atlas_of(const struct argtrace_session *session)
{
	const struct argtrace_stack_set *stacks = argtrace_session_stacks(session, true);

	return stacks ? stacks->atlas : NULL;
}

static int write_objects(struct argtrace_atlas *atlas, struct argtrace_objects *list)
{
	const u32 max = min_t(u64, list->length, SZ_1M) / sizeof(struct argtrace_object);
	struct argtrace_object *objects = argtrace_kvmalloc_array(max, sizeof(*objects));
	int ret = 0;

	if (max && !objects)
		return -ENOMEM;
	list->wanted = READ_ONCE(atlas->nr_wanted);
	list->next = max(list->first, 1u);
	list->count = argtrace_atlas_describe(atlas, objects, max, &list->next);
	list->unnumbered = READ_ONCE(atlas->unnumbered);
	list->unknown = READ_ONCE(atlas->unknown);
	list->refused = READ_ONCE(atlas->refused);
	if (copy_to_user(u64_to_user_ptr(list->buffer), objects, list->count * sizeof(*objects)))
		ret = -EFAULT;
	kvfree(objects);
	return ret;
}

long argtrace_ioctl_objects(struct file *file, struct argtrace_session *session, void __user *arg)
{
	struct argtrace_atlas *atlas = atlas_of(session);
	struct argtrace_objects list;
	int ret = argtrace_copy_in(&list, sizeof(list), ARGTRACE_OBJECTS_SIZE_V1, arg);

	if (ret)
		return ret;
	if (list.flags & ~ARGTRACE_OBJECTS_AWAIT)
		return -EINVAL;
	if (!atlas)
		return -ENOENT;
	if (list.flags & ARGTRACE_OBJECTS_AWAIT) {
		if (!(file->f_mode & FMODE_WRITE))
			return -EBADF;
		if (!argtrace_may_read_memory())
			return -EPERM;
		argtrace_atlas_provide(atlas, file);
	}
	ret = write_objects(atlas, &list);
	return ret ?: argtrace_copy_out(arg, &list, sizeof(list), list.size);
}

/* As the file that is mapped was opened, which may be in another mount namespace. */
static int open_again(struct argtrace_atlas *atlas, struct file *mapped, u32 number)
{
	const int fd = get_unused_fd_flags(O_CLOEXEC);
	struct file *opened;

	if (fd < 0)
		return fd;
	opened = dentry_open(&mapped->f_path, O_RDONLY | O_LARGEFILE, current_cred());
	if (IS_ERR(opened)) {
		put_unused_fd(fd);
		return PTR_ERR(opened);
	}
	argtrace_atlas_opened(atlas, number);
	fd_install(fd, opened);
	return fd;
}

long argtrace_ioctl_object_open(struct file *file, struct argtrace_session *session,
				void __user *arg)
{
	struct argtrace_atlas *atlas = atlas_of(session);
	struct argtrace_object_open open;
	struct file *mapped;
	int ret = argtrace_copy_in(&open, sizeof(open), ARGTRACE_OBJECT_OPEN_SIZE_V1, arg);

	if (ret)
		return ret;
	if (open.flags || open.reserved)
		return -EINVAL;
	if (!argtrace_may_read_memory())
		return -EPERM;
	if (!atlas)
		return -ENOENT;
	argtrace_atlas_hear(atlas, file);
	mapped = argtrace_atlas_file(atlas, open.object, &open.modified, &open.bytes);
	if (IS_ERR(mapped))
		return PTR_ERR(mapped);
	/* Before there is a descriptor, which could not be taken back. */
	ret = argtrace_copy_out(arg, &open, sizeof(open), open.size) ?:
	      open_again(atlas, mapped, open.object);
	fput(mapped);
	return ret;
}

/* Each time that there is no room, tables that are as large make some, or are none any more. */
static struct argtrace_unwind_table *create_table(struct argtrace_atlas *atlas,
						  const struct argtrace_unwind *unwind)
{
	const u64 bytes = (u64)unwind->nr_rows * sizeof(struct argtrace_unwind_row) +
			  (u64)unwind->nr_rules * sizeof(struct argtrace_unwind_rule);
	struct argtrace_unwind_table *table;

	do
		table = argtrace_unwind_create(unwind);
	while (table == ERR_PTR(-ENOSPC) && argtrace_atlas_make_room(atlas, bytes));
	return table;
}

long argtrace_ioctl_unwind(struct file *file, struct argtrace_session *session, void __user *arg)
{
	struct argtrace_atlas *atlas = atlas_of(session);
	struct argtrace_unwind_table *table;
	struct argtrace_unwind unwind;
	int ret = argtrace_copy_in(&unwind, sizeof(unwind), ARGTRACE_UNWIND_SIZE_V1, arg);

	if (ret)
		return ret;
	if (unwind.flags || unwind.reserved)
		return -EINVAL;
	if (!argtrace_may_read_memory())
		return -EPERM;
	if (!atlas || !argtrace_atlas_object(atlas, unwind.object))
		return -ENOENT;
	argtrace_atlas_hear(atlas, file);
	table = create_table(atlas, &unwind);
	if (IS_ERR(table)) {
		argtrace_atlas_refuse(atlas, unwind.object);
		return PTR_ERR(table);
	}
	ret = argtrace_atlas_set_table(atlas, unwind.object, table);
	if (ret)
		argtrace_unwind_free(table);
	return ret;
}
