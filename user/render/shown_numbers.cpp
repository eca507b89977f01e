// SPDX-License-Identifier: GPL-2.0-only
#include "render/shown_numbers.h"

namespace argtrace {

namespace {

std::size_t hash(const NamedValues *values, NumberForm form, std::uint64_t number) {
    constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15; // 2^64 divided by the golden ratio
    const std::uint64_t key = number + reinterpret_cast<std::uintptr_t>(values) + static_cast<std::uint64_t>(form);
    return static_cast<std::size_t>(key * multiplier >> 56);
}

} // namespace

/// Those that take less than to look for them; false: it is none of them.
bool ShownNumbers::append_plain(Line &out, NumberForm form, std::uint64_t number) {
    switch (form) {
    case NumberForm::s32:
        out.append_signed(static_cast<std::int32_t>(number));
        return true;
    case NumberForm::u32:
        out.append_decimal(static_cast<std::uint32_t>(number));
        return true;
    case NumberForm::s64:
        out.append_signed(static_cast<std::int64_t>(number));
        return true;
    case NumberForm::u64:
        out.append_decimal(number);
        return true;
    case NumberForm::hex:
        out.append_hex(number);
        return true;
    case NumberForm::pointer:
        if (number == 0)
            out += "NULL";
        else
            out.append_hex(number);
        return true;
    default:
        break;
    }
    return false;
}

bool ShownNumbers::append(Line &out, const ShownAs &as, std::uint64_t number) {
    if (!as.values && append_plain(out, as.form, number))
        return true;
    Known &known = known_[hash(as.values, as.form, number)];
    if (known.values != as.values || known.form != as.form || known.number != number)
        known = {as.values, as.form, number, as.text(number)};
    out += known.text;
    return !known.text.empty();
}

} // namespace argtrace
