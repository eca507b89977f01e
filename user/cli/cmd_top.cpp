// SPDX-License-Identifier: GPL-2.0-only
#include <memory>

#include "cli/aggregate_options.h"
#include "cli/commands.h"
#include "cli/function_options.h"
#include "cli/options.h"
#include "cli/process_options.h"
#include "cli/tracing_options.h"
#include "util/units.h"

namespace argtrace {

namespace {

constexpr std::size_t batch_rows = 20;

void run_top(AggregateOptions options) {
    if (options.functions.specs.empty())
        options.functions.specs.emplace_back("*");
    if (options.functions.returns) {
        options.value = Aggregate::Value::duration;
        options.buckets.kind = Buckets::Kind::log2;
        options.top->has_durations = true;
    } else if (options.top->order != TopOrder::calls && options.top->order != TopOrder::name) {
        throw CLI::ValidationError("--sort errors, total, mean and p99 take --return");
    }
    run_aggregate(options);
}

} // namespace

void setup_top(CLI::App &app, const std::vector<std::string> &words) {
    auto options = std::make_shared<AggregateOptions>();
    options->command = words;
    options->top.emplace();
    options->top->rows = batch_rows;
    CLI::App *command = app.add_subcommand("top", "Show the functions that are called most, live");
    add_spec_options(*command, options->functions, "Functions, see below (all of them if none)");
    command->add_flag("-r,--return", options->functions.returns,
                      "Also how long calls take, and how many return an error");
    add_condition_option(*command, options->functions);
    add_time_options(*command, *options);
    add_parsed_option(
        *command, "--sort",
        [options](const std::string &text) { options->top->order = parse_top_order(text); },
        "What functions are ordered by at first")
        ->type_name("calls|errors|total|mean|p99|name");
    add_parsed_option(
        *command, "--top",
        [options](const std::string &text) { options->top->rows = parse_count("--top", text); },
        "Show so many functions (20 if not given)")
        ->type_name("N");
    command->add_flag("--json", options->json, "One JSON object a line for each function, numbers as they are");
    add_map_size_option(*command, *options);
    add_process_options(*command, options->processes,
                        "Only calls of COMMAND and of what it starts; with -p also of what that "
                        "process starts from now on");
    add_include_self_option(*command, *options);
    command->footer(std::string(spec_help) +
                    "\n\nOn a terminal the table is replaced once a second, or at each --interval, and commands "
                    "can be typed, each followed by Enter: s changes what functions are ordered by, p pauses, "
                    "/PART shows only those in whose name that is, q ends it. Elsewhere, and with --json, one table "
                    "follows another.\n\nExamples:\n"
                    "  argtrace top\n"
                    "  argtrace top -r 'vfs_*' 'ext4_*' --sort p99\n"
                    "  argtrace top -i 1 --count 1 'tcp_*' | head");
    command->callback([options] { run_top(*options); });
}

} // namespace argtrace
