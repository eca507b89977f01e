// SPDX-License-Identifier: GPL-2.0-only
#include "answer/off_cpu.h"

#include <fmt/format.h>

#include "answer/answer_target.h"
#include "util/message.h"

namespace argtrace {

OffCpuAnswer::OffCpuAnswer(const OffCpuOptions &options, const Symbols &symbols)
    : options_(options), target_(open_answer_target(options.output)), output_(target_.fd()), names_(symbols),
      keys_(names_), totals_(options.wanted), tracker_([this](const Wait &wait) { totals_.add(wait); }) {
    target_.keep();
}

bool OffCpuAnswer::show() {
    append({});
    return output_.flush();
}

/// Stacks that were completed meanwhile belong to the others with their frames.
void OffCpuAnswer::append(std::string_view time) {
    const auto shared = totals_.with_user_stacks([this](std::uint64_t id) { return keys_.shared_stack(id); });
    const WaitTotals &totals = shared ? *shared : totals_;
    if (options_.json)
        append_waits_json(output_.buffer(), totals, keys_, options_.style, time);
    else
        append_waits(output_.buffer(), totals, keys_, options_.style);
}

bool OffCpuAnswer::show_interval(std::uint64_t now) {
    if (options_.json) {
        append(fmt::format("\"ts\":{}", now));
    } else {
        output_.buffer() += time_of_day() + '\n';
        append({});
        output_.buffer() += '\n';
    }
    all_.add(totals_.all());
    totals_.clear();
    return output_.flush();
}

bool OffCpuAnswer::finish(std::uint64_t end, const std::optional<argtrace_counts> &counts) {
    all_.add(totals_.all());
    aside_ = {tracker_.left_out(), tracker_.waiting(end), totals_.unwanted(), counts};
    if (options_.json)
        append_waits_summary_json(output_.buffer(), all_, aside_);
    return output_.flush();
}

void OffCpuAnswer::tell() const {
    write_message(waits_summary(all_, aside_));
}

} // namespace argtrace
