// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
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

/// One probe, as the module takes it and lists it.
struct Probe {
    std::uint32_t id = 0;    ///< given by the module
    std::uint64_t addr = 0;  ///< of the function's symbol
    std::uint32_t flags = 0; ///< ARGTRACE_PROBE_*
    std::string function;
    std::vector<Argument> args;
    std::vector<std::byte> types; ///< BTF that says how to show them; usually empty
    bool forced = false;          ///< its arguments may not be those of the function
    /// A struct argtrace_program and what follows it (uapi/argtrace_program.h), a multiple of 8 bytes; empty: none. Its
    /// outputs are the arguments whose loc is ARGTRACE_LOC_PROGRAM, in their order.
    std::vector<std::byte> program = {};

    bool operator==(const Probe &) const = default;
};

/// It is no longer traced because its module was unloaded.
inline bool is_unloaded(const Probe &probe) {
    return probe.flags & ARGTRACE_PROBE_GONE;
}

} // namespace argtrace
