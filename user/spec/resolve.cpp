// SPDX-License-Identifier: GPL-2.0-only
#include "spec/resolve.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "btf/display_types.h"
#include "lang/spaces.h"
#include "spec/untraceable.h"

namespace argtrace {

namespace {

/// What is to be recorded, and the types of what needs one to be shown.
struct Wanted {
    std::vector<Argument> arguments;
    std::vector<ShownValue> shown;
};

// What decodes its records looks for these names: "const __be16" is one of them, and so is a typedef of it.
void name_big_endian(Argument &argument, const TypeSource &source, const ShownValue &shown) {
    if (const std::string_view name = big_endian_name(source.types, shown.type); !name.empty())
        argument.type_name = name;
}

// What is passed by reference, on arm64, the module does not copy.
void leave_out_reference(Argument &argument) {
    if (argument.loc != ARGTRACE_LOC_REF)
        return;
    argument.loc = ARGTRACE_LOC_NONE;
    argument.index = 0;
    argument.offset = 0;
    argument.type = ARGTRACE_TYPE_END;
    argument.size = 0;
}

void add_argument(Wanted &wanted, const Function &function, Argument argument, std::uint32_t index) {
    leave_out_reference(argument);
    const TypeSource &source = function.prototype.source;
    wanted.shown.push_back(parameter_type(source.types, source.id, function.prototype.hidden + index));
    name_big_endian(argument, source, wanted.shown.back());
    if (lang::space_of_parameter(*function.kind, function.prototype.function, function.prototype.parameters[index].name) == lang::Space::user)
        argument.type_name = lang::with_user_mark(std::move(argument.type_name));
    wanted.arguments.push_back(std::move(argument));
}

void add_output(Wanted &wanted, const lang::ProgramValue &value) {
    wanted.shown.push_back(
        {value.btf_id, value.name, false, value.flags, value.one_flag, value.size, value.symbol,
         value.type == ARGTRACE_TYPE_BYTES});
    wanted.arguments.push_back({.loc = ARGTRACE_LOC_PROGRAM,
                                .type = value.type,
                                .size = value.size,
                                .name = value.name,
                                .type_name = value.type_name});
}

// What it returns, behind all else.
void add_result(Wanted &wanted, const Function &function, const Returning &returning) {
    if (returning.is_unread && *function.kind == user_kind) { // not as one that returns nothing
        wanted.shown.push_back({});
        wanted.arguments.push_back({.name = std::string(lang::result_name), .type_name = function.prototype.result});
    }
    if (returning.value.loc == ARGTRACE_LOC_NONE)
        return;
    const TypeSource &source = function.prototype.source;
    wanted.shown.push_back(returning.is_address ? ShownValue{} : result_type(source.types, source.id));
    wanted.arguments.push_back(returning.value);
    name_big_endian(wanted.arguments.back(), source, wanted.shown.back());
}

Wanted arguments_of(const Function &function) {
    Wanted wanted;
    std::vector<Argument> all = function.places();
    const std::vector<std::optional<UserOperand>> operands = function.operands();
    const auto &values = function.capture.recorded();
    if (!values) {
        auto output = function.capture.program.values.begin();
        for (std::uint32_t i = 0; i < std::min(all.size(), function.recorded_parameters()); ++i) {
            if (i < function.prototype.parameters.size() && function.prototype.parameters[i].is_unasked)
                continue;
            if (is_computed(operands, i))
                add_output(wanted, *output++);
            else
                add_argument(wanted, function, std::move(all[i]), i);
        }
        return wanted;
    }
    auto output = function.capture.program.values.begin();
    for (const lang::ArgumentExpression &value : *values) {
        if (value.is_head) {
            wanted.shown.push_back({value.empty_type, value.name});
            wanted.arguments.push_back({.name = value.name, .type_name = value.type_name});
        } else if (const auto parameter = parameter_of(function.prototype, value); parameter && !is_computed(operands, *parameter)) {
            Argument argument = all[*parameter];
            argument.name = value.name;
            add_argument(wanted, function, std::move(argument), *parameter);
        } else {
            add_output(wanted, *output++);
        }
    }
    return wanted;
}

Wanted wanted_of(const Function &function) {
    Wanted wanted = arguments_of(function);
    if (function.capture.returns && !function.is_go && !function.has_computed_result())
        add_result(wanted, function, function.convention->returning(function.prototype));
    return wanted;
}

} // namespace

Resolved resolve(Kernel &kernel, const Request &request) {
    Found found = find_functions(kernel, request);
    Resolved resolved{{}, std::move(found.left)};
    for (const Function &function : found.functions)
        resolved.probes.push_back(make_probe(function));
    check_any(resolved);
    return resolved;
}

void check_any(const Resolved &resolved) {
    if (resolved.probes.empty())
        throw Error("no function is left to trace: what is named is excluded with !, or nothing "
                    "else is named");
}

Probe begin_probe(const Function &function) {
    Probe probe;
    probe.addr = function.symbol.addr;
    probe.kind = function.kind->number;
    probe.function = function.name();
    probe.forced = function.forced;
    probe.file = function.file;
    probe.semaphore = function.site ? function.site->semaphore : 0;
    const Returning returning = function.capture.returns ? function.convention->returning(function.prototype) : Returning();
    if (function.capture.returns)
        probe.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(returning.stack_words) | function.by;
    if (function.capture.returns && *function.kind == user_kind) {
        probe.returns = function.returns.places;
        probe.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) |
                      ARGTRACE_PROBE_RETURNS(static_cast<std::uint32_t>(probe.returns.size())) |
                      (function.returns.never ? ARGTRACE_PROBE_NEVER_RETURNS : 0) |
                      (function.returns.loops ? ARGTRACE_PROBE_LOOPS : 0) | (function.is_go ? ARGTRACE_PROBE_GOROUTINES : 0);
    }
    if (returning.in_memory && !function.is_go)
        probe.flags |= ARGTRACE_PROBE_IN_MEMORY;
    if (*function.kind == syscall_kind && function.capture.program.reads_user_memory())
        probe.flags |= ARGTRACE_PROBE_WAITS;
    return probe;
}

