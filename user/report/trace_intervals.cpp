// SPDX-License-Identifier: GPL-2.0-only
#include "report/trace_intervals.h"

namespace argtrace {

bool TraceIntervals::reach(std::uint64_t time) {
    if (satisfied())
        return false;
    if (!next_)
        next_ = time + length_;
    for (; time >= *next_; *next_ += length_)
        if (!end(*next_))
            return false;
    last_ = time;
    return true;
}

void TraceIntervals::finish() {
    if (next_ && !satisfied())
        (void)end(last_);
}

bool TraceIntervals::end(std::uint64_t time) {
    ++ended_;
    abandoned_ = !show_(time);
    return !satisfied();
}

} // namespace argtrace
