// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/sched.h>

#include "arch/walk.h"
#include "arm/sessions.h"
#include "base/clock.h"
#include "base/percpu.h"
#include "device.h"
#include "mapping/atlas.h"
#include "probe/counters.h"
#include "read/scratch.h"
#include "session.h"
#include "source/returns/returns.h"
#include "source/timer.h"
#include "stack/late.h"

static int module_event(struct notifier_block *block, unsigned long event, void *data)
{
	/* Before the sessions arm anything in the new module, which may be called at once. */
	argtrace_frames_forget(data, event == MODULE_STATE_LIVE);
	switch (event) {
	case MODULE_STATE_COMING:
		/* ftrace knows the module's functions by now, and none of them has run yet. */
		argtrace_sessions_module_coming(data);
		break;
	case MODULE_STATE_GOING:
		argtrace_sessions_module_going(data, false);
		break;
	case MODULE_STATE_LIVE:
		argtrace_sessions_module_going(data, true);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = {
	.notifier_call = module_event,
	/*
	 * Before the kernel's own notifier, which warns if tracepoints are still in use when their
	 * module goes.
	 */
	.priority = 1,
};

/*
 * The kernel has registered the new module's tracepoints, and from here on maintains what they
 * call.
 */
static int tracepoint_event(struct notifier_block *block, unsigned long event, void *data)
{
	if (event == MODULE_STATE_COMING)
		argtrace_sessions_tracepoints_coming(data);
	return NOTIFY_DONE;
}

static struct notifier_block tracepoint_notifier = {
	.notifier_call = tracepoint_event,
	.priority = -1,
};

static int __init argtrace_init(void)
{
	int ret;

	argtrace_clock_init();
	argtrace_text_init();
	ret = argtrace_counters_init();
	if (ret)
		return ret;
	ret = argtrace_scratch_init();
	if (ret)
		goto err_counters;
	ret = argtrace_percpu_init();
	if (ret)
		goto err_scratch;
	ret = argtrace_timers_init();
	if (ret)
		goto err_percpu;
	ret = register_module_notifier(&module_notifier);
	if (ret)
		goto err_timers;
	ret = register_module_notifier(&tracepoint_notifier);
	if (ret)
		goto err_notifier;
	ret = argtrace_device_register();
	if (ret)
		goto err_tracepoint_notifier;
	return 0;

err_tracepoint_notifier:
	unregister_module_notifier(&tracepoint_notifier);
err_notifier:
	unregister_module_notifier(&module_notifier);
err_timers:
	argtrace_timers_exit();
err_percpu:
	argtrace_percpu_exit();
err_scratch:
	argtrace_scratch_exit();
err_counters:
	argtrace_counters_exit();
	return ret;
}

/* No file is open any more, but named sessions may be armed. */
static void __exit argtrace_exit(void)
{
	argtrace_device_unregister();
	/*
	 * The module notifier must stay while anything is armed, to disarm it before its module
	 * goes. A notifier that is running may be the last to hold a session, and is waited for.
	 */
	argtrace_sessions_close(true);
	argtrace_sessions_remove_all();
	unregister_module_notifier(&tracepoint_notifier);
	unregister_module_notifier(&module_notifier);
	argtrace_await_exit();
	argtrace_late_exit();
	if (!argtrace_sessions_leaked()) {
		argtrace_returns_exit();
		argtrace_timers_exit();
		argtrace_percpu_exit();
		argtrace_scratch_exit();
		argtrace_counters_exit();
		return;
	}
	pr_err("ftrace has shut itself down and may still call this module, which therefore cannot be removed\n");
	for (;;)
		schedule_timeout_idle(MAX_SCHEDULE_TIMEOUT);
}

module_init(argtrace_init);
module_exit(argtrace_exit);

MODULE_AUTHOR("The argtrace maintainers");
MODULE_DESCRIPTION("See every call of a kernel function with its arguments named and typed");
MODULE_VERSION(ARGTRACE_VERSION);
MODULE_LICENSE("GPL");
