// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <span>
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
        std::span<const std::uint64_t> addresses; ///< in the table, where they stay as they are; of an alias, `target`
        bool cut = false;
        std::uint64_t target = 0; ///< the number of the stack for which it stands, if it is an alias
        bool pending = false;     ///< the alias may be replaced
    };
    std::optional<Found> find(std::uint64_t id) const;
};

/// Finds the stacks of a session, of the kernel and of user code, in the tables of all CPUs, as long as they grow.
class StackReader {
public:
    /// The session that the device is bound to. Nothing if it has no stacks. The device stays the caller's.
    static std::optional<StackReader> of(const Device &device);

    /// Its addresses are in the tables, for as long as the reader.
    std::optional<Stack> find(std::uint64_t id);

    /// Calls without a stack of the kernel so far; nothing if the session takes none.
    std::optional<StackLoss> lost();

    /// The same of stacks of user code, and those that are incomplete.
    std::optional<UserStackLoss> user_lost();

private:
    struct Table {
        Mapping mapping;
        StackTable view;
    };

    /// The tables of one kind.
    struct Tables {
        CodeSpace space = CodeSpace::kernel;
        argtrace_stacks stacks{};
        std::vector<std::optional<Table>> by_cpu = {};
    };

    explicit StackReader(int fd) : fd_(fd) {}

    const StackTable *table(Tables &tables, std::uint32_t cpu) const;

    /// In the table of any CPU. An alias that is final takes precedence over one that is not.
    std::optional<StackTable::Found> look_up(std::uint64_t id, CodeSpace &space);

    /// Calls `take` with the control page of each CPU's table; false if there are none of the kind.
    template<typename Take>
    bool for_each_control(CodeSpace space, const Take &take);

    int fd_;
    std::vector<Tables> tables_;
    std::unordered_map<std::uint64_t, Stack> known_; // numbers are hashes, of both kinds; none that is pending
};

} // namespace argtrace
