// SPDX-License-Identifier: GPL-2.0-only
#include "spec/kernel.h"

#include <utility>

#include "spec/module_types.h"

namespace argtrace {

namespace {

template<typename Part>
Part &once(std::optional<Part> &part, const std::function<Part()> &source) {
    if (!part)
        part.emplace(source());
    return *part;
}

} // namespace

Kernel::Kernel()
    : Kernel(Sources{
          [] { return Kallsyms::load(); },
          [] { return KernelTypes::load(); },
          [] { return Traceable::load(); },
          {},
          [] { return TracepointGroups::load(); },
          [] { return SyscallFormats::load(); },
      }) {}

Kernel::Kernel(Sources sources, std::string module)
    : sources_(std::move(sources)), only_module_(std::move(module)) {}

const Kallsyms &Kernel::symbols() {
    return once(symbols_, sources_.symbols);
}

KernelTypes &Kernel::types() {
    KernelTypes &types = once(types_, sources_.types);
    for (; !external_.empty(); external_.pop_back())
        types.add_module(external_.back().module, types_of(external_.back(), types.kernel()));
    return types;
}

std::optional<std::uint64_t> Kernel::variable(std::string_view name) {
    return (sources_.kernel_symbols ? once(kernel_symbols_, sources_.kernel_symbols) : symbols())
        .variable(name);
}

const Architecture &Kernel::architecture() const {
    return sources_.machine.empty() ? native_architecture() : argtrace::architecture(sources_.machine);
}

const TracepointGroups &Kernel::groups() {
    return once(groups_, sources_.groups);
}

const SyscallFormats &Kernel::syscalls() {
    return once(syscalls_, sources_.syscalls);
}

const Traceable &Kernel::traceable() {
    return once(traceable_, sources_.traceable);
}

} // namespace argtrace
