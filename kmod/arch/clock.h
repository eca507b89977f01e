/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processor's counter of time, ARGTRACE_CLOCK_TSC of the ABI.
 *
 *   argtrace_cycles()             its value, shifted left by ARGTRACE_CYCLES_SHIFT bits
 *   argtrace_cycles_ordered()     the same, not before earlier instructions have been executed
 *   argtrace_cycles_halves()      in two halves, which is how callers use them
 *   argtrace_cycles_khz()         its nominal rate
 *   argtrace_cycles_are_usable()  whether there is one that runs at 500 MHz at least, as
 *                                 argtrace_packet.mult needs
 *   argtrace_cycles_are_steady()  whether the processor says that it always runs at one rate, on
 *                                 all CPUs alike
 *   argtrace_use_register_of()    a hint to the compiler's register allocation
 */
#ifndef ARGTRACE_ARCH_CLOCK_H
#define ARGTRACE_ARCH_CLOCK_H

#if defined(CONFIG_X86_64)
#include "arch/x86/clock.h"
#elif defined(CONFIG_ARM64)
#include "arch/arm64/clock.h"
#endif

#endif
