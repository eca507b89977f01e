// SPDX-License-Identifier: GPL-2.0-only
#include "render/described_call.h"

#include <algorithm>

#include "model/probe_kind.h"
#include "model/result.h"
#include "model/type.h"
#include "spec/call_fetches.h"

namespace argtrace {

namespace {

/// As many bits as the type has; nothing of what is no number.
std::optional<std::uint64_t> number_of(const Value &value) {
    const TypeInfo &type = type_info(value.type);
    const bool is_number = type.type_class == TypeClass::integer || type.type_class == TypeClass::address;
    if (!value.captured || !is_number || type.is_wide())
        return std::nullopt;
    return type.size < sizeof(std::uint64_t) ? value.low & ((std::uint64_t{1} << 8 * type.size) - 1) : value.low;
}

} // namespace

DescribedCall::DescribedCall(const Probe &probe, const Calls &calls)
    : probe_(probe), rows_(calls.rows(probe.function)), is_syscall_(*split_title(probe.function).kind == syscall_kind) {
    const bool is_function = *split_title(probe.function).kind == function_kind;
    for (const Argument &argument : probe.args) {
        positions_.push_back(argument.loc == ARGTRACE_LOC_REG ? std::optional<std::size_t>(argument.index) : std::nullopt);
        const bool is_argument = argument.loc != ARGTRACE_LOC_PROGRAM && argument.loc != ARGTRACE_LOC_RETURN;
        otherwise_.push_back(is_function && is_argument ? calls.otherwise(argument.name, argument.type_name) : nullptr);
    }
    read_by_.resize(probe.args.size());
    for (std::size_t i = 0; rows_ && is_syscall_ && i < probe.args.size(); ++i)
        read_by_[i] = names_read(i);
}

std::vector<std::vector<std::string>> DescribedCall::names_read(std::size_t value) const {
    std::vector<const std::vector<Fetch> *> lists;
    for (const CallRow &row : *rows_)
        if (const std::vector<Fetch> *list = fetches(&row, value))
            lists.push_back(list);
    const auto named = named_fetches(lists, !split_title(probe_.function).qualifier.empty());
    if (named.empty())
        return {};
    std::vector<std::vector<std::string>> names(rows_->size());
    for (std::size_t i = 0; i < rows_->size(); ++i)
        if (const std::vector<Fetch> *list = fetches(&(*rows_)[i], value))
            for (const auto &[fetch, name] : named)
                if (std::ranges::find(*list, *fetch) != list->end())
                    names[i].push_back(name);
    return names;
}

DescribedCall::Choice DescribedCall::choose(const EventView &view) const {
    if (!rows_)
        return {};
    const std::size_t count = shown_arguments(probe_);
    const auto value_of = [&](const CallRow &row, std::size_t index) -> std::optional<std::uint64_t> {
        for (std::size_t i = 0; i < count; ++i)
            if (is_syscall_ ? positions_[i] == index : probe_.args[i].name == row.arguments[index].name)
                return number_of(view.values[i]);
        return std::nullopt;
    };
    for (const CallRow &row : *rows_) {
        bool fits = true;
        for (std::size_t i = 0; fits && i < row.arguments.size(); ++i) {
            if (row.arguments[i].test.kind == NumberTest::Kind::none)
                continue;
            const auto value = value_of(row, i);
            if (!value)
                return {&rows_->back(), false};
            fits = row.arguments[i].test.accepts(*value);
        }
        if (fits)
            return {&row, true};
    }
    return {};
}

const ShownAs *DescribedCall::shown_as(const CallRow *row, std::size_t value) const {
    if (!row)
        return otherwise_[value];
    const Argument &argument = probe_.args[value];
    if (argument.loc == ARGTRACE_LOC_RETURN)
        return &row->result;
    if (argument.loc == ARGTRACE_LOC_PROGRAM)
        return nullptr;
    if (is_syscall_)
        return positions_[value] && *positions_[value] < row->arguments.size() ? &row->arguments[*positions_[value]].shown : nullptr;
    const CallRow::Argument *known = row->argument(argument.name);
    return known ? &known->shown : otherwise_[value];
}

DescribedCall::Shown DescribedCall::shown(const Choice &choice, const EventView &view, std::size_t value) const {
    const ShownAs *as = shown_as(choice.row, value);
    const auto number = as ? number_of(view.values[value]) : std::nullopt;
    if (!number || (probe_.args[value].loc == ARGTRACE_LOC_RETURN && error_number(view.values[value]) != 0))
        return {};
    return {as, *number};
}

std::string DescribedCall::text(const Choice &choice, const EventView &view, std::size_t value) const {
    const Shown shown = this->shown(choice, view, value);
    if (shown.as && shown_behind(choice, value))
        return number_text(NumberForm::pointer, shown.number);
    return shown.as ? shown.as->text(shown.number) : std::string();
}

std::string DescribedCall::name(const Choice &choice, const EventView &view, std::size_t value) const {
    const Shown shown = this->shown(choice, view, value);
    std::string name = shown.as && shown.as->values && !shown_behind(choice, value) ? shown.as->values->text(shown.number) : std::string();
    return name == "0" ? std::string() : name;
}

std::string DescribedCall::number(const Choice &choice, const EventView &view, std::size_t value) const {
    const ShownAs *as = shown_as(choice.row, value);
    const auto number = number_of(view.values[value]);
    return as && number && as->form == NumberForm::s32 && !shown_behind(choice, value) ? number_text(NumberForm::s32, *number) : std::string();
}

const std::vector<Fetch> *DescribedCall::fetches(const CallRow *row, std::size_t value) const {
    if (!row || !is_syscall_)
        return nullptr;
    if (probe_.args[value].loc == ARGTRACE_LOC_RETURN)
        return &row->result_fetches;
    return positions_[value] && *positions_[value] < row->arguments.size() ? &row->arguments[*positions_[value]].fetches : nullptr;
}

const ShownAs *DescribedCall::shown_behind(const Choice &choice, std::size_t argument) const {
    const std::vector<Fetch> *known = fetches(choice.row, argument);
    if (!known || known->empty())
        return nullptr;
    // A number, as the argument of fcntl(2) is, may be an address in some rows.
    const bool is_pointer = type_info(probe_.args[argument].type).type_class == TypeClass::address || known->front().name == whole_part;
    return is_pointer ? shown_as(choice.row, argument) : nullptr;
}

bool DescribedCall::was_read(const Fetch &fetch, const EventView &view) const {
    if (!fetch.at_return() || !has_result(probe_))
        return true;
    return (error_number(view.values.back()) != 0) == (fetch.when == Fetch::When::failure);
}

bool DescribedCall::has_fetched(const Choice &choice, const EventView &view, std::size_t value) const {
    const std::vector<Fetch> *known = fetches(choice.row, value);
    if (!known || known->empty())
        return true; // the table may be another than that of the recording
    const bool is_pointer = type_info(view.values[value].type).type_class == TypeClass::address;
    return (!is_pointer || view.values[value].low != 0) && was_read(known->front(), view);
}

bool DescribedCall::has_part(const Choice &choice, const EventView &view, std::size_t argument, std::string_view name) const {
    const std::vector<Fetch> *known = fetches(choice.row, argument);
    if (!known)
        return true;
    const auto found = std::ranges::find(*known, name, &Fetch::name);
    return found == known->end() || was_read(*found, view);
}

bool DescribedCall::is_of_row(const Choice &choice, std::size_t argument, std::string_view name) const {
    if (!choice.row || !choice.is_sure || read_by_[argument].empty())
        return true;
    const std::vector<std::string> &own = read_by_[argument][static_cast<std::size_t>(choice.row - rows_->data())];
    return std::ranges::find(own, name) != own.end();
}

bool DescribedCall::is_hidden(const Choice &choice, std::size_t argument) const {
    const CallRow *row = choice.row;
    if (!row || !choice.is_sure || !is_syscall_ || !positions_[argument])
        return false;
    const std::size_t position = *positions_[argument];
    return position >= row->arguments.size() || row->arguments[position].is_ignored;
}

} // namespace argtrace
