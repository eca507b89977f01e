// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace argtrace {

/// Different texts, numbered from 0 on, each of which is kept once.
class InternedTexts {
public:
    std::uint32_t number(std::string_view text) {
        if (const auto known = numbers_.find(text); known != numbers_.end())
            return known->second;
        const auto number = static_cast<std::uint32_t>(texts_.size());
        texts_.push_back(&numbers_.emplace(text, number).first->first);
        return number;
    }

    /// Stays where it is.
    const std::string &operator[](std::uint32_t number) const { return *texts_[number]; }

    std::size_t size() const { return texts_.size(); }

private:
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };

    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
    std::vector<const std::string *> texts_; // the keys there
};

} // namespace argtrace
