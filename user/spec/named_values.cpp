// SPDX-License-Identifier: GPL-2.0-only
#include "spec/named_values.h"

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstring>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <utility>

#include <fmt/format.h>

namespace argtrace {

namespace {

// include/uapi/asm-generic/ioctl.h
std::string ioctl_text(std::uint32_t command) {
    static constexpr std::string_view directions[] = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ", "_IOC_READ|_IOC_WRITE"};
    return fmt::format("_IOC({}, {:#x}, {:#x}, {:#x})", directions[command >> 30], command >> 8 & 0xff, command & 0xff,
                       command >> 16 & 0x3fff);
}

// bits/types/sigset_t.h: bit n is the signal n + 1. What is nearly all of them is told by what it lacks.
std::string signal_set_text(std::uint64_t set) {
    const bool inverted = std::popcount(set) > 42; // two thirds
    std::string text = inverted ? "~[" : "[";
    std::string_view separator;
    if (inverted)
        set = ~set;
    for (int signal = 1; signal <= 64; ++signal) {
        if (!(set >> (signal - 1) & 1))
            continue;
        const char *name = sigabbrev_np(signal);
        text += separator;
        text += name ? name : signal >= 32 ? fmt::format("RT_{}", signal - 32) : fmt::format("{}", signal);
        separator = " ";
    }
    return text + ']';
}

// The members of a union: programs use one of them, and nothing says which.
std::string epoll_data_text(std::uint64_t data) {
    return fmt::format("{{u32={}, u64={}}}", static_cast<std::uint32_t>(data), data);
}

std::string size_limit_text(std::uint64_t value) {
    constexpr std::uint64_t unit = 1024;
    return value > unit && value % unit == 0 ? fmt::format("{}*{}", value / unit, unit) : fmt::format("{}", value);
}

std::string signal_text(int signal) {
    const char *name = sigabbrev_np(signal);
    return name ? fmt::format("SIG{}", name) : fmt::format("{}", signal);
}

// wait(2), in the words of the macros that take it apart.
std::string wait_status_text(std::uint32_t status) {
    const int value = static_cast<int>(status);
    if (WIFEXITED(value))
        return fmt::format("{{WIFEXITED(s) && WEXITSTATUS(s) == {}}}", WEXITSTATUS(value));
    if (WIFSIGNALED(value))
        return fmt::format("{{WIFSIGNALED(s) && WTERMSIG(s) == {}{}}}", signal_text(WTERMSIG(value)), WCOREDUMP(value) ? " && WCOREDUMP(s)" : "");
    if (WIFSTOPPED(value))
        return fmt::format("{{WIFSTOPPED(s) && WSTOPSIG(s) == {}}}", signal_text(WSTOPSIG(value)));
    return WIFCONTINUED(value) ? "{WIFCONTINUED(s)}" : fmt::format("{:#x}", status);
}

// A register has 64 bits, whether a program passes an int with its sign or without: -100 is 0xffffff9c in either case.
std::uint64_t without_extension(std::uint64_t value) {
    const auto number = static_cast<std::int64_t>(value);
    const bool is_int = value >> 32 == 0 || number == static_cast<std::int32_t>(number);
    return is_int ? static_cast<std::uint32_t>(value) : value;
}

} // namespace

std::string bit_set_text(std::span<const std::byte> bytes) {
    std::string text = "[";
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit)
        if ((std::to_integer<unsigned>(bytes[bit / 8]) >> bit % 8 & 1) != 0)
            text += (text.size() > 1 ? " " : "") + std::to_string(bit);
    return text + ']';
}

std::string number_text(NumberForm form, std::uint64_t value) {
    switch (form) {
    case NumberForm::typed:
        return {};
    case NumberForm::s32:
        return fmt::format("{}", static_cast<std::int32_t>(value));
    case NumberForm::u32:
        return fmt::format("{}", static_cast<std::uint32_t>(value));
    case NumberForm::s64:
        return fmt::format("{}", static_cast<std::int64_t>(value));
    case NumberForm::u64:
        return fmt::format("{}", value);
    case NumberForm::hex:
        return fmt::format("{:#x}", value);
    case NumberForm::octal:
        return fmt::format("{:#o}", value);
    case NumberForm::mode:
        return fmt::format("{:#o}", static_cast<std::uint16_t>(value));
    case NumberForm::identity: // of a user or group, where -1 is none
        return static_cast<std::uint32_t>(value) == ~std::uint32_t{0} ? "-1" : fmt::format("{}", static_cast<std::uint32_t>(value));
    case NumberForm::pointer:
    case NumberForm::variables:
        return value == 0 ? "NULL" : fmt::format("{:#x}", value);
    case NumberForm::device:
        return fmt::format("makedev({:#x}, {:#x})", gnu_dev_major(value), gnu_dev_minor(value));
    case NumberForm::wait_status:
        return wait_status_text(static_cast<std::uint32_t>(value));
    case NumberForm::signal_set:
        return signal_set_text(value);
    case NumberForm::bit_set:
        return bit_set_text(std::as_bytes(std::span(&value, 1)));
    case NumberForm::size_limit:
        return size_limit_text(value);
    case NumberForm::epoll_data:
        return epoll_data_text(value);
    case NumberForm::ioctl:
        return ioctl_text(static_cast<std::uint32_t>(value));
    }
    return {};
}

