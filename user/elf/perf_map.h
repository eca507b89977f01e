// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace argtrace::elf {

/// The functions that a just-in-time compiler has made, as it lists them in /tmp/perf-PID.map: lines
/// of beginning and size (hexadecimal) and name. Where they overlap the last line is right. Lines
/// that are none of these are passed over.
class PerfMap {
public:
    explicit PerfMap(std::string_view text);

    /// Reads the file; empty if it cannot be read.
    static PerfMap read(const std::string &path);

    struct Name {
        std::string_view name; ///< lives as long as the PerfMap; any bytes, as the process has written them
        std::uint64_t offset;  ///< of the address, from the function's beginning
    };
    std::optional<Name> at(std::uint64_t address) const;

    bool empty() const { return pieces_.empty(); }

private:
    struct Piece {
        std::uint64_t start, end; ///< of what is left of the function here
        std::uint64_t function;   ///< where it begins
        std::uint32_t name, length;
    };
    std::string names_;
    std::vector<Piece> pieces_; ///< ascending, without overlaps
};

} // namespace argtrace::elf
