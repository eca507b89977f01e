// SPDX-License-Identifier: GPL-2.0-only
// Maps and the programs that fill them, as the ABI header describes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "support/device.h"

namespace vmtest {

inline constexpr std::uint64_t every_bit = ~std::uint64_t{0};

/// A program of outputs, each one instruction, whose sink is not a record.
class SinkProgram {
public:
    explicit SinkProgram(std::uint16_t sink = ARGTRACE_SINK_COUNT, std::uint32_t map = 0);

    /// Each appends an output: a register, what is behind a register, a constant, the current task's
    /// name, anything of `source`; or any instruction.
    SinkProgram &reg(std::uint8_t index, std::uint64_t mask = ~std::uint64_t{0});
    SinkProgram &behind(std::uint8_t index, std::int32_t offset, std::uint8_t width);
    SinkProgram &constant(std::uint64_t value);
    SinkProgram &comm();
    SinkProgram &source(std::uint8_t source, std::uint8_t index = 0);
    SinkProgram &output(const argtrace_insn &insn);

    /// Calls for which not `arg & mask == value` are rejected.
    SinkProgram &only(std::uint8_t index, std::uint64_t mask, std::uint64_t value);

    argtrace_program head{};

    /// A probe of a function with that program.
    RawProbe probe(std::uint64_t addr) const;

private:
    std::vector<argtrace_insn> filter_, outputs_;
};

/// Where a member is in struct task_struct.
std::int32_t task_offset(const char *member);

/// What the slots of one key have, of all CPUs.
struct SlotSum {
    std::uint64_t slots = 0, count = 0, faults = 0, sum = 0, min = 0, max = 0;
};

/// A map of the device's session, mapped.
class RawMap {
public:
    using Key = std::vector<std::uint64_t>;

    RawMap(const RawDevice &device, argtrace_map description);
    /// The same map once more: a mapping is not handed on to child processes.
    RawMap(const RawDevice &device, const RawMap &other);
    ~RawMap();
    RawMap(const RawMap &) = delete;
    RawMap &operator=(const RawMap &) = delete;

    const argtrace_map &description() const { return map_; }
    std::size_t size() const { return std::size_t{map_.slots} * map_.slot_size; }

    /// The finished slots by key. Fails the test on what no slot may be.
    std::map<Key, SlotSum> read() const;
    std::uint64_t count() const;

    static argtrace_map counts(std::uint32_t slots, std::uint16_t key_words);
    static argtrace_map values(std::uint32_t slots, std::uint16_t key_words, std::uint16_t buckets,
                               bool is_signed = false);
    static argtrace_map linear(std::uint32_t slots, std::uint16_t key_words, std::uint64_t low,
                               std::uint64_t step, std::uint32_t nr_buckets, bool is_signed = false);

private:
    void map_cpus(const RawDevice &device);

    argtrace_map map_{};
    std::vector<const std::byte *> cpus_;
};

} // namespace vmtest
