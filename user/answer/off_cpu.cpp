// SPDX-License-Identifier: GPL-2.0-only
#include "answer/off_cpu.h"

#include <algorithm>

#include <fmt/format.h>

#include "answer/answer_target.h"
#include "util/message.h"

namespace argtrace {

namespace {

void add(WaitTotal &sum, const WaitTotal &more) {
    sum.waits += more.waits;
    sum.blocked += more.blocked;
    sum.runnable += more.runnable;
    sum.longest = std::max(sum.longest, more.longest);
}

} // namespace

OffCpuAnswer::OffCpuAnswer(const OffCpuOptions &options, const Symbols &symbols)
    : options_(options), target_(open_answer_target(options.output)), output_(target_.fd()), names_(symbols),
      keys_(names_), totals_(options.wanted), tracker_([this](const Wait &wait) { totals_.add(wait); }) {
    target_.keep();
}

bool OffCpuAnswer::show() {
    if (options_.json)
        append_waits_json(output_.buffer(), totals_, keys_, options_.style);
    else
        append_waits(output_.buffer(), totals_, keys_, options_.style);
    return output_.flush();
}

bool OffCpuAnswer::show_interval(std::uint64_t now) {
    if (options_.json) {
        append_waits_json(output_.buffer(), totals_, keys_, options_.style, fmt::format("\"ts\":{}", now));
    } else {
        output_.buffer() += time_of_day() + '\n';
        append_waits(output_.buffer(), totals_, keys_, options_.style);
        output_.buffer() += '\n';
    }
    add(all_, totals_.all());
    totals_.clear();
    return output_.flush();
}

bool OffCpuAnswer::finish(std::uint64_t end, const std::optional<argtrace_counts> &counts) {
    add(all_, totals_.all());
    aside_ = {tracker_.left_out(), tracker_.waiting(end), totals_.unwanted(), counts};
    if (options_.json)
        append_waits_summary_json(output_.buffer(), all_, aside_);
    return output_.flush();
}

void OffCpuAnswer::tell() const {
    write_message(waits_summary(all_, aside_));
}

} // namespace argtrace
