// SPDX-License-Identifier: GPL-2.0-only
#include "decode/values.h"

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "decode/path.h"
#include "model/type.h"

namespace argtrace {

namespace {

/// The first bytes of `data` as a T; they have been checked to be there.
template<typename T>
T load(std::span<const std::byte> data) {
    T value;
    std::memcpy(&value, data.data(), sizeof(value));
    return value;
}

/// Extends the sign of a value of `size` bytes, at most eight.
std::uint64_t extend_sign(std::uint64_t value, std::size_t size) {
    const std::size_t spare_bits = 8 * (sizeof(value) - size);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << spare_bits) >> spare_bits);
}

/// Reads BYTES, which begin with their length, and cuts them off the front of `data`.
DecodeStatus read_bytes(std::span<const std::byte> &data, std::uint32_t expected, Value &value,
                        std::vector<std::byte> &bytes) {
    if (data.size() < sizeof(std::uint16_t))
        return DecodeStatus::data_cut_off;
    std::size_t length = load<std::uint16_t>(data);
    data = data.subspan(sizeof(std::uint16_t));
    if (length != expected)
        return DecodeStatus::bad_length;
    if (data.size() < length)
        return DecodeStatus::data_cut_off;
    value = {bytes.size(), length, ARGTRACE_TYPE_BYTES, true};
    auto end = data.begin() + static_cast<std::ptrdiff_t>(length);
    bytes.insert(bytes.end(), data.begin(), end);
    data = data.subspan(length);
    return DecodeStatus::ok;
}

/// The data of a PATH as the text that is to be shown, which is longer by what marks it.
DecodeStatus read_path(std::span<const std::byte> data, Value &value,
                       std::vector<std::byte> &bytes) {
    const std::size_t begin = bytes.size();
    if (!append_path(bytes, data))
        return DecodeStatus::bad_path;
    value = {begin, bytes.size() - begin, ARGTRACE_TYPE_PATH, true};
    return DecodeStatus::ok;
}

/// The same for what a program has computed: BYTES, STR or PATH of any length up to the largest one.
/// If it could not be read, only its length matters.
DecodeStatus read_counted(std::span<const std::byte> &data, const Argument &argument, bool readable,
                          Value &value, std::vector<std::byte> &bytes) {
    if (data.size() < sizeof(std::uint16_t))
        return DecodeStatus::data_cut_off;
    const std::size_t word = load<std::uint16_t>(data);
    const std::size_t length = argument.type == ARGTRACE_TYPE_PATH ? word : word & ~std::size_t{ARGTRACE_TEXT_CUT};
    data = data.subspan(sizeof(std::uint16_t));
    if (length > argument.size)
        return DecodeStatus::bad_length;
    if (data.size() < length)
        return DecodeStatus::data_cut_off;
    const std::span<const std::byte> counted = data.first(length);
    data = data.subspan(length);
    if (!readable) {
        value = {};
        return DecodeStatus::ok;
    }
    if (argument.type == ARGTRACE_TYPE_PATH)
        return read_path(counted, value, bytes);
    value = {bytes.size(), length, argument.type, true,
             length != word && !is_whole_array(argument)};
    bytes.insert(bytes.end(), counted.begin(), counted.end());
    return DecodeStatus::ok;
}

/// Reads the value of an argument and cuts it off the front of `data`.
DecodeStatus read_value(std::span<const std::byte> &data, const Argument &argument, Value &value,
                        std::vector<std::byte> &bytes) {
    const TypeInfo &type = type_info(argument.type);
    if (type.type_class == TypeClass::bytes)
        return read_bytes(data, argument.size, value, bytes);
    const std::size_t size = type.size;
    if (size == 0)
        return DecodeStatus::unsupported_type;
    if (data.size() < size)
        return DecodeStatus::data_cut_off;

    value = {0, 0, type.code, true};
    std::memcpy(&value.low, data.data(),
                type.is_wide() ? sizeof(value.low) : size); // little-endian
    if (type.is_wide())
        value.high = load<std::uint64_t>(data.subspan(sizeof(value.low)));
    else if (type.is_signed)
        value.low = extend_sign(value.low, size);
    else if (is_recorded_big_endian(argument))
        value.low = __builtin_bswap64(value.low) >> 8 * (sizeof(value.low) - size);
    data = data.subspan(size);
    return DecodeStatus::ok;
}

