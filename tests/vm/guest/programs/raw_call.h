// SPDX-License-Identifier: GPL-2.0-only
// A system call without libc's function for it, so that the innermost frame is that of the function which makes it.
#pragma once

#include <sys/syscall.h>

static inline __attribute__((always_inline)) long raw_prctl(long option, long number)
{
#ifdef __aarch64__
	register long result __asm__("x0") = option;
	register long second __asm__("x1") = number, third __asm__("x2") = 0, call __asm__("x8") = SYS_prctl;

	__asm__ volatile("svc #0" : "+r"(result) : "r"(second), "r"(third), "r"(call) : "memory");
#else
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"((long)SYS_prctl), "D"(option), "S"(number), "d"(0L) : "rcx", "r11", "memory");
#endif
	return result;
}

// Waits for signals alone.
static inline __attribute__((always_inline)) long raw_wait(void)
{
#ifdef __aarch64__
	register long result __asm__("x0") = 0;
	register long second __asm__("x1") = 0, third __asm__("x2") = 0, fourth __asm__("x3") = 0, call __asm__("x8") = SYS_ppoll;

	__asm__ volatile("svc #0" : "+r"(result) : "r"(second), "r"(third), "r"(fourth), "r"(call) : "memory");
#else
	register long fourth __asm__("r10") = 0;
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"((long)SYS_ppoll), "D"(0L), "S"(0L), "d"(0L), "r"(fourth) : "rcx", "r11", "memory", "cc");
#endif
	return result;
}
