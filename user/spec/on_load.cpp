// SPDX-License-Identifier: GPL-2.0-only
#include "spec/on_load.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "spec/module_types.h"

namespace argtrace {

namespace {

KernelTypes kernel_types_with(const ModuleFile &module) {
    KernelTypes types = KernelTypes::load();
    types.add_module(module.name, types_of(module, types.kernel()));
    return types;
}

void check_modules(const Kernel &kernel, const Request &request) {
    const std::string &module = kernel.only_module();
    for (const Spec &spec : request.specs) {
        if (spec.kind->qualifier == Qualifier::module && spec.module && !spec.matches_module(module))
            throw error_in(spec, spec.module->at,
                           fmt::format("with --on-load the functions are those of {}, not of {}",
                                       module, spec.module->text));
    }
}

} // namespace

Kernel kernel_of(ModuleFile module) {
    const auto file = std::make_shared<const ModuleFile>(std::move(module));
    return Kernel({
                      [file] { return Kallsyms::parse(file->symbols); },
                      [file] { return kernel_types_with(*file); },
                      [file] { return Traceable::parse(file->traceable); },
                      {},
                      [file] { return TracepointGroups(file->tracepoint_groups); },
                      [] { return SyscallFormats(); },
                      [] { return Kallsyms::load(); },
                  },
                  file->name);
}

Found list_on_load(Kernel &module, const Request &request) {
    check_modules(module, request);
    Found found = list_functions(module, request);
    for (Function &function : found.functions)
        function.symbol.addr = 0;
    return found;
}

Resolved resolve_on_load(Kernel &module, const Request &request) {
    check_modules(module, request);
    Found found = find_functions(module, request);
    Resolved resolved{{}, std::move(found.left)};
    for (const Function &function : found.functions) {
        const Symbol &symbol = function.symbol;
        if (function.kind->is_ftraced && !module.traceable().contains(symbol.name, symbol.module))
            throw Error(fmt::format("{}: cannot be traced: it is marked notrace or written in "
                                    "assembly (the module has no call of ftrace in it)",
                                    symbol.name));
        resolved.probes.push_back(make_probe(function));
        resolved.probes.back().addr = 0;
    }
    check_any(resolved);
    return resolved;
}

} // namespace argtrace
