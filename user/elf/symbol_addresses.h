// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "elf/object.h"
#include "model/code_naming.h"

namespace argtrace::elf {

/// Where the symbols of an object are, functions and data alike, by the names that the assembler knew them by. Tables are read when the
/// first name is asked for. The object must outlive it.
class SymbolAddresses {
public:
    explicit SymbolAddresses(const Object &object, DebugFiles debug_files = {}) : object_(&object), debug_files_(std::move(debug_files)) {}

    /// The address in the object; nothing if it has no such symbol, or several of that name in different places.
    std::optional<std::uint64_t> find(std::string_view name) const;

private:
    using Known = std::map<std::string, std::optional<std::uint64_t>, std::less<>>;
    Known read() const;

    const Object *object_;
    DebugFiles debug_files_;
    mutable std::optional<Known> known_;
};

} // namespace argtrace::elf
