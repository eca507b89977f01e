// SPDX-License-Identifier: GPL-2.0-only
#include <memory>

#include "cli/aggregate_options.h"
#include "cli/commands.h"
#include "cli/function_options.h"

namespace argtrace {

void setup_stacks(CLI::App &app, const std::vector<std::string> &words) {
    auto options = std::make_shared<AggregateOptions>();
    options->command = words;
    options->stacks = true;
    options->style.statistic = Statistic::stacks;
    CLI::App *command =
        app.add_subcommand("stacks", "Count calls by their stacks: who calls a function, and how");
    add_aggregate_options(*command, *options);
    add_counted_stack_option(*command, *options);
    command->add_flag_callback(
        "--fold", [options] { options->style.stacks = StackForm::folded; },
        "A line for each stack, as flamegraph.pl and speedscope read them");
    command->footer(std::string(spec_help) + "\n\n" + aggregate_help +
                    "\n\nExamples:\n"
                    "  argtrace stacks kmem_cache_alloc_noprof         who allocates\n"
                    "  argtrace stacks --by comm 'vfs_read if count == 0'\n"
                    "  argtrace stacks --stack=user -p 1234 s:write    where in the program\n"
                    "  argtrace stacks -o reads.svg 'vfs_read if count == 0'    a flame graph\n"
                    "  argtrace stacks -o reads.pb.gz vfs_read         for go tool pprof\n"
                    "  argtrace stacks --fold -o alloc.folded --duration 10 __alloc_pages_noprof\n"
                    "  argtrace stacks --in argtrace.dat               what `record --stack` has");
    command->callback([options] {
        choose_stack_form(*options);
        run_aggregate(*options);
    });
}

} // namespace argtrace
