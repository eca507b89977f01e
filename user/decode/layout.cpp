// SPDX-License-Identifier: GPL-2.0-only
#include "decode/layout.h"

#include <limits>

#include "decode/values.h"
#include "model/type.h"

namespace argtrace {

namespace {

constexpr std::size_t record_size_max = std::numeric_limits<std::uint16_t>::max();
constexpr std::size_t left_to_others = record_size_max + 1;

} // namespace

CompactLayout::CompactLayout(const Probe &probe) : padding_max_(record_padding_max) {
    for (const Argument &argument : probe.args) {
        Step step;
        if (argument.loc != ARGTRACE_LOC_NONE) {
            step.value.type = argument.type;
            step.value.captured = true;
            const TypeInfo &type = type_info(argument.type);
            std::size_t size = type.size;
            const bool result = argument.loc == ARGTRACE_LOC_RETURN;
            if (argument.loc == ARGTRACE_LOC_PROGRAM ||
                (result && &argument != &probe.args.back())) {
                size = left_to_others;
            } else if (argument.type == ARGTRACE_TYPE_BYTES && argument.size <= record_size_max) {
                step.kind = Kind::bytes;
                step.size = static_cast<std::uint16_t>(argument.size);
                size = sizeof(step.size) + step.size;
                has_bytes_ = true;
            } else if (type.is_wide()) {
                step.kind = Kind::two_words;
            } else if (size > 0) {
                step.kind = Kind::word;
                step.spare_bits = static_cast<std::uint8_t>(8 * (sizeof(std::uint64_t) - size));
                step.sign = type.is_signed ? std::uint64_t{1} << (8 * size - 1) : 0;
            } else { // of no type that can be read
                size = left_to_others;
            }
            size_ += size;
            step.end = static_cast<std::uint32_t>(size_);
        }
        steps_.push_back(step);
    }
    if (size_ > record_size_max) { // no data is so long: all is left to read_compact()
        steps_.clear();
        size_ = std::numeric_limits<std::size_t>::max() / 2;
    }
}

bool CompactLayout::lengths_match(const std::byte *data) const {
    for (const Step &step : steps_) {
        if (step.kind != Kind::bytes)
            continue;
        std::uint16_t length;
        std::memcpy(&length, data + step.end - step.size - sizeof(length), sizeof(length));
        if (length != step.size)
            return false;
    }
    return true;
}

/// What is no word.
void CompactLayout::read_other(const std::byte *data, const Step &step, Value &value,
                               std::vector<std::byte> &bytes) {
    switch (step.kind) {
    case Kind::two_words:
        std::memcpy(&value.low, data + step.end - 16, sizeof(value.low));
        std::memcpy(&value.high, data + step.end - 8, sizeof(value.high));
        break;
    case Kind::bytes:
        value.low = bytes.size();
        value.high = step.size;
        bytes.insert(bytes.end(), data + step.end - step.size, data + step.end);
        break;
    case Kind::word:
    case Kind::none:
        break;
    }
}

} // namespace argtrace
