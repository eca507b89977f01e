/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Single loads from addresses whose memory may not be mapped, each with an entry in the exception
 * table.
 *
 *   argtrace_is_kernel_address(), argtrace_is_user_address()
 *                            whether up to 8 bytes there may be kernel memory, or user memory
 *   argtrace_load_quickly()  8 bytes, or -EFAULT, which memory may also contain. One instruction
 *   argtrace_load_8(), _4(), _2(), _1()
 *                            a kernel address's bytes, zero-extended; `error` is negative
 *                            afterwards if they cannot be read
 */
#ifndef ARGTRACE_ARCH_LOAD_H
#define ARGTRACE_ARCH_LOAD_H

#if defined(CONFIG_X86_64)
#include "arch/x86/load.h"
#elif defined(CONFIG_ARM64)
#include "arch/arm64/load.h"
#endif

#endif
