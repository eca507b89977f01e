// SPDX-License-Identifier: GPL-2.0-only
#include <memory>

#include <fmt/format.h>

#include "cli/aggregate_options.h"
#include "cli/commands.h"
#include "cli/function_options.h"

namespace argtrace {

namespace {

struct ValueVerb {
    const char *name;
    const char *description;
    Statistic statistic;
    AggregateOrder order;
};

void setup_value_verb(CLI::App &app, const ValueVerb &verb,
                      const std::vector<std::string> &words) {
    auto options = std::make_shared<AggregateOptions>();
    options->command = words;
    options->value = Aggregate::Value::of_spec;
    options->style.statistic = verb.statistic;
    options->style.order = verb.order;
    CLI::App *command = app.add_subcommand(verb.name, verb.description);
    add_aggregate_options(*command, *options);
    command->footer(fmt::format(
        "{}\n\nThe value is what stands in the parentheses, one expression.\n\n{}\n\nExamples:\n"
        "  argtrace {} 'vfs_write(count)' --by pid,comm\n"
        "  argtrace {} 'vfs_read(ret) if ret > 0' --by comm --interval 1",
        spec_help, aggregate_help, verb.name, verb.name));
    command->callback([options] { run_aggregate(*options); });
}

} // namespace

void setup_sum(CLI::App &app, const std::vector<std::string> &words) {
    setup_value_verb(app, {"sum", "Add up a value of calls", Statistic::sum, AggregateOrder::sum}, words);
}

void setup_min(CLI::App &app, const std::vector<std::string> &words) {
    setup_value_verb(app, {"min", "Show the least of a value", Statistic::min, AggregateOrder::min}, words);
}

void setup_max(CLI::App &app, const std::vector<std::string> &words) {
    setup_value_verb(app, {"max", "Show the greatest of a value", Statistic::max, AggregateOrder::max}, words);
}

void setup_avg(CLI::App &app, const std::vector<std::string> &words) {
    setup_value_verb(app, {"avg", "Show the mean of a value", Statistic::avg, AggregateOrder::avg}, words);
}

} // namespace argtrace
