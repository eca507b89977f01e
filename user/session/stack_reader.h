// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/counts.h"
#include "session/device.h"
#include "session/mapping.h"
#include "symbols/symbols.h"

namespace argtrace {

/// One CPU's table of stacks (uapi/argtrace_stack.h), wherever it is.
struct StackTable {
    const argtrace_stacks_control *control = nullptr;
    const argtrace_stack_entry *entries = nullptr;
    const std::uint64_t *words = nullptr;
    std::uint32_t nr_entries = 0;
    std::uint32_t nr_words = 0;

    /// The addresses of the stack with that number, and whether there were more; nothing where it
    /// is not there, or not yet.
    struct Found {
        std::vector<std::uint64_t> addresses;
        bool cut = false;
    };
    std::optional<Found> find(std::uint64_t id) const;
};

/// Finds the stacks of a session, in the tables of all CPUs, as long as they grow.
class StackReader {
public:
    /// The session that the device is bound to. Nothing if it has no stacks. The device stays the caller's.
    static std::optional<StackReader> of(const Device &device);

    /// Owned by the reader.
    std::optional<Stack> find(std::uint64_t id);

    /// Calls without a stack so far, by enum argtrace_stack_lost.
    StackLoss lost();

private:
    struct Table {
        Mapping mapping;
        StackTable view;
    };

    StackReader(int fd, const argtrace_stacks &stacks, std::uint32_t nr_cpus)
        : fd_(fd), stacks_(stacks), tables_(nr_cpus) {}

    const StackTable *table(std::uint32_t cpu);

    int fd_;
    argtrace_stacks stacks_;
    std::vector<std::optional<Table>> tables_; // by CPU
    std::unordered_map<std::uint64_t, StackTable::Found> known_;
};

} // namespace argtrace
