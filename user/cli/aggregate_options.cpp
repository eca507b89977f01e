// SPDX-License-Identifier: GPL-2.0-only
#include "cli/aggregate_options.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "answer/answer_target.h"
#include "cli/function_options.h"
#include "cli/options.h"
#include "cli/process_options.h"
#include "cli/recording_options.h"
#include "cli/tracing_options.h"
#include "live/aggregate.h"
#include "report/recorded_aggregate.h"
#include "uapi/argtrace_map.h"
#include "util/units.h"

namespace argtrace {

const char *const aggregate_help =
    "KEY is an expression as in a SPEC, func (which is the default), comm, pid, tid, cpu, caller, uid, "
    "gid, cgroup, stack, ustack, ufunc, ret or duration; 'EXPR as NAME' gives it a name. Calls are added up in the kernel, and "
    "nothing is written for each. It ends with Ctrl-C, after --duration or --count, when COMMAND ends, "
    "or when the processes of -p have ended. The totals go to stderr.";

namespace {

/// Three numbers, of which the first two may be negative: FROM,TO,STEP.
Buckets parse_linear(const std::string &text) {
    std::array<std::int64_t, 3> numbers{};
    std::string_view rest = text;
    bool right = true;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const char *end = rest.data() + rest.size();
        const auto [at, problem] = std::from_chars(rest.data(), end, numbers[i]);
        right = right && problem == std::errc{};
        rest.remove_prefix(static_cast<std::size_t>(at - rest.data()));
        if (i + 1 < numbers.size()) {
            right = right && rest.starts_with(',');
            rest.remove_prefix(std::min<std::size_t>(rest.size(), 1));
        }
    }
    const auto [from, to, step] = std::tie(numbers[0], numbers[1], numbers[2]);
    if (!right || !rest.empty() || step < 1 || to <= from)
        throw Error(fmt::format("--linear takes FROM,TO,STEP such as 0,512,16, not '{}'", text));
    const WideNumber width = WideNumber{to} - from;
    const WideNumber count = (width + step - 1) / step;
    if (count > ARGTRACE_MAP_BUCKETS_MAX)
        throw Error(fmt::format("--linear {}: that is {} buckets, and at most {} are possible: take "
                                "larger steps",
                                text, count, ARGTRACE_MAP_BUCKETS_MAX));
    // Whether values are signed is not known yet.
    return {Buckets::Kind::linear, false, static_cast<std::uint64_t>(from),
            static_cast<std::uint64_t>(step), static_cast<std::uint32_t>(count)};
}

void add_shape_options(CLI::App &command, AggregateOptions &options) {
    add_top_option(command, options.style.top);
    add_parsed_option(
        command, "--sort",
        [&options](const std::string &text) { options.style.order = parse_aggregate_order(text); },
        "What keys are ordered by: a number, the largest first (of min the least), or the keys "
        "themselves")
        ->type_name("count|sum|min|max|avg|key");
    command.add_flag("--json", options.json, "One JSON object a line, numbers as they are");
    CLI::Option *describe = command.add_flag_callback(
        "-d,--describe", [&options] { options.style.described = true; },
        "Keys that are arguments of system calls and functions by the names of their flags, commands, descriptors ..., as on a terminal; in "
        "JSON beside the numbers");
    command
        .add_flag_callback(
            "--no-describe", [&options] { options.style.described = false; }, "Numbers alone, on a terminal, too")
        ->excludes(describe);
    command.add_flag("--ascii", options.ascii, "Bars of @ on a terminal, too");
    command.add_option("-o,--output", options.output, "Write to that file instead of stdout")
        ->type_name("FILE");
}

} // namespace

void add_top_option(CLI::App &command, std::optional<std::size_t> &top) {
    add_parsed_option(
        command, "--top",
        [&top](const std::string &text) { top = parse_count("--top", text); },
        "Show no more than N keys")
        ->type_name("N");
}

void add_time_options(CLI::App &command, TimeOptions &options) {
    add_parsed_option(
        command, "-i,--interval",
        [&options](const std::string &text) {
            options.interval = parse_duration("--interval", text);
        },
        "Show what was added in each such interval, in seconds or as in 500ms")
        ->type_name("TIME");
    add_parsed_option(
        command, "--count",
        [&options](const std::string &text) { options.rounds = parse_count("--count", text); },
        "End after N intervals")
        ->type_name("N");
    add_parsed_option(
        command, "--duration",
        [&options](const std::string &text) {
            options.duration = parse_duration("--duration", text);
        },
        "End after that time, in seconds or as in 500ms, 10s, 2m, 1h")
        ->type_name("TIME");
}

