/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ONLOAD_TWIN_H
#define ARGTRACE_ONLOAD_TWIN_H

void ol_call_other_twin(void);

#endif
