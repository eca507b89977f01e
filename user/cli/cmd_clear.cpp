// SPDX-License-Identifier: GPL-2.0-only
#include "cli/commands.h"
#include "session/session.h"

namespace argtrace {

namespace {

void run_clear() {
    Session session(Device::open());
    session.remove(default_session);
}

} // namespace

void setup_clear(CLI::App &app) {
    CLI::App *command =
        app.add_subcommand("clear", "Stop tracing what `add` has added, and drop its buffer");
    command->callback(run_clear);
}

} // namespace argtrace
