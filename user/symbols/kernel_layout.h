// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

namespace argtrace {

/// Where members are in structures of the running kernel, in bytes.
struct KernelLayout {
    struct Module {
        std::uint32_t list = 0, name = 0, kallsyms = 0;
    };

    struct ModuleSymbols { ///< struct mod_kallsyms
        std::uint32_t symtab = 0, num_symtab = 0, strtab = 0, typetab = 0;
    };

    struct FtracePage {
        std::uint32_t next = 0, records = 0, index = 0;
    };

    struct FtraceCall { ///< struct dyn_ftrace
        std::uint32_t ip = 0, size = 0;
    };

    Module module;
    ModuleSymbols module_symbols;
    FtracePage ftrace_page;
    FtraceCall ftrace_call;
};

} // namespace argtrace
