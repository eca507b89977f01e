// SPDX-License-Identifier: GPL-2.0-only
#include "spec/calls.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "abi/architecture.h"
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
    {"umode", NumberForm::mode}, {"bits", NumberForm::bit_set}, {"kib", NumberForm::size_limit}, {"epoll_data", NumberForm::epoll_data},
    {"vars", NumberForm::variables},
};

constexpr std::string_view beginnings[] = {"flags ", "values ", "parts ", "class ", "means ", "type ", "records "};

/// What C calls numbers of those many bytes, and the kernel those in the order of the network.
constexpr std::pair<std::string_view, RawPart> raw_types[] = {
    {"char", {1, false, true}}, {"byte", {1}}, {"short", {2}}, {"int", {4}}, {"long", {8}}, {"be16", {2, true}}, {"be32", {4, true}}};

constexpr std::pair<std::string_view, NumberTest::Kind> tests[] = {
    {"=", NumberTest::Kind::is},     {"!=", NumberTest::Kind::is_not}, {"&", NumberTest::Kind::has},
    {"!&", NumberTest::Kind::lacks}, {"<", NumberTest::Kind::less},    {">", NumberTest::Kind::greater},
};

constexpr std::pair<std::string_view, Fetch::When> moments[] = {
    {"out", Fetch::When::success}, {"inout", Fetch::When::both}, {"failed", Fetch::When::failure}};

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
        if (!known && values && values->is_elsewhere(name))
            return;
        if (!known)
            throw Error(fmt::format("{} is none of the values that this argument is shown as", name));
        tested.push_back(*known);
    });
    return tested;
}

// TEST VALUE|VALUE...; nothing is none.
NumberTest test_of(std::string_view text, const NamedValues *values) {
    const std::string_view word = next_word(text);
    if (word.empty())
        return {};
    const auto known = std::ranges::find(tests, word, [](const auto &test) { return test.first; });
    if (known == std::end(tests))
        throw Error(fmt::format("'{}' is no test: there are =, !=, &, !&, < and >", word));
    NumberTest test{known->second, tested_values(without_blanks(text), values)};
    if ((test.kind == NumberTest::Kind::less || test.kind == NumberTest::Kind::greater) && test.values.size() != 1)
        throw Error(fmt::format("'{}' compares with one number", word));
    return test;
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

bool NumberTest::accepts(std::uint64_t value) const {
    const auto is = [value](const NamedValues::Known &known) {
        if (known.mask != 0)
            return (value & known.mask) == known.value;
        return value == known.value || static_cast<std::int64_t>(value) == static_cast<std::int32_t>(known.value) ||
               value == static_cast<std::uint32_t>(known.value);
    };
    const auto has = [value](const NamedValues::Known &known) {
        return known.mask != 0 ? (value & known.mask) == known.value : (value & known.value) == known.value;
    };
    switch (kind) {
    case Kind::none:
        return true;
    case Kind::is:
        return std::any_of(values.begin(), values.end(), is);
    case Kind::is_not:
        return std::none_of(values.begin(), values.end(), is);
    case Kind::has:
        return std::any_of(values.begin(), values.end(), has);
    case Kind::lacks:
        return std::none_of(values.begin(), values.end(), has);
    case Kind::less:
        return value < values.front().value;
    case Kind::greater:
        return value > values.front().value;
    }
    return true;
}

std::optional<RawPart> RawPart::parse(std::string_view path) {
    const std::size_t bracket = path.find('[');
    if (bracket == path.npos || !path.ends_with(']'))
        return std::nullopt;
    const auto known = std::ranges::find(raw_types, path.substr(0, bracket), [](const auto &one) { return one.first; });
    if (known == std::end(raw_types))
        return std::nullopt;
    RawPart part = known->second;
    if (const std::string_view index = path.substr(bracket + 1, path.size() - bracket - 2); !index.empty())
        part.index = static_cast<std::uint32_t>(require_number(index));
    return part;
}

std::optional<std::uint64_t> RawPart::number(std::span<const std::byte> data, std::uint32_t at) const {
    if (at >= data.size() / bytes)
        return std::nullopt;
    std::uint64_t number = 0;
    for (std::uint32_t i = 0; i < bytes; ++i)
        number |= std::to_integer<std::uint64_t>(data[at * bytes + i]) << 8 * (is_big_endian ? bytes - 1 - i : i);
    return number;
}

Calls::Calls() : machine_(native_architecture().machine) {}

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
            else if (line.starts_with("records "))
                add_records(line);
            else if (line.starts_with("type "))
                add_type(line);
            else if (line.starts_with("flags ") || line.starts_with("values "))
                add_values(line);
            else if (line.starts_with("parts "))
                add_parts(line);
            else
                add_row(line, place, shipped);
        } catch (const Error &error) {
            wrong.push_back(fmt::format("{}: {}\n  {}", place, error.what(), line.substr(0, 100)));
        }
    });
}

