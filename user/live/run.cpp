// SPDX-License-Identifier: GPL-2.0-only
#include "live/run.h"

#include <algorithm>

#include <fmt/format.h>

#include "live/output_processes.h"
#include "live/pid_namespace.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/exit_status.h"
#include "util/message.h"

namespace argtrace {

namespace {

/// Binds to the session of `add`.
void attach_default(Session &session, const char *command) {
    const auto is_of_use = [](const Probe &probe) {
        return !(probe.flags & ARGTRACE_PROBE_REMOVED) || is_unloaded(probe); // what is recorded
    };
    const auto has_functions = [&](const std::vector<Probe> &probes) {
        return std::any_of(probes.begin(), probes.end(), is_of_use);
    };
    if (!session.attach(default_session) ||
        (!has_functions(session.probes(true)) && session.on_load_orders().empty()))
        throw Error(fmt::format("no functions are traced: add some with `argtrace add FUNC`, or "
                                "name them here: `argtrace {} FUNC`",
                                command));
    if (session.is_flight())
        throw Error(fmt::format("the session is a flight recorder, which cannot be read while it "
                                "records: save its content with `argtrace snapshot`, or name the "
                                "functions here: `argtrace {} FUNC`",
                                command));
}

} // namespace

Run::Run(const TracingOptions &options)
    : options_(options), session_(Device::open()), watch_(options.processes.pids) {}

void Run::create(const SessionOptions &wished, const Reading &reading) {
    session_.create("", wished);
    begin_reading(reading);
}

Wanted Run::open(const Request &request, const char *command, const Reading &reading) {
    Wanted wanted;
    if (options_.own_session()) {
        wanted = resolve_wanted(kernel_, options_.functions, request);
        create(options_.session, reading);
    } else {
        attach_default(session_, command);
        begin_reading(reading);
    }
    return wanted;
}

void Run::begin_reading(const Reading &reading) {
    session_.become_reader(reading.own_calls);
    if (!options_.command.empty())
        command_.emplace(options_.command, reading.stdout_is_taken);
    expect_code();
    if (!reading.all_processes)
        choose_processes(reading.streams);
    rings_.emplace(session_);
}

void Run::expect_code() {
    const std::vector<std::uint32_t> &pids = options_.processes.pids;
    const bool command = options_.follows_command();
    TracedCode code{pids, command ? options_.command.front() : ""};
    if (pids.size() + std::size_t{command} == 1)
        code.process = command ? static_cast<std::uint32_t>(command_->pid()) : pids.front();
    session_.expect_code(code);
    session_.choose_naming(options_.session.naming);
    if (UserObjects *objects = session_.objects()) // of a session that was there: some may have come since
        objects->provide(code);
}

void Run::choose_processes(bool streams) {
    tell_pid_namespace(options_.processes.pids, make_request(options_.functions));
    if (const auto filter = processes())
        session_.set_processes(*filter);
    else if (streams && !options_.include_self && options_.own_session())
        leave_out_output_processes(session_);
}

std::optional<ProcessFilter> Run::processes() const {
    if (!options_.processes.given())
        return std::nullopt;
    ProcessFilter filter = options_.processes.filter();
    if (options_.follows_command())
        filter.pids.push_back(static_cast<std::uint32_t>(command_->pid()));
    return filter;
}

void Run::arm(Wanted &wanted) {
    arming_ = monotonic_now();
    add_wanted(session_, kernel_, wanted);
    note_armed();
}

void Run::arm(std::vector<Probe> &probes) {
    arming_ = monotonic_now();
    add_followed(session_, kernel_, probes);
    note_armed();
}

TickWatch Run::arm(const TimerChoice &choice, Probe &probe) {
    arming_ = monotonic_now();
    add_timer(session_, choice, probe);
    TickWatch watch(choice, probe);
    note_armed();
    return watch;
}

void Run::note_armed() {
    armed_ = monotonic_now();
    modules_.emplace(session_);
}

void Run::start_command() {
    if (!command_)
        return;
    try {
        command_->start();
    } catch (const CannotRun &error) {
        write_message(error.what());
        throw ExitStatus{error.status()};
    }
}

LiveSources Run::sources() {
    return {session_, *rings_, *modules_, command_ ? &*command_ : nullptr,
            options_.ends_with_processes() ? &watch_ : nullptr};
}

void Run::tell_end(LiveLoop::End end) const {
    const std::vector<std::uint32_t> &pids = options_.processes.pids;
    if (end == LiveLoop::End::removed)
        message("the session was removed (`argtrace clear`)");
    if (end == LiveLoop::End::ended)
        message("{} {} ended", describe(ProcessFilter{pids, false}), pids.size() == 1 ? "has" : "have");
}

void Run::exit_as_command() {
    if (command_)
        throw ExitStatus{command_->finish()};
}

} // namespace argtrace
