// SPDX-License-Identifier: GPL-2.0-only
#include "spec/spec.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "lang/expression_error.h"
#include "spec/calls.h"
#include "spec/foreign.h"
#include "util/caret.h"
#include "util/file.h"
#include "util/glob.h"
#include "util/lines.h"
#include "util/suggestion.h"
#include "util/utf8.h"

namespace argtrace {

namespace {

constexpr std::string_view kernel_module = "vmlinux";

bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

bool is_wild(char c) {
    return c == '*' || c == '?';
}

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

class Parser {
public:
    Parser(const std::string &text, PatternSyntax syntax, const std::string &place, std::span<const ProbeKind> kinds)
        : syntax_(syntax), kinds_(kinds) {
        spec_.kind = &kinds.front();
        spec_.text = text;
        spec_.place = place;
        end_ = text.size();
        while (end_ > 0 && is_blank(text[end_ - 1]))
            end_--;
    }

    Spec parse() {
        skip_blanks();
        if (next() == '!') {
            spec_.exclude = true;
            at_++;
            skip_blanks();
        }
        parse_kind();
        parse_qualifier();
        if (syntax_ == PatternSyntax::regex)
            parse_regex();
        else
            parse_glob();
        return std::move(spec_);
    }

private:
    // The character at hand; 0 at the end.
    char next() const { return at_ < end_ ? spec_.text[at_] : '\0'; }

    void skip_blanks() {
        while (is_blank(next()))
            at_++;
    }

    std::string_view rest() const { return std::string_view(spec_.text).substr(at_, end_ - at_); }

    // A word of those characters, or one in quotes.
    Spec::Word take(std::string_view characters) {
        Spec::Word word{{}, at_};
        if (spec_.kind->is_quoted && (next() == '"' || next() == '\'')) {
            const std::optional<std::string_view> quoted = quoted_part(rest());
            if (!quoted)
                fail(at_, "the quotes that begin here are not closed");
            if (quoted->empty())
                fail(at_, "there is nothing between the quotes");
            at_ += quoted->size() + 2;
            return {std::string(*quoted), word.at, true};
        }
        while (at_ < end_ && (is_word(next()) || is_wild(next()) || characters.find(next()) != characters.npos)) {
            if (next() == '(' && !word.text.ends_with('.'))
                break; // the arguments
            word.text += spec_.text[at_++];
        }
        return word;
    }

    // A name whose wildcards are all those of Go's receivers is no glob: "pkg.(*T).M".
    static bool has_receivers_alone(std::string_view name) {
        for (std::size_t i = 0; i < name.size(); ++i)
            if (is_wild(name[i]) && (i < 2 || name.substr(i - 2, 3) != ".(*"))
                return false;
        return name.find('(') != name.npos;
    }

    static Pattern pattern_of(Spec::Word name) {
        const bool is_literal = name.quoted || has_receivers_alone(name.text);
        return is_literal ? Pattern::literal(std::move(name.text)) : Pattern(std::move(name.text));
    }

    // "'x'", whatever its length in UTF-8; "the end".
    std::string shown() const {
        if (at_ >= end_)
            return "the end";
        return fmt::format("'{}'", rest().substr(0, std::max<std::size_t>(utf8_length(rest()), 1)));
    }

    [[noreturn]] void fail(std::size_t at, std::string_view sentence) const {
        throw error_in(spec_, at, sentence);
    }

    void parse_kind() {
        for (const ProbeKind &kind : kinds_) {
            for (const std::string_view prefix : kind.prefixes) {
                if (prefix.empty() || !rest().starts_with(prefix))
                    continue;
                spec_.kind = &kind;
                at_ += prefix.size();
                return;
            }
        }
    }

