// SPDX-License-Identifier: GPL-2.0-only
#include <memory>

#include "cli/aggregate_options.h"
#include "cli/commands.h"
#include "cli/function_options.h"
#include "cli/options.h"

namespace argtrace {

namespace {

/// --from, --to and --on come together, and in place of a SPEC.
void check_pair(const AggregateOptions &options) {
    const bool any = !options.from.empty() || !options.to.empty() || !options.on.empty();
    const bool all = !options.from.empty() && !options.to.empty() && !options.on.empty();
    if (any && !all)
        throw CLI::ValidationError("--from, --to and --on go together: from a call of one function to "
                                   "a call of another one with the same value");
    if (any && !options.functions.specs.empty())
        throw CLI::ValidationError("with --from and --to no other functions are named");
    if (!any && options.session.given())
        throw CLI::ValidationError("--buffer, --encoding, --clock and --no-caller are for --from and "
                                   "--to: otherwise no call is recorded");
}

} // namespace

void setup_latency(CLI::App &app, const std::vector<std::string> &words) {
    auto options = std::make_shared<AggregateOptions>();
    options->command = words;
    options->value = Aggregate::Value::duration;
    options->style.statistic = Statistic::latency;
    options->style.unit = ValueUnit::nanoseconds;
    options->buckets.kind = Buckets::Kind::log2;
    CLI::App *command = app.add_subcommand(
        "latency", "Show how long calls take, or from one call to another, as a histogram");
    add_aggregate_options(*command, *options);
    command->add_option("--from", options->from, "Where the time begins: calls of these functions")
        ->type_name("SPEC");
    command->add_option("--to", options->to, "Where it ends: calls of these")->type_name("SPEC");
    command->add_option("--on", options->on, "An expression that has the same value in both calls of a pair")
        ->type_name("EXPR");
    add_session_options(*command, options->session);
    command->footer(std::string(spec_help) + "\n\n" + aggregate_help +
                    " With --from and --to calls are recorded, and paired as they are read; keys are "
                    "those of the first.\n\nExamples:\n"
                    "  argtrace latency 'vfs_*'                        by function\n"
                    "  argtrace latency vfs_read --by comm --duration 10\n"
                    "  argtrace latency --from blk_mq_start_request --to blk_mq_end_request --on rq");
    command->callback([options] {
        check_pair(*options);
        run_aggregate(*options);
    });
}

} // namespace argtrace
