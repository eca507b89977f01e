// SPDX-License-Identifier: GPL-2.0-only
#include "cli/recorded_aggregate.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/aggregate_output.h"
#include "cli/exit_status.h"
#include "cli/paired_latency.h"
#include "cli/recording_options.h"
#include "cli/report_output.h"
#include "file/writer.h"
#include "render/stack.h"
#include "render/stack_summary.h"
#include "report/trace_aggregation.h"
#include "util/message.h"

namespace argtrace {

namespace {

/// What is added up: that of the SPECs, which all have the same.
std::optional<RecordedValue> value_of(const std::vector<Spec> &specs,
                                      const AggregateOptions &options) {
    if (options.value == Aggregate::Value::none)
        return std::nullopt;
    if (options.value == Aggregate::Value::duration)
        return RecordedValue{"duration", "$duration"};
    std::optional<RecordedValue> value;
    for (const Spec &spec : specs) {
        if (spec.exclude)
            continue;
        RecordedValue own = recorded_values(*spec.values).front();
        if (value && value->written != own.written)
            throw error_in(spec, fmt::format("{}: of a recording one value can be added up, and "
                                             "another SPEC has {}",
                                             spec.title(), value->written));
        value = std::move(own);
    }
    if (!value)
        throw Error("a value is missing, as in 'vfs_read(count)'");
    return value;
}

bool has_argument(const Schema &schema, const RecordedChoice &choice, std::string_view name) {
    bool any = false;
    schema.for_each([&](const Probe &probe) {
        any = any || (choice.means(&probe) && std::any_of(probe.args.begin(), probe.args.end(),
                                                          [name](const Argument &argument) { return argument.name == name; }));
    });
    return any;
}

/// What the functions are called on top of their stacks. Ticks have no function.
TopFrames top_frames(const Schema &schema, const CallerNames &names) {
    TopFrames frames;
    schema.for_each([&](const Probe &probe) {
        const std::string &name = probe.function;
        const std::string frame = probe.kind == ARGTRACE_KIND_TIMER ? "" : function_frame(name, names.module(probe.addr));
        const auto [known, added] = frames.try_emplace(name, frame);
        if (!added && known->second != frame) // several modules have it
            known->second = name;
    });
    return frames;
}

/// When records were lost, which pairs have to know before they are made.
TraceSurvey survey(const Fd &file, const std::string &name, WorkerPool &workers, const DecodeJob &job) {
    if (!size_of(file))
        throw Error(fmt::format("{}: --from and --to read a recording twice, which takes a file: save it, and name that", name));
    TraceReader reader(file.get(), name, workers, job);
    const TraceSurvey survey = survey_trace(reader);
    ::lseek(file.get(), 0, SEEK_SET);
    return survey;
}

} // namespace

void run_recorded_aggregate(const AggregateOptions &options) {
    const std::vector<lang::ArgumentExpression> keys = parse_keys(options);
    const std::vector<Spec> specs =
        options.pairs() ? pair_specs(options)
                        : parse_specs(options.functions.specs, options.functions.syntax());
    if (!options.pairs())
        check_values(options, specs);
    const EventFilter filter = RecordedChoice::filter_of(specs);
    std::vector<lang::Expression> conditions = make_request(options.functions).conditions;
    const std::string name = trace_name(options.input, true);
    const Fd file = open_recording(options.input);
    RecordingOptions recording;
    recording.jobs = options.jobs;
    WorkerPool workers(recording.workers());
    DecodeJob job;
    job.filter = &filter;
    TraceSurvey known;
    if (options.pairs())
        known = survey(file, name, workers, job);
    TraceReader reader(file.get(), name, workers, job);
    ReportOutput report(reader, name, size_of(file), nullptr,
                        options.pairs() ? "looked at" : "added up");
    RecordedChoice choice(specs, std::move(conditions), options.processes.pids, reader.symbols());
    AggregateOutput output(options.output, options.style, options.json, options.ascii);
    if (options.pairs()) {
        pair_recorded(options, keys, reader, known, choice, report, output);
    } else {
        TraceAggregation aggregation(reader, recorded_values(keys), value_of(specs, options),
                                     options.buckets);
        aggregation.choose([&choice](const Probe &probe) { return choice.means(&probe); },
                           [&choice](const EventView &view) { return choice.wants(view); });
        const Aggregation all = report.add_up(aggregation);
        std::map<std::string, std::uint64_t> functions = choice.left_out();
        for (const auto &[name, calls] : aggregation.left_out())
            functions[name] += calls;
        const std::string left_out = describe_left_out(
            functions, choice.missing().empty() ? aggregation.describe_missing() : choice.missing(), reader.schema());
        if (!left_out.empty() && aggregation.calls() == 0)
            throw Error(left_out);
        CallerNames names(reader.symbols());
        std::vector<KeyColumn> columns = aggregation.columns();
        mark_top(columns, options);
        if (value_is_duration(specs, has_argument(reader.schema(), choice, "duration")))
            output.set_unit(ValueUnit::nanoseconds);
        output.set_keys(columns, names, options.stacks ? top_frames(reader.schema(), names) : TopFrames());
        RecordedTotals totals;
        totals.counts = report.total(choice);
        totals.added = aggregation.calls();
        totals.filtered = choice.filtered();
        totals.left_out = calls_of(functions);
        output.set_missing(describe(MissingStacks{totals.counts ? lost_total(*totals.counts) : 0, 0, totals.left_out}, "call"));
        if (!output.show(all) || !output.finish(totals))
            return;
        if (!left_out.empty())
            write_message(left_out);
    }
    report.print_summary();
    const std::vector<std::string> unknown = report.unknown_functions(filter);
    for (const std::string &sentence : unknown)
        write_message(sentence);
    if (report.damaged() || !unknown.empty())
        throw ExitStatus{1};
}

} // namespace argtrace
