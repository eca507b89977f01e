// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elf/object.h"
#include "model/code_naming.h"

namespace argtrace::elf {

/// The functions of an object, by the offset in its file: from its symbol tables, and those of its
/// separate debug file. Everything is read at once, at the first question. Not for several threads at once.
class SymbolNames {
public:
    /// The object must live longer. Where there are no symbols, a debug file is looked for.
    explicit SymbolNames(const Object &object, DebugFiles debug_files = {});
    SymbolNames(SymbolNames &&) noexcept;
    SymbolNames &operator=(SymbolNames &&) noexcept;
    ~SymbolNames();

    /// Reads everything, unless that has been done: what is written to the file afterwards does not matter.
    void read() { index(); }

    struct Name {
        /// Demangled; lives as long as the SymbolNames. It is the file's, which may have put any byte but 0 into it.
        std::string_view name;
        std::uint64_t offset;  ///< of the place, from the function's beginning
        bool exact;            ///< the function's size is known, and the place within it
    };

    /// The function that has the place. For the caller of a function ask for the byte before the
    /// return address, which may be the first of the next function.
    std::optional<Name> at(std::uint64_t file_offset);

private:
    struct Index;
    const Index &index();

    const Object *object_;
    DebugFiles debug_files_;
    std::unique_ptr<Index> index_;
};

} // namespace argtrace::elf
