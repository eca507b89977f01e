/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_RETURN_FOLLOWING_H
#define ARGTRACE_RETURN_FOLLOWING_H

/*
 * Before the first call is followed, and after the last one has left; under the lock of life.c. 0,
 * -EOPNOTSUPP: this kernel does not let us, or another error.
 */
int argtrace_following_begin(void);
void argtrace_following_end(void);

#endif
