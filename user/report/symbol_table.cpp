// SPDX-License-Identifier: GPL-2.0-only
#include "report/symbol_table.h"

#include <cstring>
#include <mutex>
#include <utility>

#include "file/format.h"
#include "model/user_frame.h"
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

namespace {

// A line of two words, and then what may have blanks: a path, or the name of a function.
std::optional<std::pair<std::string_view, std::string_view>> words_of(std::string_view line, std::string_view &rest) {
    const std::size_t first = line.find(' '), second = first == line.npos ? first : line.find(' ', first + 1);
    if (second == line.npos || second + 1 == line.size())
        return std::nullopt;
    rest = line.substr(second + 1);
    return std::pair(line.substr(0, first), line.substr(first + 1, second - first - 1));
}

} // namespace

bool SymbolTable::add_objects(std::string_view lines) {
    bool good = lines.empty() || lines.back() == '\n';
    const std::unique_lock lock(mutex_);
    for_each_line(lines, [&](std::string_view line) {
        std::string_view path;
        const auto words = words_of(line, path);
        const auto number = words ? parse_hex(words->first) : std::nullopt;
        if (!number || *number > ARGTRACE_OBJECTS_MAX) {
            good = false;
            return;
        }
        const std::string_view build_id = words->second == no_build_id ? std::string_view() : words->second;
        objects_.try_emplace(static_cast<std::uint32_t>(*number),
                             KnownObject{{std::string(path), std::string(build_id)}, std::string(path.substr(path.rfind('/') + 1))});
    });
    return good;
}

bool SymbolTable::add_places(std::string_view lines) {
    bool good = lines.empty() || lines.back() == '\n';
    const std::unique_lock lock(mutex_);
    for_each_line(lines, [&](std::string_view line) {
        std::string_view name;
        const auto words = words_of(line, name);
        const auto word = words ? parse_hex(words->first) : std::nullopt;
        const auto offset = words ? parse_hex(words->second) : std::nullopt;
        if (word && offset && *offset <= (*word & ARGTRACE_FRAME_OFFSET_MASK))
            places_.try_emplace(*word, KnownPlace{std::string(name), *offset});
        else
            good = false;
    });
    return good;
}

std::optional<CodeObject> SymbolTable::object(std::uint32_t number) const {
    const std::shared_lock lock(mutex_);
    const auto known = objects_.find(number);
    return known == objects_.end() ? std::nullopt : std::optional(known->second.object);
}

// The function, or where that is not known the object.
std::optional<Symbol> SymbolTable::find_user(std::uint64_t word) const {
    if (const auto place = places_.find(word); place != places_.end())
        return Symbol{word - place->second.offset, place->second.name, {}, 0};
    const UserFrame frame(word);
    if (const auto object = objects_.find(frame.object); object != objects_.end())
        return Symbol{word - frame.offset, object->second.shown, {}, 0};
    return std::nullopt;
}

std::optional<Symbol> SymbolTable::find(CodePlace place) const {
    const std::shared_lock lock(mutex_);
    if (place.space == CodeSpace::user)
        if (const auto found = find_user(place.address))
            return found;
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
    const std::vector<std::uint64_t> &addresses = known->second.addresses;
    const bool user = (addresses.front() >> 62) == 1; // ARGTRACE_FRAME_USER, which no address of the kernel has alone
    return Stack{addresses, known->second.cut, user ? CodeSpace::user : CodeSpace::kernel};
}

} // namespace argtrace
