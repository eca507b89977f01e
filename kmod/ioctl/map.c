// SPDX-License-Identifier: GPL-2.0-only
/* Making the maps of a session. */
#include <linux/err.h>
#include <linux/uaccess.h>

#include "ioctl/ioctl.h"
#include "session.h"

long argtrace_ioctl_map(struct file *file, struct argtrace_session *session, void __user *arg)
{
	struct argtrace_map description;
	struct argtrace_map_set *map;
	u32 id;
	int ret = argtrace_copy_in(&description, sizeof(description), ARGTRACE_MAP_SIZE_V1, arg);

	if (ret)
		return ret;
	map = argtrace_session_make_map(session, &description, &id);
	if (IS_ERR(map))
		return PTR_ERR(map);
	description.id = id;
	description.slot_size = map->slot_size;
	description.carries = map->carries;
	/* A map that the caller does not learn of must not exist. */
	ret = argtrace_copy_out(arg, &description, sizeof(description), description.size);
	if (ret)
		argtrace_session_drop_map(session, id, map);
	else
		argtrace_session_publish_map(session, id, map);
	return ret;
}
