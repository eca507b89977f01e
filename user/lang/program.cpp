// SPDX-License-Identifier: GPL-2.0-only
#include "lang/program.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace argtrace::lang {

namespace {

constexpr std::size_t program_alignment = 8;

bool reads(const argtrace_insn &insn) {
    switch (insn.action) {
    case ARGTRACE_DO_TEXT:
    case ARGTRACE_DO_STR:
    case ARGTRACE_DO_BUF:
    case ARGTRACE_DO_MEM:
    case ARGTRACE_DO_STRS:
    case ARGTRACE_DO_PATH:
    case ARGTRACE_DO_FILE:
        return true;
    default:
        return insn.loads > 0;
    }
}

bool reads_user(const argtrace_insn &insn) {
    return insn.flags & (ARGTRACE_INSN_USER(0) | ARGTRACE_INSN_USER(1) | ARGTRACE_INSN_USER(2) | ARGTRACE_INSN_USER_DATA);
}

} // namespace

bool Program::reads_memory() const {
    return std::any_of(insns.begin(), insns.end(), reads);
}

bool Program::reads_user_memory() const {
    return std::any_of(insns.begin(), insns.end(), reads_user);
}

std::uint64_t Program::cost() const {
    return std::accumulate(
        insns.begin(), insns.end(), std::uint64_t{0},
        [](std::uint64_t sum, const argtrace_insn &insn) { return sum + argtrace_insn_cost(&insn); });
}

std::vector<std::byte> Program::bytes(std::uint32_t sample, std::uint32_t max_rate) const {
    argtrace_program header{};
    header.nr_insns = static_cast<std::uint16_t>(insns.size());
    header.nr_filter = nr_filter;
    header.nr_return = nr_return;
    header.data = static_cast<std::uint16_t>(data.size());
    header.sample = sample;
    header.max_rate = max_rate;
    header.sink = sink;
    header.map = map;

    const std::size_t code = insns.size() * sizeof(argtrace_insn);
    const std::size_t padding =
        (program_alignment - data.size() % program_alignment) % program_alignment;
    std::vector<std::byte> bytes(sizeof(header) + code + data.size() + padding);
    std::memcpy(bytes.data(), &header, sizeof(header));
    if (code > 0)
        std::memcpy(bytes.data() + sizeof(header), insns.data(), code);
    if (!data.empty())
        std::memcpy(bytes.data() + sizeof(header) + code, data.data(), data.size());
    return bytes;
}

} // namespace argtrace::lang
