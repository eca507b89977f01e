// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/uaccess.h>

#include "arm/sessions.h"
#include "arch/walk.h"
#include "base/authority.h"
#include "base/clock.h"
#include "base/compat.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/uprobes.h"
#include "ioctl/file.h"
#include "ioctl/ioctl.h"
#include "mapping/atlas.h"
#include "session.h"
#include "source/fallback.h"
#include "source/returns/returns.h"

int argtrace_copy_in(void *to, size_t known, size_t least, const void __user *from)
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

int argtrace_copy_out(void __user *to, const void *from, size_t known, u32 size)
{
	return copy_to_user(to, from, min_t(size_t, known, size)) ? -EFAULT : 0;
}

static u32 authority(void)
{
	if (argtrace_may_trace())
		return 0;
	return ARGTRACE_MAY_TRACE | (argtrace_may_read_memory() ? ARGTRACE_MAY_READ_MEMORY : 0);
}

static long ioctl_info(struct file *file, struct argtrace_session *session,
		       void __user *arg)
{
	struct argtrace_info info;
	int ret = argtrace_copy_in(&info, sizeof(info), ARGTRACE_INFO_SIZE_V1, arg);

	if (ret)
		return ret;
	info = (struct argtrace_info){
		.size = info.size,
		.api_version = ARGTRACE_API_VERSION,
		.record_version = ARGTRACE_RECORD_VERSION,
		.max_args = ARGTRACE_MAX_ARGS,
		.features = ARGTRACE_FEATURE_NAMED | ARGTRACE_FEATURE_FLIGHT |
			    ARGTRACE_FEATURE_PROGRAM | ARGTRACE_FEATURE_RETURN |
			    ARGTRACE_FEATURE_MAP |
			    (ARGTRACE_CAN_WALK ? ARGTRACE_FEATURE_STACK : 0) |
			    ARGTRACE_FEATURE_SYSCALL | argtrace_fallback_features() |
			    ARGTRACE_FEATURE_TIMER |
			    (ARGTRACE_TRACEPOINTS_CALL_ANYTHING ? ARGTRACE_FEATURE_TRACEPOINT : 0) |
			    (argtrace_clock_has_tsc() ? ARGTRACE_FEATURE_TSC : 0) |
			    (ARGTRACE_CAN_FOLLOW_MAPPINGS ? ARGTRACE_FEATURE_USER_STACK : 0) |
			    (ARGTRACE_CAN_PROBE_USER ? ARGTRACE_FEATURE_USER : 0),
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
		.authority = authority(),
		.in_flight = argtrace_returns_in_flight(),
	};
	return argtrace_copy_out(arg, &info, sizeof(info), info.size);
}

static long ioctl_symbol(struct file *file, struct argtrace_session *session,
			 void __user *arg)
{
	struct argtrace_symbol symbol;
	int ret = argtrace_copy_in(&symbol, sizeof(symbol), ARGTRACE_SYMBOL_SIZE_V1, arg);

	if (ret)
		return ret;
	if (symbol.flags)
		return -EINVAL;
	static_assert(sizeof(symbol.text) >= KSYM_SYMBOL_LEN);
	memset(symbol.text, 0, sizeof(symbol.text));
	sprint_symbol(symbol.text, symbol.addr);
	return argtrace_copy_out(arg, &symbol, sizeof(symbol), symbol.size);
}

/* What an ioctl requires; uapi/argtrace.h documents it under "Authority". */
#define NEEDS_SESSION	BIT(0)	/* the file is bound to one */
#define NEEDS_AUTHORITY	BIT(1)	/* it changes something, or reveals addresses */
#define NEEDS_WRITE	BIT(2)	/* it changes something: the file is open for writing */

