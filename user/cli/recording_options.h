// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/code_naming.h"
#include "report/event_filter.h"

namespace argtrace {

/// How many threads --jobs may ask for.
inline constexpr std::uint64_t jobs_max = 1024;

/// Which file `report` and `export` read, and which of its events.
struct RecordingOptions {
    std::string input;              ///< the file, where -i names it
    std::vector<std::string> words; ///< the file, where -i does not name it, then functions
    EventFilter filter;
    std::optional<std::uint64_t> max_events;
    unsigned jobs = 0;
    bool regex = false;
    CodeNaming naming = {};

    /// Takes the file and the functions out of `words`. Throws Error.
    void resolve();

    const std::string &path() const { return words.front(); } ///< behind resolve()
};

/// What --time may be beside a range: takes it and returns true, or returns false.
using TakeTimeStyle = std::function<bool(const std::string &)>;

/// Adds FILE, -i, --time, --tid, --pid, --comm, --cpu and -n.
void add_recording_options(CLI::App &command, RecordingOptions &options,
                           const TakeTimeStyle &take_style = {});

/// Adds --regex, -j, --lines and --objects, which come last in the help.
void add_reading_options(CLI::App &command, RecordingOptions &options);

} // namespace argtrace
