// SPDX-License-Identifier: GPL-2.0-only
#include "session/tracing_options.h"

#include <fmt/format.h>

#include "util/units.h"

namespace argtrace {

std::string TracingOptions::until(std::optional<std::uint64_t> duration) const {
    const std::string end = command.empty() ? "until Ctrl-C" : fmt::format("until {} ends", command[0]);
    return duration ? fmt::format("for {}, or {}", format_span(*duration), end) : end;
}

Request make_request(const TracingOptions &options) {
    Request request = make_request(options.functions);
    request.objects.pids = options.processes.pids;
    request.debug_files = options.session.naming.debug_files;
    if (!options.command.empty())
        request.objects.command = options.command.front();
    return request;
}

} // namespace argtrace