static const struct {
	unsigned int cmd;
	u32 needs;
	argtrace_ioctl_handler *handler;
} ioctls[] = {
	{ ARGTRACE_IOC_INFO, 0, ioctl_info },
	{ ARGTRACE_IOC_SYMBOL, NEEDS_AUTHORITY, ioctl_symbol },
	/* Only making a session takes a file that is open for writing, which the handler checks. */
	{ ARGTRACE_IOC_SESSION, NEEDS_AUTHORITY, argtrace_ioctl_session },
	{ ARGTRACE_IOC_SESSION_REMOVE, NEEDS_AUTHORITY | NEEDS_WRITE,
	  argtrace_ioctl_session_remove },
	{ ARGTRACE_IOC_PROBE_ADD, NEEDS_AUTHORITY | NEEDS_WRITE | NEEDS_SESSION,
	  argtrace_ioctl_probe_add },
	{ ARGTRACE_IOC_PROBE_REMOVE, NEEDS_AUTHORITY | NEEDS_WRITE | NEEDS_SESSION,
	  argtrace_ioctl_probe_remove },
	{ ARGTRACE_IOC_PROBE_LIST, NEEDS_AUTHORITY | NEEDS_SESSION, argtrace_ioctl_probe_list },
	{ ARGTRACE_IOC_COUNTS, NEEDS_SESSION, argtrace_ioctl_counts },
	{ ARGTRACE_IOC_RETURN_COUNTS, NEEDS_SESSION, argtrace_ioctl_return_counts },
	{ ARGTRACE_IOC_IN_FLIGHT, NEEDS_AUTHORITY | NEEDS_SESSION, argtrace_ioctl_in_flight },
	{ ARGTRACE_IOC_READER, NEEDS_AUTHORITY | NEEDS_WRITE | NEEDS_SESSION,
	  argtrace_ioctl_reader },
	{ ARGTRACE_IOC_ON_LOAD, NEEDS_AUTHORITY | NEEDS_WRITE | NEEDS_SESSION,
	  argtrace_ioctl_on_load },
	{ ARGTRACE_IOC_ON_LOAD_REMOVE, NEEDS_AUTHORITY | NEEDS_WRITE | NEEDS_SESSION,
	  argtrace_ioctl_on_load_remove },
	{ ARGTRACE_IOC_ON_LOAD_LIST, NEEDS_SESSION, argtrace_ioctl_on_load_list },
	{ ARGTRACE_IOC_PROCESSES, NEEDS_AUTHORITY | NEEDS_WRITE | NEEDS_SESSION,
	  argtrace_ioctl_processes },
	{ ARGTRACE_IOC_PROCESSES_LIST, NEEDS_SESSION, argtrace_ioctl_processes_list },
	{ ARGTRACE_IOC_MAP, NEEDS_AUTHORITY | NEEDS_WRITE | NEEDS_SESSION, argtrace_ioctl_map },
	/* Making them takes more, which the handler checks. */
	{ ARGTRACE_IOC_STACKS, NEEDS_SESSION, argtrace_ioctl_stacks },
	{ ARGTRACE_IOC_OBJECTS, NEEDS_AUTHORITY | NEEDS_SESSION, argtrace_ioctl_objects },
	{ ARGTRACE_IOC_OBJECT_OPEN, NEEDS_AUTHORITY | NEEDS_WRITE | NEEDS_SESSION,
	  argtrace_ioctl_object_open },
	{ ARGTRACE_IOC_UNWIND, NEEDS_AUTHORITY | NEEDS_WRITE | NEEDS_SESSION,
	  argtrace_ioctl_unwind },
	{ ARGTRACE_IOC_USER_FILE, NEEDS_AUTHORITY | NEEDS_WRITE | NEEDS_SESSION,
	  argtrace_ioctl_user_file },
};

static int check_needs(const struct file *file, const struct argtrace_session *session, u32 needs)
{
	if ((needs & NEEDS_WRITE) && !(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if ((needs & NEEDS_SESSION) && !session)
		return -EBADFD;
	return needs & NEEDS_AUTHORITY ? argtrace_may_trace() : 0;
}

long argtrace_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct argtrace_session *session = argtrace_file_session(file->private_data);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ioctls); i++) {
		if (ioctls[i].cmd == cmd)
			return check_needs(file, session, ioctls[i].needs) ?:
			       ioctls[i].handler(file, session, (void __user *)arg);
	}
	return -ENOTTY;
}
