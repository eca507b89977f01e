// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "symbols/symbols.h"

namespace argtrace {

/// Stacks by their numbers, packed. Each different address is kept once, and stacks consist of the numbers of addresses, of which those
/// that came early take a byte or two:
///
///     id (8 bytes), count << 1 | cut, number of the innermost address, ... (varints)
class StackStore {
public:
    /// Keeps the first stack of an id, but one that ends where memory could not be read gives way to a later one. `addresses`: words in the machine's order, at least one.
    void add(std::uint64_t id, std::span<const std::byte> addresses, bool cut);

    /// In the room of the caller.
    std::optional<Stack> find(std::uint64_t id, StackRoom &room) const;

    /// Whether a stack of user code has another id than stack_number() of its addresses, as one that was completed later has.
    bool has_other_ids() const { return has_other_ids_; }

private:
    /// Numbers of what is stored elsewhere, by hash: 0 is no number.
    using Slots = std::vector<std::uint32_t>;

    const std::byte *at(std::uint32_t place) const;
    /// Numbers those that are new, and returns the end.
    char *write_numbers(char *to, std::span<const std::uint64_t> addresses);
    std::uint32_t store(std::span<const std::byte> record);
    bool is_unreadable(std::uint32_t place) const;

    std::vector<std::uint64_t> addresses_;
    Slots addresses_by_hash_; // index + 1
    std::vector<std::unique_ptr<std::byte[]>> blocks_;
    std::size_t used_ = 0; // of the last block
    Slots stacks_by_id_;   // place + 1
    std::size_t stacks_ = 0;
    bool has_other_ids_ = false;
    // Room for one of them.
    std::vector<std::uint64_t> words_;
    std::vector<char> packed_;
};

} // namespace argtrace