// flags NAME [on MACHINE] [else FORM]: [MASK/]CONSTANT=NUMBER ..., MASK/@NAME for a field that has names of its own
void Calls::add_values(std::string_view line) {
    const bool flags = line.starts_with("flags ");
    auto [head, list] = halves(line.substr(line.find(' ')));
    const std::string_view name = next_word(head);
    std::optional<NumberForm> form;
    std::string_view word = next_word(head);
    bool is_elsewhere = false;
    if (word == "on") {
        const std::string_view machine = next_word(head);
        if (!find_architecture(machine))
            throw Error(fmt::format("{} is no machine that argtrace knows", machine));
        is_elsewhere = machine != machine_;
        word = next_word(head);
    }
    if (word == "else") {
        const std::string_view known = next_word(head);
        form = form_of(known);
        if (!form)
            throw Error(fmt::format("{} is no form of a number", known));
    }
    if (form_of(name))
        throw Error(fmt::format("{} is a form of numbers already", name));
    std::unique_ptr<NamedValues> &values = values_[std::string(name)];
    if (!values)
        values = std::make_unique<NamedValues>(flags, form.value_or(NumberForm::typed));
    if (values->are_flags() != flags)
        throw Error(fmt::format("{} is a name of {} already", name, flags ? "values" : "flags"));
    for (word = next_word(list); !word.empty(); word = next_word(list)) {
        std::uint64_t mask = 0;
        if (const std::size_t slash = word.find('/'); slash != word.npos) {
            mask = require_number(word.substr(0, slash));
            word.remove_prefix(slash + 1);
        }
        const std::size_t equals = word.find('=');
        if (word.starts_with('@') && mask != 0 && is_elsewhere)
            continue;
        if (word.starts_with('@') && mask != 0) {
            const NamedValues *field = this->values(word.substr(1));
            if (!field)
                throw Error(fmt::format("no flags or values before this line are called {}", word.substr(1)));
            values->add_field(mask, *field);
        } else if (equals == word.npos) {
            throw Error(fmt::format("{} has no value: write NAME=NUMBER", word));
        } else if (is_elsewhere) {
            values->add_elsewhere(std::string(word.substr(0, equals)));
        } else {
            values->add(std::string(word.substr(0, equals)), require_number(word.substr(equals + 1)), mask);
        }
    }
}

// parts NAME: FUNCTION(MASK/SHOWN, ...)
void Calls::add_parts(std::string_view line) {
    const auto [name, list] = halves(line.substr(line.find(' ')));
    const std::size_t begin = list.find('('), end = list.rfind(')');
    if (name.empty() || begin == list.npos || end != list.size() - 1)
        throw Error("a line of parts is parts NAME: FUNCTION(MASK/SHOWN, ...)");
    if (form_of(name) || values(name))
        throw Error(fmt::format("{} is a name already", name));
    auto made = std::make_unique<NamedValues>(false, NumberForm::hex);
    made->set_function(std::string(list.substr(0, begin)));
    for_each_part(list.substr(begin + 1, end - begin - 1), ',', [&](std::string_view part) {
        const std::size_t slash = part.find('/');
        const std::uint64_t mask = slash == part.npos ? 0 : require_number(part.substr(0, slash));
        if (mask == 0)
            throw Error(fmt::format("'{}' is no MASK/SHOWN", part));
        const ShownAs shown = shown_as(part.substr(slash + 1));
        made->add_part(mask, shown.values, shown.form);
    });
    values_[std::string(name)] = std::move(made);
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
        throw Error("what is read of it is [out|inout|failed] {EXPR [as NAME], ...}");
    fetches_[std::string(name)] = std::move(fetches);
}

// struct NAME(MEMBER [as NAME][: SHOWN] [if MEMBER TEST VALUE|VALUE... [&& ...]], ... [, ...])
void Calls::add_struct(std::string_view line) {
    const std::size_t begin = line.find('('), end = line.rfind(')');
    if (begin == line.npos || end == line.npos || end < begin)
        throw Error("a line of a struct is struct NAME(MEMBER: SHOWN, ...)");
    CallStruct made;
    for_each_part(line.substr(begin + 1, end - begin - 1), ',', [&](std::string_view text) {
        if (text == "...")
            made.has_more = true;
        else
            made.members.push_back(member_of(text, made));
    });
    structs_[std::string(without_blanks(line.substr(0, begin).substr(line.find(' '))))] = std::move(made);
}

