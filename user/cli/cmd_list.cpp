// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/function_options.h"
#include "cli/options.h"
#include "cli/process_options.h"
#include "live/on_load.h"
#include "render/function_list.h"
#include "spec/on_load.h"
#include "symbols/enabled.h"
#include "util/message.h"
#include "util/output.h"

namespace argtrace {

namespace {

struct ListOptions {
    FunctionOptions functions;
    std::vector<std::uint32_t> pids; ///< whose programs and libraries are meant
    CodeNaming naming;
    bool json = false;
    bool verbose = false;
};

void run_list(const ListOptions &options) {
    Request request = make_request(options.functions);
    for (const std::uint32_t pid : options.pids)
        if (::access(fmt::format("/proc/{}/maps", pid).c_str(), F_OK) != 0)
            throw no_process(pid);
    request.objects.pids = options.pids;
    request.debug_files = options.naming.debug_files;
    const bool all = std::all_of(request.specs.begin(), request.specs.end(),
                                 [](const Spec &spec) { return spec.exclude; });
    if (all)
        request.specs.push_back(parse_spec("*", PatternSyntax::glob));
    std::optional<ModuleOnLoad> on_load;
    if (!options.functions.on_load.empty())
        on_load = open_on_load(options.functions);
    Kernel running;
    Kernel &kernel = on_load ? on_load->kernel : running;
    if (!on_load)
        use_btf(kernel, options.functions);
    const Found found = on_load ? list_on_load(kernel, request) : list_functions(kernel, request);
    if (!all)
        write_messages(found.left);
    const EnabledFunctions enabled = on_load ? EnabledFunctions() : EnabledFunctions::load();
    Output output(STDOUT_FILENO);
    for (const Function &function : found.functions) {
        const std::uint32_t users =
            function.kind->is_ftraced ? enabled.users(function.symbol.name, function.symbol.module) : 0;
        if (options.json)
            append_function_json(output.buffer(), function, options.verbose, users);
        else
            append_function_text(output.buffer(), function, options.verbose, users);
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
    add_function_options(*command, options->functions,
                         "Functions to show, see below; all if none is given");
    add_on_load_option(*command, options->functions);
    add_pid_option(*command, options->pids,
                   "User functions and USDT probes of the programs and libraries that the process has mapped, which u:*:FUNCTION and usdt:* mean");
    add_objects_option(*command, options->naming);
    command->add_flag("--json", options->json, "One JSON object a line");
    command->add_flag("-v,--verbose", options->verbose,
                      "Also show where each argument is taken from");
    command->footer(
        std::string(spec_help) +
        "\n\nFunctions that share a name are listed with their addresses; where BTF does "
        "not tell them apart, tracing them needs --force. Functions in use at the moment are marked, "
        "whether by other tracers, BPF programs, live patches or argtrace itself.\n\n"
        "Examples:\n"
        "  argtrace list -v vfs_read\n"
        "  argtrace list 'ext4_*' '!*_endio'");
    command->callback([options] { run_list(*options); });
}

} // namespace argtrace
