// SPDX-License-Identifier: GPL-2.0-only
#include "report/symbol_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

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

/// "\tOFFSET\tADDRESS\tSIZE", below the line of its object.
std::optional<CodeSegment> parse_segment(std::string_view line) {
    std::array<std::uint64_t, 3> numbers;
    for (std::uint64_t &number : numbers) {
        const std::size_t end = std::min(line.find('\t', 1), line.size());
        const auto parsed = line.starts_with('\t') ? parse_hex(line.substr(1, end - 1)) : std::nullopt;
        if (!parsed)
            return std::nullopt;
        number = *parsed;
        line.remove_prefix(end);
    }
    return line.empty() ? std::optional(CodeSegment{numbers[0], numbers[1], numbers[2]}) : std::nullopt;
}

} // namespace

bool SymbolTable::add_objects(std::string_view lines) {
    bool good = lines.empty() || lines.back() == '\n';
    std::vector<CodeSegment> already_known, *segments = nullptr; // of the object before
    const std::unique_lock lock(mutex_);
    for_each_line(lines, [&](std::string_view line) {
        if (line.starts_with('\t')) {
            const auto segment = parse_segment(line);
            good = good && segment && segments;
            if (segment && segments)
                segments->push_back(*segment);
            return;
        }
        segments = nullptr;
        std::string_view path;
        const auto words = words_of(line, path);
        const auto number = words ? parse_hex(words->first) : std::nullopt;
        if (!number || *number > ARGTRACE_OBJECTS_MAX) {
            good = false;
            return;
        }
        const std::string_view build_id = words->second == no_build_id ? std::string_view() : words->second;
        const auto [known, is_new] = objects_.try_emplace(
            static_cast<std::uint32_t>(*number),
            KnownObject{{std::string(path), std::string(build_id)}, build_id.empty() ? "" : fmt::format("build id {}", build_id)});
        segments = is_new ? &known->second.object.segments : &already_known;
    });
    return good;
}

namespace {

/// "\tLINE\tFUNCTION\tFILE", below the line of its place.
struct SourceLine {
    std::string_view function, file;
    int line;
};
std::optional<SourceLine> parse_source(std::string_view line) {
    const std::size_t second = line.find('\t', 1), third = second == line.npos ? second : line.find('\t', second + 1);
    if (third == line.npos)
        return std::nullopt;
    SourceLine source{line.substr(second + 1, third - second - 1), line.substr(third + 1), 0};
    const auto [end, problem] = std::from_chars(line.data() + 1, line.data() + second, source.line);
    return problem == std::errc() && end == line.data() + second && source.line >= 0 ? std::optional(source) : std::nullopt;
}

} // namespace

bool SymbolTable::add_places(std::string_view lines) {
    bool good = lines.empty() || lines.back() == '\n';
    KnownPlace already_known{}, *place = nullptr; // the one before
    const std::unique_lock lock(mutex_);
    for_each_line(lines, [&](std::string_view line) {
        if (line.starts_with('\t')) {
            const auto source = parse_source(line);
            good = good && source && place;
            if (source && place && place != &already_known) {
                sources_.push_back({texts_.number(source->function), texts_.number(source->file), source->line});
                ++place->sources;
            }
            return;
        }
        place = nullptr;
        std::string_view name;
        const auto words = words_of(line, name);
        const auto word = words ? parse_hex(words->first) : std::nullopt;
        const auto offset = words ? parse_hex(words->second) : std::nullopt;
        if (!word || !offset || *offset > UserFrame(*word).offset) {
            good = false;
            return;
        }
        const auto [known, is_new] =
            places_.try_emplace(*word, KnownPlace{*offset, texts_.number(name), static_cast<std::uint32_t>(sources_.size()), 0});
        place = is_new ? &known->second : &already_known;
    });
    return good;
}

std::optional<CodeObject> SymbolTable::object(std::uint32_t number) const {
    const std::shared_lock lock(mutex_);
    const auto known = objects_.find(number);
    return known == objects_.end() ? std::nullopt : std::optional(known->second.object);
}

void SymbolTable::set_naming(const CodeNaming &naming) {
    lines_ = naming.lines;
    local_.set_naming(naming);
}

std::vector<SourceFrame> SymbolTable::source(CodePlace place) const {
    if (place.space != CodeSpace::user)
        return {};
    const std::shared_lock lock(mutex_);
    if (const auto known = places_.find(place.address); known != places_.end() && known->second.sources > 0) {
        std::vector<SourceFrame> source;
        for (const KnownSource &one : std::span(sources_).subspan(known->second.first_source, known->second.sources))
            source.push_back({texts_[one.function], lines_ ? texts_[one.file] : "", lines_ ? one.line : 0});
        return source;
    }
    const UserFrame frame(place.address);
    const auto object = objects_.find(frame.object);
    return object == objects_.end() ? std::vector<SourceFrame>() : local_.source(object->second.object, frame);
}

/// The function, as it was known where the recording was made, or else as it is here; or the object.
std::optional<Symbol> SymbolTable::find_user(std::uint64_t word) const {
    const UserFrame frame(word);
    const auto object = objects_.find(frame.object);
    const std::string_view shown = object == objects_.end() ? std::string_view() : shown_name(object->second.object);
    if (const auto place = places_.find(word); place != places_.end())
        // Earlier versions have written the object's name where they did not know the function.
        if (const std::string &name = texts_[place->second.name]; object == objects_.end() || name != shown || place->second.offset != frame.offset)
            return Symbol{word - place->second.offset, name, {}, 0};
    if (object == objects_.end())
        return std::nullopt;
    if (const auto name = local_.name(object->second.object, frame))
        return Symbol{word - name->offset, name->name, {}, 0};
    const bool is_here = local_.has(object->second.object);
    return Symbol{word - frame.offset, shown, is_here ? std::string_view() : object->second.build_id_text, 0};
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
        stacks_.add(id, bytes.first(count * sizeof(std::uint64_t)), (size & stack_chunk_cut) != 0);
        bytes = bytes.subspan(count * sizeof(std::uint64_t));
    }
    return true;
}

std::optional<Stack> SymbolTable::stack(std::uint64_t id, StackRoom &room) const {
    const std::shared_lock lock(mutex_);
    return stacks_.find(id, room);
}

bool SymbolTable::has_stacks_alike() const {
    const std::shared_lock lock(mutex_);
    return stacks_.has_other_ids();
}

} // namespace argtrace
