// SPDX-License-Identifier: GPL-2.0-only
#include "report/recorded_profile.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analyze/ticks.h"
#include "answer/aggregate_keys.h"
#include "answer/aggregate_output.h"
#include "file/writer.h"
#include "render/profile.h"
#include "render/stack_summary.h"
#include "report/output.h"
#include "report/recorded_choice.h"
#include "report/recording.h"
#include "report/trace_aggregation.h"
#include "util/exit_status.h"
#include "util/message.h"

namespace argtrace {

namespace {

/// Throws Error where a condition takes what the ticks have not recorded.
bool wants_tick(RecordedChoice &choice, const EventView &tick) {
    const bool wanted = choice.wants(tick);
    if (!choice.missing().empty())
        throw Error(fmt::format("--if: {0} was not recorded: `argtrace profile -o FILE.dat --by {0}` records it", choice.missing()));
    return wanted;
}

bool has_ticks(const Schema &schema) {
    bool any = false, other = false;
    schema.for_each([&](const Probe &probe) {
        any = any || (!kind_of(probe).is_call && stack_places(probe).any());
        other = true;
    });
    return any || !other; // where nothing was recorded, a file does not name what it would have been
}

} // namespace

void run_recorded_profile(const AggregateOptions &options) {
    const Keys keys = parse_keys(options);
    const std::string name = trace_name(options.input, true);
    const Fd file = open_recording(options.input);
    WorkerPool workers(reading_threads(options.jobs));
    const EventFilter everything;
    DecodeJob job;
    job.naming = options.session.naming;
    job.filter = &everything;
    TraceReader reader(file.get(), name, workers, job);
    ReportOutput report(reader, name, size_of(file), nullptr, "added up");
    RecordedChoice choice({}, make_request(options.functions).conditions, options.processes.pids, reader.symbols());
    AggregateOutput output(options.output, options.style, options.json, options.ascii);
    TraceAggregation aggregation(reader, recorded_keys(options, keys), std::nullopt, options.buckets);
    aggregation.choose([](const Probe &probe) { return !kind_of(probe).is_call; },
                       [&choice](const EventView &view) { return wants_tick(choice, view); });
    const Aggregation all = report.add_up(aggregation);
    if (!has_ticks(reader.schema()))
        throw Error(fmt::format("{}: it has no ticks, as `argtrace profile -o FILE.dat` records them", name));
    if (const std::string_view missing = aggregation.describe_missing(); !missing.empty())
        throw Error(fmt::format("--by: {0} was not recorded: `argtrace profile -o FILE.dat --by {0}` records it; recorded are {1}",
                                missing, list_recorded_values(reader.schema())));

    const Ticks ticks = split_ticks(all, key_stacks(options), options.style.stack);
    CallerNames names(reader.symbols());
    std::vector<KeyColumn> columns = aggregation.columns();
    hide_stacks(columns, options);
    output.set_keys(columns, names);
    // What was filtered now was recorded then.
    argtrace_counts total = report.total().value_or(argtrace_counts{});
    total.records = aggregation.calls();
    total.filtered += choice.filtered();
    output.set_missing(describe(MissingStacks{lost_total(total)}, "tick"));
    if (!output.show(ticks.busy) || !output.finish_ticks(total, ticks.idle))
        return;
    write_message(tick_totals(total, ticks.idle));
    report.print_damage();
    if (report.damaged())
        throw ExitStatus{1};
}

} // namespace argtrace
