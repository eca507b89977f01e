// SPDX-License-Identifier: GPL-2.0-only
#include "report/recorded_off_cpu.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "answer/off_cpu.h"
#include "file/writer.h"
#include "report/output.h"
#include "report/recording.h"
#include "report/trace_waits.h"
#include "util/exit_status.h"
#include "util/message.h"

namespace argtrace {

namespace {

/// Throws Error when the recording lacks what these waits are made of.
void check_recorded(const TraceReader &reader, OffCpuOptions &options) {
    std::vector<const Probe *> probes;
    reader.schema().for_each([&probes](const Probe &probe) { probes.push_back(&probe); });
    if (probes.empty()) // nothing has happened, and then a file does not name what it would have
        return;
    const auto has_user_stack = [](const Probe *probe) { return stack_places(*probe).user.has_value(); };
    const auto has_kernel_stack = [](const Probe *probe) { return stack_places(*probe).kernel.has_value(); };
    const bool any_user_stack = std::any_of(probes.begin(), probes.end(), has_user_stack);
    if (!options.stacks_chosen) {
        options.wanted.user_stacks = any_user_stack;
        options.wanted.stacks = !any_user_stack || std::any_of(probes.begin(), probes.end(), has_kernel_stack);
    }
    SchedSpecs specs;
    specs.stacks = options.wanted.stacks;
    specs.user_stacks = options.wanted.user_stacks;
    specs.wakers = options.wanted.wakers;
    specs.forks = options.processes.follow;
    const std::string missing = specs.missing_in(probes);
    if (missing.empty())
        return;
    specs.stacks = specs.user_stacks = false;
    const bool without_stacks = options.wanted.any_stack() && !options.wanted.wakers && specs.missing_in(probes).empty();
    throw Error(fmt::format("{}: it has no records of {}, as `argtrace offcpu{}{} -o FILE.dat` makes them{}", options.input,
                            missing, options.wanted.wakers ? " --wakers" : "", options.processes.follow ? " --follow" : "",
                            without_stacks ? ": with --no-stack it can be shown as a table" : ""));
}

TraceSurvey survey(const Fd &file, const std::string &name, WorkerPool &workers, const DecodeJob &job,
                   OffCpuOptions &options) {
    TraceReader reader(file.get(), name, workers, job);
    TraceSurvey survey = survey_trace(reader);
    check_recorded(reader, options);
    return survey;
}

} // namespace

void run_recorded_off_cpu(const OffCpuOptions &given) {
    OffCpuOptions options = given;
    const std::string name = trace_name(options.input, true);
    const Fd file = open_recording(options.input);
    if (!size_of(file))
        throw Error(fmt::format("{}: offcpu reads a recording twice, which takes a file: save it, and name that", name));
    WorkerPool workers(reading_threads(options.jobs));
    const EventFilter everything;
    DecodeJob job;
    job.naming = options.session.naming;
    job.filter = &everything;
    const TraceSurvey known = survey(file, name, workers, job, options);
    ::lseek(file.get(), 0, SEEK_SET);
    TraceReader reader(file.get(), name, workers, job);
    ReportOutput report(reader, name, size_of(file), nullptr, "looked at");
    OffCpuAnswer answer(options, reader.symbols());
    WaitTracker &tracker = answer.tracker();
    if (!options.processes.pids.empty())
        tracker.only(options.processes.pids, options.processes.follow);
    else if (!reader.info().processes.empty())
        tracker.only(reader.info().processes, reader.info().children);
    if (!options.include_self)
        tracker.hide(reader.info().recorder);
    TraceWaits waits(reader, known, tracker);
    report.look_at(waits);
    const std::optional<argtrace_counts> counts = report.total();
    if (!answer.show() || !answer.finish(waits.end(), counts))
        return;
    report.print_summary();
    answer.tell();
    const std::uint64_t elsewhere = counts ? lost_total(*counts) - counts->lost[ARGTRACE_LOST_FULL] : 0;
    if (elsewhere > 0)
        message("{} record{} lost for another cause than a full ring, and a recording does not tell when: some waits may be "
                "wrong",
                elsewhere, elsewhere == 1 ? " was" : "s were");
    if (report.damaged())
        throw ExitStatus{1};
}

} // namespace argtrace
