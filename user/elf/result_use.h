// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

#include "elf/direct_calls.h"

namespace argtrace::elf {

/// What the code of an object does with the results of its own functions. LLVM has a function that only it knows return nothing where no caller
/// looks at the result, and tells nobody: neither the name nor DWARF says so, and the register has something else.
class ResultUse {
public:
    /// Both must outlive this.
    ResultUse(const Object &object, DirectCalls &calls) : object_(object), calls_(calls) {}

    /// Whether it calls the function, and overwrites behind each of these calls the register that has a result, before anything reads it. What begins at
    /// `address`; `in_vector`: the result is in XMM0, not in RAX. False where that is not known, as of other machines than x86-64.
    bool is_never_read(std::uint64_t address, bool in_vector);

private:
    bool is_read(std::uint64_t address, bool in_vector) const;

    const Object &object_;
    DirectCalls &calls_;
};

} // namespace argtrace::elf
