/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_DEVICE_H
#define ARGTRACE_DEVICE_H

/* /dev/argtrace. 0 or an error. */
int argtrace_device_register(void);
void argtrace_device_unregister(void);

#endif
