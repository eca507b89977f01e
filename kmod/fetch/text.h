/* SPDX-License-Identifier: GPL-2.0-only */
/* Text and bytes from memory that may not be there, the kernel's or the user's, which the address says. */
#ifndef ARGTRACE_TEXT_H
#define ARGTRACE_TEXT_H

#include <linux/types.h>

/* All of them or none: false. */
bool argtrace_read_bytes(u8 *to, u64 from, u32 size);

/*
 * Text up to its NUL, which is not counted, or `limit` bytes; *cut: it goes on after these. Returns the length or -EFAULT. `to` has
 * room for `limit` bytes, all of which may be written to.
 */
int argtrace_read_text(u8 *to, u64 from, u32 limit, bool *cut);

/*
 * Whether the text, of which `limit` bytes are looked at (at most ARGTRACE_MATCH_MAX), matches; -EFAULT. `how` is
 * ARGTRACE_MATCH_*. A NUL follows the literal.
 */
int argtrace_text_matches(u64 from, u32 limit, const u8 *literal, u32 length, u32 how);

#endif
