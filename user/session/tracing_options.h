// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session/options.h"
#include "session/processes.h"
#include "spec/function_options.h"

namespace argtrace {

/// What `trace` and `record` are asked to trace: functions of their own, or else those of `add`.
struct TracingOptions {
    FunctionOptions functions;
    SessionOptions session;
    ProcessOptions processes;
    std::vector<std::string> command; ///< that runs meanwhile; mostly empty
    bool include_self = false;        ///< record the calls that our own output causes, too

    bool own_session() const { return !functions.specs.empty(); }

    /// Only COMMAND and what it starts.
    bool follows_command() const { return processes.follow && !command.empty(); }

    /// The processes given are what ends it.
    bool ends_with_processes() const { return !processes.pids.empty() && command.empty(); }

    /// "until Ctrl-C", "until make ends", "for 10s, or until Ctrl-C". `duration`: of --duration, in ns.
    std::string until(std::optional<std::uint64_t> duration) const;
};

/// The request for the functions, which are those of the processes where they are code of users. Throws Error as that of the functions
/// alone does.
Request make_request(const TracingOptions &options);

} // namespace argtrace
