// SPDX-License-Identifier: GPL-2.0-only
#include "spec/kernel.h"

#include <utility>

#include "spec/kernel_layout.h"
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
          {},
          [] { return KernelMemory::open(); },
      }) {}

Kernel::Kernel(Sources sources, std::string module)
    : sources_(std::move(sources)), only_module_(std::move(module)) {}

// Null: they cannot be had from there.
const Kallsyms *Kernel::memory_symbols() {
    if (!std::exchange(has_tried_memory_, true)) {
        memory_ = sources_.memory();
        try {
            const auto layout = memory_ ? layout_of(once(types_, sources_.types).kernel()) : std::nullopt;
            if (layout)
                memory_symbols_ = memory_->read_symbols(*layout);
        } catch (const Error &) {
            // There are no types: whoever needs them is told.
        }
    }
    return memory_symbols_ ? &*memory_symbols_ : nullptr;
}

const Kallsyms &Kernel::symbols() {
    const Kallsyms *quick = needs_all_symbols_ ? nullptr : memory_symbols();
    return quick ? *quick : once(symbols_, sources_.symbols);
}

bool Kernel::insist_on_all_symbols() {
    return !std::exchange(needs_all_symbols_, true) && memory_symbols_;
}

bool Kernel::is_surely_traceable(const Symbol &symbol) {
    return !needs_all_symbols_ && memory_symbols() && memory_->is_traceable(symbol.addr);
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
