// SPDX-License-Identifier: GPL-2.0-only
#include "render/function_list.h"

#include <algorithm>
#include <iterator>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lang/disassemble.h"
#include "model/probe_kind.h"
#include "model/type.h"
#include "spec/calls.h"
#include "spec/resolve.h"

namespace argtrace {

namespace {

// "u64": what is recorded of a value. A struct has no shorter name than its own.
std::string recorded_type(const Argument &argument) {
    const TypeInfo &type = type_info(argument.type);
    return type.size > 0 ? type.name : argument.type_name;
}

// Its size depends on the call.
bool has_any_size(const Argument &argument) {
    return argument.loc == ARGTRACE_LOC_PROGRAM && type_info(argument.type).size == 0;
}

bool have_any_size(std::span<const Argument> arguments) {
    return std::any_of(arguments.begin(), arguments.end(), has_any_size);
}

// "*pos: s64 computed, 8 bytes"
void append_computed(std::string &out, const Argument &argument) {
    const TypeInfo &type = type_info(argument.type);
    const std::uint32_t bytes = captured_bytes(argument);
    fmt::format_to(std::back_inserter(out), "    {}: {} computed, {}{} byte{}\n", argument.name,
                   type.type_class == TypeClass::bytes ? argument.type_name.c_str() : type.name,
                   has_any_size(argument) ? "up to " : "", bytes, bytes == 1 ? "" : "s");
}

// "arg1 is noted as -4@112(%rsp)"
void append_noted(std::string &out, const Function &function) {
    for (std::size_t i = 0; function.site && i < function.site->noted.size(); ++i)
        fmt::format_to(std::back_inserter(out), "    {} is noted as {}{}\n", function.prototype.parameters[i].name, function.site->noted[i],
                       function.site->operands[i] || function.site->places[i].loc != ARGTRACE_LOC_NONE ? "" : ", which is not read");
}

// What the program does, and what it costs.
void append_program(std::string &out, const lang::Program &program) {
    if (program.nr_filter + program.nr_return > 0)
        fmt::format_to(std::back_inserter(out), "    the condition {}\n",
                       lang::describe(lang::filter_cost(program)));
    if (!program.values.empty())
        fmt::format_to(std::back_inserter(out), "    computing the values {}\n",
                       lang::describe(lang::values_cost(program)));
    for (const std::string &line : lang::disassemble(program))
        fmt::format_to(std::back_inserter(out), "      {}\n", line);
}

nlohmann::ordered_json cost_json(const lang::ProgramCost &cost) {
    return {{"instructions", cost.instructions}, {"loads", cost.loads}};
}

nlohmann::ordered_json program_json(const lang::Program &program) {
    nlohmann::ordered_json json;
    if (program.nr_filter + program.nr_return > 0)
        json["condition"] = cost_json(lang::filter_cost(program));
    if (!program.values.empty())
        json["values"] = cost_json(lang::values_cost(program));
    json["code"] = lang::disassemble(program);
    return json;
}

// By which names of the table of calls -d shows the arguments of a function.
class ArgumentNames {
public:
    explicit ArgumentNames(const Function &function)
        : is_described_(function.capture.is_described), is_function_(*function.kind == function_kind),
          rows_(is_described_ ? Calls::shared().rows(function.prototype.function) : nullptr) {}

