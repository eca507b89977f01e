// SPDX-License-Identifier: GPL-2.0-only
#include "spec/calls.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "model/probe_kind.h"
#include "spec/meanings.h"
#include "util/error.h"
#include "util/file.h"
#include "util/glob.h"
#include "util/lines.h"
#include "util/suggestion.h"

namespace argtrace {

namespace {

constexpr std::pair<std::string_view, NumberForm> forms[] = {
    {"int", NumberForm::s32},  {"uint", NumberForm::u32}, {"long", NumberForm::s64},   {"size", NumberForm::u64},
    {"addr", NumberForm::pointer}, {"hex", NumberForm::hex},  {"octal", NumberForm::octal}, {"ioc", NumberForm::ioctl},
    {"dev", NumberForm::device}, {"wstatus", NumberForm::wait_status}, {"sigset", NumberForm::signal_set}, {"id", NumberForm::identity},
};

constexpr std::string_view beginnings[] = {"flags ", "values ", "class ", "means ", "type "};

/// The line of what no other names.
constexpr std::string_view any_function = "*";

std::optional<NumberForm> form_of(std::string_view name) {
    for (const auto &[known, form] : forms)
        if (known == name)
            return form;
    return std::nullopt;
}

// As C writes it: 0x10, 020, 16, -100.
std::optional<std::uint64_t> number_of(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative)
        text.remove_prefix(1);
    const bool hex = text.starts_with("0x"), octal = !hex && text.size() > 1 && text.starts_with('0');
    if (hex)
        text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : octal ? 8 : 10);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return negative ? -value : value;
}

std::uint64_t require_number(std::string_view text) {
    if (const auto number = number_of(text))
        return *number;
    throw Error(fmt::format("'{}' is no number", text));
}

// What stands before the colon of a line without its first word, and behind it.
std::pair<std::string_view, std::string_view> halves(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == line.npos)
        throw Error("':' is missing behind the name");
    return {without_blanks(line.substr(0, colon)), without_blanks(line.substr(colon + 1))};
}

std::vector<NamedValues::Known> tested_values(std::string_view list, const NamedValues *values) {
    std::vector<NamedValues::Known> tested;
    for_each_part(list, '|', [&](std::string_view name) {
        if (const auto number = number_of(name)) {
            tested.push_back({*number, 0});
            return;
        }
        const auto known = values ? values->find(name) : std::nullopt;
        if (!known)
            throw Error(fmt::format("{} is none of the values that this argument is shown as", name));
        tested.push_back(*known);
    });
    return tested;
}

} // namespace

std::string ShownAs::text(std::uint64_t value) const {
    std::string text = values ? values->text(value) : std::string();
    return text.empty() ? number_text(form, value) : text;
}

const CallRow::Argument *CallRow::argument(std::string_view name) const {
    const auto found = std::ranges::find(arguments, name, &Argument::name);
    return found == arguments.end() ? nullptr : &*found;
}

bool CallRow::Argument::accepts(std::uint64_t value) const {
    const auto is = [value](const NamedValues::Known &known) {
        if (known.mask != 0)
            return (value & known.mask) == known.value;
        return value == known.value || static_cast<std::int64_t>(value) == static_cast<std::int32_t>(known.value) ||
               value == static_cast<std::uint32_t>(known.value);
    };
    const auto has = [value](const NamedValues::Known &known) {
        return known.mask != 0 ? (value & known.mask) == known.value : (value & known.value) == known.value;
    };
    switch (test) {
    case Test::none:
        return true;
    case Test::is:
        return std::any_of(tested.begin(), tested.end(), is);
    case Test::has:
        return std::any_of(tested.begin(), tested.end(), has);
    case Test::lacks:
        return std::none_of(tested.begin(), tested.end(), has);
    }
    return true;
}

bool Calls::is_line(std::string_view line) {
    line = without_blanks(line);
    if (std::any_of(std::begin(beginnings), std::end(beginnings), [line](std::string_view word) { return line.starts_with(word); }))
        return true;
    const std::size_t parenthesis = line.find('(');
    return line.starts_with(syscall_kind.prefixes.front()) || (parenthesis != line.npos && line.substr(0, parenthesis).find(':') == line.npos);
}

