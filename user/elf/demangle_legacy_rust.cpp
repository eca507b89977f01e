// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

#include "elf/demangle_rust.h"
#include "util/hex.h"
#include "util/utf8.h"

namespace argtrace::elf {

namespace {

constexpr std::size_t hash_size = 17; // "h" and 16 digits

bool is_hash(std::string_view part) {
    return part.size() == hash_size && part[0] == 'h' &&
           std::all_of(part.begin() + 1, part.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// What stands for `$NAME$`; empty if nothing does.
std::string escaped(std::string_view name) {
    static constexpr std::pair<std::string_view, std::string_view> known[] = {
        {"SP", "@"}, {"BP", "*"}, {"RF", "&"}, {"LT", "<"}, {"GT", ">"}, {"LP", "("}, {"RP", ")"}, {"C", ","},
    };
    for (const auto &[code, text] : known)
        if (code == name)
            return std::string(text);
    std::string text;
    if (name.starts_with('u') && name.size() <= 7)
        if (const auto character = parse_hex(name.substr(1)); character && *character >= ' ' && *character <= 0x10ffff && *character != 0x7f)
            append_utf8(text, static_cast<std::uint32_t>(*character));
    return text;
}

std::string written(std::string_view part) {
    std::string text;
    if (part.starts_with("_$"))
        part.remove_prefix(1);
    while (!part.empty()) {
        if (part.starts_with("..")) {
            text += "::";
            part.remove_prefix(2);
            continue;
        }
        if (part[0] == '$') {
            const std::size_t end = part.find('$', 1);
            const std::string character = end == std::string_view::npos ? "" : escaped(part.substr(1, end - 1));
            if (!character.empty()) {
                text += character;
                part.remove_prefix(end + 1);
                continue;
            }
        }
        text += part[0];
        part.remove_prefix(1);
    }
    return text;
}

} // namespace

std::optional<LegacyRustName> demangle_legacy_rust(std::string_view symbol) {
    constexpr std::string_view prefix = "_ZN";
    if (!symbol.starts_with(prefix))
        return std::nullopt;
    std::string_view rest = symbol.substr(prefix.size());
    std::vector<std::string_view> parts;
    while (!rest.empty() && rest[0] != 'E') {
        std::size_t size = 0;
        const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        if (problem != std::errc() || size == 0 || size > rest.size())
            return std::nullopt;
        parts.push_back(rest.substr(0, size));
        rest.remove_prefix(size);
    }
    if (rest.empty() || parts.size() < 2 || !is_hash(parts.back()))
        return std::nullopt;
    rest.remove_prefix(1);
    if (!rest.empty() && rest[0] != '.')
        return std::nullopt;
    parts.pop_back();
    LegacyRustName name{"", rest};
    for (const std::string_view part : parts) {
        if (!name.name.empty())
            name.name += "::";
        name.name += written(part);
    }
    return name;
}

} // namespace argtrace::elf
