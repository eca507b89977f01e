// SPDX-License-Identifier: GPL-2.0-only
#include <memory>
#include <vector>

#include <unistd.h>

#include "cli/commands.h"
#include "doctor/checks.h"
#include "render/doctor.h"
#include "util/exit_status.h"
#include "util/message.h"
#include "util/output.h"

namespace argtrace {

namespace {

void run_doctor(bool json) {
    const std::vector<Finding> findings = examine(Machine::here());
    Output output(STDOUT_FILENO);
    (json ? append_findings_json : append_findings)(output.buffer(), findings);
    (void)output.flush(); // a reader that has gone is no failure
    if (tracing_works(findings)) {
        message("tracing works here");
        return;
    }
    message("tracing does not work here, because of what is missing");
    throw ExitStatus{1};
}

} // namespace

void setup_doctor(CLI::App &app) {
    auto json = std::make_shared<bool>(false);
    CLI::App *command =
        app.add_subcommand("doctor", "Show what can be traced on this machine, what cannot, and why");
    command->add_flag("--json", *json, "One JSON object a line");
    command->footer("A line for each check: ok, limited (something is not available), missing (tracing does not work), or "
                    "unseen (this user may not look), with the remedy. It works without the module and without root. "
                    "The exit status is 0 if tracing works.");
    command->callback([json] { run_doctor(*json); });
}

} // namespace argtrace
