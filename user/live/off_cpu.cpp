// SPDX-License-Identifier: GPL-2.0-only
#include "live/off_cpu.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "analyze/sched_events.h"
#include "answer/off_cpu.h"
#include "live/loop.h"
#include "live/loss_watch.h"
#include "live/pid_namespace.h"
#include "live/record.h"
#include "live/run.h"
#include "live/tracing.h"
#include "render/status.h"
#include "session/authority.h"
#include "session/live_symbols.h"
#include "session/merge.h"
#include "spec/resolve.h"
#include "util/clock.h"
#include "util/message.h"
#include "util/nanoseconds.h"

namespace argtrace {

namespace {

// Records are read so often at least.
constexpr std::uint64_t off_cpu_nap_ns = 20 * nanoseconds_per_millisecond;

/// Makes waits of a session's records while they come.
class LiveWaits : private LiveLoop {
public:
    using LiveLoop::End;

    /// Tracepoints are armed one after the other: only from here on they all are, and the command must not have begun.
    LiveWaits(const LiveSources &sources, const OffCpuOptions &options, Schema &schema, OffCpuAnswer &answer)
        : LiveLoop(sources, answer.fd()), options_(options), merge_(sources.rings.views(), schema, Merge::Keep::nothing),
          events_(answer.tracker()), answer_(answer), first_(monotonic_now() + record_slack_ns), loss_(first_) {}

    End run(const StopSignal &stop) {
        const std::uint64_t start = monotonic_now();
        if (options_.interval)
            next_ = start + *options_.interval;
        const End end = run_rounds(start, options_.duration, stop);
        if (end == End::abandoned)
            return end;
        end_ = monotonic_now() - record_slack_ns;
        session().remove_all();
        follow_changes();
        merge_.collect_rest();
        note_lost();
        take();
        if (!options_.interval)
            return answer_.show() ? end : End::abandoned;
        const bool is_due = rounds_ == options_.rounds; // else an interval has been cut short
        return (!answer_.has_waits() && !is_due) || answer_.show_interval(end_) ? end : End::abandoned;
    }

    /// When it has ended; later records are not looked at.
    std::uint64_t end() const { return end_; }

private:
    void add(std::span<const RingView> rings) override { merge_.add(rings); }

    std::optional<End> round(const Now &now) override {
        merge_.collect(now.clock);
        note_lost();
        take();
        if (!next_ || now.ns < *next_)
            return std::nullopt;
        *next_ += (now.ns - *next_) / *options_.interval * *options_.interval + *options_.interval;
        if (++rounds_ == options_.rounds)
            return End::reached; // run() shows it, with what comes until nothing is followed any more
        return answer_.show_interval(now.ns) ? std::nullopt : std::optional(End::abandoned);
    }

    std::optional<std::uint64_t> next_round(std::uint64_t now) override {
        const std::uint64_t nap = now + off_cpu_nap_ns;
        return next_ ? std::min(*next_, nap) : nap;
    }

    void note_lost() {
        if (const auto gap = loss_.look(session()))
            answer_.tracker().lost(gap->from, gap->to);
    }

    void take() {
        while (const auto view = merge_.next())
            if (view->event->ts >= first_ && view->event->ts <= end_)
                events_.take(*view);
    }

