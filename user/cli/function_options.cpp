// SPDX-License-Identifier: GPL-2.0-only
#include "cli/function_options.h"

#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "cli/options.h"
#include "util/error.h"
#include "util/units.h"

namespace argtrace {

const char *const spec_help =
    "SPEC is a function's name, or:\n"
    "  'vfs_*'                  all that match, with * and ? as in file names\n"
    "  'MODULE:vfs_*'           those of that module; vmlinux is the kernel itself,\n"
    "                           with all that is built into it\n"
    "  'vfs_read(file, count)'  with these arguments only; '()' with none\n"
    "  'vfs_read(*pos, str(file->f_path.dentry->d_name.name) as name)'\n"
    "                           with these values, in C, through pointers too\n"
    "  'vfs_read(*pos@ret)='    with what it returns, and what *pos is then\n"
    "  'vfs_read if count > 64K && comm == \"dd\"'\n"
    "                           those calls only\n"
    "  't:sched:sched_*'        tracepoints, as t:GROUP:NAME; `argtrace list 't:*'`\n"
    "  's:open*'                system calls, as s:NAME; `argtrace list 's:*'`\n"
    "  'u:libc:mem*'            functions of programs and libraries, as\n"
    "                           u:OBJECT:NAME; `argtrace list 'u:libc:*'`\n"
    "  'usdt:python3.11:line'   USDT probes of these, as usdt:OBJECT:NAME\n"
    "  '!pattern'               not these, before or after the others\n"
    "  @FILE                    the SPECs in that file, one a line, # for comments\n"
    "  '^vfs_(read|write)$'     with --regex";

namespace {

ReturnBy parse_return_by(const std::string &text) {
    if (text == "trampoline")
        return ReturnBy::trampoline;
    if (text == "fprobe")
        return ReturnBy::fprobe;
    if (text == "kretprobe")
        return ReturnBy::kretprobe;
    if (text == "ret")
        return ReturnBy::ret;
    if (text == "uretprobe")
        return ReturnBy::uretprobe;
    throw Error(fmt::format("--return-by is trampoline, fprobe or kretprobe, and for user functions ret or uretprobe, not '{}'", text));
}

std::uint32_t parse_text_size(const std::string &text) {
    const std::uint64_t bytes = parse_count("--text-size", text);
    if (bytes > ARGTRACE_TEXT_MAX)
        throw Error(fmt::format("--text-size is 1 to {}, the most that one value of a record has, not {}", ARGTRACE_TEXT_MAX, text));
    return static_cast<std::uint32_t>(bytes);
}

} // namespace

CLI::Option *add_spec_options(CLI::App &command, FunctionOptions &options,
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
    command
        .add_option_function<std::vector<std::string>>(
            "--proto",
            [&options](const std::vector<std::string> &texts) {
                try {
                    for (const std::string &text : texts)
                        options.prototypes.push_back(parse_prototype(text));
                } catch (const Error &error) {
                    throw CLI::ValidationError(std::string(error.what()));
                }
            },
            "What a user function takes, as C writes it: 'size_t strlen(const char *s)'; wins over its debug information")
        ->type_name("PROTOTYPE")
        ->allow_extra_args(false);
    add_parsed_option(
        command, "--return-by", [&options](const std::string &text) { options.return_by = parse_return_by(text); },
        "What follows calls until they return: argtrace's trampoline, or an fprobe or a kretprobe of the kernel; if not given the "
        "trampoline, and the kernel where that is impossible. Of user functions: breakpoints where they return, or a uretprobe of the kernel")
        ->type_name("trampoline|fprobe|kretprobe|ret|uretprobe");
    return specs;
}

void add_condition_option(CLI::App &command, FunctionOptions &options) {
    command
        .add_option("--if", options.conditions,
                    "Only calls for which EXPR is true; functions in which it cannot be resolved "
                    "are left out")
        ->type_name("EXPR")
        ->allow_extra_args(false);
    command.add_option("--cgroup", options.cgroup, "Only calls of tasks in that cgroup or one below it")->type_name("PATH");
}

CLI::Option *add_function_options(CLI::App &command, FunctionOptions &options,
                                  const std::string &description) {
    CLI::Option *specs = add_spec_options(command, options, description);
    command.add_flag("-r,--return", options.returns,
                     "Also what functions return, and how long calls take: a call is recorded "
                     "when it returns; 'vfs_read()=' does that for one function");
    command
        .add_flag_callback(
            "--changes", [&options] { options.returns = options.changes = true; },
            "Also the values when functions return, and the numbers that arguments point to, as in "
            "*pos=0 -> 832; implies --return");
    add_stack_option(
        command, [&options](StackChoice stack) { options.stack = stack; },
        "Also the stack of each call: the kernel's, which is meant if nothing is said, that of the user code that has entered it, or "
        "both");
    command.add_flag("-d,--describe", options.describe,
                     "Also what arguments mean, by their types: files as paths, tasks by name, "
                     "sockets by address, flags and commands by name ...");
    add_parsed_option(
        command, "--text-size",
        [&options](const std::string &text) { options.text_bytes = parse_text_size(text); },
        "So many bytes of the data that calls read and write, with -d and in text(): 32 if it is not given")
        ->type_name("N");
    add_condition_option(command, options);
    return specs;
}

namespace {

std::uint32_t parse_limit(std::string_view option, const std::string &text) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    const std::uint64_t limit = parse_count(option, text);
    if (limit > most)
        throw Error(fmt::format("{}: at most {} is possible, not {}", option, most, text));
    return static_cast<std::uint32_t>(limit);
}

} // namespace

void add_limit_options(CLI::App &command, FunctionOptions &options) {
    add_parsed_option(
        command, "--sample",
        [&options](const std::string &text) {
            options.limits.sample = parse_limit("--sample", text);
        },
        "Only one call in N of each function, counted on each CPU separately")
        ->type_name("N");
    add_parsed_option(
        command, "--max-rate",
        [&options](const std::string &text) {
            options.limits.max_rate = parse_limit("--max-rate", text);
        },
        "At most N calls a second of each function")
        ->type_name("N");
}

void add_regex_option(CLI::App &command, bool &regex) {
    command.add_flag("--regex", regex, "Patterns are POSIX extended regular expressions");
}

void add_on_load_option(CLI::App &command, FunctionOptions &options) {
    command
        .add_option("--on-load", options.on_load,
                    "Functions of that module, whenever it is loaded, from its first call on")
        ->type_name("MODULE|FILE.ko");
}

} // namespace argtrace
