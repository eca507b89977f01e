// SPDX-License-Identifier: GPL-2.0-only
// User stacks by the ABI alone, with tables that the tool's library makes of the objects.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/device.h"

namespace vmtest {

/// The tables of user stacks of a device's session.
class UserStacks {
public:
    explicit UserStacks(const RawDevice &device, std::uint32_t entries = 4096);
    ~UserStacks();
    UserStacks(const UserStacks &) = delete;
    UserStacks &operator=(const UserStacks &) = delete;

    /// What objects there are. `flags` are ARGTRACE_OBJECTS_*.
    std::vector<argtrace_object> objects(std::uint32_t flags = 0) const;
    /// Gives each object that has none its table; returns to how many.
    unsigned provide_tables() const;
    int provide_table(std::uint32_t object) const;

    /// The words of the stack of that number, or of the one that it stands for, and whether that may yet be another.
    std::optional<std::vector<std::uint64_t>> find(std::uint64_t id, bool *pending = nullptr) const;

    /// "NAME+0xOFFSET" of each word, as user_stacks.c prints frames; "[exact]" before it where it is one; "END 3".
    std::vector<std::string> names(const std::vector<std::uint64_t> &words) const;

    /// Stacks that are not complete, by enum argtrace_end.
    std::vector<std::uint64_t> incomplete() const;

    /// Stacks whose memory was absent, and which were walked again.
    std::uint64_t completed() const;
    /// Whether this kernel has what that takes.
    bool are_completed() const { return (stacks_.flags & ARGTRACE_STACKS_LATE) != 0; }

private:
    /// The number of its first word, how many there are, and flags, in the table of one CPU; 0: it is not there.
    std::uint64_t where(const std::byte *table, std::uint64_t id) const;
    const std::uint64_t *words(const std::byte *table) const;

    const std::string &name_of(std::uint32_t object) const;

    const RawDevice &device_;
    argtrace_stacks stacks_{};
    std::size_t size_ = 0;
    std::vector<const std::byte *> cpus_;
    mutable std::map<std::uint32_t, std::string> names_;
};

} // namespace vmtest
