// SPDX-License-Identifier: GPL-2.0-only
#include <linux/dcache.h>
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/string.h>
#include <uapi/argtrace.h>

#include "base/memory.h"
#include "probe/user_files.h"

struct argtrace_user_file_entry {
	struct file *file;		/* NULL: it has been let go */
	u32 attached;			/* probes */
	bool was_attached;		/* there has been one since it is held */
	/* These tell it from others while it is not held. */
	dev_t dev;
	u32 generation;
	u64 ino;
	u64 semaphore;
};

/* That by which uprobes know the file: of overlayfs, the layer's. */
static struct inode *real_inode_of(const struct file *file)
{
	return d_real_inode(file->f_path.dentry);
}

static bool is_inode_of(const struct argtrace_user_file_entry *entry, const struct inode *inode)
{
	return entry->ino == inode->i_ino && entry->dev == inode->i_sb->s_dev &&
	       entry->generation == inode->i_generation;
}

static struct argtrace_user_file_entry *find_user_file(const struct argtrace_user_files *files,
						       const struct inode *inode, u64 semaphore)
{
	u32 i;

	for (i = 0; i < files->count; i++) {
		if (files->at[i].semaphore == semaphore && is_inode_of(&files->at[i], inode))
			return &files->at[i];
	}
	return NULL;
}

/* Makes room for one more. */
static int grow_files(struct argtrace_user_files *files)
{
	const u32 room = files->room ? files->room * 2 : 8;
	const u64 charge = argtrace_kvmalloc_size(room * sizeof(*files->at));
	struct argtrace_user_file_entry *at;
	int ret;

	if (files->count < files->room)
		return 0;
	if (files->count == ARGTRACE_USER_FILES_MAX)
		return -E2BIG;
	ret = argtrace_memory_charge(charge);
	if (ret)
		return ret;
	at = argtrace_kvmalloc_array(room, sizeof(*at));
	if (!at) {
		argtrace_memory_uncharge(charge);
		return -ENOMEM;
	}
	if (files->count)
		memcpy(at, files->at, files->count * sizeof(*at));
	kvfree(files->at);
	argtrace_memory_uncharge(files->charged);
	files->at = at;
	files->room = room;
	files->charged = charge;
	return 0;
}

int argtrace_user_files_number(struct argtrace_user_files *files, struct file *file, u64 semaphore,
			       u32 *number)
{
	const struct inode *inode = real_inode_of(file);
	struct argtrace_user_file_entry *entry;
	int ret;

	if (!S_ISREG(inode->i_mode))
		return -EINVAL;
	entry = find_user_file(files, inode, semaphore);
	if (!entry) {
		ret = grow_files(files);
		if (ret)
			return ret;
		entry = &files->at[files->count++];
		*entry = (struct argtrace_user_file_entry){
			.dev = inode->i_sb->s_dev,
			.generation = inode->i_generation,
			.ino = inode->i_ino,
			.semaphore = semaphore,
		};
	}
	if (!entry->file) {
		entry->file = get_file(file);
		entry->was_attached = false;
	}
	*number = entry - files->at + 1;
	return 0;
}

/* NULL: there is none. */
static struct argtrace_user_file_entry *entry_of(const struct argtrace_user_files *files,
						 u32 number)
{
	if (!number || number > files->count)
		return NULL;
	return &files->at[array_index_nospec(number - 1, files->count)];
}

struct inode *argtrace_user_files_inode(const struct argtrace_user_files *files, u32 number)
{
	const struct argtrace_user_file_entry *entry = entry_of(files, number);

	return entry && entry->file ? real_inode_of(entry->file) : NULL;
}

u64 argtrace_user_files_semaphore(const struct argtrace_user_files *files, u32 number)
{
	return entry_of(files, number)->semaphore;
}

void argtrace_user_files_attach(struct argtrace_user_files *files, u32 number)
{
	struct argtrace_user_file_entry *entry = entry_of(files, number);

	entry->attached++;
	entry->was_attached = true;
}

void argtrace_user_files_detach(struct argtrace_user_files *files, u32 number)
{
	entry_of(files, number)->attached--;
}

static void let_go_of_user_file(struct argtrace_user_file_entry *entry)
{
	if (entry->file)
		fput(entry->file);
	entry->file = NULL;
}

void argtrace_user_files_release(struct argtrace_user_files *files)
{
	u32 i;

	for (i = 0; i < files->count; i++) {
		if (files->at[i].was_attached && !files->at[i].attached)
			let_go_of_user_file(&files->at[i]);
	}
}

void argtrace_user_files_free(struct argtrace_user_files *files)
{
	u32 i;

	for (i = 0; i < files->count; i++)
		let_go_of_user_file(&files->at[i]);
	kvfree(files->at);
	argtrace_memory_uncharge(files->charged);
	*files = (struct argtrace_user_files){ };
}
