// SPDX-License-Identifier: GPL-2.0-only
#include "cli/function_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/options.h"
#include "util/message.h"

namespace argtrace {

const char *const spec_help =
    "SPEC is a function's name, or:\n"
    "  'vfs_*'                  all that match, with * and ? as in file names\n"
    "  'MODULE:vfs_*'           those of that module; vmlinux is the kernel itself,\n"
    "                           with all that is built into it\n"
    "  'vfs_read(file, count)'  with these arguments only; '()' with none\n"
    "  '!pattern'               not these, before or after the others\n"
    "  @FILE                    the SPECs in that file, one a line, # for comments\n"
    "  '^vfs_(read|write)$'     with --regex";

CLI::Option *add_function_options(CLI::App &command, FunctionOptions &options,
                                  const std::string &description) {
    CLI::Option *specs = command.add_option("SPEC", options.specs, description);
    add_regex_option(command, options.regex);
    command.add_flag(
        "--force", options.force,
        "Also take functions whose arguments BTF does not determine (the compiler's clones, "
        "shared names); ~ marks them");
    command.add_flag("--raw", options.raw,
                     "Show the six argument registers of those whose arguments are unknown");
    command
        .add_option_function<std::vector<std::string>>(
            "--btf",
            [&options](const std::vector<std::string> &texts) {
                try {
                    for (const std::string &text : texts)
                        options.btf.push_back(parse_external(text));
                } catch (const Error &error) {
                    throw CLI::ValidationError(std::string(error.what()));
                }
            },
            "Take a module's types from that file: BTF, or a .ko that has it")
        ->type_name("[MODULE=]FILE")
        ->allow_extra_args(false);
    return specs;
}

namespace {

void check_btf_module(Kernel &kernel, const ExternalBtf &external) {
    const std::string &module = kernel.only_module();
    if (!module.empty() && external.module != module)
        throw Error(fmt::format("--btf {0}: is for the module {1}, but the functions are those of "
                                "{2}: give it as --btf {2}={0}",
                                external.path, external.module, module));
    const std::vector<Symbol> &symbols = kernel.symbols().all();
    if (module.empty() && std::none_of(symbols.begin(), symbols.end(), [&](const Symbol &symbol) {
            return symbol.module == external.module;
        }))
        throw Error(fmt::format("--btf {0}: no module {1} is loaded: to trace one from its load on "
                                "use `argtrace add --on-load {1}`; for another name give it as "
                                "--btf MODULE={0}",
                                external.path, external.module));
}

} // namespace

void add_regex_option(CLI::App &command, bool &regex) {
    command.add_flag("--regex", regex, "Patterns are POSIX extended regular expressions");
}

Request make_request(const FunctionOptions &options) {
    Request request{parse_specs(options.specs, options.syntax()), options.force, options.raw};
    if (request.specs.empty() && !options.specs.empty()) // files can be empty, words cannot
        throw Error(fmt::format("{}: names no function", fmt::join(options.specs, ", ")));
    return request;
}

void add_on_load_option(CLI::App &command, FunctionOptions &options) {
    command
        .add_option("--on-load", options.on_load,
                    "Functions of that module, whenever it is loaded, from its first call on")
        ->type_name("MODULE|FILE.ko");
}

void use_btf(Kernel &kernel, const FunctionOptions &options) {
    for (const ExternalBtf &external : options.btf) {
        check_btf_module(kernel, external);
        kernel.use_btf(external);
    }
}

void print_left(const std::vector<std::string> &left) {
    for (const std::string &sentence : left)
        write_message(sentence);
}

} // namespace argtrace
