// SPDX-License-Identifier: GPL-2.0-only
#include "render/key_text.h"

#include <algorithm>

#include "model/call_node.h"
#include "model/number.h"
#include "model/result.h"
#include "model/type.h"
#include "render/text.h"
#include "util/errno_name.h"

namespace argtrace {

const Format *caller_format() {
    static const Format format{.kind = Format::Kind::function, .type = ARGTRACE_TYPE_PTR, .bytes = 8};
    return &format;
}

void add_top_frame(TopFrames &frames, const std::string &function, const std::string &frame) {
    const auto [known, added] = frames.try_emplace(function, frame);
    if (!added && known->second != frame)
        known->second = function;
}

KeyText::KeyText(CallerNames &names)
    : names_(names), texts_(names, ValueWriter::Style::text), json_(names, ValueWriter::Style::json) {}

std::string KeyText::text(const KeyColumn &column, const KeyPart &part) {
    line_.clear();
    if (part.value.is_text()) {
        append_visible(line_, part.text);
        if (part.value.cut)
            line_ += "...";
    } else if (part.value.type == ARGTRACE_TYPE_STACK) {
        return stack_in_line(names_, part.value);
    } else {
        if (column.is_result && !column.format &&
            type_info(part.value.type).type_class == TypeClass::integer) {
            const std::uint32_t error = error_number(part.value);
            const std::string_view name = error ? errno_name(error) : std::string_view();
            if (!name.empty())
                return '-' + std::string(name);
        }
        const auto number = described_ && column.shown ? number_of(part.value) : std::nullopt;
        if (!number || !texts_.append_shown(line_, *column.shown, *number))
            append(line_, texts_, column, part);
    }
    return std::string(line_.view());
}

std::string KeyText::described(const KeyColumn &column, const KeyPart &part) const {
    const auto number = described_ && column.shown ? number_of(part.value) : std::nullopt;
    return number && column.shown->values ? column.shown->values->text(*number) : std::string();
}

void KeyText::append_json(std::string &out, const KeyColumn &column, const KeyPart &part) {
    line_.clear();
    if (part.value.type == ARGTRACE_TYPE_STACK)
        argtrace::append_json_stack(line_, names_, part.value);
    else
        append(line_, json_, column, part);
    out += line_.view();
}

void KeyText::append_json_stacks(std::string &out, const StackValues &stacks, const std::string &top) {
    line_.clear();
    argtrace::append_json_stacks(line_, names_, stacks, top);
    if (line_.view().empty())
        return;
    out += line_.view().substr(1);
    out += ',';
}

std::uint64_t KeyText::shared_stack(std::uint64_t id) {
    if (!names_.has_stacks_alike())
        return id;
    const auto stack = names_.stack(id);
    const std::uint64_t shared = stack ? stack->id : 0;
    if (shared == 0 || shared == id || names_.stack(shared))
        return shared == 0 ? id : shared;
    return representatives_.try_emplace(shared, id).first->second;
}

std::optional<Aggregation> KeyText::with_user_stacks(const Aggregation &all, const std::vector<KeyColumn> &columns) {
    bool is_other = std::any_of(columns.begin(), columns.end(), [](const KeyColumn &column) { return column.is_user_function(); });
    for (std::size_t i = 0; i < columns.size() && !is_other; ++i)
        is_other = columns[i].is_user_stack && names_.has_stacks_alike() && std::any_of(all.entries().begin(), all.entries().end(), [&](const auto &one) {
                       const Value &value = one.first[i].value;
                       return value.captured && shared_stack(value.low) != value.low;
                   });
    if (!is_other)
        return std::nullopt;
    Aggregation shared(all.buckets());
    for (const auto &[key, entry] : all.entries()) {
        Key other = key;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (columns[i].is_user_function())
                other[i] = {{0, 0, ARGTRACE_TYPE_STR, true}, stack_functions(names_, {nullptr, &key[i].value}).back()};
            else if (columns[i].is_user_stack && key[i].value.captured)
                other[i].value.low = shared_stack(key[i].value.low);
        }
        shared.add(std::move(other), entry);
    }
    return shared;
}

std::uint32_t KeyText::folded(std::uint32_t name) {
    if (name >= folded_.size())
        folded_.resize(std::max<std::size_t>(names_.numbers(), name + 1));
    if (folded_[name] == 0)
        folded_[name] = names_.number(frame_name(names_.text(name))) + 1;
    return folded_[name] - 1;
}

std::string KeyText::top_frame(const KeyPart &function) const {
    const auto known = top_frames_.find(function.text);
    return known == top_frames_.end() ? function.text : known->second;
}

void KeyText::append(Line &out, ValueWriter &values, const KeyColumn &column,
                     const KeyPart &part) {
    EventView view;
    Value value = part.value;
    if (value.is_text()) {
        view.bytes = std::as_bytes(std::span(part.text));
        value.low = 0;
        value.high = part.text.size();
    }
    values.append(out, view, value, column.format);
}

} // namespace argtrace
