// SPDX-License-Identifier: GPL-2.0-only
#include "report/recorded_aggregate.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "answer/aggregate_keys.h"
#include "answer/aggregate_output.h"
#include "answer/pairs.h"
#include "file/writer.h"
#include "render/stack.h"
#include "render/stack_summary.h"
#include "report/output.h"
#include "report/recorded_choice.h"
#include "report/recorded_pairs.h"
#include "report/recording.h"
#include "report/trace_aggregation.h"
#include "util/exit_status.h"
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
        add_top_frame(frames, name, !kind_of(probe).is_call ? "" : function_frame(name, names.module(code_place(probe))));
    });
    return frames;
}

/// When records were lost, which pairs have to know before they are made.
TraceSurvey survey_pairs(const Fd &file, const std::string &name, WorkerPool &workers, const DecodeJob &job) {
    if (!size_of(file))
        throw Error(fmt::format("{}: --from and --to read a recording twice, which takes a file: save it, and name that", name));
    TraceReader reader(file.get(), name, workers, job);
    const TraceSurvey survey = survey_trace(reader);
    ::lseek(file.get(), 0, SEEK_SET);
    return survey;
}

/// Adds up the calls of a recording, and shows what they come to.
class RecordedSums {
public:
    RecordedSums(const AggregateOptions &options, const std::vector<Spec> &specs, const Keys &keys,
                 TraceReader &reader, RecordedChoice &choice, ReportOutput &report, AggregateOutput &output)
        : options_(options), specs_(specs), keys_(keys), reader_(reader), choice_(choice), report_(report), output_(output),
          names_(reader.symbols()),
          aggregation_(reader, recorded_keys(options, keys), value_of(specs, options), options.buckets) {
        aggregation_.choose([&choice](const Probe &probe) { return choice.means(&probe); },
                            [&choice](const EventView &view) { return choice.wants(view); });
    }

    /// False when nobody reads the output any more.
    bool run() {
        std::optional<Aggregation> all;
        if (options_.interval) {
            const auto show = [this](std::uint64_t end) {
                set_columns();
                return output_.show_interval(aggregation_.take(), end, realtime_of(reader_.info(), end));
            };
            TraceIntervals intervals(*options_.interval, options_.rounds, show);
            report_.add_up(aggregation_, intervals);
            if (intervals.abandoned())
                return false;
        } else {
            all = report_.add_up(aggregation_);
        }
        std::map<std::string, std::uint64_t> functions = choice_.left_out();
        for (const auto &[name, calls] : aggregation_.left_out())
            functions[name] += calls;
        const std::string left_out = describe_left_out(
            functions, choice_.left_out().empty() ? aggregation_.describe_missing() : choice_.missing(), reader_.schema());
        if (!left_out.empty() && aggregation_.calls() == 0)
            throw Error(left_out);
        RecordedTotals totals;
        totals.counts = report_.total(choice_);
        totals.added = aggregation_.calls();
        totals.filtered = choice_.filtered();
        totals.left_out = calls_of(functions);
        output_.set_missing(describe(MissingStacks{totals.counts ? lost_total(*totals.counts) : 0, 0, totals.left_out}, "call"));
        set_columns();
        if ((all && !output_.show(*all)) || !output_.finish(totals))
            return false;
        if (!left_out.empty())
            write_message(left_out);
        return true;
    }

private:
    /// As far as functions are known by now.
    void set_columns() {
        columns_ = aggregation_.columns();
        mark_top(columns_, options_, keys_);
        if (value_is_duration(specs_, has_argument(reader_.schema(), choice_, "duration")))
            output_.set_unit(ValueUnit::nanoseconds);
        output_.set_keys(columns_, names_, options_.stacks ? top_frames(reader_.schema(), names_) : TopFrames());
    }

    const AggregateOptions &options_;
    const std::vector<Spec> &specs_;
    const Keys &keys_;
    TraceReader &reader_;
    RecordedChoice &choice_;
    ReportOutput &report_;
    AggregateOutput &output_;
    CallerNames names_;
    TraceAggregation aggregation_;
    std::vector<KeyColumn> columns_;
};

} // namespace

void run_recorded_aggregate(const AggregateOptions &options) {
    const Keys keys = parse_keys(options);
    const std::vector<Spec> specs =
        options.pairs() ? pair_specs(options)
                        : parse_specs(options.functions.specs, options.functions.syntax());
    if (!options.pairs())
        check_values(options, specs);
    const EventFilter filter = RecordedChoice::filter_of(specs);
    std::vector<lang::Expression> conditions = make_request(options.functions).conditions;
    const std::string name = trace_name(options.input, true);
    const Fd file = open_recording(options.input);
    WorkerPool workers(reading_threads(options.jobs));
    DecodeJob job;
    job.naming = options.session.naming;
    job.filter = &filter;
    TraceSurvey known;
    if (options.pairs())
        known = survey_pairs(file, name, workers, job);
    TraceReader reader(file.get(), name, workers, job);
    ReportOutput report(reader, name, size_of(file), nullptr,
                        options.pairs() ? "looked at" : "added up");
    RecordedChoice choice(specs, std::move(conditions), options.processes.pids, reader.symbols());
    AggregateOutput output(options.output, options.style, options.json, options.ascii);
    if (options.pairs()) {
        pair_recorded(options, keys.values, reader, known, choice, report, output);
    } else {
        RecordedSums sums(options, specs, keys, reader, choice, report, output);
        if (!sums.run())
            return;
    }
    report.print_summary();
    const std::vector<std::string> unknown = report.unknown_functions(filter);
    for (const std::string &sentence : unknown)
        write_message(sentence);
    if (report.damaged() || !unknown.empty())
        throw ExitStatus{1};
}

} // namespace argtrace