void add_aggregate_options(CLI::App &command, AggregateOptions &options) {
    add_spec_options(command, options.functions, "Functions, see below");
    add_condition_option(command, options.functions);
    add_limit_options(command, options.functions);
    command.add_option("--by", options.by, "The keys that calls are counted by (func if not given)")
        ->type_name("KEY[,KEY...]")
        ->allow_extra_args(false);
    add_time_options(command, options);
    add_shape_options(command, options);
    add_process_options(command, options.processes,
                        "Only calls of COMMAND and of what it starts; with -p also of what that "
                        "process starts from now on");
    add_include_self_option(command, options);
    add_room_option(command, options);
    command.add_option("--in", options.input,
                       "Add up the calls of that recording instead, as if they were made now")
        ->type_name("FILE");
    add_parsed_option(
        command, "-j,--jobs",
        [&options](const std::string &text) {
            options.jobs = static_cast<unsigned>(
                std::min<std::uint64_t>(parse_count("--jobs", text), jobs_max));
        },
        "How many threads read the recording (one for each CPU)")
        ->type_name("N");
}

void add_map_size_option(CLI::App &command, AggregateOptions &options) {
    add_parsed_option(
        command, "--map-size",
        [&options](const std::string &text) {
            options.map_size = parse_room("--map-size", text, ARGTRACE_MAP_SLOTS_MIN, ARGTRACE_MAP_SLOTS_MAX);
        },
        "Room for N keys on each CPU (8192 if not given), rounded up to a power of two; in a "
        "histogram, each bucket of a key takes a place")
        ->type_name("N");
}

void add_room_option(CLI::App &command, AggregateOptions &options) {
    add_map_size_option(command, options);
    add_stack_table_option(command, options.session);
    add_lines_option(command, options.session.naming);
}

void choose_stack_form(AggregateOptions &options) {
    options.style.stacks = stack_form_of(options.output, options.style.stacks, options.json, options.interval.has_value());
    options.session.naming.lines |= options.style.stacks == StackForm::pprof; // which have a place of their own there
}

void add_counted_stack_option(CLI::App &command, AggregateOptions &options) {
    options.style.stack = both_stacks;
    add_stack_option(
        command,
        [&options](StackChoice stack) {
            options.stack_choice = stack;
            options.style.stack = stack;
        },
        "Only the kernel's stacks, or only those of user code (both if not given)");
}

void add_linear_option(CLI::App &command, AggregateOptions &options) {
    add_parsed_option(
        command, "--linear",
        [&options](const std::string &text) { options.buckets = parse_linear(text); },
        "Buckets of equal width, in place of powers of two; one more for what is lower, and one for "
        "what is not")
        ->type_name("FROM,TO,STEP");
}

namespace {

/// Throws a usage error for options that do not go together.
void check_aggregate(const AggregateOptions &options) {
    check_follow(options.processes, !options.command.empty());
    if (options.rounds && !options.interval)
        throw CLI::ValidationError("--count says how many intervals there are: give --interval, too");
    const bool live_only = options.duration || !options.command.empty() ||
                           options.processes.follow || options.functions.limits != CallLimits();
    if (!options.input.empty() && live_only)
        throw CLI::ValidationError("--duration, --follow, --sample, --max-rate and a COMMAND are "
                                   "for calls that are made now, not for --in");
    if (!options.input.empty() && !options.functions.cgroup.empty())
        throw CLI::ValidationError("--cgroup is for calls that are made now, not for --in: where --by cgroup recorded it, --if 'cgroup == N' "
                                   "chooses by its number");
    if (!options.input.empty() && options.session.stack_table)
        throw CLI::ValidationError("--stack-table-size is for stacks that are taken now, not for those of --in");
    if (options.input.empty() && options.jobs > 0)
        throw CLI::ValidationError("--jobs is for --in");
    if (!options.pairs() && !options.timer && options.functions.specs.empty() && options.input.empty())
        throw CLI::RequiredError("SPEC");
}

} // namespace

void run_aggregate(const AggregateOptions &options) {
    check_aggregate(options);
    if (options.input.empty())
        run_live_aggregate(options);
    else
        run_recorded_aggregate(options);
}

} // namespace argtrace
