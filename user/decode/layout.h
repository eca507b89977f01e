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
/// place depends on another's value. Where a program computes text or bytes, the places of its values do, and they are
/// read one behind the other. Reads what is well-formed, and quickly; about the rest read_compact() has to say what is wrong,
/// as it has to where a value could not be read.
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
        if (!counted_.empty())
            return read_counted(data, values, bytes);
        if (data.size() - size_ > padding_max_ || (has_bytes_ && !lengths_match(data.data())) ||
            (unreadable_end_ > 0 && !all_are_readable(data.data() + unreadable_end_)))
            return false;
        Value *value = values.extend(steps_.size());
        for (const Step &step : steps_)
            read_step(data.data(), step, *value++, bytes);
        return true;
    }

private:
    enum class Kind : std::uint8_t { word, swapped_word, two_words, bytes, counted, none };

    struct Step {
        Value value;            // without its numbers
        std::uint64_t sign = 0; // the highest bit of a word that is signed
        std::uint32_t end = 0;  // of the value, in the data
        std::uint16_t size = 0; // of BYTES; the largest of what is counted
        Kind kind = Kind::none;
        std::uint8_t spare_bits = 0; // a word has so many bits more than the value
    };

    /// The value that ends there: whatever its size, it is in the upper bits of the eight bytes
    /// before (the machine is little-endian). The sign is extended by taking it away where it is set.
    static std::uint64_t word(const std::byte *end, const Step &step) {
        std::uint64_t raw;
        std::memcpy(&raw, end - sizeof(raw), sizeof(raw));
        return (raw >> step.spare_bits ^ step.sign) - step.sign;
    }

    static void read_step(const std::byte *data, const Step &step, Value &value, std::vector<std::byte> &bytes) {
        value = step.value;
        if (step.kind == Kind::word) [[likely]]
            value.low = word(data + step.end, step);
        else
            read_other(data, step, value, bytes);
    }

    /// What a program computes, where places depend on values: its step is relative to the end of the one before.
    struct Output {
        std::size_t index = 0; // of the argument
        Step step;
        bool is_whole = false; // of an array: it is never cut
    };

    /// Whether the word that ends there says so of what the program has computed.
    static bool all_are_readable(const std::byte *end) {
        std::uint64_t unreadable;
        std::memcpy(&unreadable, end - sizeof(unreadable), sizeof(unreadable));
        return unreadable == 0;
    }

    template<typename Predicate>
    void place(const Probe &probe, Predicate is_next);
    std::size_t size_of_step(const Argument &argument, Step &step);
    void place_counted(const Probe &probe);
    bool lengths_match(const std::byte *data) const;
    bool read_counted(std::span<const std::byte> data, Values &values, std::vector<std::byte> &bytes) const;
    static bool read_output(std::span<const std::byte> &data, const Output &output, Value &value, std::vector<std::byte> &bytes);
    static void read_other(const std::byte *data, const Step &step, Value &value,
                           std::vector<std::byte> &bytes);

    std::vector<Step> steps_;
    std::vector<Output> counted_; // all that a program computes, if any of it is text or bytes; what is in the other members is before them
    std::size_t size_ = 0;        // of the data, without padding
    std::size_t padding_max_ = 0; // behind it
    std::size_t unreadable_end_ = 0; // of the word that says which outputs could not be read; 0: there are none
    bool has_bytes_ = false;
};

} // namespace argtrace
