// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "btf/display_types.h"
#include "uapi/argtrace.h"
#include "uapi/argtrace_program.h"

namespace argtrace::lang {

/// One value that a program computes, as a record has it and as it is shown.
struct ProgramValue {
    std::string name;                      ///< its alias, or the expression as it was written
    std::uint8_t type = ARGTRACE_TYPE_END; ///< ARGTRACE_TYPE_*
    std::uint32_t size = 0;                ///< bytes at most, without the length of STR ...
    std::string type_name;                 ///< as C writes it
    std::uint32_t btf_id = 0;              ///< of its type, for display_types(); 0: none is needed
    std::vector<FlagName> flags = {};      ///< that it is shown as,
    bool one_flag = false;                 ///< just one of them
    bool symbol = false;                   ///< it is shown as the function that it is in
    bool has_length = false;               ///< a text in a key that ends where its length says

    bool operator==(const ProgramValue &) const = default;
};

/// What struct argtrace_program describes.
struct Program {
    std::vector<argtrace_insn> insns;
    std::uint16_t nr_filter = 0; ///< of the filter at entry, and
    std::uint16_t nr_return = 0; ///< behind them of that at return
    std::vector<std::byte> data;
    std::vector<ProgramValue> values; ///< in the order of their outputs
    std::uint16_t sink = ARGTRACE_SINK_RECORD; ///< what becomes of an accepted call,
    std::uint16_t map = 0; ///< and with ARGTRACE_SINK_MAP the id of the map

    /// Nothing is filtered and nothing computed: a probe needs no program.
    bool empty() const { return insns.empty() && sink == ARGTRACE_SINK_RECORD; }

    /// It reads memory, which takes the authority to do so.
    bool reads_memory() const;

    /// The same of the memory of the calling process, which need not be present.
    bool reads_user_memory() const;

    /// What a call may take at most, as the module counts it (argtrace_insn_cost()).
    std::uint64_t cost() const;

    /// The bytes that follow a probe. `sample` and `max_rate` as in struct argtrace_program.
    std::vector<std::byte> bytes(std::uint32_t sample = 0, std::uint32_t max_rate = 0) const;
};

} // namespace argtrace::lang