// What it is shown for is a member that stands before it, or itself.
CallStruct::Member Calls::member_of(std::string_view text, const CallStruct &before) const {
    CallStruct::Member member;
    const std::size_t at = std::min(text.find(" if "), text.size());
    std::string_view rest = text.substr(std::min(at + 4, text.size()));
    text = text.substr(0, at);
    const std::size_t colon = text.find(':');
    if (colon != text.npos)
        member.shown = shown_as(without_blanks(text.substr(colon + 1)));
    const std::string_view head = without_blanks(text.substr(0, colon));
    const std::size_t as = head.find(" as ");
    member.path = without_blanks(head.substr(0, as));
    member.name = as == head.npos ? member.path : std::string(without_blanks(head.substr(as + 4)));
    if (member.path.empty() || member.name.empty())
        throw Error("a member has no name");
    member.is_whole = as != head.npos && member.name == whole_part;
    member.raw = RawPart::parse(member.path);
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find("&&"), rest.size());
        std::string_view condition = without_blanks(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 2, rest.size()));
        const std::string_view path = next_word(condition);
        const auto known = std::ranges::find(before.members, path, &CallStruct::Member::path);
        if (known == before.members.end() && path != member.path)
            throw Error(fmt::format("no member before this one is {}", path));
        const ShownAs &shown = path == member.path ? member.shown : known->shown;
        member.conditions.push_back({std::string(path), test_of(condition, shown.values), RawPart::parse(path)});
        if (member.conditions.back().test.kind == NumberTest::Kind::none)
            throw Error(fmt::format("what {} has to be is missing", path));
    }
    return member;
}

// records STRUCT: MEMBER [ALIGNMENT]
void Calls::add_records(std::string_view line) {
    auto [name, rest] = halves(line.substr(line.find(' ')));
    RecordLength length{std::string(next_word(rest))};
    if (const std::string_view alignment = next_word(rest); !alignment.empty())
        length.alignment = static_cast<std::uint32_t>(require_number(alignment));
    if (name.empty() || length.member.empty() || length.alignment == 0 || !without_blanks(rest).empty())
        throw Error("a line of records is records STRUCT: MEMBER [ALIGNMENT]");
    records_.insert_or_assign(std::string(name), std::move(length));
}

// type TYPE: SHOWN
void Calls::add_type(std::string_view line) {
    const auto [type, shown] = halves(line.substr(line.find(' ')));
    if (type.empty())
        throw Error("a type is missing before ':'");
    types_.insert_or_assign(std::string(type), shown_as(shown));
}

// CALL ...(NAME[: SHOWN [TEST VALUE|VALUE...]] [[WHEN] {EXPR [as NAME], ...}], ...) [= SHOWN [{EXPR [as NAME], ...}]]
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
    argument.test = test_of(rest, argument.shown.values);
    return argument;
}

// Takes "[WHEN] {EXPR [as NAME], ...}" off the end of the text.
std::vector<Fetch> Calls::own_fetches(std::string_view &text) {
    text = without_blanks(text);
    const std::size_t begin = text.find('{');
    if (begin == text.npos)
        return {};
    if (!text.ends_with('}'))
        throw Error("'}' is missing, or something follows it");
    const std::string_view list = text.substr(begin + 1, text.size() - begin - 2);
    text = without_blanks(text.substr(0, begin));
    for (const auto &[word, when] : moments)
        if (text == word || (text.ends_with(word) && text.substr(0, text.size() - word.size()).ends_with(' '))) {
            text = without_blanks(text.substr(0, text.size() - word.size()));
            return parse_fetches(list, when);
        }
    return parse_fetches(list, Fetch::When::entry);
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
    if (const CallStruct *known = found ? nullptr : structure(name))
        return {nullptr, NumberForm::typed, known};
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

const RecordLength *Calls::record_length(std::string_view name) const {
    const auto found = records_.find(name);
    return found == records_.end() ? nullptr : &found->second;
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

    explicit SharedCalls(std::string_view machine) : calls(machine) {
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
        if (other)
            return *other;
        static const SharedCalls shared(native_architecture().machine);
        return shared;
    }

    static std::unique_ptr<const SharedCalls> other; // of the machine that was chosen
};

std::unique_ptr<const SharedCalls> SharedCalls::other;

} // namespace

const Calls &Calls::shared() {
    return SharedCalls::get().calls;
}

void Calls::choose_machine(std::string_view machine) {
    const bool is_native = machine == native_architecture().machine || !find_architecture(machine);
    if (SharedCalls::other && SharedCalls::other->calls.machine_ == machine)
        return;
    SharedCalls::other = is_native ? nullptr : std::make_unique<const SharedCalls>(machine);
}

const std::vector<std::string> &Calls::wrong_lines() {
    return SharedCalls::get().wrong;
}

} // namespace argtrace