void Calls::add(std::string_view text, const std::string &source, std::vector<std::string> &wrong, bool shipped) {
    std::size_t number = 0;
    for_each_line(text, [&](std::string_view line) {
        ++number;
        line = without_blanks(line);
        if (line.empty() || line.front() == '#' || !is_line(line))
            return;
        const std::string place = fmt::format("{}:{}", source, number);
        try {
            if (line.starts_with("class "))
                add_class(line);
            else if (line.starts_with("means "))
                add_fetches(line);
            else if (line.starts_with("struct "))
                add_struct(line);
            else if (line.starts_with("type "))
                add_type(line);
            else if (line.starts_with("flags ") || line.starts_with("values "))
                add_values(line);
            else
                add_row(line, place, shipped);
        } catch (const Error &error) {
            wrong.push_back(fmt::format("{}: {}\n  {}", place, error.what(), line.substr(0, 100)));
        }
    });
}

// flags NAME [else FORM]: [MASK/]CONSTANT=NUMBER ..., MASK/@NAME for a field that has names of its own
void Calls::add_values(std::string_view line) {
    const bool flags = line.starts_with("flags ");
    auto [head, list] = halves(line.substr(line.find(' ')));
    const std::string_view name = next_word(head);
    std::optional<NumberForm> form;
    if (next_word(head) == "else") {
        const std::string_view word = next_word(head);
        form = form_of(word);
        if (!form)
            throw Error(fmt::format("{} is no form of a number", word));
    }
    if (form_of(name))
        throw Error(fmt::format("{} is a form of numbers already", name));
    std::unique_ptr<NamedValues> &values = values_[std::string(name)];
    if (!values)
        values = std::make_unique<NamedValues>(flags, form.value_or(NumberForm::typed));
    if (values->are_flags() != flags)
        throw Error(fmt::format("{} is a name of {} already", name, flags ? "values" : "flags"));
    for (std::string_view word = next_word(list); !word.empty(); word = next_word(list)) {
        std::uint64_t mask = 0;
        if (const std::size_t slash = word.find('/'); slash != word.npos) {
            mask = require_number(word.substr(0, slash));
            word.remove_prefix(slash + 1);
        }
        const std::size_t equals = word.find('=');
        if (word.starts_with('@') && mask != 0) {
            const NamedValues *field = this->values(word.substr(1));
            if (!field)
                throw Error(fmt::format("no flags or values before this line are called {}", word.substr(1)));
            values->add_field(mask, *field);
        } else if (equals == word.npos) {
            throw Error(fmt::format("{} has no value: write NAME=NUMBER", word));
        } else {
            values->add(std::string(word.substr(0, equals)), require_number(word.substr(equals + 1)), mask);
        }
    }
}

// class %NAME: CALL ...
void Calls::add_class(std::string_view line) {
    auto [name, list] = halves(line.substr(line.find(' ')));
    if (!name.starts_with('%'))
        throw Error("the name of a class begins with %");
    std::vector<std::string> &members = classes_[std::string(name)];
    for (std::string_view word = next_word(list); !word.empty(); word = next_word(list)) {
        if (word.starts_with('%')) {
            const std::vector<std::string> *others = this->members(word);
            if (!others)
                throw Error(fmt::format("no class before this line is called {}", word));
            members.insert(members.end(), others->begin(), others->end());
        } else {
            members.emplace_back(word);
        }
    }
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
}

// means NAME: [out] {EXPR [as NAME], ...}
void Calls::add_fetches(std::string_view line) {
    auto [name, list] = halves(line.substr(line.find(' ')));
    if (!values(name) && !form_of(name))
        throw Error(fmt::format("no flags or values before this line are called '{}'", name));
    std::vector<Fetch> fetches = own_fetches(list);
    if (fetches.empty() || !list.empty())
        throw Error("what is read of it is [out] {EXPR [as NAME], ...}");
    fetches_[std::string(name)] = std::move(fetches);
}

// struct NAME(MEMBER[: SHOWN], ... [, ...])
void Calls::add_struct(std::string_view line) {
    const std::size_t begin = line.find('('), end = line.rfind(')');
    if (begin == line.npos || end == line.npos || end < begin)
        throw Error("a line of a struct is struct NAME(MEMBER: SHOWN, ...)");
    CallStruct made;
    for_each_part(line.substr(begin + 1, end - begin - 1), ',', [&](std::string_view text) {
        if (text == "...") {
            made.has_more = true;
            return;
        }
        const std::size_t colon = text.find(':');
        CallStruct::Member member{std::string(without_blanks(text.substr(0, colon)))};
        if (member.name.empty())
            throw Error("a member has no name");
        if (colon != text.npos)
            member.shown = shown_as(without_blanks(text.substr(colon + 1)));
        made.members.push_back(std::move(member));
    });
    structs_[std::string(without_blanks(line.substr(0, begin).substr(line.find(' '))))] = std::move(made);
}

