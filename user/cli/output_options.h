// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "render/columns.h"
#include "render/renderer.h"
#include "render/time_text.h"

namespace argtrace {

/// How `trace` and `report` show events.
struct OutputOptions {
    bool json = false;
    bool types = false;
    bool no_header = false;
    bool no_describe = false; ///< bare numbers, on a terminal and of what was recorded with -d
    std::vector<Column> columns; ///< empty: those of TextRenderer, or fewer on a narrow terminal
    TimeStyle time = TimeStyle::mono;
    bool tree = false; ///< calls with those in them
    std::uint64_t max_wait = 1000000000; ///< ns, with `tree`
};

/// Adds --json, --types, --fields, --tree, --max-wait and --no-header; --time is the command's own.
void add_output_options(CLI::App &command, OutputOptions &options);

/// Throws CLI::ValidationError for what makes no sense together.
void check_output(const OutputOptions &options);

/// What events are shown on.
struct Screen {
    bool is_terminal = false;
    bool is_narrow = false; ///< lines with all columns would hardly ever fit
};
Screen screen_of(int fd);

/// `time`: both clocks at one moment; its style is ignored.
std::unique_ptr<Renderer> make_renderer(const OutputOptions &options, CallerNames &callers,
                                        TimeFormat time, Screen screen);

} // namespace argtrace
