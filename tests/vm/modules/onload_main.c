// SPDX-License-Identifier: GPL-2.0-only
/*
 * argtrace_onload.ko: calls its own functions when it is loaded. Load it with fail=1, and its
 * init function fails after that; with sleep_ms=N, and it sleeps so long. A number that is written to its parameter `later` is
 * what ol_later() is called with.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "onload.h"
#include "onload_twin.h"

enum ol_mode { OL_QUICK, OL_PLAIN, OL_CAREFUL };

static bool fail;
module_param(fail, bool, 0);
static unsigned int sleep_ms;
module_param(sleep_ms, uint, 0);

static noinline __attribute__((__noipa__)) void ol_first(u8 a, s64 b)
{
	barrier();
}

static noinline __attribute__((__noipa__)) s64 ol_later(u64 number, bool last)
{
	barrier();
	return OL_LATER_RESULT((s64)number);
}

/* Static, as another one in onload_twin.c. */
static noinline __attribute__((__noipa__)) void ol_twin(u32 number)
{
	barrier();
}

static noinline notrace __attribute__((__noipa__)) void ol_untraceable(u32 number)
{
	barrier();
}

static __init noinline __attribute__((__noipa__)) int ol_prepare(u32 step, enum ol_mode mode)
{
	barrier();
	return OL_PREPARE_RESULT;
}

static int later_set(const char *text, const struct kernel_param *param)
{
	u64 number;
	int ret = kstrtoull(text, 0, &number);

	if (!ret)
		ol_later(number, number & 1);
	return ret;
}

static const struct kernel_param_ops later_ops = { .set = later_set };
module_param_cb(later, &later_ops, NULL, 0200);

static int __init ol_init(void)
{
	ol_prepare(OL_PREPARE_STEP, OL_CAREFUL);
	ol_first(OL_FIRST_A, OL_FIRST_B);
	ol_twin(OL_TWIN_ONE);
	ol_call_other_twin();
	ol_untraceable(1);
	if (sleep_ms)
		msleep(sleep_ms);
	return fail ? -EINVAL : 0;
}

static void __exit ol_exit(void)
{
	ol_first(0, 0);
}

module_init(ol_init);
module_exit(ol_exit);

MODULE_DESCRIPTION("Calls its own functions when it is loaded, for the tests of argtrace");
MODULE_VERSION("1"); /* with one, modpost adds a srcversion */
MODULE_LICENSE("GPL");
