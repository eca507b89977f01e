// SPDX-License-Identifier: GPL-2.0-only
#include "render/flags.h"

#include <algorithm>
#include <string_view>

#include "uapi/argtrace.h"

namespace argtrace {

namespace {

constexpr unsigned depth_max = 0xf;

constexpr FlagsColumn make_column(unsigned context, unsigned preempt) {
    bool irqs_off = context & ARGTRACE_CTX_IRQS_OFF;
    bool bh_off = context & ARGTRACE_CTX_BH_OFF;
    bool lazy_resched = context & ARGTRACE_CTX_NEED_RESCHED_LAZY;
    bool thread_resched = context & ARGTRACE_CTX_NEED_RESCHED;
    bool preempt_resched = context & ARGTRACE_CTX_PREEMPT_RESCHED;
    bool nmi = context & ARGTRACE_CTX_NMI;
    bool hardirq = context & ARGTRACE_CTX_HARDIRQ;
    bool softirq = context & ARGTRACE_CTX_SOFTIRQ;

    // As trace_print_lat_fmt() in kernel/trace/trace_output.c has them.
    char off = irqs_off && bh_off ? 'D' : irqs_off ? 'd' : bh_off ? 'b' : '.';
    constexpr std::string_view resched_signs = ".pnNlLbB";
    char resched = resched_signs[lazy_resched * 4 + thread_resched * 2 + preempt_resched];
    char where = nmi && hardirq       ? 'Z'
                 : nmi                ? 'z'
                 : hardirq && softirq ? 'H'
                 : hardirq            ? 'h'
                 : softirq            ? 's'
                                      : '.';
    char depth = preempt == 0 ? '.' : "0123456789abcdef"[preempt];
    return {{off, resched, where, depth}};
}

using Columns = std::array<std::array<FlagsColumn, depth_max + 1>, 256>;

constexpr Columns make_columns() {
    Columns columns{};
    for (unsigned context = 0; context < columns.size(); ++context) {
        for (unsigned preempt = 0; preempt <= depth_max; ++preempt)
            columns[context][preempt] = make_column(context, preempt);
    }
    return columns;
}

constexpr Columns columns = make_columns();

} // namespace

FlagsColumn flags_column(std::uint8_t context, std::uint8_t preempt) {
    return columns[context][std::min<unsigned>(preempt, depth_max)];
}

} // namespace argtrace
