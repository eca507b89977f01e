// SPDX-License-Identifier: GPL-2.0-only
#include "spec/resolve.h"

#include <unordered_set>

#include "abi/calling_convention.h"
#include "btf/display_types.h"
#include "util/glob.h"

namespace argtrace {

std::vector<Probe> resolve(Kernel &kernel, std::span<const std::string> specs) {
    std::vector<Probe> probes;
    std::unordered_set<std::uint64_t> taken;
    for (const std::string &spec : specs) {
        const std::vector<Function> functions =
            is_glob(spec) ? functions_matching(kernel, spec) : functions_named(kernel, spec);
        for (const Function &function : functions)
            if (taken.insert(function.symbol.addr).second)
                probes.push_back(make_probe(function));
    }
    return probes;
}

Probe make_probe(const Function &function) {
    Probe probe;
    probe.addr = function.symbol.addr;
    probe.function = function.symbol.name;
    probe.args = sysv_x86_64(function.prototype);
    probe.types = display_types(function.prototype.source.types, function.prototype.source.id);
    return probe;
}

Error explain_refusal(Kernel &kernel, const Probe &probe) {
    for (const Symbol &symbol : kernel.symbols().named(probe.function))
        if (symbol.addr == probe.addr)
            return why_untraceable(kernel, symbol);
    return why_untraceable(kernel, Symbol{probe.addr, probe.function, {}});
}

} // namespace argtrace
