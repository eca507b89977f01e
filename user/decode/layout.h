// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "model/event.h"

namespace argtrace {

/// Where the arguments of a probe lie in its compact records, worked out once: no argument's
/// place depends on another's value. Reads what is well-formed, and quickly; about the rest
/// read_compact() has to say what is wrong. Where a program computes values, places do depend on
/// others, and all of it is left to read_compact().
class CompactLayout {
public:
    /// So many bytes before the data that read() is given must be readable, whatever their values:
    /// they are part of the record's header.
    static constexpr std::size_t readable_before = sizeof(std::uint64_t);

    explicit CompactLayout(const Probe &probe);

    /// Appends a value for each argument. False, with nothing appended, when the data is not
    /// as it should be.
    bool read(std::span<const std::byte> data, Values &values,
              std::vector<std::byte> &bytes) const {
        if (data.size() - size_ > padding_max_ || (has_bytes_ && !lengths_match(data.data())))
            return false;
        const std::size_t first = values.size();
        values.resize(first + steps_.size());
        Value *value = values.data() + first;
        for (const Step &step : steps_) {
            if (step.kind == Kind::word) [[likely]]
                *value++ = {word(data.data() + step.end, step), 0, step.type, true};
            else
                *value++ = read_other(data.data(), step, bytes);
        }
        return true;
    }

private:
    enum class Kind : std::uint8_t { word, two_words, bytes, none };

    struct Step {
        std::uint32_t end = 0;  // of the value, in the data
        std::uint16_t size = 0; // of BYTES
        Kind kind = Kind::none;
        std::uint8_t type = ARGTRACE_TYPE_END;
        std::uint8_t spare_bits = 0; // a word has so many bits more than the value
        bool is_signed = false;
    };

    /// The value that ends there: whatever its size, it is in the upper bits of the eight bytes
    /// before (the machine is little-endian).
    static std::uint64_t word(const std::byte *end, const Step &step) {
        std::uint64_t raw;
        std::memcpy(&raw, end - sizeof(raw), sizeof(raw));
        const auto extended =
            static_cast<std::uint64_t>(static_cast<std::int64_t>(raw) >> step.spare_bits);
        return step.is_signed ? extended : raw >> step.spare_bits;
    }

    bool lengths_match(const std::byte *data) const;
    static Value read_other(const std::byte *data, const Step &step,
                            std::vector<std::byte> &bytes);

    std::vector<Step> steps_;
    std::size_t size_ = 0;        // of the data, without padding
    std::size_t padding_max_ = 0; // behind it
    bool has_bytes_ = false;
};

} // namespace argtrace
