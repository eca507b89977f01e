// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace argtrace {

struct Symbol {
    std::uint64_t addr = 0;
    std::string_view name;   ///< owned by the Symbols it came from
    std::string_view module; ///< empty for the kernel itself
    std::uint64_t size = 0;  ///< bytes; 0 where that is not known

    bool operator==(const Symbol &) const = default;
};

/// A source of symbols: the running kernel, or a file.
class Symbols {
public:
    virtual ~Symbols() = default;

    /// The symbol that contains `addr`, if any.
    virtual std::optional<Symbol> at(std::uint64_t addr) const = 0;
};

} // namespace argtrace
