// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace argtrace {

/// Memory that a process may run code in, as a line of /proc/PID/maps has it (Linux, fs/proc/task_mmu.c: show_map_vma()).
struct CodeMapping {
    std::uint64_t begin, end;
    std::uint64_t device, inode; ///< of its file; 0: it has none
    std::string path;            ///< as the process sees it, " (deleted)" behind it if it is no more; without a file "[vdso]", or nothing
};

/// Tells all of them, in the order of their addresses. `process` is its number, or "self"; one that has ended has none.
void for_each_code_mapping(std::string_view process, const std::function<void(const CodeMapping &)> &take);

} // namespace argtrace