    // Empty: by none.
    std::string_view of(const Argument &argument) const {
        const bool is_computed = argument.loc == ARGTRACE_LOC_PROGRAM;
        if (!is_described_ || is_computed)
            return {};
        return Calls::shared().names_of(rows_, is_function_, argument.name, argument.type_name);
    }

private:
    bool is_described_, is_function_;
    const std::vector<CallRow> *rows_;
};

std::string location(const Function &function, const Argument &argument) {
    if (argument.loc == ARGTRACE_LOC_RETURN && function.convention->returning(function.prototype).in_memory)
        return std::string(function.convention->result_address);
    return function.convention->location(argument);
}

// "count: u64 in rdx, 8 bytes"; "flags: u32 in rdx, 4 bytes, shown by the names of `open`"
void append_argument(std::string &out, const Function &function, const ArgumentNames &shown, const Argument &argument) {
    if (argument.loc == ARGTRACE_LOC_PROGRAM) {
        append_computed(out, argument);
        return;
    }
    fmt::format_to(std::back_inserter(out), "    {}: {}", argument.name, recorded_type(argument));
    if (argument.loc == ARGTRACE_LOC_NONE) {
        out += " not captured\n";
        return;
    }
    const bool in_memory = argument.loc == ARGTRACE_LOC_STACK;
    const std::uint32_t bytes = captured_bytes(argument);
    fmt::format_to(std::back_inserter(out), " {} {}, {} byte{}", in_memory ? "at" : "in",
                   location(function, argument), bytes, bytes == 1 ? "" : "s");
    if (const std::string_view names = shown.of(argument); !names.empty())
        fmt::format_to(std::back_inserter(out), ", shown by the names of `{}`", names);
    out += '\n';
}

} // namespace

void append_function_text(std::string &out, const Function &function, bool verbose, std::uint32_t users) {
    out += function.prototype.text;
    if (!function.symbol.module.empty())
        fmt::format_to(std::back_inserter(out), " [{}]", function.symbol.module);
    if (function.namesakes && function.symbol.addr != 0)
        fmt::format_to(std::back_inserter(out), " at {:#x}", function.symbol.addr);
    if (function.forced)
        out += " (needs --force)";
    if (users > 0)
        fmt::format_to(std::back_inserter(out), " (in use by {} tracer{})", users,
                       users == 1 ? "" : "s");
    out += '\n';
    if (!verbose)
        return;
    const std::vector<Argument> arguments = wanted_arguments(function);
    const ArgumentNames shown(function);
    append_noted(out, function);
    for (const Argument &argument : arguments)
        append_argument(out, function, shown, argument);
    fmt::format_to(std::back_inserter(out), "    a record takes {}{} bytes\n",
                   have_any_size(arguments) ? "up to " : "",
                   record_bytes(arguments, function.capture.returns));
    append_program(out, function.capture.program);
}

void append_function_json(std::string &out, const Function &function, bool verbose, std::uint32_t users) {
    nlohmann::ordered_json line;
    line["func"] = function.name();
    if (!function.symbol.module.empty())
        line["module"] = function.symbol.module;
    if (function.symbol.addr != 0)
        line["addr"] = fmt::format("{:#x}", function.symbol.addr);
    if (function.forced)
        line["forced"] = true;
    if (users > 0)
        line["tracers"] = users;
    line["prototype"] = function.prototype.text;
    line["args"] = nlohmann::ordered_json::array();
    const std::vector<Argument> arguments = wanted_arguments(function);
    const ArgumentNames shown(function);
    for (const Argument &argument : arguments) {
        nlohmann::ordered_json &arg = line["args"].emplace_back();
        arg["name"] = argument.name;
        arg["type"] = argument.type_name;
        if (const std::string_view names = shown.of(argument); !names.empty())
            arg["names"] = names;
        if (!verbose)
            continue;
        if (argument.loc == ARGTRACE_LOC_NONE)
            arg["location"] = nullptr;
        else if (argument.loc == ARGTRACE_LOC_PROGRAM)
            arg["location"] = "computed";
        else
            arg["location"] = location(function, argument);
        arg["bytes"] = captured_bytes(argument);
    }
    if (verbose && function.site)
        line["noted"] = function.site->noted;
    if (verbose)
        line["record_bytes"] = record_bytes(arguments, function.capture.returns);
    if (verbose && !function.capture.program.empty())
        line["program"] = program_json(function.capture.program);
    out += line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    out += '\n';
}

} // namespace argtrace
