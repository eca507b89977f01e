// SPDX-License-Identifier: GPL-2.0-only
#include "spec/call_fetches.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/probe_kind.h"

namespace argtrace {

namespace {

/// The test as an expression, of an argument of that name.
std::string test_of(const NumberTest &test, const std::string &name) {
    using Kind = NumberTest::Kind;
    if (test.kind == Kind::less || test.kind == Kind::greater)
        return fmt::format("(unsigned long){} {} {}", name, test.kind == Kind::less ? '<' : '>', test.values.front().value);
    const bool compares = test.kind == Kind::is || test.kind == Kind::is_not;
    std::vector<std::string> terms;
    for (const NamedValues::Known &known : test.values) {
        const std::uint64_t mask = known.mask != 0 ? known.mask : known.value;
        if (compares && known.mask == 0)
            terms.push_back(fmt::format("(int){} == (int){:#x}", name, static_cast<std::uint32_t>(known.value)));
        else
            terms.push_back(fmt::format("({} & {:#x}) == {:#x}", name, mask, known.value));
    }
    const std::string any = fmt::format("({})", fmt::join(terms, " || "));
    return test.kind == Kind::lacks || test.kind == Kind::is_not ? '!' + any : any;
}

/// What the row has of a parameter, which of a system call is known by its place, and of a function by its name; null: nothing.
const CallRow::Argument *argument_of(const CallRow &row, const Prototype &prototype, std::size_t parameter) {
    if (*split_title(prototype.function).kind == syscall_kind)
        return parameter < row.arguments.size() ? &row.arguments[parameter] : nullptr;
    return row.argument(prototype.parameters[parameter].name);
}

/// The calls that have the row, as an expression; empty: all.
std::string condition_of(const CallRow &row, const Prototype &prototype) {
    std::vector<std::string> tests;
    for (std::size_t i = 0; i < prototype.parameters.size(); ++i)
        if (const CallRow::Argument *argument = argument_of(row, prototype, i); argument && argument->test.kind != NumberTest::Kind::none)
            tests.push_back(test_of(argument->test, prototype.parameters[i].name));
    return fmt::format("{}", fmt::join(tests, " && "));
}

const std::vector<Fetch> &fetches_of(const CallRow &row, const Prototype &prototype, std::optional<std::uint32_t> parameter) {
    static const std::vector<Fetch> none;
    if (!parameter)
        return row.result_fetches;
    const CallRow::Argument *argument = argument_of(row, prototype, *parameter);
    return argument ? argument->fetches : none;
}

/// Names of the row become those that the kernel's prototype has at their places.
std::string in_words_of(const Prototype &prototype, const CallRow &row, std::string expression) {
    for (std::size_t i = 0; i < prototype.parameters.size(); ++i)
        if (const CallRow::Argument *argument = argument_of(row, prototype, i); argument && argument->name != prototype.parameters[i].name)
            expression = with_name(expression, argument->name, prototype.parameters[i].name);
    return expression;
}

/// In which calls it is to be read; empty: in all.
std::string condition_of(const std::vector<CallRow> &rows, const Prototype &prototype, std::optional<std::uint32_t> parameter,
                         const Fetch &fetch) {
    const auto has = [&](const CallRow &row) {
        const std::vector<Fetch> &fetches = fetches_of(row, prototype, parameter);
        return std::find(fetches.begin(), fetches.end(), fetch) != fetches.end();
    };
    if (std::all_of(rows.begin(), rows.end(), has))
        return "";
    std::vector<std::string> any, before;
    for (const CallRow &row : rows) {
        const std::string own = condition_of(row, prototype);
        if (!has(row)) {
            if (!own.empty())
                before.push_back(fmt::format("!({})", own));
            continue;
        }
        if (own.empty() && before.empty())
            return "";
        any.push_back(own.empty() ? fmt::format("{}", fmt::join(before, " && ")) : own);
    }
    return fmt::format("({})", fmt::join(any, ") || ("));
}

bool depends_on_layout(const std::string &expression) {
    return expression.find_first_of("*[") != expression.npos || expression.find("->") != expression.npos || has_name(expression, "array") ||
           has_name(expression, "strs") || has_name(expression, "head") || has_name(expression, "pointers") || has_name(expression, "records");
}

} // namespace

std::vector<std::pair<const Fetch *, std::string>> named_fetches(const std::vector<const std::vector<Fetch> *> &lists, bool is_narrow) {
    std::vector<std::pair<const Fetch *, std::string>> named;
    for (const std::vector<Fetch> *list : lists)
        for (const Fetch &fetch : *list) {
            const auto is_same = [&](const auto &other) { return *other.first == fetch; };
            if (std::ranges::any_of(named, is_same) || (is_narrow && depends_on_layout(fetch.expression)))
                continue;
            const auto same = std::ranges::count_if(named, [&](const auto &other) { return other.first->name == fetch.name; });
            named.emplace_back(&fetch, same == 0 ? fetch.name : fmt::format("{}.{}", fetch.name, same + 1));
        }
    return named;
}

std::vector<lang::ArgumentExpression> fetched_values(const std::vector<CallRow> &rows, const Prototype &prototype,
                                                     std::optional<std::uint32_t> parameter) {
    const std::string subject = parameter ? prototype.parameters[*parameter].name : std::string(lang::result_name);
    const Title title = split_title(prototype.function);
    const bool is_narrow = *title.kind == syscall_kind && !title.qualifier.empty();
    std::vector<const std::vector<Fetch> *> lists;
    for (const CallRow &row : rows)
        lists.push_back(&fetches_of(row, prototype, parameter));
    std::vector<lang::ArgumentExpression> values;
    for (const auto &[known, name] : named_fetches(lists, is_narrow)) {
        const Fetch &fetch = *known;
        const auto row = std::ranges::find_if(rows, [&](const CallRow &one) {
            const std::vector<Fetch> &own = fetches_of(one, prototype, parameter);
            return std::ranges::find(own, fetch) != own.end();
        });
        std::string text = in_words_of(prototype, *row, fetch.expression);
        std::string condition = condition_of(rows, prototype, parameter, fetch);
        // As bytes a number may be absent, and be read again at the return.
        if (text.starts_with('*'))
            condition = condition.empty() ? "it != 0" : fmt::format("it != 0 && ({})", condition);
        // A length that the result says is negative where the call has failed.
        if (fetch.at_return() && !has_name(text, lang::result_name)) {
            const std::string_view ended = fetch.when == Fetch::When::failure ? "ret < 0" : "ret >= 0";
            condition = condition.empty() ? std::string(ended) : fmt::format("{} && ({})", ended, condition);
        }
        if (!condition.empty())
            text = fmt::format("only({}, {})", text, condition);
        if (fetch.at_return())
            text = fmt::format("({})@ret", text);
        for (lang::ArgumentExpression &value : lang::parse_values(text)) {
            value.subject = subject;
            value.name = fmt::format("{}.{}", subject, name);
            value.named = value.optional = value.lenient = true;
            values.push_back(std::move(value));
        }
    }
    return values;
}

} // namespace argtrace
