// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace argtrace {

/// Different texts, numbered from 0 on, each of which is kept once.
class InternedTexts {
public:
    std::uint32_t number(std::string_view text) {
        if (const auto known = numbers_.find(text); known != numbers_.end())
            return known->second;
        const auto number = static_cast<std::uint32_t>(texts_.size());
        numbers_.emplace(texts_.emplace_back(text), number);
        return number;
    }

    /// Stays where it is.
    const std::string &operator[](std::uint32_t number) const { return texts_[number]; }

    std::size_t size() const { return texts_.size(); }

private:
    std::deque<std::string> texts_;
    std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

} // namespace argtrace
