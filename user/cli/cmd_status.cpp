// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/tracing_options.h"
#include "live/tracing.h"
#include "model/counts.h"
#include "render/status.h"
#include "session/in_flight.h"
#include "session/session.h"
#include "util/message.h"
#include "util/output.h"
#include "util/terminal.h"

namespace argtrace {

namespace {

struct StatusOptions {
    StatusOrder order = StatusOrder::hits;
    bool all = false;
    bool json = false;
    bool include_self = false;
};

void note(const Session::Snapshot &snapshot, const std::vector<argtrace_on_load_order> &orders,
          std::size_t uncalled) {
    const argtrace_counts total = total_of(snapshot.counts);
    if (uncalled > 0)
        message("{} function{} not been called; --all shows {}", uncalled,
                uncalled == 1 ? " has" : "s have", uncalled == 1 ? "it" : "them");
    else if (snapshot.probes.empty() && orders.empty())
        message("no functions are traced; add some with `argtrace add FUNC`");
    if (lost_total(total) > 0)
        message("{} calls were lost: {}", lost_total(total), describe_lost(total));
}

/// Those that were unloaded stay: what was recorded of them can still be read.
void drop_removed(Session::Snapshot &snapshot) {
    Session::Snapshot kept;
    for (std::size_t i = 0; i < snapshot.probes.size(); ++i) {
        const std::uint32_t flags = snapshot.probes[i].flags;
        if ((flags & ARGTRACE_PROBE_REMOVED) && !(flags & ARGTRACE_PROBE_GONE))
            continue;
        kept.probes.push_back(std::move(snapshot.probes[i]));
        kept.counts.push_back(snapshot.counts[i]);
    }
    snapshot = std::move(kept);
}

void run_status(const StatusOptions &options) {
    Session session(Device::open());
    Session::Snapshot snapshot;
    std::vector<argtrace_on_load_order> orders;
    std::optional<SessionState> state;
    if (session.attach(default_session)) {
        if (session.is_flight() && !options.include_self)
            session.leave_out_own_calls();
        std::optional<std::uint64_t> overwritten;
        // Before the counts, so that no more records have been overwritten than there were.
        if (session.is_flight())
            overwritten = session.overwritten();
        snapshot = session.snapshot(true);
        ReturnsById returns = session.returns_by_id();
        const bool in_flight = std::any_of(returns.begin(), returns.end(), [](const auto &one) { return one.second.in_flight > 0; });
        drop_removed(snapshot);
        orders = session.on_load_orders();
        state = SessionState{session.attributes().clock, session.processes(), overwritten, std::move(returns), session.stack_loss(),
                             in_flight ? functions_in_flight(session) : std::vector<InFlightFunction>(), session.user_stack_loss()};
    }

    std::vector<Probe> unloaded;
    std::copy_if(snapshot.probes.begin(), snapshot.probes.end(), std::back_inserter(unloaded), is_unloaded);
    const ReturnsById returns = state ? state->returns : ReturnsById();
    sort_status(snapshot.probes, snapshot.counts, options.order, returns);
    const std::size_t uncalled =
        options.all || options.json ? 0 : drop_uncalled(snapshot.probes, snapshot.counts, returns);
    Output output(STDOUT_FILENO);
    if (options.json)
        append_status_json(output.buffer(), snapshot.probes, snapshot.counts, orders, state);
    else
        append_status_text(output.buffer(), snapshot.probes, snapshot.counts, orders, state, terminal_width(STDOUT_FILENO));
    (void)output.flush(); // a reader that has gone is no failure
    if (!options.json)
        note(snapshot, orders, uncalled);
    if (!options.json && state)
        print_stack_remedy(session, false);
    note_unloaded(unloaded);
}

} // namespace

void setup_status(CLI::App &app) {
    auto options = std::make_shared<StatusOptions>();
    CLI::App *command = app.add_subcommand("status", "Count the calls of what `add` has added");
    command->add_flag("-a,--all", options->all, "Show functions that have not been called, too");
    add_parsed_option(
        *command, "--sort",
        [options](const std::string &text) { options->order = parse_status_order(text); },
        "Order by hits (default), records, lost, filtered, sampled, capped or faults, the largest first, or by name")
        ->type_name("COLUMN");
    command->add_flag("--json", options->json, "One JSON object a line, the totals last");
    add_include_self_option(*command, options->include_self);
    command->footer(
        "HITS counts all calls: recorded in the buffer, lost, or filtered (made by the reader itself, "
        "with `add -p` by other processes, or rejected by a condition); if there are any, "
        "also calls left out by sampling (SAMPLED) or by a limit on their rate (CAPPED), not returned yet (IN-FLIGHT), or with a return that "
        "could not be followed (UNFOLLOWED). FAULTS counts "
        "conditions and values that needed memory which could not be read. For a flight recorder it also shows how many of the "
        "records have been overwritten since.");
    command->callback([options] { run_status(*options); });
}

} // namespace argtrace
