// SPDX-License-Identifier: GPL-2.0-only
#include "decode/layout.h"

#include <algorithm>
#include <limits>

#include "decode/path.h"
#include "decode/values.h"
#include "model/type.h"

namespace argtrace {

namespace {

constexpr std::size_t record_size_max = std::numeric_limits<std::uint16_t>::max();
constexpr std::size_t left_to_others = record_size_max + 1;

} // namespace

CompactLayout::CompactLayout(const Probe &probe) : padding_max_(record_padding_max) {
    steps_.resize(probe.args.size());
    // What the function returns is behind the arguments, and what a program has computed behind both, wherever they are
    // among the probe's.
    place(probe, [](const Argument &argument) {
        return argument.loc != ARGTRACE_LOC_NONE && argument.loc != ARGTRACE_LOC_RETURN &&
               argument.loc != ARGTRACE_LOC_PROGRAM;
    });
    place(probe, [](const Argument &argument) { return argument.loc == ARGTRACE_LOC_RETURN; });
    const auto is_output = [](const Argument &argument) { return argument.loc == ARGTRACE_LOC_PROGRAM; };
    const auto is_counted = [](const Argument &argument) { return type_info(argument.type).size == 0; };
    if (const auto outputs = std::ranges::count_if(probe.args, is_output)) {
        size_ += sizeof(std::uint64_t);
        unreadable_end_ = size_;
        if (outputs > ARGTRACE_VALUES_MAX)
            size_ += left_to_others;
        if (std::ranges::any_of(probe.args, [&](const Argument &argument) { return is_output(argument) && is_counted(argument); }))
            place_counted(probe);
        else
            place(probe, is_output);
    }
    if (size_ > record_size_max) { // no data is so long: all is left to read_compact()
        steps_.clear();
        counted_.clear();
        unreadable_end_ = 0;
        has_bytes_ = false;
        size_ = std::numeric_limits<std::size_t>::max() / 2;
    }
}

template<typename Predicate>
void CompactLayout::place(const Probe &probe, Predicate is_next) {
    for (std::size_t i = 0; i < probe.args.size(); ++i) {
        if (!is_next(probe.args[i]))
            continue;
        size_ += size_of_step(probe.args[i], steps_[i]);
        steps_[i].end = static_cast<std::uint32_t>(size_);
    }
}

void CompactLayout::place_counted(const Probe &probe) {
    for (std::size_t i = 0; i < probe.args.size(); ++i) {
        const Argument &argument = probe.args[i];
        if (argument.loc != ARGTRACE_LOC_PROGRAM)
            continue;
        Output output{i, {}, is_whole_array(argument)};
        const TypeClass type = type_info(argument.type).type_class;
        if (type == TypeClass::text || type == TypeClass::bytes) {
            output.step.kind = Kind::counted;
            output.step.value.type = argument.type;
            output.step.value.captured = true;
            output.step.size = static_cast<std::uint16_t>(std::min<std::size_t>(argument.size, record_size_max));
        } else if (const std::size_t size = size_of_step(argument, output.step); size < left_to_others) {
            output.step.end = static_cast<std::uint32_t>(size);
        } else {
            size_ += left_to_others;
        }
        counted_.push_back(output);
    }
}

std::size_t CompactLayout::size_of_step(const Argument &argument, Step &step) {
    const TypeInfo &type = type_info(argument.type);
    step.value.type = argument.type;
    step.value.captured = true;
    if (argument.type == ARGTRACE_TYPE_BYTES && argument.size <= record_size_max &&
        argument.loc != ARGTRACE_LOC_PROGRAM) { // of a program there may be fewer
        step.kind = Kind::bytes;
        step.size = static_cast<std::uint16_t>(argument.size);
        has_bytes_ = true;
        return sizeof(step.size) + step.size;
    }
    if (type.size == 0) // of no type that can be read, or of no size that is known
        return left_to_others;
    if (type.is_wide()) {
        step.kind = Kind::two_words;
    } else {
        step.kind = is_recorded_big_endian(argument) ? Kind::swapped_word : Kind::word;
        step.spare_bits = static_cast<std::uint8_t>(8 * (sizeof(std::uint64_t) - type.size));
        step.sign = type.is_signed ? std::uint64_t{1} << (8 * type.size - 1) : 0;
    }
    return type.size;
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

/// Reads one and cuts it off the front of `data`; false: it is not as it should be.
bool CompactLayout::read_output(std::span<const std::byte> &data, const Output &output, Value &value, std::vector<std::byte> &bytes) {
    const Step &step = output.step;
    if (step.kind != Kind::counted) {
        if (data.size() < step.end)
            return false;
        read_step(data.data(), step, value, bytes);
        data = data.subspan(step.end);
        return true;
    }
    std::uint16_t counted;
    if (data.size() < sizeof(counted))
        return false;
    std::memcpy(&counted, data.data(), sizeof(counted));
    const bool is_path = step.value.type == ARGTRACE_TYPE_PATH;
    const std::size_t length = is_path ? counted : counted & ~std::size_t{ARGTRACE_TEXT_CUT};
    data = data.subspan(sizeof(counted));
    if (length > step.size || data.size() < length)
        return false;
    const std::span<const std::byte> text = data.first(length);
    data = data.subspan(length);
    value = step.value;
    value.low = bytes.size();
    if (!is_path)
        bytes.insert(bytes.end(), text.data(), text.data() + length);
    else if (!append_path(bytes, text))
        return false;
    value.high = bytes.size() - value.low;
    value.cut = length != counted && !output.is_whole;
    return true;
}

bool CompactLayout::read_counted(std::span<const std::byte> data, Values &values, std::vector<std::byte> &bytes) const {
    if (data.size() < size_ || (has_bytes_ && !lengths_match(data.data())) || !all_are_readable(data.data() + unreadable_end_))
        return false;
    const std::size_t first_value = values.size(), first_byte = bytes.size();
    Value *const value = values.extend(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i)
        read_step(data.data(), steps_[i], value[i], bytes);
    std::span<const std::byte> left = data.subspan(size_);
    const bool are_read = std::ranges::all_of(counted_, [&](const Output &output) { return read_output(left, output, value[output.index], bytes); });
    if (are_read && left.size() <= padding_max_) [[likely]]
        return true;
    values.shrink(first_value);
    bytes.resize(first_byte);
    return false;
}

/// What is no word.
void CompactLayout::read_other(const std::byte *data, const Step &step, Value &value,
                               std::vector<std::byte> &bytes) {
    switch (step.kind) {
    case Kind::swapped_word:
        value.low = __builtin_bswap64(word(data + step.end, step)) >> step.spare_bits;
        break;
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
    case Kind::counted:
    case Kind::none:
        break;
    }
}

} // namespace argtrace