void NamedValues::add(std::string name, std::uint64_t value, std::uint64_t mask) {
    const std::size_t index = names_.size();
    if (!flags_)
        by_value_.emplace(without_extension(value), index); // the first name of a value stays
    else if (mask == 0)
        widest_first_.insert(std::find_if(widest_first_.begin(), widest_first_.end(),
                                          [&](std::size_t other) { return std::popcount(names_[other].value) < std::popcount(value); }),
                             index);
    names_.push_back({std::move(name), value, mask});
}

void NamedValues::add_field(std::uint64_t mask, const NamedValues &values) {
    names_.push_back({{}, 0, mask, &values});
}

std::string NamedValues::text(std::uint64_t value) const {
    if (!parts_.empty())
        return parts_text(value);
    if (flags_)
        return flags_text(value);
    const auto found = by_value_.find(without_extension(value));
    return found == by_value_.end() ? std::string() : names_[found->second].name;
}

std::string NamedValues::parts_text(std::uint64_t value) const {
    std::string text = function_ + '(';
    for (const Part &part : parts_) {
        const std::uint64_t field = (value & part.mask) >> std::countr_zero(part.mask);
        const std::string name = part.values ? part.values->text(field) : std::string();
        text += text.ends_with('(') ? "" : ", ";
        text += name.empty() ? number_text(part.form == NumberForm::typed ? NumberForm::hex : part.form, field) : name;
    }
    return text + ')';
}

std::string NamedValues::flags_text(std::uint64_t value) const {
    std::uint64_t left = value;
    std::map<std::size_t, std::string> parts; // in the order of the table
    for (std::size_t i = 0; i < names_.size(); ++i) {
        const Name &name = names_[i];
        if (name.mask == 0 || (left & name.mask) != (value & name.mask))
            continue;
        const std::uint64_t field = value & name.mask;
        if (!name.field && field == name.value) {
            parts[i] = name.name;
            left &= ~name.mask;
        } else if (name.field && field != 0) {
            if (std::string text = name.field->text(field >> std::countr_zero(name.mask)); !text.empty()) {
                parts[i] = std::move(text);
                left &= ~name.mask;
            }
        }
    }
    std::string_view zero = "0";
    for (const std::size_t i : widest_first_) {
        const Name &name = names_[i];
        if (name.value == 0 && zero == "0")
            zero = name.name;
        if (name.value == 0 || (left & name.value) != name.value)
            continue;
        parts[i] = name.name;
        left &= ~name.value;
    }
    if (value == 0 && parts.empty())
        return std::string(zero);
    if (parts.empty())
        return {};
    std::string text;
    for (const auto &[index, part] : parts)
        text += (text.empty() ? "" : "|") + part;
    if (left != 0)
        text += '|' + number_text(rest_ == NumberForm::typed ? NumberForm::hex : rest_, left);
    return text;
}

std::optional<NamedValues::Known> NamedValues::find(std::string_view wanted) const {
    for (const Name &name : names_) {
        if (!name.field && name.name == wanted)
            return Known{name.value, name.mask};
        if (name.field)
            if (const auto known = name.field->find(wanted))
                return Known{known->value << std::countr_zero(name.mask), name.mask};
    }
    for (const Part &part : parts_)
        if (const auto known = part.values ? part.values->find(wanted) : std::nullopt)
            return Known{known->value << std::countr_zero(part.mask), part.mask};
    return std::nullopt;
}

std::vector<std::pair<std::string_view, std::uint64_t>> NamedValues::names() const {
    std::vector<std::pair<std::string_view, std::uint64_t>> all;
    for (const Name &name : names_)
        if (!name.field)
            all.emplace_back(name.name, name.value);
    return all;
}

} // namespace argtrace
