// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "answer/answer_target.h"
#include "cli/aggregate_options.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/process_options.h"
#include "cli/recording_options.h"
#include "live/off_cpu.h"
#include "report/recorded_off_cpu.h"
#include "util/units.h"

namespace argtrace {

namespace {

constexpr const char *off_cpu_help =
    "A wait lasts from where a task leaves its CPU to where it runs again. It is blocked until somebody wakes it, and runnable "
    "from then on; one that was preempted is runnable from the beginning (state R). The cpu is the one that "
    "it left. In a flame graph, and with --fold, the time runnable is a frame of its own, [runnable]; numbers are "
    "nanoseconds. The idle task waits for nothing. It ends with Ctrl-C, after --duration or --count, when COMMAND ends, or "
    "when the processes of -p have ended.\n\n"
    "Examples:\n"
    "  argtrace offcpu --min 1ms -o off.svg       where tasks wait: a flame graph\n"
    "  argtrace offcpu -p 1234 --duration 10      of one process, all its threads\n"
    "  argtrace offcpu -F -- make                 of a command and what it starts\n"
    "  argtrace offcpu --state D --wakers         for disks and locks, and who wakes\n"
    "  argtrace offcpu --no-stack --sort runnable for a CPU, as a table\n"
    "  argtrace offcpu -o waits.dat -- make       recorded, to be looked at later:\n"
    "  argtrace offcpu --in waits.dat --min 1ms   as often as wanted, on any machine";

void add_wait_options(CLI::App &command, OffCpuOptions &options) {
    WaitTotals::Wanted &wanted = options.wanted;
    add_parsed_option(
        command, "--by", [&wanted](const std::string &text) { wanted.keys = parse_wait_keys("--by", text); },
        "The keys that waits are counted by, in addition to the stack (comm if not given)")
        ->type_name("comm|pid|tid|state|cpu|waker,...");
    add_parsed_option(
        command, "--min", [&wanted](const std::string &text) { wanted.min = parse_duration("--min", text); },
        "Only waits that are that long at least, in seconds or as in 1ms")
        ->type_name("TIME");
    add_parsed_option(
        command, "--max", [&wanted](const std::string &text) { wanted.max = parse_duration("--max", text); },
        "Only waits that are no longer than that")
        ->type_name("TIME");
    add_parsed_option(
        command, "--state",
        [&wanted](const std::string &text) { wanted.states = parse_wait_states("--state", text); },
        "Only waits in these states: R (preempted), S, D, T, t, P, I, as ps shows them")
        ->type_name("STATE[,STATE...]");
    command.add_flag("--wakers", wanted.wakers, "Also who woke the task, and where");
    add_stack_option(
        command, [&options](StackChoice stack) { options.choose_stacks(stack); },
        "Only the kernel's stacks, or only those of user code (both if not given)");
    command.add_flag_callback(
        "--no-stack", [&options] { options.choose_stacks({}); }, "A table of the keys, without stacks");
}

void add_show_options(CLI::App &command, OffCpuOptions &options) {
    add_top_option(command, options.style.top);
    add_parsed_option(
        command, "--sort",
        [&options](const std::string &text) { options.style.order = parse_wait_order(text); },
        "What comes first: the most time (total), of that blocked or runnable, the most waits (count), or the "
        "longest")
        ->type_name("total|blocked|runnable|count|longest");
    command.add_flag("--json", options.json, "One JSON object a line, times in nanoseconds");
    command.add_flag_callback(
        "--fold", [&options] { options.style.form = StackForm::folded; },
        "A line for each stack, as flamegraph.pl and speedscope read them");
    command.add_option("-o,--output", options.output,
                       "Write to that file instead of stdout: .svg or .html is a flame graph, .folded as --fold, .pb.gz for pprof; .dat is a "
                       "recording, for --in")
        ->type_name("FILE");
    command.add_option("--in", options.input, "Show the waits of that recording instead")->type_name("FILE");
    add_parsed_option(
        command, "-j,--jobs",
        [&options](const std::string &text) {
            options.jobs = static_cast<unsigned>(std::min<std::uint64_t>(parse_count("--jobs", text), jobs_max));
        },
        "How many threads read the recording (one for each CPU)")
        ->type_name("N");
}

/// All waits go into a recording, and are chosen and shown when it is read. `given` are options that say how.
void check_recorded_forms(const OffCpuOptions &options, const std::vector<std::string> &given) {
    if (options.records() && !options.input.empty())
        throw CLI::ValidationError("--in: the waits of a recording cannot be recorded again: give -o an .svg, .html, .folded or .pb.gz file, or "
                                   "leave it out");
    if (options.records() && !given.empty())
        throw CLI::ValidationError(fmt::format("{}: a recording has all waits, and {} is for when it is read: leave it out, and "
                                               "give it to `argtrace offcpu --in {}`",
                                               options.output, given.front(), options.output));
    const bool live_only = options.interval || options.duration || !options.command.empty() || options.session.buffer ||
                           options.session.stack_table;
    if (!options.input.empty() && live_only)
        throw CLI::ValidationError("--interval, --duration, --buffer, --stack-table-size and a COMMAND are for waits from now on, not for --in");
    if (options.input.empty() && options.jobs > 0)
        throw CLI::ValidationError("--jobs is for --in");
}

void check_forms(OffCpuOptions &options) {
    if (options.rounds && !options.interval)
        throw CLI::ValidationError("--count says how many intervals there are: give --interval, too");
    if (options.wanted.max < options.wanted.min)
        throw CLI::ValidationError("--max is less than --min: no wait can match");
    options.style.form = stack_form_of(options.output, options.style.form, options.json, options.interval.has_value());
    options.session.naming.lines |= options.style.form == StackForm::pprof; // which have a place of their own there
    if (!options.wanted.any_stack() && options.style.form != StackForm::summary)
        throw CLI::ValidationError("--no-stack leaves nothing to make a flame graph of: leave it out, or --fold and the "
                                   "file's name");
    if (options.wanted.user_stacks && !options.wanted.stacks && options.wanted.wakers)
        throw CLI::ValidationError("--wakers shows the kernel's stacks of wakers: leave --stack=user out");
    if (!options.wanted.stacks && options.wanted.wakers)
        throw CLI::ValidationError("--wakers shows the stacks of wakers, and --no-stack shows none: for their names, "
                                   "give --by waker");
    if (!options.wanted.any_stack() && options.session.stack_table)
        throw CLI::ValidationError("--no-stack leaves nothing for --stack-table-size to make room for: leave one of them out");
    if (options.json && options.style.form == StackForm::folded)
        throw CLI::ValidationError("--json and --fold are two forms of the same: leave one of them out");
}

} // namespace

void setup_offcpu(CLI::App &app, const std::vector<std::string> &words) {
    auto options = std::make_shared<OffCpuOptions>();
    options->command = words;
    options->wanted.keys = {WaitKey::comm};
    options->wanted.user_stacks = true;
    CLI::App *command = app.add_subcommand("offcpu", "Show where tasks wait, for how long, and who wakes them");
    add_wait_options(*command, *options);
    add_time_options(*command, *options);
    add_show_options(*command, *options);
    add_process_options(*command, options->processes,
                        "Only waits of COMMAND and of what it starts; with -p also of what that process starts from now "
                        "on");
    command->add_flag("--include-self", options->include_self, "Also waits of argtrace itself");
    add_parsed_option(
        *command, "-b,--buffer",
        [options](const std::string &text) { options->session.buffer = parse_size("--buffer", text); },
        "Size of each CPU's ring buffer (4M if not given), rounded up to a power of two")
        ->type_name("SIZE");
    add_stack_table_option(*command, options->session);
    add_lines_option(*command, options->session.naming);
    command->footer(off_cpu_help);
    command->callback([options, command] {
        std::vector<std::string> given;
        for (const char *name : {"--by", "--min", "--max", "--state", "--top", "--sort", "--json", "--fold", "--lines", "--interval",
                                 "--include-self"})
            if (command->count(name) > 0)
                given.emplace_back(name);
        check_recorded_forms(*options, given);
        check_forms(*options);
        check_follow(options->processes, !options->command.empty());
        if (!options->input.empty()) {
            run_recorded_off_cpu(*options);
        } else if (options->records()) {
            options->session.naming.lines = true; // for whoever reads the file
            record_off_cpu(*options);
        } else {
            run_live_off_cpu(*options);
        }
    });
}

} // namespace argtrace
