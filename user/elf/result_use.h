// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "elf/object.h"

namespace argtrace::elf {

/// What the code of an object does with the results of its own functions. LLVM has a function that only it knows return nothing where no caller
/// looks at the result, and tells nobody: neither the name nor DWARF says so, and the register has something else.
class ResultUse {
public:
    /// The object must outlive this. Its code is read when the first function is asked for.
    explicit ResultUse(const Object &object) : object_(object) {}

    /// Whether it calls the function, and overwrites behind each of these calls the register that has a result, before anything reads it. What begins at
    /// `address`; `in_vector`: the result is in XMM0, not in RAX. False where that is not known, as of other machines than x86-64.
    bool is_never_read(std::uint64_t address, bool in_vector);

private:
    struct Site {
        std::uint64_t target;
        std::uint64_t behind; ///< the call's end
        bool is_jump;
    };

    void find_sites();
    bool has_short_jump_to(std::uint64_t address) const;
    bool is_read(std::uint64_t address, bool in_vector) const;
    const std::pair<CodeSegment, Text> *segment_at(std::uint64_t address) const;

    const Object &object_;
    std::optional<std::vector<Site>> sites_; ///< of direct calls and jumps, by their targets
    std::vector<std::pair<CodeSegment, Text>> code_;
};

} // namespace argtrace::elf
