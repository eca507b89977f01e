// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "uapi/argtrace.h"

namespace argtrace {

/// One argument as struct argtrace_arg describes it, with its strings.
struct Argument {
    std::uint8_t loc = ARGTRACE_LOC_NONE;
    std::uint8_t index = 0;
    std::uint8_t type = ARGTRACE_TYPE_END;
    std::uint32_t size = 0;
    std::uint32_t offset = 0;
    std::string name;      ///< "count"; unnamed ones are "arg0", "arg1" ...
    std::string type_name; ///< "size_t", "struct file *"

    bool operator==(const Argument &) const = default;
};

/// One probe: what the module is given, and the schema that it hands back.
struct Probe {
    std::uint32_t id = 0;    ///< given by the module
    std::uint64_t addr = 0;  ///< of the function's symbol
    std::uint32_t flags = 0; ///< ARGTRACE_PROBE_*
    std::string function;
    std::vector<Argument> args;
    std::vector<std::byte> types; ///< BTF that tells how to show them; mostly empty
    bool forced = false;          ///< its arguments may not be those of the function

    bool operator==(const Probe &) const = default;
};

/// Appends `probe` to `out` in the layout of struct argtrace_probe (id and flags as 0).
/// Throws Error when the strings are too long for the layout.
void append_probe(std::vector<std::byte> &out, const Probe &probe);

/// The same with id and flags, as the module lists them.
void append_schema(std::vector<std::byte> &out, const Probe &probe);

/// Reads the `count` probes that lie behind each other in `bytes`.
/// Throws Error when they are malformed: nothing outside `bytes` is read.
std::vector<Probe> parse_probes(std::span<const std::byte> bytes, std::size_t count);

/// The type code of an integer; END when there is none of that size.
std::uint8_t integer_type(std::uint32_t bytes, bool is_signed);

} // namespace argtrace
