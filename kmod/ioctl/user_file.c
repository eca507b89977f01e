// SPDX-License-Identifier: GPL-2.0-only
/* Files get a number, by which probes in their code name them. */
#include <linux/align.h>
#include <linux/file.h>
#include <linux/fs.h>

#include "base/authority.h"
#include "base/uprobes.h"
#include "ioctl/ioctl.h"
#include "probe/user_files.h"
#include "session.h"

static bool semaphore_is_valid(u64 semaphore)
{
	return IS_ALIGNED(semaphore, sizeof(u16)) && semaphore < ARGTRACE_USER_OFFSET_MAX;
}

static int number_file(struct argtrace_session *session, struct file *file,
		       struct argtrace_user_file *numbered)
{
	int ret = -ENOENT;

	if (!(file->f_mode & FMODE_READ))
		return -EBADF;
	mutex_lock(&session->lock);
	if (!session->removed)
		ret = argtrace_user_files_number(&session->user_files, file, numbered->semaphore,
						 &numbered->file);
	mutex_unlock(&session->lock);
	return ret;
}

long argtrace_ioctl_user_file(struct file *file, struct argtrace_session *session,
			      void __user *arg)
{
	struct argtrace_user_file numbered;
	struct file *named;
	int ret = argtrace_copy_in(&numbered, sizeof(numbered), ARGTRACE_USER_FILE_SIZE_V1, arg);

	if (ret)
		return ret;
	if (numbered.flags || !semaphore_is_valid(numbered.semaphore))
		return -EINVAL;
	if (!ARGTRACE_CAN_PROBE_USER)
		return -EOPNOTSUPP;
	if (!argtrace_may_read_memory())
		return -EPERM;
	named = fget(numbered.fd);
	if (!named)
		return -EBADF;
	ret = number_file(session, named, &numbered);
	fput(named);
	return ret ?: argtrace_copy_out(arg, &numbered, sizeof(numbered), numbered.size);
}