    void parse_qualifier() {
        const std::size_t begin = at_;
        Spec::Word word = take(spec_.kind->qualifier_characters);
        if (next() != ':') {
            at_ = begin;
            return;
        }
        if (word.text.empty())
            fail(at_, spec_.kind->no_qualifier);
        at_++;
        if (spec_.kind->qualifier == Qualifier::object && word.text == build_word)
            word.text += take_build_id();
        skip_blanks();
        if (spec_.kind->qualifier == Qualifier::module)
            std::replace(word.text.begin(), word.text.end(), '-', '_'); // as the kernel does
        spec_.module = std::move(word);
    }

    // ":1f2e3d4c" of "build:1f2e3d4c:FUNCTION", where the number is long enough not to be a function's name.
    std::string take_build_id() {
        constexpr std::size_t digits_min = 8;
        const std::size_t digits = std::min(rest().find_first_not_of("0123456789abcdefABCDEF"), rest().size());
        if (digits < digits_min || !rest().substr(digits).starts_with(':'))
            return {};
        std::string id = ':' + std::string(rest().substr(0, digits));
        at_ += digits + 1;
        return id;
    }

    static std::string missing_function(const std::string &module) {
        const std::string foreign = explain_foreign_prefix(module, {});
        return foreign.empty() ? fmt::format("a function's name is missing; all of that module "
                                             "are '{}:*'",
                                             module)
                               : foreign;
    }

    // Something follows the function's name, or its arguments.
    [[noreturn]] void fail_at_rest() const {
        const std::string_view name = spec_.pattern.text();
        if (spec_.returns)
            fail(at_, "nothing can follow '=' but 'if' and a condition");
        if (spec_.values)
            fail(at_, "nothing can follow the arguments but 'if' and a condition");
        if (next() == ',')
            fail(at_, "functions are separated by blanks, not by commas");
        if (next() == '[' || next() == '{')
            fail(at_, fmt::format("{} has no meaning here: functions are separated by blanks, and "
                                  "with --regex a pattern may have brackets",
                                  shown()));
        if (next() == '+')
            fail(at_, "a function is traced where it begins: there is no offset to give");
        if (next() == ':') {
            const std::string foreign = spec_.module && spec_.kind->qualifier == Qualifier::module
                                            ? explain_foreign_prefix(spec_.module->text, {})
                                            : "";
            fail(at_, foreign.empty() ? spec_.kind->more_colons : foreign);
        }
        if (next() == '/' && name.empty() && spec_.module && *spec_.kind == function_kind)
            if (const std::string foreign = explain_foreign_object(spec_.module->text, rest()); !foreign.empty())
                fail(spec_.module->at, foreign);
        if (name.empty() || !is_blank(spec_.text[at_ - 1]))
            fail(at_, fmt::format("{} cannot be part of a function's name", shown()));
        if (name == "struct" || name == "union" || name == "enum")
            fail(at_ - 1, "this is a type, and a function is wanted: `argtrace list | grep -w "
                          "TYPE` shows those that take one");
        fail(at_ - 1, "a function's name has no blanks in it: write the name alone, without types, "
                      "and each SPEC as a word of its own");
    }

    void parse_regex() {
        spec_.pattern_at = at_;
        if (at_ == end_)
            fail(at_, "a regular expression is missing");
        try {
            spec_.pattern = Pattern::regex(spec_.text.substr(at_, end_ - at_));
        } catch (const Error &e) {
            fail(at_, fmt::format("this is no regular expression: {}", e.what()));
        }
    }

