// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/uaccess.h>

#include "clock.h"
#include "device.h"
#include "ioctl.h"
#include "limits.h"
#include "memory.h"
#include "session.h"

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

static const struct {
	unsigned int cmd;
	bool needs_session;
	argtrace_ioctl_handler *handler;
} ioctls[] = {
	{ ARGTRACE_IOC_INFO,		false,	ioctl_info },
	{ ARGTRACE_IOC_SYMBOL,		false,	ioctl_symbol },
	{ ARGTRACE_IOC_SESSION,		false,	argtrace_ioctl_session },
	{ ARGTRACE_IOC_SESSION_REMOVE,	false,	argtrace_ioctl_session_remove },
	{ ARGTRACE_IOC_PROBE_ADD,	true,	argtrace_ioctl_probe_add },
	{ ARGTRACE_IOC_PROBE_REMOVE,	true,	argtrace_ioctl_probe_remove },
	{ ARGTRACE_IOC_PROBE_LIST,	true,	argtrace_ioctl_probe_list },
	{ ARGTRACE_IOC_COUNTS,		true,	argtrace_ioctl_counts },
	{ ARGTRACE_IOC_READER,		true,	argtrace_ioctl_reader },
	{ ARGTRACE_IOC_ON_LOAD,		true,	argtrace_ioctl_on_load },
	{ ARGTRACE_IOC_ON_LOAD_REMOVE,	true,	argtrace_ioctl_on_load_remove },
	{ ARGTRACE_IOC_ON_LOAD_LIST,	true,	argtrace_ioctl_on_load_list },
	{ ARGTRACE_IOC_PROCESSES,	true,	argtrace_ioctl_processes },
	{ ARGTRACE_IOC_PROCESSES_LIST,	true,	argtrace_ioctl_processes_list },
};

long argtrace_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct argtrace_file *own = file->private_data;
	struct argtrace_session *session = smp_load_acquire(&own->session);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ioctls); i++) {
		if (ioctls[i].cmd != cmd)
			continue;
		if (ioctls[i].needs_session && !session)
			return -EBADFD;
		return ioctls[i].handler(file, session, (void __user *)arg);
	}
	return -ENOTTY;
}
