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

    /// The words of the stack of that number.
    std::optional<std::vector<std::uint64_t>> find(std::uint64_t id) const;

    /// "NAME+0xOFFSET" of each word, as user_stacks.c prints frames; "[exact]" before it where it is one; "END 3".
    std::vector<std::string> names(const std::vector<std::uint64_t> &words) const;

    /// Stacks that are not complete, by enum argtrace_end.
    std::vector<std::uint64_t> incomplete() const;

private:
    const std::string &name_of(std::uint32_t object) const;

    const RawDevice &device_;
    argtrace_stacks stacks_{};
    std::size_t size_ = 0;
    std::vector<const std::byte *> cpus_;
    mutable std::map<std::uint32_t, std::string> names_;
};

} // namespace vmtest
