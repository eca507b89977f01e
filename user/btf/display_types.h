// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct btf;

namespace argtrace {

/// A flag, or several that have a name together.
struct FlagName {
    std::string name;
    std::uint64_t value = 0;

    bool operator==(const FlagName &) const = default;
};

/// See display_types().
inline constexpr const char *described_mark = "described";

inline constexpr const char *go_mark = "of Go";

/// How calls are shown beside the types of their values.
struct ShownCalls {
    bool is_described = false; ///< `-d`
    bool is_go = false;        ///< as Go would print them
};

/// A value that is to be shown by its type, or as flags.
struct ShownValue {
    std::uint32_t type = 0; ///< 0: void, which stands for what needs no type
    std::string name;
    bool is_parameter = false; ///< an array or a function is the pointer that it is passed as
    std::span<const FlagName> flags = {};
    bool one_flag = false; ///< the value is one of them, not made of some
    std::uint32_t flags_bytes = 4; ///< of the value that they are in
    bool symbol = false;           ///< the address of a function, whatever its type
    bool as_bytes = false;         ///< recorded as bytes, whatever its type
};

/// "__be16", "__be32" or "__be64" if the type is called so, or a name of one that is; else empty.
std::string_view big_endian_name(const btf *types, std::uint32_t type);

/// That parameter of a BTF_KIND_FUNC_PROTO; of type void if it has none or is no such.
ShownValue parameter_type(const btf *types, std::uint32_t function_proto, std::uint32_t index);

/// What a BTF_KIND_FUNC_PROTO returns; of type void if it is no such.
ShownValue result_type(const btf *types, std::uint32_t function_proto);

/// What is needed of `types` to show these values: BTF of its own, whose last type is a prototype
/// with a parameter for each (argtrace_probe.types). Structs and unions by value are
/// whole, enums have their names, flags are an enum, with the declaration tag "flags" if several may be set; struct cpumask has no members, but
/// the declaration tag "cpus:N" of this machine's possible CPUs; typedefs and qualifiers are gone but for the names of
/// numbers in the order of the network, and a pointer leads to an empty prototype if it is one to a function, else to void.
///
/// Where calls are described (`-d`) there is a typedef of void with the name `described_mark`, which no value has.
///
/// Empty when no value needs it and they are not described, as is the case with most functions, and when it would be
/// larger than a probe may have or the BTF is broken.
/// Those of functions of Go have such a typedef with the name `go_mark`.
std::vector<std::byte> display_types(const btf *types, std::span<const ShownValue> values, ShownCalls calls = {});

} // namespace argtrace