// type TYPE: SHOWN
void Calls::add_type(std::string_view line) {
    const auto [type, shown] = halves(line.substr(line.find(' ')));
    if (type.empty())
        throw Error("a type is missing before ':'");
    types_.insert_or_assign(std::string(type), shown_as(shown));
}

// CALL ...(NAME[: SHOWN [TEST VALUE|VALUE...]] [[out] {EXPR [as NAME], ...}], ...) [= SHOWN [{EXPR [as NAME], ...}]]
void Calls::add_row(std::string_view line, const std::string &place, bool shipped) {
    const std::size_t begin = line.find('('), end = begin == line.npos ? begin : find_outside(line, ')', begin + 1);
    if (begin == line.npos || end == line.npos)
        throw Error("a line of a call is CALL(ARGUMENT: SHOWN, ...) = SHOWN");
    CallRow row;
    row.source = place;
    row.shipped = shipped;
    const std::string_view list = without_blanks(line.substr(begin + 1, end - begin - 1));
    if (!list.empty())
        for_each_outside(list, ',', [&](std::string_view text) { row.arguments.push_back(argument_of(text)); });
    std::string_view rest = without_blanks(line.substr(end + 1));
    if (rest.starts_with('=')) {
        rest.remove_prefix(1);
        std::vector<Fetch> own = own_fetches(rest);
        row.result = shown_as(rest);
        row.result_fetches = fetches_of(rest, std::move(own));
    } else if (!rest.empty())
        throw Error(fmt::format("'{}' cannot follow the arguments", rest));
    std::string_view titles = line.substr(0, begin);
    for (std::string_view title = next_word(titles); !title.empty(); title = next_word(titles)) {
        std::vector<CallRow> &rows = rows_[std::string(title)];
        if (rows.empty() && title.find('*') != title.npos)
            globs_.emplace_back(title);
        const auto behind_own = std::find_if(rows.begin(), rows.end(), [](const CallRow &other) { return other.shipped; });
        rows.insert(shipped ? rows.end() : behind_own, row);
    }
}

CallRow::Argument Calls::argument_of(std::string_view text) const {
    CallRow::Argument argument;
    argument.fetches = own_fetches(text);
    const std::size_t colon = text.find(':');
    argument.name = without_blanks(text.substr(0, colon));
    if (argument.name.empty())
        throw Error("an argument has no name");
    if (colon == text.npos)
        return argument;
    std::string_view rest = text.substr(colon + 1);
    const std::string_view name = next_word(rest);
    argument.is_ignored = name == "-";
    if (argument.is_ignored)
        return argument;
    argument.shown = shown_as(name);
    argument.fetches = fetches_of(name, std::move(argument.fetches));
    const std::string_view test = next_word(rest);
    if (test.empty())
        return argument;
    using Test = CallRow::Argument::Test;
    argument.test = test == "=" ? Test::is : test == "&" ? Test::has : test == "!&" ? Test::lacks : Test::none;
    if (argument.test == Test::none)
        throw Error(fmt::format("'{}' is no test: there are =, & and !&", test));
    argument.tested = tested_values(without_blanks(rest), argument.shown.values);
    return argument;
}

// Takes "[out] {EXPR [as NAME], ...}" off the end of the text.
std::vector<Fetch> Calls::own_fetches(std::string_view &text) {
    text = without_blanks(text);
    const std::size_t begin = text.find('{');
    if (begin == text.npos)
        return {};
    if (!text.ends_with('}'))
        throw Error("'}' is missing, or something follows it");
    const std::string_view list = text.substr(begin + 1, text.size() - begin - 2);
    text = without_blanks(text.substr(0, begin));
    const bool out = text.ends_with(" out") || text == "out";
    if (out)
        text = without_blanks(text.substr(0, text.size() - 3));
    return parse_fetches(list, out);
}

// Those of what is shown as that name, if it has none of its own.
std::vector<Fetch> Calls::fetches_of(std::string_view shown, std::vector<Fetch> own) const {
    const auto found = fetches_.find(shown);
    return !own.empty() || found == fetches_.end() ? own : found->second;
}

