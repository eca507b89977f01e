// SPDX-License-Identifier: GPL-2.0-only
/* A /dev/argtrace of another version, which the tool must report. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include <uapi/argtrace.h>

static long other_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct argtrace_info info = {
		.size = ARGTRACE_INFO_SIZE_V1,
		.api_version = ARGTRACE_API_VERSION + 1,
		.record_version = ARGTRACE_RECORD_VERSION,
		.module_version = "99.9.9",
	};

	if (cmd != ARGTRACE_IOC_INFO)
		return -ENOTTY;
	/* The first version of the struct, so that a tool that needs more of it must ask for the version first. */
	return copy_to_user((void __user *)arg, &info, ARGTRACE_INFO_SIZE_V1) ? -EFAULT : 0;
}

static const struct file_operations other_fops = {
	.owner		= THIS_MODULE,
	.unlocked_ioctl	= other_ioctl,
};

static struct miscdevice device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "argtrace",
	.fops	= &other_fops,
	.mode	= 0600,
};
module_misc_device(device);

MODULE_DESCRIPTION("argtrace's device as another version would offer it, for the tests");
MODULE_LICENSE("GPL");
