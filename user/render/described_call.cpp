// SPDX-License-Identifier: GPL-2.0-only
#include "render/described_call.h"

#include <algorithm>

#include "model/number.h"
#include "model/probe_kind.h"
#include "model/result.h"
#include "model/type.h"
#include "render/meaning.h"
#include "spec/call_fetches.h"

namespace argtrace {

namespace {

DescribedCall::Role role_of(std::string_view name) {
    if (is_numbered(name, whole_part))
        return DescribedCall::Role::whole;
    if (is_numbered(name, before_part))
        return DescribedCall::Role::before;
    return is_numbered(name, path_part) ? DescribedCall::Role::path : DescribedCall::Role::part;
}

} // namespace

bool is_numbered(std::string_view name, std::string_view part) {
    if (!name.starts_with(part))
        return false;
    name.remove_prefix(part.size());
    return name.empty() || (name.front() == '.' && name.find_first_not_of("0123456789", 1) == name.npos);
}

DescribedCall::DescribedCall(const Probe &probe, const Calls &calls)
    : probe_(probe), rows_(calls.rows(probe.function)), is_syscall_(*split_title(probe.function).kind == syscall_kind) {
    const bool is_function = *split_title(probe.function).kind == function_kind;
    for (const Argument &argument : probe.args) {
        positions_.push_back(argument.loc == ARGTRACE_LOC_REG ? std::optional<std::size_t>(argument.index) : std::nullopt);
        const bool is_argument = argument.loc != ARGTRACE_LOC_PROGRAM && argument.loc != ARGTRACE_LOC_RETURN;
        otherwise_.push_back(is_function && is_argument ? calls.otherwise(argument.name, argument.type_name) : nullptr);
    }
    for (std::size_t value = 0; value < probe.args.size(); ++value)
        cells_.push_back(make_cell(nullptr, value));
    for (std::size_t i = 0; rows_ && i < rows_->size(); ++i) {
        const CallRow &row = (*rows_)[i];
        tests_.push_back(make_tests(row));
        for (std::size_t value = 0; value < probe.args.size(); ++value)
            cells_.push_back(make_cell(&row, value));
    }
    roles_.resize(probe.args.size());
    read_by_.resize(probe.args.size());
    const std::size_t shown = shown_arguments(probe);
    for (std::size_t i = 0; i < shown; ++i) {
        const std::size_t count = count_meanings(probe, i);
        describe_parts(i, i + 1, count);
        i += count;
    }
    if (has_result(probe))
        describe_parts(probe.args.size() - 1, shown, result_meanings(probe));
}

void DescribedCall::describe_parts(std::size_t argument, std::size_t first, std::size_t count) {
    const auto names = rows_ && is_syscall_ ? names_read(argument) : std::vector<std::vector<std::string>>();
    for (std::size_t i = first; i < first + count; ++i) {
        const std::string_view name = meaning_name(probe_, argument, i);
        roles_[i] = role_of(name);
        for (const std::vector<std::string> &own : names)
            read_by_[i].push_back(std::ranges::find(own, name) != own.end());
    }
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

std::vector<DescribedCall::Test> DescribedCall::make_tests(const CallRow &row) const {
    const std::size_t count = shown_arguments(probe_);
    const auto value_of = [&](std::size_t index) -> std::optional<std::size_t> {
        for (std::size_t i = 0; i < count; ++i)
            if (is_syscall_ ? positions_[i] == index : probe_.args[i].name == row.arguments[index].name)
                return i;
        return std::nullopt;
    };
    std::vector<Test> tests;
    for (std::size_t i = 0; i < row.arguments.size(); ++i)
        if (const NumberTest &test = row.arguments[i].test; test.kind != NumberTest::Kind::none)
            tests.push_back({value_of(i), &test});
    return tests;
}

DescribedCall::Choice DescribedCall::choose(const EventView &view) const {
    for (std::size_t i = 0; i < tests_.size(); ++i) {
        bool fits = true;
        for (const Test &test : tests_[i]) {
            const auto number = test.value ? number_of(view.values[*test.value]) : std::nullopt;
            if (!number)
                return {&rows_->back(), false};
            fits = test.test->accepts(*number);
            if (!fits)
                break;
        }
        if (fits)
            return {&(*rows_)[i], true};
    }
    return {};
}

DescribedCall::Cell DescribedCall::make_cell(const CallRow *row, std::size_t value) const {
    Cell cell{shown_as(row, value), nullptr, fetches(row, value), false};
    if (cell.fetches && !cell.fetches->empty()) {
        // A number, as the argument of fcntl(2) is, may be an address in some rows.
        const bool is_pointer = type_info(probe_.args[value].type).type_class == TypeClass::address || cell.fetches->front().name == whole_part;
        cell.behind = is_pointer ? cell.as : nullptr;
    }
    if (row && is_syscall_ && positions_[value])
        cell.is_hidden = *positions_[value] >= row->arguments.size() || row->arguments[*positions_[value]].is_ignored;
    return cell;
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

/// No way where it is an error, or no number.
DescribedCall::Shown DescribedCall::number_shown(const Choice &choice, const EventView &view, std::size_t value) const {
    const ShownAs *as = cell(choice.row, value).as;
    const auto number = as ? number_of(view.values[value]) : std::nullopt;
    if (!number || (probe_.args[value].loc == ARGTRACE_LOC_RETURN && error_number(view.values[value]) != 0))
        return {};
    return {as, *number};
}

DescribedCall::Shown DescribedCall::shown(const Choice &choice, const EventView &view, std::size_t value) const {
    static const ShownAs pointer{.form = NumberForm::pointer};
    Shown shown = number_shown(choice, view, value);
    if (shown.as && shown_behind(choice, value))
        shown.as = &pointer;
    return shown;
}

std::string DescribedCall::name(const Choice &choice, const EventView &view, std::size_t value) const {
    const Shown shown = number_shown(choice, view, value);
    std::string name = shown.as && shown.as->values && !shown_behind(choice, value) ? shown.as->values->text(shown.number) : std::string();
    return name == "0" ? std::string() : name;
}

std::string DescribedCall::number(const Choice &choice, const EventView &view, std::size_t value) const {
    const ShownAs *as = cell(choice.row, value).as;
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

bool DescribedCall::was_read(const Fetch &fetch, const EventView &view) const {
    if (!fetch.at_return() || !has_result(probe_))
        return true;
    return (error_number(view.values.back()) != 0) == (fetch.when == Fetch::When::failure);
}

bool DescribedCall::has_fetched(const Choice &choice, const EventView &view, std::size_t value) const {
    const std::vector<Fetch> *known = cell(choice.row, value).fetches;
    if (!known || known->empty())
        return true; // the table may be another than that of the recording
    const bool is_pointer = type_info(view.values[value].type).type_class == TypeClass::address;
    return (!is_pointer || view.values[value].low != 0) && was_read(known->front(), view);
}

bool DescribedCall::has_part(const Choice &choice, const EventView &view, std::size_t argument, std::string_view name) const {
    const std::vector<Fetch> *known = cell(choice.row, argument).fetches;
    if (!known)
        return true;
    const auto found = std::ranges::find(*known, name, &Fetch::name);
    return found == known->end() || was_read(*found, view);
}

} // namespace argtrace
