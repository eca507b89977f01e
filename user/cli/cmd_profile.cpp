// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <initializer_list>
#include <memory>

#include <fmt/format.h>

#include "cli/aggregate_options.h"
#include "cli/commands.h"
#include "cli/function_options.h"
#include "cli/options.h"
#include "cli/process_options.h"
#include "cli/recording_options.h"
#include "cli/tracing_options.h"
#include "live/profile_recording.h"
#include "report/recorded_profile.h"
#include "util/error.h"
#include "util/units.h"

namespace argtrace {

namespace {

std::uint32_t parse_frequency(const std::string &text) {
    const std::uint64_t frequency = parse_count("--frequency", text);
    if (frequency > ARGTRACE_TIMER_FREQUENCY_MAX)
        throw Error(fmt::format("--frequency: at most {} ticks a second are possible, not {}",
                                ARGTRACE_TIMER_FREQUENCY_MAX, text));
    return static_cast<std::uint32_t>(frequency);
}

std::uint8_t parse_timer_event(const std::string &text) {
    if (text == "cycles")
        return ARGTRACE_TIMER_CYCLES;
    if (text == "cpu-clock")
        return ARGTRACE_TIMER_CPU_CLOCK;
    throw Error(fmt::format("--event takes cycles or cpu-clock, not '{}'", text));
}

void add_timer_options(CLI::App &command, TimerChoice &choice) {
    add_parsed_option(
        command, "-F,--frequency",
        [&choice](const std::string &text) { choice.timer.frequency = parse_frequency(text); },
        "Ticks in a second on each CPU (99 if not given)")
        ->type_name("N");
    add_parsed_option(
        command, "-e,--event",
        [&choice](const std::string &text) {
            choice.timer.event = parse_timer_event(text);
            choice.any_event = false;
        },
        "What the ticks are counted in: cycles of the processor, where it can count them, or else "
        "time (cpu-clock)")
        ->type_name("cycles|cpu-clock");
    command.add_flag("--idle", choice.timer.idle, "Also show the stacks of idle CPUs");
}

void add_output_options(CLI::App &command, AggregateOptions &options) {
    add_parsed_option(
        command, "--top",
        [&options](const std::string &text) { options.style.top = parse_count("--top", text); },
        "Show no more than N functions, or stacks (20 functions if not given)")
        ->type_name("N");
    command.add_flag_callback(
        "--stacks", [&options] { options.style.stacks = StackForm::summary; },
        "Also each stack, with the number of its ticks");
    command.add_flag_callback(
        "--fold", [&options] { options.style.stacks = StackForm::folded; },
        "A line for each stack, as flamegraph.pl and speedscope read them");
    command.add_flag("--json", options.json, "One JSON object a line for each stack, and for each function");
    command.add_option("-o,--output", options.output,
                       "Write to that file instead of stdout: a flame graph if its name ends in .svg "
                       "or .html, folded stacks if in .folded, a profile for pprof if in .pb.gz; .dat is a "
                       "recording, for --in")
        ->type_name("FILE");
    command.add_option("--in", options.input, "Show the ticks of that recording instead")->type_name("FILE");
    add_parsed_option(
        command, "-j,--jobs",
        [&options](const std::string &text) {
            options.jobs = static_cast<unsigned>(std::min<std::uint64_t>(parse_count("--jobs", text), jobs_max));
        },
        "How many threads read the recording (one for each CPU)")
        ->type_name("N");
}

bool records(const AggregateOptions &options) {
    return options.output.ends_with(".dat");
}

/// The first of these options that was given; empty: none was.
std::string first_given(const CLI::App &command, std::initializer_list<const char *> names) {
    for (const char *name : names)
        if (command.count(name) > 0)
            return name;
    return "";
}

/// All ticks go into a recording, and are shown when it is read.
void check_recorded_forms(const CLI::App &command, const AggregateOptions &options) {
    const bool reads = !options.input.empty();
    if (records(options) && reads)
        throw CLI::ValidationError("--in: the ticks of a recording cannot be recorded again: give -o an .svg, .html, .folded or .pb.gz file, or "
                                   "leave it out");
    const std::string shows = first_given(command, {"--top", "--stacks", "--fold", "--json", "--lines", "--interval", "--map-size"});
    if (records(options) && !shows.empty())
        throw CLI::ValidationError(fmt::format("{}: a recording has all ticks, and {} is for when it is read: leave it out, and "
                                               "give it to `argtrace profile --in {}`",
                                               options.output, shows, options.output));
    const std::string ticks = first_given(command, {"--frequency", "--event", "--idle", "--interval", "--count", "--duration",
                                                    "--follow", "--include-self", "--map-size", "--cgroup"});
    if (reads && !ticks.empty())
        throw CLI::ValidationError(fmt::format("{} is for ticks from now on, not for --in: leave it out", ticks));
    if (reads && !options.command.empty())
        throw CLI::ValidationError("a COMMAND is for ticks from now on, not for --in: leave it out");
    if (!reads && options.jobs > 0)
        throw CLI::ValidationError("--jobs is for --in");
}

} // namespace

void setup_profile(CLI::App &app, const std::vector<std::string> &words) {
    auto options = std::make_shared<AggregateOptions>();
    options->command = words;
    options->stacks = true;
    options->timer.emplace();
    options->style.statistic = Statistic::stacks;
    options->style.stacks = StackForm::functions;
    options->style.ticks = true;
    CLI::App *command =
        app.add_subcommand("profile", "Sample which functions the processors are in, many times a second");
    add_timer_options(*command, *options->timer);
    add_condition_option(*command, options->functions);
    command->add_option("--by", options->by, "The keys that ticks are counted by, in addition to their stacks")
        ->type_name("KEY[,KEY...]")
        ->allow_extra_args(false);
    add_counted_stack_option(*command, *options);
    add_time_options(*command, *options);
    add_output_options(*command, *options);
    add_process_options(*command, options->processes,
                        "Only COMMAND and what it starts; with -p also what that process starts from "
                        "now on",
                        "--follow");
    add_include_self_option(*command, *options);
    add_room_option(*command, *options);
    command->footer(
        "Each tick looks at what its CPU is doing, and counts that stack: of the kernel, and of the user code that has entered it or "
        "was running. With --stack=kernel, ticks in user code are counted as [user]. Those of idle CPUs are counted but not shown. SELF says in how many "
        "ticks a function was running, TOTAL in how many it or a function that it had called was. The totals go to "
        "stderr.\n\n"
        "KEY is an expression of the task that was running, comm, pid, tid, cpu, uid, gid, cgroup or ufunc, the function of user code that "
        "has entered the kernel or was running; each "
        "of its values has a table. A recording has comm, pid, tid and cpu of each tick, and the other KEYs it was made with; "
        "--if and -p choose when it is made, or when it is read. It ends with Ctrl-C, after --duration or --count, when COMMAND ends, or "
        "when the processes of -p have ended.\n\n"
        "Examples:\n"
        "  argtrace profile                                until Ctrl-C\n"
        "  argtrace profile -F 99 -o cpu.svg -- make       a flame graph\n"
        "  argtrace profile -p 1234 --duration 10 --top 20\n"
        "  argtrace profile --by comm --if 'comm == \"dd\"'\n"
        "  argtrace profile --cgroup /system.slice/ssh.service\n"
        "  argtrace profile --fold --duration 10 | flamegraph.pl > cpu.svg\n"
        "  argtrace profile -o cpu.dat -- make           recorded, to be looked at later:\n"
        "  argtrace profile --in cpu.dat --by comm       as often as wanted, anywhere");
    command->callback([options, command] {
        check_recorded_forms(*command, *options);
        choose_stack_form(*options);
        if (!options->input.empty()) {
            run_recorded_profile(*options);
        } else if (records(*options)) {
            check_follow(options->processes, !options->command.empty());
            options->session.naming.lines = true; // for whoever reads the file
            record_profile(*options);
        } else {
            run_aggregate(*options);
        }
    });
}

} // namespace argtrace
