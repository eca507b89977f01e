// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_set>
#include <vector>

#include "btf/format.h"
#include "model/probe.h"

namespace argtrace {

/// Picks the addresses of code out of records, for which a file needs symbols: the callers, and
/// those arguments, or parts of them, that are pointers to functions. Looks at places known from
/// the probe; decodes nothing but the lengths of what a program has computed.
class CodeAddresses {
public:
    /// `format`: ARGTRACE_FORMAT_* of the session.
    explicit CodeAddresses(std::uint32_t format) : format_(format) {}

    void add(const Probe &probe);

    /// Goes through whole records. False, with nothing taken from those behind it, when one is of
    /// a probe that has not been added.
    bool scan(std::span<const std::byte> records);

    /// The addresses that have not been seen before, since the last call.
    std::vector<std::uint64_t> take_new();

    /// The same of the numbers of stacks.
    std::vector<std::uint64_t> take_new_stacks();

    /// An address that a stack has: it is as if a record had it.
    void note(std::uint64_t address);

private:
    /// Where in a record addresses lie: offsets_[first] to offsets_[first + count]. One with the bit
    /// length_here is that of a length, by which those behind it lie farther back.
    struct Places {
        std::uint64_t recent = 0; // the caller, where that is the one address
        /// Size from which on a record is one with its caller and no other address; else more than
        /// any.
        std::uint32_t only_at_begin = std::numeric_limits<std::uint32_t>::max();
        std::uint32_t first = 0;
        std::uint32_t count = 0;
        bool known = false;
    };

    static constexpr std::uint32_t length_here = 1u << 31;
    static constexpr std::uint32_t stack_here = 1u << 30; // it is the number of a stack

    void add_arguments(const Probe &probe, std::uint32_t at);
    void add_outputs(const Probe &probe, const ProbeFormats &formats, std::uint32_t at);
    void scan_record(std::span<const std::byte> record, const Places &places);
    void note_stack(std::uint64_t id);

    std::uint32_t format_;
    std::vector<Places> places_; // by probe id
    std::vector<std::uint32_t> offsets_;
    std::array<std::uint64_t, 4096> recent_{}; // most addresses come again soon
    std::unordered_set<std::uint64_t> seen_;
    std::vector<std::uint64_t> new_;
    std::unordered_set<std::uint64_t> stacks_seen_;
    std::vector<std::uint64_t> new_stacks_;
};

} // namespace argtrace
