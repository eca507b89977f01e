/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Non-maskable interrupts that a test module has. The kernel for arm64 lets no module handle any:
 *
 *   AT_HAS_NMIS                        whether there are any
 *   at_nmi_register(), _unregister()   the handler at_on_nmi(), which the module defines; it says whether the NMI was its
 *   at_nmi_send()                      one to that CPU, whose handler may run a little later
 */
#ifndef ARGTRACE_TEST_NMI_H
#define ARGTRACE_TEST_NMI_H

#include <linux/types.h>

static bool at_on_nmi(void);

#ifdef CONFIG_X86_64
#include <asm/apic.h>
#include <asm/nmi.h>

#define AT_HAS_NMIS	true

static int at_handle_nmi(unsigned int type, struct pt_regs *regs)
{
	return at_on_nmi() ? NMI_HANDLED : NMI_DONE;
}

static inline int at_nmi_register(void)
{
	return register_nmi_handler(NMI_LOCAL, at_handle_nmi, 0, KBUILD_MODNAME);
}

static inline void at_nmi_unregister(void)
{
	unregister_nmi_handler(NMI_LOCAL, KBUILD_MODNAME);
}

static inline void at_nmi_send(int cpu)
{
	apic->send_IPI(cpu, NMI_VECTOR);
}
#else
#define AT_HAS_NMIS	false

static inline int at_nmi_register(void)
{
	(void)at_on_nmi;
	return 0;
}

static inline void at_nmi_unregister(void)
{
}

static inline void at_nmi_send(int cpu)
{
}
#endif

#endif
