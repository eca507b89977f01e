// SPDX-License-Identifier: GPL-2.0-only
#include "spec/library_prototypes.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "model/probe_kind.h"
#include "spec/call_parts.h"
#include "util/error.h"
#include "util/lines.h"

namespace argtrace {

namespace {

bool is_name(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

bool is_word_of_types(std::string_view word) {
    constexpr std::string_view words[] = {"const", "volatile", "restrict", "signed", "unsigned", "char", "short", "int", "long",
                                          "float", "double", "void", "bool", "_Bool", "struct", "union", "enum"};
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

/// A type and the name behind it, "const char *s".
class Declaration {
public:
    explicit Declaration(std::string_view text) : text_(text) {
        if (const std::size_t function = text.find("(*"); function != text.npos)
            parse_function(function);
        else
            parse();
    }

    std::string type, name;

private:
    void parse() {
        bool complete = false; // the words so far are a type
        std::string_view rest = text_;
        while (!(rest = without_blanks(rest)).empty()) {
            if (rest.front() == '*') {
                type += type.ends_with('*') ? "*" : " *";
                rest.remove_prefix(1);
                continue;
            }
            if (rest.front() == '[') {
                const std::size_t end = rest.find(']');
                if (end == rest.npos)
                    fail("']' is missing");
                type += type.ends_with('*') ? "*" : " *";
                rest.remove_prefix(end + 1);
                continue;
            }
            const std::string_view word = rest.substr(0, static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_name) - rest.begin()));
            if (word.empty())
                fail(fmt::format("'{}' is not understood", rest.front()));
            rest.remove_prefix(word.size());
            take(word, complete);
        }
        if (type.empty())
            fail("a type is missing");
    }

    void take(std::string_view word, bool &complete) {
        if (word == "restrict" || word == "__restrict" || word == "volatile")
            return;
        const bool is_tag = type.ends_with("struct") || type.ends_with("union") || type.ends_with("enum");
        if (!name.empty())
            fail(fmt::format("'{}' follows a name", word));
        if (!is_tag && !is_word_of_types(word) && complete) {
            name = word;
            return;
        }
        type += type.empty() ? "" : " ";
        type += word;
        complete = complete || (word != "const" && word != "struct" && word != "union" && word != "enum");
    }

    // "int (*compare)(const void *, const void *)"
    void parse_function(std::size_t at) {
        const std::size_t end = text_.find(')', at);
        if (end == text_.npos)
            fail("')' is missing");
        name = without_blanks(text_.substr(at + 2, end - at - 2));
        type = "void *";
    }

    [[noreturn]] void fail(std::string_view why) const { throw Error(fmt::format("'{}' is no parameter: {}", text_, why)); }

    std::string_view text_;
};

/// By library, as SPECs call it, and function.
using Prototypes = std::map<std::string, std::map<std::string, std::string, std::less<>>, std::less<>>;

std::string_view name_in(std::string_view prototype) {
    const std::string_view head = without_blanks(prototype.substr(0, prototype.find('(')));
    const auto begin = std::find_if_not(head.rbegin(), head.rend(), is_name).base();
    return head.substr(static_cast<std::size_t>(begin - head.begin()));
}

const Prototypes &shipped() {
    static const Prototypes prototypes = [] {
        Prototypes made;
        std::string library;
        for_each_line(shipped_library_prototypes, [&](std::string_view line) {
            line = without_blanks(line);
            if (line.empty() || line.front() == '#')
                return;
            if (line.ends_with(':'))
                library = line.substr(0, line.size() - 1);
            else
                made[library].emplace(name_in(line), line);
        });
        return made;
    }();
    return prototypes;
}

} // namespace

WrittenPrototype parse_prototype(std::string_view text) {
    text = without_blanks(text);
    if (text.ends_with(';'))
        text = without_blanks(text.substr(0, text.size() - 1));
    const std::size_t begin = text.find('(');
    if (begin == text.npos || !text.ends_with(')'))
        throw Error(fmt::format("'{}' is no prototype: write it as C does, 'size_t strlen(const char *s)'", text));
    const Declaration function(text.substr(0, begin));
    if (function.name.empty())
        throw Error(fmt::format("'{}' is no prototype: the function's name is missing", text));
    WrittenPrototype prototype{function.type, function.name, {}};
    const std::string_view list = without_blanks(text.substr(begin + 1, text.size() - begin - 2));
    if (list.empty() || list == "void")
        return prototype;
    for_each_outside(list, ',', [&](std::string_view part) {
        if (prototype.variadic)
            throw Error(fmt::format("'{}' is no prototype: nothing can follow '...'", text));
        if (part == "...") {
            prototype.variadic = true;
            return;
        }
        Declaration parameter(part);
        if (parameter.name.empty())
            parameter.name = fmt::format("arg{}", prototype.parameters.size());
        prototype.parameters.push_back({std::move(parameter.type), std::move(parameter.name)});
    });
    return prototype;
}

std::optional<WrittenPrototype> find_library_prototype(std::string_view library, std::string_view function) {
    for (const auto &[name, functions] : shipped()) {
        if (!object_matches(name, library))
            continue;
        if (const auto found = functions.find(function); found != functions.end())
            return parse_prototype(found->second);
    }
    return std::nullopt;
}

} // namespace argtrace