    const OffCpuOptions &options_;
    Merge merge_;
    SchedEvents events_;
    OffCpuAnswer &answer_;
    std::optional<std::uint64_t> next_;
    std::uint64_t rounds_ = 0; // intervals that have ended
    std::uint64_t first_; // records before that are not looked at
    LossWatch loss_;
    std::uint64_t end_ = std::numeric_limits<std::uint64_t>::max();
};

/// The processes whose waits are wanted; empty for all processes.
std::vector<std::uint32_t> wanted_pids(const OffCpuOptions &options, const Run &run) {
    tell_pid_namespace(options.processes.pids, {});
    const auto filter = run.processes();
    return filter ? pids_in_events(filter->pids) : std::vector<std::uint32_t>();
}

FunctionOptions sched_functions(const OffCpuOptions &options, const std::vector<std::uint32_t> &pids) {
    SchedSpecs specs;
    specs.stacks = options.wanted.stacks;
    specs.user_stacks = options.wanted.user_stacks;
    specs.wakers = options.wanted.wakers;
    specs.forks = options.processes.follow;
    if (!options.processes.follow)
        specs.pids = pids;
    FunctionOptions functions;
    functions.specs = specs.text();
    return functions;
}

/// What is followed of whom; no processes: of all.
struct Followed {
    std::vector<std::uint32_t> pids;
    std::vector<Probe> probes;
};

/// Makes the session that follows switches and wakeups.
Followed prepare(Run &run, const OffCpuOptions &options) {
    SessionOptions wished = options.session;
    wished.no_caller = true;
    // Our own switches are those of others, too.
    run.create(wished, {.own_calls = true, .stdout_is_taken = options.output.empty(), .all_processes = true});
    Followed followed{wanted_pids(options, run), {}};
    Resolved resolved = resolve(run.kernel(), make_request(sched_functions(options, followed.pids)));
    write_messages(resolved.left);
    followed.probes = std::move(resolved.probes);
    return followed;
}

void finish(Run &run, const argtrace_counts &total, LiveLoop::End end) {
    run.tell_end(end);
    print_remedies(run.session(), total, true);
    run.exit_as_command();
}

/// What can be taken here of what was not asked for.
OffCpuOptions options_here(const OffCpuOptions &given, const Run &run) {
    OffCpuOptions options = given;
    if (!options.stacks_chosen && !takes_user_stacks(run.session().info()))
        options.wanted.user_stacks = false;
    return options;
}

} // namespace

void run_live_off_cpu(const OffCpuOptions &given) {
    Run run(given);
    const OffCpuOptions options = options_here(given, run);
    Followed followed = prepare(run, options);
    const Session &session = run.session();
    const LiveSymbols symbols(session);
    OffCpuAnswer answer(options, symbols);
    StopSignal stop;
    run.arm(followed.probes);
    message("following switches and wakeups of tasks, {}", options.until(options.duration));

    Schema schema([&session] { return session.probes(true); });
    schema.reload();
    if (!followed.pids.empty())
        answer.tracker().only(followed.pids, options.processes.follow);
    if (!options.include_self)
        answer.tracker().hide(own_pid_in_events());
    LiveWaits waits(run.sources(), options, schema, answer);
    run.start_command();
    const LiveLoop::End end = waits.run(stop);
    if (end == LiveLoop::End::abandoned)
        return;
    const argtrace_counts total = total_of(session.counts(true));
    if (!answer.finish(waits.end(), total))
        return;
    answer.tell();
    finish(run, total, end);
}

void record_off_cpu(const OffCpuOptions &given) {
    Run run(given);
    const OffCpuOptions options = options_here(given, run);
    Followed followed = prepare(run, options);
    TraceInfo info = describe_session(run.session());
    info.command = options.command;
    info.processes = followed.pids;
    info.children = options.processes.follow;

    StopSignal stop;
    Recording recording(run, TraceTarget(options.output), std::nullopt, info);
    run.arm(followed.probes);
    recording.begin();
    message("recording switches and wakeups of tasks to {}, {}", options.output, options.until(options.duration));
    run.start_command();
    const LiveLoop::End end = recording.run(options.duration, stop);
    recording.end(); // while all of them are followed still
    run.session().remove_all();
    const argtrace_counts total = total_of(recording.finish());
    TraceWriter &writer = recording.writer();
    if (writer.target().kept())
        message("{}; {}: {} bytes: `argtrace offcpu --in {}` shows them", calls_summary(total), writer.name(),
                writer.written(), options.output);
    finish(run, total, end);
}

} // namespace argtrace
