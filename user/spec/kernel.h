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
#include "symbols/syscall_formats.h"
#include "symbols/traceable.h"
#include "symbols/tracepoint_groups.h"

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
    };

    /// The running kernel.
    Kernel();

    /// `module`: the symbols and what is traceable are those of that module alone.
    explicit Kernel(Sources sources, std::string module = {});

    /// The module that it is all about; empty if it is a kernel with all its modules.
    const std::string &only_module() const { return only_module_; }

    /// Takes the types of a module from that file. It is read when types are first asked for.
    void use_btf(ExternalBtf external) { external_.push_back(std::move(external)); }

    const Kallsyms &symbols();
    KernelTypes &types();

    /// See Kallsyms::variable().
    std::optional<std::uint64_t> variable(std::string_view name);
    const Traceable &traceable();
    const TracepointGroups &groups();
    const SyscallFormats &syscalls();

    /// Throws Error if that is not known.
    const Architecture &architecture() const;

private:
    Sources sources_;
    std::string only_module_;
    std::vector<ExternalBtf> external_; // not read yet
    std::optional<Kallsyms> symbols_, kernel_symbols_;
    std::optional<KernelTypes> types_;
    std::optional<Traceable> traceable_;
    std::optional<TracepointGroups> groups_;
    std::optional<SyscallFormats> syscalls_;
};

} // namespace argtrace
