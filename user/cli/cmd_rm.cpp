// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
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
    std::string on_load;
};

void remove_on_load(Session &session, std::string module) {
    std::replace(module.begin(), module.end(), '-', '_'); // as the kernel does
    if (!session.attach(default_session) || !session.remove_on_load(module))
        throw Error(fmt::format("{}: nothing waits for that module to be loaded (`argtrace status` "
                                "shows what does)",
                                module));
}

void run_rm(const RmOptions &options) {
    if (options.functions.specs.empty() && options.on_load.empty())
        throw CLI::RequiredError("SPEC or --on-load");
    const std::vector<Spec> specs =
        parse_specs(options.functions.specs, options.functions.syntax());
    Session session(Device::open());
    if (!options.on_load.empty())
        remove_on_load(session, options.on_load);
    if (specs.empty())
        return;
    std::vector<Probe> probes;
    if (!options.on_load.empty() || session.attach(default_session))
        probes = session.probes(false);
    if (probes.empty())
        throw Error("no functions are traced: there is nothing to remove");
    session.remove(select_places(probes, specs));
}

} // namespace

void setup_rm(CLI::App &app) {
    auto options = std::make_shared<RmOptions>();
    CLI::App *command = app.add_subcommand("rm", "Stop tracing functions that `add` has added");
    command->add_option("SPEC", options->functions.specs,
                        "Functions: names, globs of * and ?, '!pattern' for those to keep, @FILE");
    command
        ->add_option("--on-load", options->on_load,
                     "Withdraw the request to trace that module when it is loaded")
        ->type_name("MODULE");
    add_regex_option(*command, options->functions.regex);
    command->footer("Calls that have been recorded stay in the buffer for `argtrace trace`.\n\n"
                    "Examples:\n  argtrace rm vfs_read\n  argtrace rm 'ext4_*' '!ext4_open'\n"
                    "  argtrace rm --on-load dummy");
    command->callback([options] { run_rm(*options); });
}

} // namespace argtrace
