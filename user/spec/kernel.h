// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "abi/architecture.h"
#include "btf/external.h"
#include "btf/kernel_types.h"
#include "symbols/kallsyms.h"
#include "symbols/kernel_memory.h"
#include "symbols/syscall_formats.h"
#include "symbols/traceable.h"
#include "symbols/tracepoint_groups.h"
#include "util/error.h"

namespace argtrace {

/// What the tool knows of a kernel. Each part is read when it is first asked for, and
/// asking throws Error when it cannot be read.
class Kernel {
public:
    /// Where the parts come from: each is called at most once, unless it throws.
    struct Sources {
        std::function<Kallsyms()> symbols;
        std::function<KernelTypes()> types;
        std::function<Traceable()> traceable;
        std::string machine = {}; ///< uname -m; empty: the one we run on
        std::function<TracepointGroups()> groups = [] { return TracepointGroups(); };
        std::function<SyscallFormats()> syscalls = [] { return SyscallFormats(); };
        /// Where the symbols are those of a module alone.
        std::function<Kallsyms()> kernel_symbols = {};
        /// Where symbols are read from first; nothing: there is no such place.
        std::function<std::optional<KernelMemory>()> memory = [] { return std::optional<KernelMemory>(); };
    };

    /// The running kernel.
    Kernel();

    /// `module`: the symbols and what is traceable are those of that module alone.
    explicit Kernel(Sources sources, std::string module = {});

    /// The module that it is all about; empty if it is a kernel with all its modules.
    const std::string &only_module() const { return only_module_; }

    /// Takes the types of a module from that file. It is read when types are first asked for.
    void use_btf(ExternalBtf external) { external_.push_back(std::move(external)); }

    /// They are read from the kernel's memory where that is sure to give what /proc/kallsyms has; only symbols of code that the kernel
    /// generates are missing then.
    const Kallsyms &symbols();
    KernelTypes &types();

    /// From now on symbols() has all that the kernel lists. False if they were not read from memory until now. What it has returned stays
    /// valid.
    bool insist_on_all_symbols();

    /// What `find` returns. If it throws Error, for which a missing symbol may be the reason, it is called again with all symbols.
    template<typename Find> auto find_surely(Find find) {
        try {
            return find();
        } catch (const Error &) {
            if (!insist_on_all_symbols())
                throw;
        }
        return find();
    }

    /// Whether it is certain, without reading all of them, that traceable() contains that one of symbols().
    bool is_surely_traceable(const Symbol &symbol);

    /// See Kallsyms::variable().
    std::optional<std::uint64_t> variable(std::string_view name);
    const Traceable &traceable();
    const TracepointGroups &groups();
    const SyscallFormats &syscalls();

    /// Throws Error if that is not known.
    const Architecture &architecture() const;

private:
    const Kallsyms *memory_symbols();

    Sources sources_;
    std::string only_module_;
    std::vector<ExternalBtf> external_; // not read yet
    std::optional<Kallsyms> symbols_, memory_symbols_, kernel_symbols_;
    std::optional<KernelMemory> memory_;
    bool has_tried_memory_ = false, needs_all_symbols_ = false;
    std::optional<KernelTypes> types_;
    std::optional<Traceable> traceable_;
    std::optional<TracepointGroups> groups_;
    std::optional<SyscallFormats> syscalls_;
};

} // namespace argtrace
