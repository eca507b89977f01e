// SPDX-License-Identifier: GPL-2.0-only
#include "elf/go_statements.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "elf/arm64_field.h"
#include "elf/symbol_tables.h"
#include "model/probe_kind.h"

namespace argtrace::elf {

namespace {

struct Call {
    std::uint64_t behind; ///< the address of the next instruction
    std::uint64_t target;
};

std::uint32_t word_at(std::string_view code, std::size_t at) {
    std::uint32_t word = 0;
    std::memcpy(&word, code.data() + at, sizeof(word));
    return word;
}

/// Calls `visit` with what may be a call of a relative address; other bytes may look like one.
template<typename Visit>
void visit_calls_x86_64(std::string_view code, std::uint64_t address, const Visit &visit) {
    constexpr char call = '\xe8'; // CALL rel32
    constexpr std::size_t bytes = 5;
    for (std::size_t at = code.find(call); at != code.npos && at + bytes <= code.size(); at = code.find(call, at + 1)) {
        const std::uint64_t behind = address + at + bytes;
        visit(Call{behind, behind + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(word_at(code, at + 1))})});
    }
}

template<typename Visit>
void visit_calls_arm64(std::string_view code, std::uint64_t address, const Visit &visit) {
    constexpr std::uint32_t call = 0x94000000, call_mask = 0xfc000000; // BL imm26
    constexpr std::size_t bytes = 4;
    for (std::size_t at = 0; at + bytes <= code.size(); at += bytes)
        if (const std::uint32_t word = word_at(code, at); (word & call_mask) == call)
            visit(Call{address + at + bytes, address + at + arm64_distance(word, 0, 26)});
}

} // namespace

std::vector<GoStatement> go_statements(const Object &object, const GoFunctions &functions) {
    std::vector<std::pair<std::uint64_t, std::size_t>> starts; // in the order of addresses
    std::set<std::uint64_t> beginners;
    for (std::size_t i = 0; i < functions.count(); i++)
        if (const auto function = functions.at(i)) {
            starts.emplace_back(function->start, i);
            if (string_at(functions.names(), function->name) == "runtime.newproc")
                beginners.insert(function->start);
        }
    std::ranges::sort(starts);
    const Object::Section *text = object.section(".text");
    std::vector<GoStatement> found;
    if (!text || beginners.empty())
        return found;
    const auto add = [&](const Call &call) {
        if (!beginners.contains(call.target))
            return;
        // The one that has the call itself.
        const auto next = std::ranges::upper_bound(starts, call.behind - 1, {}, &decltype(starts)::value_type::first);
        const auto function = next == starts.begin() ? std::nullopt : functions.at(std::prev(next)->second);
        if (!function || call.behind > function->end)
            return;
        std::string place(string_at(functions.names(), function->name));
        if (const auto line = functions.line(std::prev(next)->second, call.behind - 1))
            place += fmt::format(" {}:{}", file_name(line->file), line->number);
        found.push_back({call.behind, std::move(place)});
    };
    const Text code = object.content(*text);
    if (object.machine() == EM_AARCH64)
        visit_calls_arm64(view(code), text->header.sh_addr, add);
    else
        visit_calls_x86_64(view(code), text->header.sh_addr, add);
    return found;
}

} // namespace argtrace::elf
