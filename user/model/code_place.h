// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace argtrace {

/// A set of addresses of code, within which an address is one place: the kernel with its modules, and all user code, where it is
/// the word of a frame (ARGTRACE_FRAME_*, uapi/argtrace_user.h).
enum class CodeSpace : std::uint32_t { kernel, user };

/// Where code is. Frames, callers and symbols are told apart by it, as different spaces have the same addresses.
struct CodePlace {
    CodeSpace space = CodeSpace::kernel;
    std::uint64_t address = 0;

    auto operator<=>(const CodePlace &) const = default;

    struct Hash {
        std::size_t operator()(const CodePlace &place) const {
            return std::hash<std::uint64_t>()(place.address ^ std::uint64_t{static_cast<std::uint32_t>(place.space)} << 48);
        }
    };
};

constexpr CodePlace kernel_place(std::uint64_t address) {
    return {CodeSpace::kernel, address};
}

constexpr CodePlace user_place(std::uint64_t word) {
    return {CodeSpace::user, word};
}

} // namespace argtrace
