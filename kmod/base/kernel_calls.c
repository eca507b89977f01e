// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kprobes.h>
#include <linux/module.h>

#include "base/kernel_calls.h"

/* A kprobe that is registered but never armed is told it. */
unsigned long argtrace_kernel_address(const char *name)
{
	struct kprobe probe = { .symbol_name = name, .flags = KPROBE_FLAG_DISABLED };

	if (!register_kprobe(&probe))
		unregister_kprobe(&probe);
	return (unsigned long)probe.addr;
}

/* ftrace may go on calling us for ever. */
static void keep_module_for_ever(void)
{
	__module_get(THIS_MODULE);
}

/* What a freed filter leaves behind must not be used again. */
static void reset_kernel_calls(struct argtrace_kernel_calls *calls)
{
	ftrace_free_filter(&calls->ops);
	calls->ops = (struct ftrace_ops){ };
}

int argtrace_kernel_calls_begin(struct argtrace_kernel_calls *calls)
{
	int ret;
	u32 i;

	for (i = 0; i < calls->count; i++) {
		calls->addresses[i] = argtrace_kernel_address(calls->calls[i].name);
		if (!calls->addresses[i])
			return -EOPNOTSUPP;
	}
	calls->ops.func = calls->callback;
	/* Without it kernel.ftrace_enabled=0 would silently stop the calls. */
	calls->ops.flags = FTRACE_OPS_FL_PERMANENT;
	ret = ftrace_set_filter_ips(&calls->ops, calls->addresses, calls->count, 0, 1);
	if (!ret)
		ret = register_ftrace_function(&calls->ops);
	if (ret == -ENODEV)
		keep_module_for_ever();
	else if (ret)
		reset_kernel_calls(calls);
	/* Functions that ftrace does not know, or an ftrace that has shut itself down. */
	return ret == -EINVAL || ret == -ENODEV ? -EOPNOTSUPP : ret;
}

void argtrace_kernel_calls_end(struct argtrace_kernel_calls *calls)
{
	if (WARN_ON_ONCE(unregister_ftrace_function(&calls->ops)))
		return keep_module_for_ever();
	reset_kernel_calls(calls);
}