    void parse_glob() {
        spec_.pattern_at = at_;
        // Go's packages have paths, and its methods receivers: "net/http.(*T).M".
        Spec::Word name = take(std::string(spec_.kind->name_characters) + (*spec_.kind == user_kind ? "/)" : ""));
        if (name.text.empty() && next() == '%')
            name = take_class();
        if (name.text.empty() && next() == '^')
            fail(at_, "'^' begins a regular expression: add --regex to use them");
        if (name.text.empty() && next() == '@')
            fail(at_, "a list can only stand alone: '@FILE'");
        if (name.text.empty() && next() == '!')
            fail(at_, "one '!' is enough");
        if (name.text.empty() && (next() == '\0' || next() == '(') &&
            *spec_.kind != function_kind)
            fail(at_, fmt::format("a {}'s name is missing; all of them are '{}*'",
                                  spec_.kind->noun, spec_.title()));
        if (name.text.empty() && (next() == '\0' || next() == '('))
            fail(at_, spec_.module ? missing_function(spec_.module->text)
                                   : "a function's name is missing; all of them are '*'");
        spec_.pattern = pattern_of(std::move(name));
        skip_blanks();
        if (next() == '(')
            parse_args();
        skip_blanks();
        if (next() == '=') {
            if (!spec_.kind->can_return)
                fail(at_, why_no_return(*spec_.kind));
            if (spec_.exclude)
                fail(at_, "what is excluded returns nothing that is recorded");
            spec_.returns = true;
            at_++;
        }
        skip_blanks();
        if (at_condition())
            parse_condition();
        if (at_ < end_)
            fail_at_rest();
    }

    // "%network"
    Spec::Word take_class() {
        if (*spec_.kind != syscall_kind)
            fail(at_, "classes are those of system calls, as in s:%network");
        Spec::Word name{"%", at_++};
        name.text += take({}).text;
        if (Calls::shared().members(name.text))
            return name;
        const std::vector<std::string_view> classes = Calls::shared().classes();
        const Suggestion likely = suggest(name.text, classes);
        fail(name.at, fmt::format("{} is no class of system calls{}", name.text,
                                  likely.names.empty() ? fmt::format("; there are {}", fmt::join(classes, ", ")) : did_you_mean(likely)));
    }

    /// What a part in the language of expressions throws, as an error of the whole.
    template<typename Parse>
    auto parsed(Parse parse) const {
        try {
            return parse();
        } catch (const lang::ExpressionError &error) {
            throw error_in(spec_, error.at(), error.sentence());
        }
    }

    // "(Request&, int)", as demangled names have it.
    bool at_signature() const {
        static constexpr std::array<std::string_view, 9> numbers{"bool", "char", "double", "float", "int", "long", "short", "unsigned", "void"};
        const std::string_view inside = rest().substr(1, std::min(rest().find(')'), rest().size()) - 1);
        bool has_type = false;
        for_each_part(inside, ',', [&](std::string_view one) {
            const bool is_number = std::ranges::find(numbers, one.substr(one.rfind(' ') + 1)) != numbers.end();
            has_type = has_type || one.ends_with('&') || one.ends_with('*') || is_number;
        });
        return has_type && inside.find('(') == inside.npos && inside.find(" as ") == inside.npos;
    }

    void parse_args() {
        if (spec_.exclude)
            fail(at_, "what is excluded has no arguments to choose");
        if (*spec_.kind == user_kind && spec_.module && at_signature())
            fail(spec_.pattern_at, fmt::format("a name with its signature stands in quotes: u:{}:'{}{}'", spec_.module->text, spec_.pattern.text(),
                                               rest().substr(0, std::min(rest().rfind(')'), rest().size() - 1) + 1)));
        lang::ParsedArguments found =
            parsed([this] { return lang::parse_arguments(spec_.text, at_); });
        at_ = found.end;
        spec_.values = std::move(found.arguments);
    }

    // At `if`, where that is a word.
    bool at_condition() const {
        const char before = at_ > 0 ? spec_.text[at_ - 1] : ' ';
        return rest().starts_with("if") && (rest().size() == 2 || !is_word(rest()[2])) &&
               (is_blank(before) || before == ')' || before == '=');
    }

    void parse_condition() {
        if (spec_.exclude)
            fail(at_, "what is excluded has no condition");
        spec_.condition = parsed([this] { return lang::parse_condition(spec_.text, at_ + 2); });
        at_ = end_;
    }

    Spec spec_;
    PatternSyntax syntax_;
    std::span<const ProbeKind> kinds_;
    std::size_t at_ = 0;
    std::size_t end_ = 0; // where the blanks at the end begin
};

// What stands before a comment: # at the beginning of a word.
std::string_view without_comment(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); i++)
        if (line[i] == '#' && (i == 0 || is_blank(line[i - 1])))
            return line.substr(0, i);
    return line;
}

