// SPDX-License-Identifier: GPL-2.0-only
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/function_options.h"
#include "session/selection.h"
#include "session/session.h"
#include "util/error.h"

namespace argtrace {

namespace {

struct RmOptions {
    FunctionOptions functions; // specs and regex alone
};

void run_rm(const RmOptions &options) {
    const std::vector<Spec> specs =
        parse_specs(options.functions.specs, options.functions.syntax());
    Session session(Device::open());
    std::vector<Probe> probes;
    if (session.attach(default_session))
        probes = session.probes(false);
    if (probes.empty())
        throw Error("no functions are traced: there is nothing to remove");
    session.remove(select_addresses(probes, specs));
}

} // namespace

void setup_rm(CLI::App &app) {
    auto options = std::make_shared<RmOptions>();
    CLI::App *command = app.add_subcommand("rm", "Stop tracing functions that `add` has added");
    command
        ->add_option("SPEC", options->functions.specs,
                     "Functions: names, globs of * and ?, '!pattern' for those to keep, @FILE")
        ->required();
    add_regex_option(*command, options->functions.regex);
    command->footer("Calls that have been recorded stay in the buffer for `argtrace trace`.\n\n"
                    "Examples:\n  argtrace rm vfs_read\n  argtrace rm 'ext4_*' '!ext4_open'");
    command->callback([options] { run_rm(*options); });
}

} // namespace argtrace
