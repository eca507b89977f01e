// SPDX-License-Identifier: GPL-2.0-only
#include "spec/on_load.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "btf/detached.h"
#include "btf/distilled.h"

namespace argtrace {

namespace {

KernelTypes types_of(const ModuleFile &module) {
    KernelTypes types = KernelTypes::load();
    btf *const kernel = types.kernel();
    if (module.types.empty())
        types.add_module(module.name, nullptr);
    else if (module.base.empty())
        types.add_module(module.name, load_types(view(module.types), module.path, kernel));
    else
        types.add_module(module.name, load_distilled(view(module.types), view(module.base),
                                                     module.path, kernel));
    return types;
}

void check_module(const Spec &spec, const std::string &module) {
    if (spec.module && !spec.matches_module(module))
        throw error_in(spec, spec.module->at,
                       fmt::format("with --on-load the functions are those of {}, not of {}",
                                   module, spec.module->text));
}

} // namespace

Kernel kernel_of(ModuleFile module) {
    const auto file = std::make_shared<const ModuleFile>(std::move(module));
    return Kernel({
                      [file] { return Kallsyms::parse(file->symbols); },
                      [file] { return types_of(*file); },
                      [file] { return Traceable::parse(file->traceable); },
                  },
                  file->name);
}

Resolved resolve_on_load(Kernel &module, const Request &request) {
    for (const Spec &spec : request.specs)
        check_module(spec, module.only_module());
    Found found = find_functions(module, request);
    Resolved resolved{{}, std::move(found.left)};
    for (const Function &function : found.functions) {
        const Symbol &symbol = function.symbol;
        if (!module.traceable().contains(symbol.name, symbol.module))
            throw Error(fmt::format("{}: cannot be traced: it is marked notrace or written in "
                                    "assembly (the module has no call of ftrace in it)",
                                    symbol.name));
        resolved.probes.push_back(make_probe(function));
        resolved.probes.back().addr = 0;
    }
    return resolved;
}

} // namespace argtrace
