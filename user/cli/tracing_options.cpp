// SPDX-License-Identifier: GPL-2.0-only
#include "cli/tracing_options.h"

#include <cstdint>

#include <fmt/format.h>

#include "cli/process_options.h"
#include "file/compression.h"
#include "util/error.h"
#include "util/units.h"

namespace argtrace {

void check_usage(const TracingOptions &options) {
    if (!options.own_session() &&
        (options.session.given() || options.session.stack_table || options.processes.given()))
        throw CLI::ValidationError(
            "-p, --follow, --buffer, --encoding, --clock, --no-caller and --stack-table-size are chosen when functions "
            "are added: give them to `argtrace add`, or name functions here");
    if (!options.own_session() && options.functions.given())
        throw CLI::ValidationError(
            "-r, -d, --stack, --if, --cgroup, --sample, --max-rate, --regex, --force, --raw, --btf and --on-load say which "
            "functions and calls are meant: name functions here");
    check_follow(options.processes, !options.command.empty());
}

void add_include_self_option(CLI::App &command, TracingOptions &options) {
    command.add_flag("--include-self", options.include_self,
                     "Also calls of argtrace itself and of the processes that its output goes "
                     "through");
}

void add_include_self_option(CLI::App &command, bool &include_self) {
    command.add_flag("--include-self", include_self, "Have a flight recorder record the calls that this command itself makes, too");
}

std::optional<int> parse_compression(const std::string &text) {
    if (text.empty())
        return std::nullopt;
    std::uint64_t level = 0;
    try {
        level = parse_count("--compress", text);
    } catch (const Error &error) {
        throw CLI::ValidationError(std::string(error.what()));
    }
    if (level > compression_level_max)
        throw CLI::ValidationError(fmt::format("--compress takes a level from 1 to {}, not '{}'",
                                               compression_level_max, text));
    return static_cast<int>(level);
}

} // namespace argtrace
