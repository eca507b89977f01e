// SPDX-License-Identifier: GPL-2.0-only
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "cli/aggregate_options.h"
#include "cli/commands.h"
#include "util/error.h"

namespace argtrace {

namespace {

/// The file's name says what is to be in it.
void choose_form(AggregateOptions &options) {
    StackForm &form = options.style.stacks;
    const std::string_view name = options.output;
    if (name.ends_with(".folded"))
        form = StackForm::folded;
    if (!name.ends_with(".svg") && !name.ends_with(".html"))
        return;
    if (form == StackForm::folded)
        throw Error(fmt::format("{}: --fold writes text: let the name end in .folded, or leave --fold "
                                "out for a flame graph",
                                options.output));
    if (options.json)
        throw Error(fmt::format("{}: this name asks for a flame graph, and --json for JSON: leave one "
                                "of them out",
                                options.output));
    if (options.interval)
        throw Error(fmt::format("{}: a flame graph is made once, at the end: leave --interval out",
                                options.output));
    form = name.ends_with(".svg") ? StackForm::svg : StackForm::html;
}

} // namespace

void setup_stacks(CLI::App &app, const std::vector<std::string> &words) {
    auto options = std::make_shared<AggregateOptions>();
    options->command = words;
    options->stacks = true;
    options->style.statistic = Statistic::stacks;
    CLI::App *command =
        app.add_subcommand("stacks", "Count calls by their kernel stacks: who calls a function, and how");
    add_aggregate_options(*command, *options);
    command->add_flag_callback(
        "--fold", [options] { options->style.stacks = StackForm::folded; },
        "A line for each stack, as flamegraph.pl and speedscope read them");
    command->footer(std::string(spec_help) + "\n\n" + aggregate_help +
                    "\n\nExamples:\n"
                    "  argtrace stacks kmem_cache_alloc_noprof         who allocates\n"
                    "  argtrace stacks --by comm 'vfs_read if count == 0'\n"
                    "  argtrace stacks -o reads.svg 'vfs_read if count == 0'    a flame graph\n"
                    "  argtrace stacks --fold -o alloc.folded --duration 10 __alloc_pages_noprof\n"
                    "  argtrace stacks --in argtrace.dat               what `record --stack` has");
    command->callback([options] {
        choose_form(*options);
        run_aggregate(*options);
    });
}

} // namespace argtrace
