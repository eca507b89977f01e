// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "decode/schema.h"

namespace argtrace {

/// Which arguments a batch has already, so that calls with the same ones share their values (Event::first_value), which are
/// then read once, and known to be the same without a look at them.
class SharedArguments {
public:
    /// Gives up when so many arguments were like no others.
    explicit SharedArguments(std::size_t in_vain_max) : left_(in_vain_max) {}

    struct Known {
        const Schema::Entry *probe;
        const std::byte *data;
        std::uint32_t size;
        std::uint32_t first_value;
        bool has_unread;
    };

    /// Arguments of that probe that lie in `data`, whole words: what is known of them, or, where `is_same` is false, the place
    /// for it. Null once it has given up.
    Known *find(const Schema::Entry &probe, std::span<const std::byte> data, bool &is_same) {
        if (left_ == 0) [[unlikely]]
            return nullptr;
        constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
        std::uint64_t hash = probe.probe.id * factor; // no address, by which places would be others in each run
        for (std::size_t at = 0; at < data.size(); at += sizeof(std::uint64_t))
            hash = (hash ^ word(&data[at])) * factor;
        std::uint16_t &place = places_[hash >> (64 - bits)];
        if (place == 0) [[unlikely]] {
            known_[used_] = {nullptr, nullptr, 0, 0, false};
            place = static_cast<std::uint16_t>(++used_);
        }
        Known &known = known_[place - 1u];
        is_same = known.probe == &probe && known.size == data.size() && are_same(known.data, data);
        left_ -= !is_same;
        return &known;
    }

private:
    static constexpr unsigned bits = 9;

    static std::uint64_t word(const std::byte *at) {
        std::uint64_t word;
        std::memcpy(&word, at, sizeof(word));
        return word;
    }
    static bool are_same(const std::byte *known, std::span<const std::byte> data) {
        for (std::size_t at = 0; at < data.size(); at += sizeof(std::uint64_t)) {
            if (word(known + at) != word(&data[at]))
                return false;
        }
        return true;
    }

    std::array<std::uint16_t, std::size_t{1} << bits> places_{}; // in known_, from 1 on; 0: none yet
    std::array<Known, std::size_t{1} << bits> known_; // the first `used_` of them
    unsigned used_ = 0;
    std::size_t left_;
};

} // namespace argtrace
