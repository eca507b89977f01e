// SPDX-License-Identifier: GPL-2.0-only
#include "spec/resolve.h"

#include <algorithm>
#include <utility>

#include "abi/calling_convention.h"

namespace argtrace {

Resolved resolve(Kernel &kernel, const Request &request) {
    Found found = find_functions(kernel, request);
    Resolved resolved{{}, std::move(found.left)};
    for (const Function &function : found.functions)
        resolved.probes.push_back(make_probe(function));
    return resolved;
}

Probe make_probe(const Function &function) {
    Probe probe;
    probe.addr = function.symbol.addr;
    probe.function = function.symbol.name;
    probe.forced = function.forced;
    probe.args = wanted_arguments(function);
    return probe;
}

std::vector<Argument> wanted_arguments(const Function &function) {
    std::vector<Argument> args = sysv_x86_64(function.prototype);
    if (function.chosen)
        std::erase_if(args, [&chosen = *function.chosen](const Argument &argument) {
            return std::find(chosen.begin(), chosen.end(), argument.name) == chosen.end();
        });
    return args;
}

Error explain_refusal(Kernel &kernel, const Probe &probe) {
    for (const Symbol &symbol : kernel.symbols().named(probe.function))
        if (symbol.addr == probe.addr)
            return why_untraceable(kernel, symbol);
    return why_untraceable(kernel, Symbol{probe.addr, probe.function, {}});
}

} // namespace argtrace
