// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <xxhash.h>

namespace argtrace {

/// Where names stand in a list that somebody else keeps: a hash from a name to its places, made
/// in one pass, since sorting a kernel's names costs more than all else that starting takes.
class NameIndex {
public:
    NameIndex() = default;

    /// `name_of(i)` is the name at place `i` of `count`.
    template<typename NameOf>
    NameIndex(std::size_t count, NameOf name_of)
        : first_(std::bit_ceil(count + 1), none), next_(count, none) {
        // From behind, so that each chain is in the list's order.
        for (std::size_t i = count; i-- > 0;) {
            std::uint32_t &first = first_[bucket(name_of(i))];
            next_[i] = first;
            first = static_cast<std::uint32_t>(i);
        }
    }

    /// Calls `visit` with the places that may have that name, in order: those that have it, and
    /// some others.
    template<typename Visit>
    void for_each_candidate(std::string_view name, Visit visit) const {
        if (first_.empty())
            return;
        for (std::uint32_t i = first_[bucket(name)]; i != none; i = next_[i])
            visit(i);
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    std::size_t bucket(std::string_view name) const {
        return XXH3_64bits(name.data(), name.size()) & (first_.size() - 1);
    }

    std::vector<std::uint32_t> first_; // of each bucket
    std::vector<std::uint32_t> next_;  // in the same bucket
};

} // namespace argtrace
