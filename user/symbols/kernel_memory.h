// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/kallsyms.h"
#include "symbols/kcore.h"
#include "symbols/kernel_layout.h"
#include "symbols/loaded_modules.h"
#include "symbols/traceable.h"

namespace argtrace {

/// The files that tell of the running kernel.
struct KernelFiles {
    std::string kcore = "/proc/kcore";
    std::string kallsyms = "/proc/kallsyms";
    std::string modules = "/proc/modules", module_directories = "/sys/module";
    std::span<const std::string> tracefs = Traceable::tracefs_directories();
};

/// The symbols of the running kernel and the places where ftrace is called, read from the kernel's memory: to print them takes the kernel
/// many times as long. Nobody guarantees what the tables in memory look like, so they are compared with what the kernel says elsewhere.
/// Whatever is odd has them read the slow way: /proc/kallsyms and available_filter_functions always have the last word.
class KernelMemory {
public:
    /// Nothing if this user may not read the kernel's memory.
    static std::optional<KernelMemory> open(KernelFiles files = {});

    /// What Kallsyms::load() would return, without the symbols of code that the kernel generates (is_generated_name()). Nothing if that is not certain.
    std::optional<Kallsyms> read_symbols(const KernelLayout &layout);

    /// Whether it is certain that available_filter_functions has the function that begins there, by the name of the symbol. The symbols have been
    /// read before.
    bool is_traceable(std::uint64_t address);

private:
    KernelMemory(Kcore core, KernelFiles files) : core_(std::move(core)), files_(std::move(files)) {}

    bool read_core(Kallsyms::Builder &symbols);
    bool has_functions_of_freed_code() const;
    bool read_calls();
    bool has_list_of_functions() const;

    Kcore core_;
    KernelFiles files_;
    KernelLayout layout_;
    std::vector<LoadedModule> modules_;
    std::vector<std::uint64_t> addresses_; // of all symbols, those of data too
    std::vector<std::uint64_t> calls_;     // of ftrace, sorted
    bool has_asked_for_calls_ = false;
    std::uint64_t module_list_ = 0, freed_functions_ = 0, ftrace_pages_ = 0; // where these variables are
};

/// Whether code that the kernel generates as it runs, such as BPF programs, may have a symbol of that name.
bool is_generated_name(std::string_view name);

} // namespace argtrace
