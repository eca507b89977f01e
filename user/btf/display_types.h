// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

struct btf;

namespace argtrace {

/// What is needed of `types` to show these parameters (places, in order) of that
/// BTF_KIND_FUNC_PROTO: BTF of its own, whose last type is a prototype of just them
/// (argtrace_probe.types). Structs and unions by value are
/// whole, enums have their names; typedefs and qualifiers are gone, and a pointer leads to an
/// empty prototype if it is one to a function, else to void.
///
/// Empty when no argument needs it, as is the case with most functions, and when it would be
/// larger than a probe may have or the BTF is broken.
std::vector<std::byte> display_types(const btf *types, std::uint32_t function_proto,
                                     std::span<const std::uint32_t> parameters);

} // namespace argtrace
