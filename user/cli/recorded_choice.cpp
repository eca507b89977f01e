// SPDX-License-Identifier: GPL-2.0-only
#include "cli/recorded_choice.h"

#include <algorithm>

namespace argtrace {

bool RecordedChoice::wants(const EventView &view) {
    const bool wanted = pids_.empty() || std::find(pids_.begin(), pids_.end(), view.event->tgid) != pids_.end();
    filtered_ += !wanted;
    return wanted;
}

} // namespace argtrace
