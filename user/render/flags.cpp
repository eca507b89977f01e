// SPDX-License-Identifier: GPL-2.0-only
#include "render/flags.h"

#include <algorithm>

#include "uapi/argtrace.h"

namespace argtrace {

FlagsColumn flags_column(std::uint8_t context, std::uint8_t preempt) {
    bool irqs_off = context & ARGTRACE_CTX_IRQS_OFF;
    bool bh_off = context & ARGTRACE_CTX_BH_OFF;
    bool thread_resched = context & ARGTRACE_CTX_NEED_RESCHED;
    bool preempt_resched = context & ARGTRACE_CTX_PREEMPT_RESCHED;
    bool nmi = context & ARGTRACE_CTX_NMI;
    bool hardirq = context & ARGTRACE_CTX_HARDIRQ;
    bool softirq = context & ARGTRACE_CTX_SOFTIRQ;

    // As trace_print_lat_fmt() in kernel/trace/trace_output.c has them.
    char off = irqs_off && bh_off ? 'D' : irqs_off ? 'd' : bh_off ? 'b' : '.';
    char resched = thread_resched && preempt_resched ? 'N'
                   : thread_resched                  ? 'n'
                   : preempt_resched                 ? 'p'
                                                     : '.';
    char where = nmi && hardirq       ? 'Z'
                 : nmi                ? 'z'
                 : hardirq && softirq ? 'H'
                 : hardirq            ? 'h'
                 : softirq            ? 's'
                                      : '.';
    char depth = preempt == 0 ? '.' : "0123456789abcdef"[std::min<unsigned>(preempt, 0xf)];
    return {{off, resched, where, depth}};
}

} // namespace argtrace
