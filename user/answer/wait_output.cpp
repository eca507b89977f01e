// SPDX-License-Identifier: GPL-2.0-only
#include "answer/wait_output.h"

#include <fmt/format.h>

#include "answer/answer_target.h"

namespace argtrace {

WaitOutput::WaitOutput(const OffCpuOptions &options, const Symbols &symbols)
    : options_(options), target_(open_answer_target(options.output)), output_(target_.fd()), names_(symbols),
      keys_(names_) {
    target_.keep();
}

bool WaitOutput::show(const WaitTotals &totals) {
    if (options_.json)
        append_waits_json(output_.buffer(), totals, keys_, options_.style);
    else
        append_waits(output_.buffer(), totals, keys_, options_.style);
    return output_.flush();
}

bool WaitOutput::show_interval(const WaitTotals &totals, std::uint64_t now) {
    if (options_.json) {
        append_waits_json(output_.buffer(), totals, keys_, options_.style, fmt::format("\"ts\":{}", now));
    } else {
        output_.buffer() += time_of_day() + '\n';
        append_waits(output_.buffer(), totals, keys_, options_.style);
        output_.buffer() += '\n';
    }
    return output_.flush();
}

bool WaitOutput::finish(const WaitTotal &all, const WaitsAside &aside) {
    if (options_.json)
        append_waits_summary_json(output_.buffer(), all, aside);
    return output_.flush();
}

} // namespace argtrace
