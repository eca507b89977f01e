/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ioctls of /dev/argtrace: ioctl.c checks what all of them have in common and calls one
 * of these. Structs are copied in and out by their leading size, see "sizes" in
 * uapi/argtrace.h. A handler trusts nothing it is given.
 */
#ifndef ARGTRACE_IOCTL_H
#define ARGTRACE_IOCTL_H

#include <linux/types.h>

#include "probe/probe.h"

struct argtrace_session;
struct file;

/* `session` is the one that the file is bound to; NULL only where the table allows that. */
typedef long argtrace_ioctl_handler(struct file *file, struct argtrace_session *session,
				    void __user *arg);

/* session.c */
argtrace_ioctl_handler argtrace_ioctl_session, argtrace_ioctl_session_remove, argtrace_ioctl_reader,
	argtrace_ioctl_processes, argtrace_ioctl_processes_list, argtrace_ioctl_stacks;

/* probe.c */
argtrace_ioctl_handler argtrace_ioctl_probe_add, argtrace_ioctl_probe_remove,
	argtrace_ioctl_probe_list, argtrace_ioctl_counts, argtrace_ioctl_return_counts;

/* in_flight.c */
argtrace_ioctl_handler argtrace_ioctl_in_flight;

/* map.c */
argtrace_ioctl_handler argtrace_ioctl_map;

/* object.c */
argtrace_ioctl_handler argtrace_ioctl_objects, argtrace_ioctl_object_open, argtrace_ioctl_unwind;

/* user_file.c */
argtrace_ioctl_handler argtrace_ioctl_user_file;

/* deferred.c */
argtrace_ioctl_handler argtrace_ioctl_on_load, argtrace_ioctl_on_load_remove,
	argtrace_ioctl_on_load_list;

/*
 * Copies a struct of the caller's size: at least `least` bytes, of which `known` are
 * understood. 0, -EFAULT, -EINVAL, -E2BIG.
 */
int argtrace_copy_in(void *to, size_t known, size_t least, const void __user *from);
/* Copies back as much as fits the caller's struct; 0 or -EFAULT. */
int argtrace_copy_out(void __user *to, const void *from, size_t known, u32 size);

/* A list is copied out in pieces, between which session->lock is dropped, as copying may fault. */
#define ARGTRACE_LIST_PIECE	(1u << 20)

typedef struct argtrace_plan *argtrace_read_probe(const void __user *entry, u64 *length,
						  const struct argtrace_plan_format *format);

/*
 * Reads and prepares the `count` probes in the `length` bytes at `probes`. On error, returns
 * ERR_PTR, and *failed is the index of the probe that was refused, or count; *cost is that of its
 * program if it may cost too much. The caller owns the plans and the array.
 */
struct argtrace_plan **argtrace_read_probes(const struct argtrace_session *session, u64 probes,
					    u64 length, u32 count, u32 *failed, u64 *cost,
					    argtrace_read_probe *read_probe);

#endif
