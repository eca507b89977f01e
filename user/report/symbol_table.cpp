// SPDX-License-Identifier: GPL-2.0-only
#include "report/symbol_table.h"

#include <cstring>
#include <mutex>
#include <utility>

#include "file/format.h"
#include "util/hex.h"
#include "util/lines.h"

namespace argtrace {

namespace {

// "ffffffff81000000 0000000000000040 t name" and, tab-separated, "[module]"; the size may lack.
std::optional<Symbol> parse_line(std::string_view line) {
    const auto addr = parse_hex(next_word(line));
    std::string_view word = next_word(line);
    const auto size = word.size() == 1 ? 0 : parse_hex(word);
    if (word.size() != 1)
        word = next_word(line);
    const std::string_view name = next_word(line);
    if (!addr || !size || word.size() != 1 || name.empty())
        return std::nullopt;
    return Symbol{*addr, name, bracketed(next_word(line)), *size};
}

// Whether a symbol reaches to an address behind its beginning, before the next one.
bool reaches(const Symbol &symbol, std::uint64_t addr) {
    constexpr std::uint64_t function_size_max = 1 << 20;
    return addr - symbol.addr < (symbol.size ? symbol.size : function_size_max);
}

} // namespace

bool SymbolTable::add(std::string_view lines, CodeSpace space) {
    bool good = lines.empty() || lines.back() == '\n';
    const std::unique_lock lock(mutex_);
    for_each_line(lines, [&](std::string_view line) {
        if (const auto symbol = parse_line(line))
            symbols_.try_emplace({space, symbol->addr},
                                 Known{std::string(symbol->name), std::string(symbol->module), symbol->size});
        else
            good = false;
    });
    return good;
}

std::optional<Symbol> SymbolTable::find(CodePlace place) const {
    const std::shared_lock lock(mutex_);
    auto next = symbols_.upper_bound(place);
    if (next == symbols_.begin())
        return std::nullopt;
    --next;
    if (next->first.space != place.space)
        return std::nullopt;
    const Symbol symbol{next->first.address, next->second.name, next->second.module, next->second.size};
    return reaches(symbol, place.address) ? std::optional(symbol) : std::nullopt;
}

bool SymbolTable::add_stacks(std::span<const std::byte> bytes) {
    constexpr std::size_t head = 2 * sizeof(std::uint64_t);
    const std::unique_lock lock(mutex_);
    while (!bytes.empty()) {
        std::uint64_t id, size;
        if (bytes.size() < head)
            return false;
        std::memcpy(&id, bytes.data(), sizeof(id));
        std::memcpy(&size, bytes.data() + sizeof(id), sizeof(size));
        bytes = bytes.subspan(head);
        const std::uint64_t count = size & ~stack_chunk_cut;
        if (count == 0 || count > bytes.size() / sizeof(std::uint64_t))
            return false;
        KnownStack stack{std::vector<std::uint64_t>(count), (size & stack_chunk_cut) != 0};
        std::memcpy(stack.addresses.data(), bytes.data(), count * sizeof(std::uint64_t));
        bytes = bytes.subspan(count * sizeof(std::uint64_t));
        stacks_.try_emplace(id, std::move(stack));
    }
    return true;
}

std::optional<Stack> SymbolTable::stack(std::uint64_t id) const {
    const std::shared_lock lock(mutex_);
    const auto known = stacks_.find(id);
    if (known == stacks_.end())
        return std::nullopt;
    return Stack{known->second.addresses, known->second.cut};
}

} // namespace argtrace
