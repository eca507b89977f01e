// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/function_options.h"
#include "cli/options.h"
#include "cli/process_options.h"
#include "live/on_load.h"
#include "live/pid_namespace.h"
#include "live/tracing.h"
#include "session/authority.h"
#include "session/owned_session.h"
#include "session/session.h"
#include "spec/resolve.h"
#include "util/message.h"

namespace argtrace {

namespace {

struct AddOptions {
    FunctionOptions functions;
    SessionOptions session;
    ProcessOptions processes;
};

constexpr std::size_t names_shown = 4;

void note_known(const std::vector<Probe> &known) {
    if (known.empty())
        return;
    std::string names = known[0].function;
    for (std::size_t i = 1; i < known.size() && i < names_shown; ++i)
        names += ", " + known[i].function;
    if (known.size() > names_shown)
        names += fmt::format(" and {} more", known.size() - names_shown);
    message("{} {} traced already", names, known.size() == 1 ? "is" : "are");
}

void note_different(const Probe &probe) {
    message("{0} is traced already, with other arguments or another condition, and stays so: to "
            "change them, `argtrace rm {0}` first",
            probe.function);
}

/// Takes those out of `probes` that the session has, and returns those that it has alike.
std::vector<Probe> take_known(std::vector<Probe> &probes, Session &session) {
    std::unordered_map<std::uint64_t, Probe> there;
    for (Probe &probe : session.probes(false)) {
        const std::uint64_t addr = probe.addr;
        there.emplace(addr, std::move(probe));
    }
    std::vector<Probe> known;
    std::erase_if(probes, [&](const Probe &probe) {
        const auto same = there.find(session.address_of(probe));
        if (same == there.end())
            return false;
        if (same->second.args != probe.args || same->second.program != probe.program ||
            records_returns(same->second) != records_returns(probe)) {
            note_different(probe);
            return true;
        }
        known.push_back(probe);
        return true;
    });
    return known;
}

/// Throws Error when the session, which is there already, is not as it is wished.
void check_session(Session &session, const AddOptions &options) {
    check_attributes(session.attributes(), options.session, session.info());
    if (options.session.stack_table)
        session.choose_stack_table(*options.session.stack_table);
    if (!options.processes.given())
        return;
    const ProcessFilter filter = session.processes();
    if (filter != options.processes.filter())
        throw Error(fmt::format("there is a session already, which records the calls of {}: end "
                                "it with `argtrace clear` before you choose others",
                                describe(filter)));
}

/// Whether nothing is or will be recorded, and nothing of an unloaded module can be read.
bool is_empty(const Session &session) {
    const std::vector<Probe> probes = session.probes(true);
    return session.on_load_orders().empty() &&
           std::all_of(probes.begin(), probes.end(), [](const Probe &probe) {
               return (probe.flags & ARGTRACE_PROBE_REMOVED) &&
                      !(probe.flags & ARGTRACE_PROBE_GONE);
           });
}

/// Binds to the session if it is there. One that is not as it is wished makes way for another if it
/// is empty; otherwise throws Error. False when there is none.
bool attach(Session &session, const AddOptions &options) {
    if (!session.attach(default_session))
        return false;
    try {
        check_session(session, options);
        return true;
    } catch (const Error &) {
        if (!is_empty(session))
            throw;
    }
    session.remove(default_session);
    session = Session(Device::open()); // a file is bound to one session for good
    message("the session was empty; recreated with the new options");
    return false;
}

/// Binds to the session as attach() does; else makes it, with all that was wished for it.
std::optional<OwnedSession<Session>> attach_or_make(Session &session, const AddOptions &options) {
    tell_pid_namespace(options.processes.pids, make_request(options.functions));
    if (attach(session, options))
        return std::nullopt;
    OwnedSession made(session, default_session, options.session);
    if (options.processes.given())
        session.set_processes(options.processes.filter());
    return made;
}

void run_add_on_load(Session &session, const AddOptions &options, const Request &request) {
    OnLoad wanted = resolve_on_load(options.functions, request);
    if (auto left = leave_out_memory(wanted.probes, session.info()))
        wanted.left.push_back(std::move(*left));
    auto made = attach_or_make(session, options);
    wanted.order(session);
    if (made)
        made->keep();
    write_messages(wanted.left);
    note_loaded(wanted.module);
}

void run_add(const AddOptions &options) {
    check_follow(options.processes);
    Request request = make_request(options.functions);
    request.objects.pids = options.processes.pids;
    request.debug_files = options.session.naming.debug_files;
    Session session(Device::open());
    if (!options.functions.on_load.empty()) {
        run_add_on_load(session, options, request);
        return;
    }
    Kernel kernel;
    use_btf(kernel, options.functions);
    Resolved resolved = resolve(kernel, request);
    std::vector<Probe> &probes = resolved.probes;
    if (auto left = leave_out_memory(probes, session.info()))
        resolved.left.push_back(std::move(*left));

    auto made = attach_or_make(session, options);
    std::vector<Probe> known;
    if (!made)
        known = take_known(probes, session);
    if (!probes.empty())
        add_followed(session, kernel, probes);
    if (made)
        made->keep();
    note_known(known);
    write_messages(resolved.left);
}

} // namespace

void setup_add(CLI::App &app) {
    auto options = std::make_shared<AddOptions>();
    CLI::App *command = app.add_subcommand("add", "Trace functions in the background");
    add_function_options(*command, options->functions, "Functions, see below")->required();
    add_limit_options(*command, options->functions);
    add_on_load_option(*command, options->functions);
    add_process_options(*command, options->processes,
                        "With -p: and of the processes that it starts from now on, and so forth");
    add_session_options(*command, options->session);
    add_stack_table_option(*command, options->session);
    add_flight_option(*command, options->session);
    command->footer(
        std::string(spec_help) +
        "\n\nCalls gather in the buffer until `argtrace trace` shows them; when it is full, "
        "further "
        "calls are counted as lost. With --flight the oldest calls make room instead, and "
        "`argtrace snapshot` saves what is there. `argtrace status` counts, `argtrace clear` ends "
        "it.\n\n"
        "Examples:\n"
        "  argtrace add vfs_read vfs_write\n"
        "  argtrace add --flight 'tcp_v4_*'\n"
        "  argtrace add --buffer 16M 'ext4_*' '!*_lock'\n"
        "  argtrace add --on-load dummy '*'; modprobe dummy; argtrace trace");
    command->callback([options] { run_add(*options); });
}

} // namespace argtrace
