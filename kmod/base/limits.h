/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_LIMITS_H
#define ARGTRACE_LIMITS_H

#include <linux/math.h>
#include <linux/types.h>

/* Limits that ARGTRACE_IOC_INFO reports, in addition to those of a probe (probe.h). */
#define ARGTRACE_PACKET_SIZE		(64u << 10)	/* default */
#define ARGTRACE_NR_PACKETS		64u		/* default: 4 MiB a CPU ... */
/* ... and so many CPUs' for all, where there are more */
#define ARGTRACE_DEFAULT_CPUS		32u
#define ARGTRACE_PACKET_SIZE_MIN	(4u << 10)
#define ARGTRACE_PACKET_SIZE_MAX	(1u << 20)
#define ARGTRACE_NR_PACKETS_MAX		(1u << 14)

/*
 * Halved on large machines, until the rings of all CPUs take no more than those of
 * ARGTRACE_DEFAULT_CPUS; two at least.
 */
static inline u32 argtrace_default_nr_packets(u32 cpus)
{
	u32 nr_packets = ARGTRACE_NR_PACKETS;

	for (; cpus > ARGTRACE_DEFAULT_CPUS && nr_packets > 2; cpus = DIV_ROUND_UP(cpus, 2))
		nr_packets /= 2;
	return nr_packets;
}

#endif
