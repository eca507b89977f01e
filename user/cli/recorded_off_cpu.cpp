// SPDX-License-Identifier: GPL-2.0-only
#include "cli/recorded_off_cpu.h"

#include <optional>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/exit_status.h"
#include "cli/recording_options.h"
#include "cli/report_output.h"
#include "cli/wait_output.h"
#include "file/writer.h"
#include "report/trace_waits.h"
#include "util/message.h"

namespace argtrace {

namespace {

/// Throws Error when the recording lacks what these waits are made of.
void check_recorded(const TraceReader &reader, const OffCpuOptions &options) {
    std::vector<const Probe *> probes;
    reader.schema().for_each([&probes](const Probe &probe) { probes.push_back(&probe); });
    if (probes.empty()) // nothing has happened, and then a file does not name what it would have
        return;
    SchedSpecs specs;
    specs.stacks = options.wanted.stacks;
    specs.wakers = options.wanted.wakers;
    specs.forks = options.processes.follow;
    const std::string missing = specs.missing_in(probes);
    if (missing.empty())
        return;
    specs.stacks = false;
    const bool without_stacks = options.wanted.stacks && !options.wanted.wakers && specs.missing_in(probes).empty();
    throw Error(fmt::format("{}: it has no records of {}, as `argtrace offcpu{}{} -o FILE.dat` makes them{}", options.input,
                            missing, options.wanted.wakers ? " --wakers" : "", options.processes.follow ? " --follow" : "",
                            without_stacks ? ": with --no-stack it can be shown as a table" : ""));
}

TraceSurvey survey(const Fd &file, const std::string &name, WorkerPool &workers, const DecodeJob &job,
                   const OffCpuOptions &options) {
    TraceReader reader(file.get(), name, workers, job);
    TraceSurvey survey = survey_trace(reader);
    check_recorded(reader, options);
    return survey;
}

} // namespace

void run_recorded_off_cpu(const OffCpuOptions &options) {
    check_follow(options.processes);
    const std::string name = trace_name(options.input, true);
    const Fd file = open_recording(options.input);
    if (!size_of(file))
        throw Error(fmt::format("{}: offcpu reads a recording twice, which takes a file: save it, and name that", name));
    RecordingOptions recording;
    recording.jobs = options.jobs;
    WorkerPool workers(recording.workers());
    const EventFilter everything;
    DecodeJob job;
    job.filter = &everything;
    const TraceSurvey known = survey(file, name, workers, job, options);
    ::lseek(file.get(), 0, SEEK_SET);
    TraceReader reader(file.get(), name, workers, job);
    ReportOutput report(reader, name, size_of(file), nullptr, "looked at");
    WaitOutput output(options, reader.symbols());

    WaitTotals totals(options.wanted);
    WaitTracker tracker([&totals](const Wait &wait) { totals.add(wait); });
    if (!options.processes.pids.empty())
        tracker.only(options.processes.pids, options.processes.follow);
    else if (!reader.info().processes.empty())
        tracker.only(reader.info().processes, reader.info().children);
    if (!options.include_self)
        tracker.hide(reader.info().recorder);
    TraceWaits waits(reader, known, tracker);
    report.look_at(waits);
    const std::optional<argtrace_counts> counts = report.total();
    const WaitsAside aside{tracker.left_out(), tracker.waiting(waits.end()), totals.unwanted(), counts};
    if (!output.show(totals) || !output.finish(totals.all(), aside))
        return;
    report.print_summary();
    write_message(waits_summary(totals.all(), aside));
    const std::uint64_t elsewhere = counts ? lost_total(*counts) - counts->lost[ARGTRACE_LOST_FULL] : 0;
    if (elsewhere > 0)
        message("{} record{} lost for another cause than a full ring, and a recording does not tell when: some waits may be "
                "wrong",
                elsewhere, elsewhere == 1 ? " was" : "s were");
    if (report.damaged())
        throw ExitStatus{1};
}

} // namespace argtrace
