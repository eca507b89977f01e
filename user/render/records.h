// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "btf/format.h"
#include "render/load_value.h"
#include "spec/calls.h"

namespace argtrace {

/// The last member, if it is one of characters that takes what is left of the bytes; else null.
inline const Format::Field *flexible_text(const Format &element) {
    const Format::Field *last = element.fields.empty() ? nullptr : &element.fields.back();
    return last && last->bit_size == 0 && last->format->kind == Format::Kind::text && last->format->bytes == 0 ? last : nullptr;
}

/// Calls `visit` with the bytes of each struct of records(), and of what belongs to it. Whether no more follow. Of one that is longer than the bytes
/// what they have is shown, unless it is a text; none follows one that is too short. A struct of which the table of calls does not know how long it
/// is is none.
template<typename Visit>
bool for_each_record(const Format &element, std::span<const std::byte> data, Visit visit) {
    const RecordLength *length = Calls::shared().record_length(element.name);
    const auto field = length ? std::ranges::find(element.fields, length->member, &Format::Field::name) : element.fields.end();
    if (field == element.fields.end())
        return data.empty();
    while (data.size() >= element.bytes) {
        const Value said = load_value(*field->format, behind(data, field->bit_offset / 8));
        const bool is_too_short = said.low < element.bytes, is_there = said.captured && !is_too_short && said.low <= data.size();
        if (!is_there && (!said.captured || flexible_text(element)))
            return false;
        visit(is_there ? data.first(said.low) : is_too_short ? data.first(element.bytes) : data);
        if (!is_there)
            return !is_too_short || data.size() == element.bytes;
        data = behind(data, (said.low + length->alignment - 1) / length->alignment * length->alignment);
    }
    return true;
}

} // namespace argtrace
