// SPDX-License-Identifier: GPL-2.0-only
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "model/counts.h"
#include "render/status.h"
#include "session/session.h"
#include "util/output.h"

namespace argtrace {

namespace {

struct StatusOptions {
    bool json = false;
};

void note(const Session::Snapshot &snapshot, const std::vector<argtrace_on_load_order> &orders) {
    argtrace_counts total{};
    for (const argtrace_counts &counts : snapshot.counts)
        add_counts(total, counts);
    if (snapshot.probes.empty() && orders.empty())
        fmt::print(stderr,
                   "argtrace: no functions are traced; add some with `argtrace add FUNC`\n");
    else if (lost_total(total) > 0)
        fmt::print(stderr, "argtrace: {} calls were lost: {}\n", lost_total(total),
                   describe_lost(total));
}

void run_status(const StatusOptions &options) {
    Session session(Device::open());
    Session::Snapshot snapshot;
    std::vector<argtrace_on_load_order> orders;
    std::optional<SessionState> state;
    if (session.attach(default_session)) {
        snapshot = session.snapshot(false);
        orders = session.on_load_orders();
        state = SessionState{session.attributes().clock, session.processes(), std::nullopt};
        if (session.is_flight())
            state->overwritten = session.overwritten();
    }

    Output output(STDOUT_FILENO);
    auto append = options.json ? append_status_json : append_status_text;
    append(output.buffer(), snapshot.probes, snapshot.counts, orders, state);
    (void)output.flush(); // a reader that has gone is no failure
    if (!options.json)
        note(snapshot, orders);
}

} // namespace

void setup_status(CLI::App &app) {
    auto options = std::make_shared<StatusOptions>();
    CLI::App *command = app.add_subcommand("status", "Count the calls of what `add` has added");
    command->add_flag("--json", options->json, "One JSON object a line, the totals last");
    command->footer(
        "HITS are all calls: recorded in the buffer, lost, or filtered (made by the reader itself, "
        "or with `add -p` by other processes). For a flight recorder it also shows how many of the "
        "records have been overwritten since.");
    command->callback([options] { run_status(*options); });
}

} // namespace argtrace
