// SPDX-License-Identifier: GPL-2.0-only
#include "spec/resolve.h"

#include <algorithm>
#include <utility>

#include "btf/display_types.h"

namespace argtrace {

namespace {

/// What is to be recorded: arguments, and which parameters of the prototype they are.
struct Wanted {
    std::vector<Argument> arguments;
    std::vector<std::uint32_t> parameters;
};

Wanted wanted_of(const Function &function, const CallingConvention &convention) {
    Wanted wanted;
    const std::vector<Argument> all = convention.arguments(function.prototype);
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        const auto &chosen = function.chosen;
        if (chosen && std::find(chosen->begin(), chosen->end(), all[i].name) == chosen->end())
            continue;
        wanted.arguments.push_back(all[i]);
        wanted.parameters.push_back(i);
    }
    return wanted;
}

} // namespace

Resolved resolve(Kernel &kernel, const Request &request) {
    Found found = find_functions(kernel, request);
    Resolved resolved{{}, std::move(found.left)};
    for (const Function &function : found.functions)
        resolved.probes.push_back(make_probe(function, kernel.calling_convention()));
    check_any(resolved);
    return resolved;
}

void check_any(const Resolved &resolved) {
    if (resolved.probes.empty())
        throw Error("no function is left to trace: what is named is excluded with !, or nothing "
                    "else is named");
}

Probe make_probe(const Function &function, const CallingConvention &convention) {
    Probe probe;
    probe.addr = function.symbol.addr;
    probe.function = function.symbol.name;
    probe.forced = function.forced;
    const Wanted wanted = wanted_of(function, convention);
    probe.args = wanted.arguments;
    probe.types = display_types(function.prototype.source.types, function.prototype.source.id,
                                wanted.parameters);
    return probe;
}

std::vector<Argument> wanted_arguments(const Function &function,
                                       const CallingConvention &convention) {
    return wanted_of(function, convention).arguments;
}

Error explain_refusal(Kernel &kernel, const Probe &probe) {
    for (const Symbol &symbol : kernel.symbols().named(probe.function))
        if (symbol.addr == probe.addr)
            return why_untraceable(kernel, symbol);
    return why_untraceable(kernel, Symbol{probe.addr, probe.function, {}});
}

} // namespace argtrace
