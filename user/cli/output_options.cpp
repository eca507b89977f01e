// SPDX-License-Identifier: GPL-2.0-only
#include "cli/output_options.h"

#include <unistd.h>

#include "cli/options.h"
#include "render/json.h"
#include "render/text.h"
#include "render/tree.h"
#include "util/terminal.h"
#include "util/units.h"

namespace argtrace {

namespace {

// All columns but the call take 48 characters, a call of four arguments some 90 more.
constexpr std::size_t wide_terminal = 120;

} // namespace

void add_output_options(CLI::App &command, OutputOptions &options) {
    auto json = command.add_flag("--json", options.json, "One JSON object a line");
    command.add_flag("--types", options.types, "With --json: the types of the arguments, too");
    add_parsed_option(
        command, "-f,--fields",
        [&options](const std::string &text) { options.columns = parse_columns("--fields", text); },
        "The columns: " + column_names() +
            "; or all. If not given, a narrow terminal gets no cpu, flags and caller")
        ->type_name("COLUMN,...")
        ->excludes(json);
    command
        .add_flag("--tree", options.tree,
                  "Calls with those that were made in them, and how long they took, as "
                  "function_graph shows them; takes --return")
        ->excludes(json)
        ->excludes("--fields");
    add_parsed_option(
        command, "--max-wait",
        [&options](const std::string &text) {
            options.max_wait = parse_duration("--max-wait", text);
        },
        "With --tree: how long to wait for an enclosing call to return before it is shown as still running (1s)")
        ->type_name("TIME");
    command.add_flag("--no-header", options.no_header, "Leave out the line of column names");
    command
        .add_flag("--no-describe", options.no_describe,
                  "Numbers alone, where a terminal is shown the names of a system call's flags, "
                  "commands and errors, and of what was recorded with --describe")
        ->excludes(json);
}

void check_output(const OutputOptions &options) {
    if (options.types && !options.json)
        throw CLI::ValidationError("--types needs --json");
    if (options.json && options.time != TimeStyle::mono)
        throw CLI::ValidationError("--time delta and --time wall are for text: in JSON, ts is in "
                                   "nanoseconds of CLOCK_MONOTONIC");
}

Screen screen_of(int fd) {
    return {.is_terminal = ::isatty(fd) != 0,
            .is_narrow = terminal_width(fd).value_or(wide_terminal) < wide_terminal};
}

std::unique_ptr<Renderer> make_renderer(const OutputOptions &options, CallerNames &callers,
                                        TimeFormat time, Screen screen) {
    // Names cost nothing when calls are shown. What pointers lead to has to be read when they are made:
    // that is what -d is for.
    const Described which = options.no_describe  ? Described::none
                            : screen.is_terminal ? Described::all
                                                 : Described::recorded;
    time.style = options.time;
    if (options.json)
        return std::make_unique<JsonRenderer>(callers, options.types);
    if (options.tree)
        return std::make_unique<TreeRenderer>(callers, !options.no_header, time, options.max_wait, which);
    if (!options.columns.empty() || screen.is_narrow)
        return std::make_unique<ColumnRenderer>(
            callers, options.columns.empty() ? narrow_columns() : options.columns,
            !options.no_header, time, which);
    return std::make_unique<TextRenderer>(callers, !options.no_header, time, which);
}

} // namespace argtrace
