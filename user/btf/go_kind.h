// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string_view>

namespace argtrace {

/// Types of Go that are structs or pointers to BTF. The numbers are those of Go's reflect.Kind.
enum class GoKind : std::uint8_t {
    none = 0,
    complex64 = 15,
    complex128 = 16,
    channel = 18,
    interface = 20,
    map = 21,
    slice = 23,
    string = 24,
};

/// So many elements of a slice or an array are read at most.
inline constexpr std::uint32_t go_elements_max = 16;

/// What a declaration tag of BTF begins with that says so of a type; behind it stands the number.
inline constexpr std::string_view go_kind_tag = "go:";

/// The same of a member, by whose name it is embedded: its own members are found as if they were the struct's.
inline constexpr std::string_view go_embedded_tag = "go:embedded";

/// That number; none for others.
constexpr GoKind go_kind_of(std::uint64_t number) {
    switch (static_cast<GoKind>(number)) {
    case GoKind::complex64:
    case GoKind::complex128:
    case GoKind::channel:
    case GoKind::interface:
    case GoKind::map:
    case GoKind::slice:
    case GoKind::string:
        return static_cast<GoKind>(number);
    default:
        return GoKind::none;
    }
}

} // namespace argtrace
