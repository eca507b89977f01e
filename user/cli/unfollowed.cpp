// SPDX-License-Identifier: GPL-2.0-only
#include "cli/unfollowed.h"

#include <fmt/format.h>

#include "cli/unloaded_modules.h"
#include "model/return_way.h"
#include "util/error.h"
#include "util/message.h"

namespace argtrace {

void Unfollowed::take(std::vector<Probe> &probes, std::size_t index) {
    if (is_by_kernel(probes[index]) && by_reason(probes[index]) == ARGTRACE_BY_CHOICE)
        throw Error(fmt::format("{}: the kernel has no {} there, or the function never returns: leave out --return-by",
                                probes[index].function, return_way(probes[index])));
    names_.push_back(probes[index].function);
    probes.erase(probes.begin() + static_cast<std::ptrdiff_t>(index));
    if (probes.empty())
        throw Error(fmt::format("{}: what it returns cannot be followed: it never returns, or "
                                "the kernel returns from it in a way of its own",
                                list_names(names_)));
}

void Unfollowed::tell() const {
    if (!names_.empty())
        message("{} left out, as they never return, or in a way of their own: {}",
                names_.size() == 1 ? "1 function is"
                                   : fmt::format("{} functions are", names_.size()),
                list_names(names_));
}

} // namespace argtrace
