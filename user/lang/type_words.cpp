// SPDX-License-Identifier: GPL-2.0-only
#include "lang/type_words.h"

#include <algorithm>
#include <array>

namespace argtrace::lang {

namespace {

constexpr std::array<std::string_view, 2> qualifier_words{"const", "volatile"};
constexpr std::array<std::string_view, 11> basic_words{"unsigned", "signed", "char",  "short", "int",  "long",
                                                       "void",     "_Bool",  "bool",  "float", "double"};
constexpr std::array<std::string_view, 5> shorthands{"uint", "ulong", "ushort", "uchar", "unchar"};

template<typename Words>
bool contains(const Words &words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

} // namespace

bool is_type_keyword(std::string_view word) {
    return contains(qualifier_words, word) || contains(basic_words, word);
}

std::optional<std::string> basic_type(std::span<const std::string> words) {
    int is_unsigned = 0, is_signed = 0, longs = 0, shorts = 0, ints = 0;
    std::string_view other;
    for (const std::string &word : words) {
        if (word == "unsigned")
            is_unsigned++;
        else if (word == "signed")
            is_signed++;
        else if (word == "long")
            longs++;
        else if (word == "short")
            shorts++;
        else if (word == "int")
            ints++;
        else if (contains(qualifier_words, word))
            continue;
        else if (!other.empty())
            return std::nullopt;
        else
            other = word == "bool" ? "_Bool" : std::string_view(word);
    }
    const int signs = is_unsigned + is_signed;
    if (signs > 1 || longs > 2 || shorts > 1 || ints > 1 || (longs && shorts))
        return std::nullopt;
    const std::string sign = is_unsigned ? "unsigned " : "";
    if (!other.empty()) {
        if (longs || shorts || ints || (signs && other != "char"))
            return std::nullopt;
        return (is_signed ? "signed " : sign) + std::string(other);
    }
    if (!signs && !longs && !shorts && !ints)
        return std::nullopt;
    return sign + (shorts ? "short" : longs == 2 ? "long long" : longs ? "long" : "int");
}

bool looks_like_type(std::string_view name) {
    if (contains(shorthands, name) || (name.size() > 2 && name.ends_with("_t")))
        return true;
    if (name.starts_with("__"))
        name.remove_prefix(2);
    if (name.starts_with("be") || name.starts_with("le"))
        name.remove_prefix(2);
    else if (name.starts_with("u") || name.starts_with("s"))
        name.remove_prefix(1);
    else
        return false;
    constexpr std::array<std::string_view, 4> widths{"8", "16", "32", "64"};
    return contains(widths, name);
}

} // namespace argtrace::lang
