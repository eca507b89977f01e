// SPDX-License-Identifier: GPL-2.0-only
#include <memory>

#include "cli/aggregate_options.h"
#include "cli/commands.h"
#include "cli/function_options.h"

namespace argtrace {

void setup_hist(CLI::App &app, const std::vector<std::string> &words) {
    auto options = std::make_shared<AggregateOptions>();
    options->command = words;
    options->value = Aggregate::Value::of_spec;
    options->style.statistic = Statistic::hist;
    options->buckets.kind = Buckets::Kind::log2;
    CLI::App *command =
        app.add_subcommand("hist", "Show how a value is distributed, as a histogram");
    add_aggregate_options(*command, *options);
    add_linear_option(*command, *options);
    command->footer(std::string(spec_help) +
                    "\n\nThe value is what stands in the parentheses, one expression. Buckets begin at "
                    "powers of two, or are of equal width with --linear.\n\n" +
                    aggregate_help +
                    "\n\nExamples:\n"
                    "  argtrace hist 'vfs_read(count)'                 how much is asked for\n"
                    "  argtrace hist 'vfs_read(ret) if ret >= 0' --by comm\n"
                    "  argtrace hist 'bio_endio(bio->bi_iter.bi_size / 1024)' --linear 0,512,16");
    command->callback([options] { run_aggregate(*options); });
}

} // namespace argtrace
