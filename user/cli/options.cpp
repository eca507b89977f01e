// SPDX-License-Identifier: GPL-2.0-only
#include "cli/options.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "elf/debuginfod.h"
#include "util/units.h"

namespace argtrace {

CLI::Option *add_parsed_option(CLI::App &command, const std::string &name,
                               std::function<void(const std::string &)> read,
                               const std::string &description) {
    auto checked = [read = std::move(read)](const std::string &text) {
        try {
            read(text);
        } catch (const Error &error) {
            throw CLI::ValidationError(std::string(error.what()));
        }
    };
    return command.add_option_function<std::string>(name, checked, description)->take_last();
}

void add_session_options(CLI::App &command, SessionOptions &options) {
    add_parsed_option(
        command, "-b,--buffer",
        [&options](const std::string &text) { options.buffer = parse_size("--buffer", text); },
        "Size of each CPU's ring buffer (4M if not given), rounded up to a power of two")
        ->type_name("SIZE");
    add_parsed_option(
        command, "--encoding",
        [&options](const std::string &text) {
            if (text != "compact" && text != "named")
                throw Error(fmt::format("--encoding is compact or named, not '{}'", text));
            options.named = text == "named";
        },
        "The layout of calls in the buffer: compact (default), or named, which is larger and has "
        "names and types")
        ->type_name("compact|named");
    add_parsed_option(
        command, "--clock",
        [&options](const std::string &text) {
            if (text != "tsc" && text != "mono")
                throw Error(fmt::format("--clock is tsc or mono, not '{}'", text));
            options.clock = text == "tsc" ? ARGTRACE_CLOCK_TSC : ARGTRACE_CLOCK_MONOTONIC;
        },
        "What times calls: the processor's counter (tsc; default where it can be trusted), or the "
        "kernel's CLOCK_MONOTONIC (mono), which costs more. Both are shown as CLOCK_MONOTONIC")
        ->type_name("tsc|mono");
    command.add_flag("--no-caller", options.no_caller, "Do not record who called");
}

void add_flight_option(CLI::App &command, SessionOptions &options) {
    command.add_flag("--flight", options.flight,
                     "A flight recorder: when the buffer is full, the oldest calls make room");
}

CLI::Option *add_stack_option(CLI::App &command, std::function<void(StackChoice)> take, const std::string &description) {
    constexpr std::pair<std::string_view, StackChoice> choices[]{{"kernel", kernel_stack}, {"user", user_stack}, {"both", both_stacks}};
    const auto text = std::make_shared<std::string>(); // which the option refers to
    const auto parse = [text, choices, take = std::move(take)](const std::string &wanted) {
        const auto known = std::find_if(std::begin(choices), std::end(choices), [&](const auto &one) { return one.first == wanted; });
        if (known == std::end(choices))
            return fmt::format("it is kernel, user or both, not '{}'", wanted); // behind "--stack: "
        take(known->second);
        return std::string();
    };
    return command.add_flag("--stack{kernel}", *text, description)->take_last()->check(parse)->type_name("[=kernel|user|both]");
}

void add_stack_table_option(CLI::App &command, SessionOptions &options) {
    add_parsed_option(
        command, "--stack-table-size",
        [&options](const std::string &text) {
            options.stack_table =
                parse_room("--stack-table-size", text, ARGTRACE_STACK_ENTRIES_MIN, ARGTRACE_STACK_ENTRIES_MAX);
        },
        fmt::format("Room for N different stacks on each CPU ({} if not given), rounded up to a power of two",
                    default_stack_table))
        ->type_name("N");
    add_objects_option(command, options.naming);
}

void add_objects_option(CLI::App &command, CodeNaming &naming) {
    command.add_option("--objects", naming.debug_files.folders, "Look for debug files of user code in that folder, too")
        ->type_name("DIR")
        ->allow_extra_args(false);
    command.add_flag_callback(
        "--debuginfod",
        [&naming] {
            try {
                elf::check_debuginfod();
            } catch (const Error &error) {
                throw CLI::ValidationError(std::string(error.what()));
            }
            naming.debug_files.debuginfod = true;
        },
        "Fetch debug files from the servers that DEBUGINFOD_URLS names");
}

void add_lines_option(CLI::App &command, CodeNaming &naming) {
    command.add_flag("--lines", naming.lines, "Show the source lines of user code in stacks, where DWARF has them");
}

std::uint32_t parse_room(const std::string &option, const std::string &text, std::uint32_t min, std::uint32_t max) {
    const std::uint64_t wanted = parse_count(option, text);
    if (wanted > max)
        throw Error(fmt::format("{}: at most {} is possible, not {}", option, max, text));
    return static_cast<std::uint32_t>(std::bit_ceil(std::max<std::uint64_t>(wanted, min)));
}

} // namespace argtrace
