// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "elf/object.h"

namespace argtrace::elf {

/// Where the code of an object calls its own functions, other than through pointers. Places that may be calls count as such: what looks like one within another
/// instruction, or among data.
class DirectCalls {
public:
    /// The object must outlive this. Its code is read when the first function is asked for.
    explicit DirectCalls(const Object &object) : object_(object) {}

    struct Site {
        std::uint64_t target;
        std::uint64_t behind; ///< the instruction's end
        bool is_jump;
    };

    /// The calls of what begins at that address, and the jumps there but for those of two bytes.
    std::span<const Site> to(std::uint64_t address);

    /// Whether a jump of two bytes leads there, of x86-64. Behind to().
    bool has_short_jump_to(std::uint64_t address) const;

    /// Whether the object calls what begins there: directly, or through its procedure linkage table, as a shared library does what others may replace. True where that
    /// is not known, as of machines other than x86-64 and arm64.
    bool is_called(std::uint64_t address);

    /// What is there and behind; empty where there is no code. Behind to().
    std::string_view code_at(std::uint64_t address) const;

private:
    void find_sites();
    void find_sites_of_x86_64(const CodeSegment &segment, std::string_view code);
    void find_sites_of_arm64(const CodeSegment &segment, std::string_view code);
    void find_linked();
    const std::pair<CodeSegment, Text> *segment_at(std::uint64_t address) const;

    const Object &object_;
    std::optional<std::vector<Site>> sites_; ///< by their targets
    bool is_whole_ = false;                  ///< all code is among them
    std::set<std::uint64_t> linked_;         ///< functions that are called by relocated addresses
    std::vector<std::pair<CodeSegment, Text>> code_;
};

} // namespace argtrace::elf
