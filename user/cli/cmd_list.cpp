// SPDX-License-Identifier: GPL-2.0-only
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "cli/commands.h"
#include "render/function_list.h"
#include "util/output.h"

namespace argtrace {

namespace {

struct ListOptions {
    std::vector<std::string> specs = {"*"};
    bool json = false;
    bool verbose = false;
};

void run_list(const ListOptions &options) {
    Kernel kernel;
    Output output(STDOUT_FILENO);
    for (const Function &function : traceable_functions(kernel, options.specs)) {
        if (options.json)
            append_function_json(output.buffer(), function, options.verbose);
        else
            append_function_text(output.buffer(), function, options.verbose);
        if (output.full() && !output.flush())
            return;
    }
    (void)output.flush(); // a reader that has gone is no failure
}

} // namespace

void setup_list(CLI::App &app) {
    auto options = std::make_shared<ListOptions>();
    CLI::App *command =
        app.add_subcommand("list", "Show the functions that can be traced, with their prototypes");
    command->add_option("GLOB", options->specs,
                        "Functions to show: names, or globs of * and ?; all if there is none");
    command->add_flag("--json", options->json, "One JSON object a line");
    command->add_flag("-v,--verbose", options->verbose, "Show where each argument lies, too");
    command->callback([options] { run_list(*options); });
}

} // namespace argtrace