/// Reads what the program has computed and cuts it off the front of `data`.
DecodeStatus read_outputs(std::span<const std::byte> &data, const Probe &probe,
                          std::span<Value> values, std::vector<std::byte> &bytes) {
    if (data.size() < sizeof(std::uint64_t))
        return DecodeStatus::data_cut_off;
    auto unreadable = load<std::uint64_t>(data); // the lowest bit: the next output
    data = data.subspan(sizeof(unreadable));
    unsigned left = ARGTRACE_VALUES_MAX;
    for (std::size_t i = 0; i < probe.args.size(); ++i) {
        const Argument &argument = probe.args[i];
        if (argument.loc != ARGTRACE_LOC_PROGRAM)
            continue;
        if (left-- == 0)
            return DecodeStatus::too_many_outputs;
        const TypeClass type_class = type_info(argument.type).type_class;
        const bool counted = type_class == TypeClass::text || type_class == TypeClass::bytes;
        const bool readable = !(unreadable & 1);
        const DecodeStatus status = counted
                                        ? read_counted(data, argument, readable, values[i], bytes)
                                        : read_value(data, argument, values[i], bytes);
        if (status != DecodeStatus::ok)
            return status;
        if (!readable)
            values[i] = {};
        unreadable >>= 1;
    }
    return unreadable ? DecodeStatus::bad_unreadable_bits : DecodeStatus::ok;
}

DecodeStatus check_padding(std::span<const std::byte> data) {
    return data.size() > record_padding_max ? DecodeStatus::excess_data : DecodeStatus::ok;
}

/// Reads the name and the type code that stand before a value, and cuts them off.
DecodeStatus read_heading(std::span<const std::byte> &data, std::string_view &name,
                          std::uint8_t &type) {
    std::string_view text(reinterpret_cast<const char *>(data.data()), data.size());
    auto end = text.find('\0');
    if (end == std::string_view::npos)
        return DecodeStatus::unterminated_name;
    if (end + 1 >= data.size())
        return DecodeStatus::data_cut_off;
    name = text.substr(0, end);
    type = std::to_integer<std::uint8_t>(data[end + 1]);
    data = data.subspan(end + 2);
    return DecodeStatus::ok;
}

DecodeStatus read_named_argument(std::span<const std::byte> &data, const Argument &argument,
                                 Value &value, std::vector<std::byte> &bytes) {
    std::string_view name;
    std::uint8_t type;
    DecodeStatus status = read_heading(data, name, type);
    if (status != DecodeStatus::ok)
        return status;
    if (type == ARGTRACE_TYPE_END)
        return DecodeStatus::missing_argument;
    if (name != argument.name)
        return DecodeStatus::name_mismatch;
    if (type != argument.type)
        return DecodeStatus::type_mismatch;
    return read_value(data, argument, value, bytes);
}

} // namespace

bool is_whole_array(const Argument &argument) {
    return argument.type_name.ends_with('[' + std::to_string(argument.size) + ']');
}

DecodeStatus read_compact(std::span<const std::byte> data, const Probe &probe,
                          std::span<Value> values, std::vector<std::byte> &bytes) {
    bool has_outputs = false;
    std::optional<std::size_t> result;
    for (std::size_t i = 0; i < probe.args.size(); ++i) {
        values[i] = {};
        if (probe.args[i].loc == ARGTRACE_LOC_NONE)
            continue;
        if (probe.args[i].loc == ARGTRACE_LOC_PROGRAM) {
            has_outputs = true;
            continue;
        }
        if (probe.args[i].loc == ARGTRACE_LOC_RETURN) {
            result = i;
            continue;
        }
        DecodeStatus status = read_value(data, probe.args[i], values[i], bytes);
        if (status != DecodeStatus::ok)
            return status;
    }
    if (result) { // behind all arguments, wherever it is among them
        DecodeStatus status = read_value(data, probe.args[*result], values[*result], bytes);
        if (status != DecodeStatus::ok)
            return status;
    }
    if (has_outputs) {
        DecodeStatus status = read_outputs(data, probe, values, bytes);
        if (status != DecodeStatus::ok)
            return status;
    }
    return check_padding(data);
}

DecodeStatus read_named(std::span<const std::byte> data, const Probe &probe,
                        std::span<Value> values, std::vector<std::byte> &bytes) {
    for (std::size_t i = 0; i < probe.args.size(); ++i) {
        values[i] = {};
        if (probe.args[i].loc == ARGTRACE_LOC_NONE)
            continue;
        if (probe.args[i].loc == ARGTRACE_LOC_PROGRAM)
            return DecodeStatus::named_outputs;
        DecodeStatus status = read_named_argument(data, probe.args[i], values[i], bytes);
        if (status != DecodeStatus::ok)
            return status;
    }
    std::string_view name;
    std::uint8_t type;
    DecodeStatus status = read_heading(data, name, type);
    if (status != DecodeStatus::ok || !name.empty() || type != ARGTRACE_TYPE_END)
        return DecodeStatus::unclosed_list;
    return check_padding(data);
}

Value read_register(const Argument &argument, std::span<const __u64> regs) {
    const bool in_register = argument.loc == ARGTRACE_LOC_REG || argument.loc == ARGTRACE_LOC_REG_PAIR;
    const std::size_t size = type_info(argument.type).size;
    if (!in_register || size == 0 || argument.index >= regs.size())
        return {};
    std::span<const std::byte> data = std::as_bytes(regs.subspan(argument.index));
    std::vector<std::byte> bytes;
    Value value;
    return read_value(data, argument, value, bytes) == DecodeStatus::ok ? value : Value{};
}

} // namespace argtrace
