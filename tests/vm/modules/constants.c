// SPDX-License-Identifier: GPL-2.0-only
/* Whether the kernel has the constants that the tool has of it. Nothing is executed. */
#include <linux/audit.h>
#include <linux/blkdev.h>
#include <linux/build_bug.h>
#include <linux/device.h>
#include <linux/exportfs.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/iomap.h>
#include <linux/iommu.h>
#include <linux/ioport.h>
#include <linux/key.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/pagemap.h>
#include <linux/pci.h>
#include <linux/perf_event.h>
#include <linux/pm_runtime.h>
#include <linux/ptrace.h>
#include <linux/rmap.h>
#include <linux/sched.h>
#include <linux/sched/cpufreq.h>
#include <linux/sched/numa_balancing.h>
#include <linux/security.h>
#include <linux/skbuff.h>
#include <linux/socket.h>
#include <linux/string_helpers.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>
#include <linux/writeback.h>
#include <net/dst.h>
#include <net/flow_dissector.h>
#include <net/inet_common.h>
#include <net/ip6_route.h>
#include <net/ip_fib.h>
#include <net/neighbour.h>
#include <trace/events/lock.h>

#include "../../../user/lang/kernel_macros.h"

#define HAS(name, value) static_assert((__force u32)(name) == value);
ARGTRACE_KERNEL_MACROS(HAS)

/* From user/spec/calls.table, by constants.awk. A flag of what the kernel is configured without may be 0. */
#define MAY_HAVE(name, value) static_assert((__force u32)(name) == value || (__force u32)(name) == 0);
#include "table_constants.h"