void parse_file(const std::string &path, PatternSyntax syntax, std::vector<Spec> &specs) {
    Text text;
    try {
        text = read_file(path);
    } catch (const std::system_error &e) {
        throw Error(fmt::format("@{}: the list cannot be read: {}", path, e.code().message()));
    }
    std::size_t number = 0;
    for_each_line(view(text), [&](std::string_view line) {
        number++;
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        line = without_comment(line);
        if (std::all_of(line.begin(), line.end(), is_blank))
            return;
        specs.push_back(
            parse_spec(std::string(line), syntax, fmt::format("{}:{}: ", path, number)));
    });
}

} // namespace

bool Spec::Word::matches(std::string_view word) const {
    return quoted ? word == text : glob_matches(text, word);
}

bool Spec::matches_name(std::string_view name) const {
    const std::vector<std::string> *members = is_class() ? Calls::shared().members(pattern.text()) : nullptr;
    if (members)
        return std::binary_search(members->begin(), members->end(), name);
    // That of a USDT probe is PROVIDER:NAME, and the provider need not be written.
    return pattern.matches(name) || (*kind == usdt_kind && pattern.matches(name.substr(name.find(':') + 1)));
}

bool Spec::matches_title(std::string_view title) const {
    const Title parts = split_title(title);
    if (*kind != *parts.kind || !matches_name(parts.name))
        return false;
    switch (kind->qualifier) {
    case Qualifier::module:
        break;
    case Qualifier::group:
        return !module || module->matches(parts.qualifier);
    case Qualifier::abi:
        return module ? module->matches(parts.qualifier) : parts.qualifier.empty();
    case Qualifier::object:
        return !module || object_matches(module->text, parts.qualifier) || module->matches(parts.qualifier);
    }
    return true;
}

bool Spec::matches(std::string_view function, std::string_view in_module) const {
    return matches_title(function) && (kind->qualifier != Qualifier::module || matches_module(in_module));
}

bool Spec::matches_module(std::string_view in_module) const {
    return !module || module->matches(in_module.empty() ? kernel_module : in_module);
}

std::string Spec::title() const {
    if (kind->qualifier != Qualifier::module)
        return title_of(*kind, module ? std::string_view(module->text) : std::string_view(), pattern.text());
    return module ? fmt::format("{}:{}", module->text, pattern.text()) : pattern.text();
}

std::string why_no_return(const ProbeKind &kind) {
    return fmt::format("a {} returns nothing", kind.noun);
}

Spec parse_spec(const std::string &text, PatternSyntax syntax, const std::string &place, std::span<const ProbeKind> kinds) {
    return Parser(text, syntax, place, kinds).parse();
}

std::vector<Spec> parse_specs(std::span<const std::string> words, PatternSyntax syntax) {
    std::vector<Spec> specs;
    std::vector<std::string> wrong; // a sentence for each word that is, so that none hides others
    for (const std::string &word : words) {
        try {
            if (word.starts_with('@') && word.size() > 1)
                parse_file(word.substr(1), syntax, specs);
            else
                specs.push_back(parse_spec(word, syntax));
        } catch (const Error &error) {
            wrong.emplace_back(error.what());
        }
    }
    if (!wrong.empty())
        throw Error(fmt::format("{}", fmt::join(wrong, "\n")));
    return specs;
}

Error error_in(const Spec &spec, std::size_t at, std::string_view sentence) {
    return Error(spec.place + with_caret(spec.text, at, sentence));
}

Error error_in(const Spec &spec, std::string_view sentence) {
    return Error(spec.place + std::string(sentence));
}

bool is_excluded(std::span<const Spec> specs, std::string_view function, std::string_view module) {
    return std::any_of(specs.begin(), specs.end(), [&](const Spec &spec) {
        return spec.exclude && spec.matches(function, module);
    });
}

} // namespace argtrace
