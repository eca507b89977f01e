/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_LIMITS_H
#define ARGTRACE_LIMITS_H

/* Limits that ARGTRACE_IOC_INFO reports, in addition to those of a probe (probe.h). */
#define ARGTRACE_PACKET_SIZE		(64u << 10)	/* default */
#define ARGTRACE_NR_PACKETS		64u		/* default: 4 MiB a CPU ... */
#define ARGTRACE_DEFAULT_CPUS		32u		/* ... and so many CPUs' for all, where there are more */
#define ARGTRACE_PACKET_SIZE_MIN	(4u << 10)
#define ARGTRACE_PACKET_SIZE_MAX	(1u << 20)
#define ARGTRACE_NR_PACKETS_MAX		(1u << 14)

#endif
