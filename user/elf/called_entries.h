// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "elf/object.h"
#include "elf/unwind_table.h"

namespace argtrace::elf {

/// Whether code of an object finds the address that it returns to where a call puts it. What the kernel or the dynamic linker jumps to does
/// not: `_start`, where the stack has the number of arguments, or `_dl_runtime_resolve`.
class CalledEntries {
public:
    explicit CalledEntries(const Object &object);

    /// The function begins at this offset in the file. One of which the file says nothing is taken to be called.
    bool is_called(std::uint64_t offset) const;

private:
    std::uint64_t start_; ///< of the program, as an offset; ~0: it has none
    int machine_;
    UnwindTable table_;
};

} // namespace argtrace::elf
