// SPDX-License-Identifier: GPL-2.0-only
#include "abi/go_stack.h"

namespace argtrace {

namespace {

constexpr std::uint32_t go_word_bytes = 8;

std::uint32_t aligned(std::uint32_t offset, std::uint32_t alignment) {
    return (offset + alignment - 1) / alignment * alignment;
}

} // namespace

GoStack go_stack(std::span<const GoValue> values, std::span<const GoParts> placed, std::size_t taken) {
    GoStack stack;
    stack.places.resize(values.size());
    const auto add = [&](const GoValue &value) {
        const std::uint32_t at = aligned(stack.bytes, value.alignment);
        stack.bytes = at + value.bytes;
        return at;
    };
    std::uint32_t bytes = 0;
    for (std::size_t i = 0; i < values.size(); i++) {
        if (i == taken)
            stack.bytes = aligned(stack.bytes, go_word_bytes);
        if (!placed[i])
            stack.places[i] = add(values[i]);
        if (i < taken && !placed[i])
            bytes += values[i].bytes;
        if (i + 1 == taken)
            stack.has_gaps = aligned(stack.bytes, go_word_bytes) != bytes;
    }
    stack.bytes = aligned(stack.bytes, go_word_bytes);
    for (std::size_t i = 0; i < taken; i++)
        if (placed[i])
            add(values[i]);
    stack.bytes = aligned(stack.bytes, go_word_bytes);
    return stack;
}

} // namespace argtrace