Probe make_probe(const Function &function) {
    Probe probe = begin_probe(function);
    Wanted wanted = wanted_of(function);
    const Capture &capture = function.capture;
    const btf *types = capture.types ? capture.types : function.prototype.source.types;
    // What is in a register of which nothing is known need not be a pointer.
    const bool is_go = std::ranges::any_of(function.prototype.parameters, [](const Parameter &one) { return one.go.has_value(); });
    probe.args = std::move(wanted.arguments);
    probe.types = display_types(types, wanted.shown, {.is_described = capture.is_described, .is_go = is_go});
    if (capture.is_programmed())
        probe.program = capture.program.bytes(capture.limits.sample, capture.limits.max_rate);
    return probe;
}

std::vector<Argument> wanted_arguments(const Function &function) {
    return wanted_of(function).arguments;
}

Error explain_refusal(Kernel &kernel, const Probe &probe) {
    if (const std::string_view refused = kind_of(probe).refused; !refused.empty())
        return Error(fmt::format("{}: {}", probe.function, refused));
    for (const Symbol &symbol : kernel.symbols().named(probe.function)) {
        if (symbol.addr != probe.addr)
            continue;
        // Either may be what it refuses.
        if (!probe.program.empty() &&
            kernel.traceable().contains(symbol.name, symbol.module))
            return Error(fmt::format("{}: the module refused it at {:#x}: either the kernel does "
                                     "not let it be traced (see dmesg), or the module does not "
                                     "know what its expressions take; `argtrace list -v` shows that",
                                     probe.function, probe.addr));
        return why_untraceable(kernel, symbol);
    }
    return why_untraceable(kernel, Symbol{probe.addr, probe.function, {}});
}

} // namespace argtrace
