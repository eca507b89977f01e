// SPDX-License-Identifier: GPL-2.0-only
// /proc/kallsyms, without the tool's help.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vmtest {

struct KernelSymbol {
    std::uint64_t addr;
    char type;
    std::string_view name;   // of the text, as is the module
    std::string_view module; // "" of the kernel's own
};

/// Its current text. The kernel takes half a second to print it under emulation, so it is read again
/// only if the loaded modules or their addresses have changed.
const std::string &kallsyms_text();

/// All symbols, in the kernel's order; good until kallsyms_text() is called again.
std::vector<KernelSymbol> kernel_symbols();

/// The address of a function; the test fails if it is not there.
std::uint64_t address_of(const std::string &function);

} // namespace vmtest
