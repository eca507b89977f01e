// SPDX-License-Identifier: GPL-2.0-only
#include "model/process_filter.h"

#include <fmt/format.h>

namespace argtrace {

std::string describe(const ProcessFilter &filter) {
    if (filter.pids.empty())
        return "all processes";
    return fmt::format("process{} {}{}", filter.pids.size() == 1 ? "" : "es",
                       fmt::join(filter.pids, ", "),
                       !filter.children          ? ""
                       : filter.pids.size() == 1 ? " and its children"
                                                 : " and their children");
}

} // namespace argtrace
