// SPDX-License-Identifier: GPL-2.0-only
#include "symbols/kallsyms.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <endian.h>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "util/error.h"
#include "util/lines.h"

namespace argtrace {

namespace {

bool by_address(const Symbol &a, const Symbol &b) {
    return a.addr < b.addr;
}

// "ffffffff81000000 T name" and, tab-separated, "[module]".
std::optional<Symbol> parse_line(std::string_view line) {
    const std::string_view digits = next_word(line);
    const std::string_view type = next_word(line);
    if (type.size() != 1 || std::string_view("tTwW").find(type.front()) == type.npos)
        return std::nullopt;

    Symbol symbol;
    const char *end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, symbol.addr, 16);
    symbol.name = next_word(line);
    if (parsed.ec != std::errc() || parsed.ptr != end || symbol.name.empty())
        return std::nullopt;
    symbol.module = bracketed(next_word(line));
    return symbol;
}

/// A number for the first characters, in the order of the names.
std::uint64_t beginning(std::string_view name) {
    std::uint64_t number = 0;
    std::memcpy(&number, name.data(), std::min(name.size(), sizeof(number)));
    return be64toh(number);
}

} // namespace

Kallsyms Kallsyms::load(const std::string &path) {
    Text text;
    try {
        text = read_file(path);
    } catch (const std::system_error &e) {
        throw Error(
            fmt::format("{}: the kernel's symbols cannot be read: {}", path, e.code().message()));
    }
    Kallsyms symbols(std::move(text));
    if (symbols.symbols_.empty())
        throw Error(fmt::format("{}: it lists no functions", path));
    if (symbols.symbols_.back().addr == 0)
        throw Error(fmt::format("{}: the kernel hides addresses from this user: run argtrace as "
                                "root (and if kernel.kptr_restrict is 2: sysctl "
                                "kernel.kptr_restrict=1)",
                                path));
    return symbols;
}

Kallsyms Kallsyms::parse(std::string_view text) {
    return Kallsyms(Text(text.begin(), text.end()));
}

Kallsyms::Kallsyms(Text text) : text_(std::move(text)) {
    for_each_line(view(text_), [this](std::string_view line) {
        if (const std::optional<Symbol> symbol = parse_line(line))
            symbols_.push_back(*symbol);
    });
    if (!std::is_sorted(symbols_.begin(), symbols_.end(), by_address))
        std::stable_sort(symbols_.begin(), symbols_.end(), by_address);

    // Sorting them is most of what there is to do here: nearly all differ in how they begin.
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
    order.reserve(symbols_.size());
    for (const Symbol &symbol : symbols_)
        order.emplace_back(beginning(symbol.name), static_cast<std::uint32_t>(order.size()));
    std::sort(order.begin(), order.end(), [this](const auto &a, const auto &b) {
        if (a.first != b.first)
            return a.first < b.first;
        const int names = symbols_[a.second].name.compare(symbols_[b.second].name);
        return names < 0 || (names == 0 && a.second < b.second);
    });
    by_name_.reserve(order.size());
    for (const auto &[_, index] : order)
        by_name_.push_back(index);
}

std::optional<Symbol> Kallsyms::at(std::uint64_t addr) const {
    const auto next =
        std::upper_bound(symbols_.begin(), symbols_.end(), Symbol{addr, {}, {}}, by_address);
    if (next == symbols_.begin())
        return std::nullopt;
    // Of several names for one address the kernel itself uses the first.
    return *std::lower_bound(symbols_.begin(), next, *(next - 1), by_address);
}

// The symbols from the one named `first` on, by name, as long as they match.
template<typename Matches>
std::vector<Symbol> Kallsyms::from(std::string_view first, Matches matches) const {
    std::vector<Symbol> found;
    auto index = std::lower_bound(
        by_name_.begin(), by_name_.end(), first,
        [this](std::uint32_t i, std::string_view name) { return symbols_[i].name < name; });
    for (; index != by_name_.end() && matches(symbols_[*index].name); ++index)
        found.push_back(symbols_[*index]);
    return found;
}

std::vector<Symbol> Kallsyms::named(std::string_view name) const {
    return from(name, [name](std::string_view other) { return other == name; });
}

std::vector<Symbol> Kallsyms::clones(std::string_view name) const {
    const std::string prefix = std::string(name) + '.';
    return from(prefix, [&prefix](std::string_view other) { return other.starts_with(prefix); });
}

} // namespace argtrace
