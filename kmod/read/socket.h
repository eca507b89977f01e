/* SPDX-License-Identifier: GPL-2.0-only */
/* What a socket is bound and connected to, read without locks. */
#ifndef ARGTRACE_SOCKET_H
#define ARGTRACE_SOCKET_H

#include <linux/types.h>
#include <uapi/argtrace.h>

/*
 * Writes the struct argtrace_socket of the socket whose inode of the sockfs is at `inode`, with the
 * name that follows it. Returns how many bytes it has, or 0 if the family has none, or it cannot be
 * read; what has been written is cleared then, as `to` may be mapped. Within
 * argtrace_scratch_enter().
 */
u32 argtrace_read_socket(u8 *to, u64 inode);

#endif