ShownAs Calls::shown_as(std::string_view name) const {
    if (const auto form = form_of(name))
        return {nullptr, *form};
    const NamedValues *found = values(name);
    if (!found) {
        std::vector<std::string_view> names;
        for (const auto &[known, values] : values_)
            names.push_back(known);
        throw Error(fmt::format("no flags or values before this line are called '{}'{}", name, did_you_mean(suggest(name, names))));
    }
    return {found, found->are_flags() && found->rest() == NumberForm::typed ? NumberForm::hex : found->rest()};
}

const std::vector<CallRow> *Calls::rows(std::string_view title) const {
    auto found = rows_.find(title);
    if (found == rows_.end())
        if (const Title parts = split_title(title); *parts.kind == syscall_kind && !parts.qualifier.empty())
            found = rows_.find(title_of(syscall_kind, {}, parts.name));
    if (found == rows_.end() && *split_title(title).kind == function_kind)
        if (const auto glob = std::find_if(globs_.begin(), globs_.end(), [title](const std::string &one) { return glob_matches(one, title); });
            glob != globs_.end())
            found = rows_.find(*glob);
    return found == rows_.end() ? nullptr : &found->second;
}

const std::vector<CallRow> *Calls::rows_naming(std::string_view argument, const std::vector<CallRow> *own) const {
    const auto name_it = [argument](const std::vector<CallRow> &rows) {
        return std::any_of(rows.begin(), rows.end(), [argument](const CallRow &row) { return row.argument(argument) != nullptr; });
    };
    if (own && name_it(*own))
        return own;
    const auto any = rows_.find(any_function);
    return any != rows_.end() && name_it(any->second) ? &any->second : nullptr;
}

const std::vector<std::string> *Calls::members(std::string_view name) const {
    const auto found = classes_.find(name);
    return found == classes_.end() ? nullptr : &found->second;
}

std::vector<std::string_view> Calls::classes() const {
    std::vector<std::string_view> names;
    for (const auto &[name, members] : classes_)
        names.push_back(name);
    return names;
}

const CallStruct *Calls::structure(std::string_view name) const {
    const auto found = structs_.find(name);
    return found == structs_.end() ? nullptr : &found->second;
}

const NamedValues *Calls::values(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : found->second.get();
}

const ShownAs *Calls::otherwise(std::string_view name, std::string_view type) const {
    if (const auto any = rows_.find(any_function); any != rows_.end())
        for (const CallRow &row : any->second)
            if (const CallRow::Argument *argument = row.argument(name))
                return &argument->shown;
    if (type.starts_with("const "))
        type.remove_prefix(6);
    const auto known = types_.find(type);
    return known == types_.end() ? nullptr : &known->second;
}

std::string_view Calls::names_of(const std::vector<CallRow> *rows, bool is_function, std::string_view name, std::string_view type) const {
    const auto name_of = [this](const ShownAs &shown) -> std::string_view {
        for (const auto &[known, values] : values_)
            if (values.get() == shown.values && !values->names().empty())
                return known;
        return {};
    };
    bool is_said = false;
    if (rows)
        for (const CallRow &row : *rows)
            if (const CallRow::Argument *argument = row.argument(name)) {
                is_said = true;
                if (const std::string_view found = name_of(argument->shown); !found.empty())
                    return found;
            }
    const ShownAs *shown = is_said || !is_function ? nullptr : otherwise(name, type);
    return shown ? name_of(*shown) : std::string_view();
}

namespace {

/// The tables of the user, and the one that comes with the tool.
struct SharedCalls {
    Calls calls;
    std::vector<std::string> wrong;

    SharedCalls() {
        calls.add(shipped_calls, "the table of calls", wrong, true);
        for (const std::string &path : user_tables()) {
            try {
                const Text text = read_file(path);
                calls.add(view(text), path, wrong);
            } catch (const std::system_error &) {
                // Meanings::load() says so.
            }
        }
    }

    static const SharedCalls &get() {
        static const SharedCalls shared;
        return shared;
    }
};

} // namespace

const Calls &Calls::shared() {
    return SharedCalls::get().calls;
}

const std::vector<std::string> &Calls::wrong_lines() {
    return SharedCalls::get().wrong;
}

} // namespace argtrace
