// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstring>
#include <random>

#include "trace_chunks.h"

// How inputs that are trace files are changed; for one source file of a fuzzer. Chunks are changed, and put together
// again with the sums of what they are then.

namespace argtrace::fuzz {

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t *data, std::size_t size, std::size_t max);

namespace {

/// What is in the file changes, or which chunks it has; never what holds them together.
void change(std::vector<LooseChunk> &chunks, std::mt19937 &random) {
    constexpr std::size_t growth = 64;
    const auto any = [&] { return chunks.begin() + random() % chunks.size(); };
    switch (random() % 16) {
    case 0:
        chunks.erase(any());
        break;
    case 1: {
        const LooseChunk copy = *any();
        chunks.insert(any(), copy);
        break;
    }
    case 2:
        std::iter_swap(any(), any());
        break;
    case 3:
        any()->type = random() % 12;
        break;
    case 4:
        any()->flags ^= 1u << random() % 3;
        break;
    default: {
        Bytes &payload = any()->payload;
        const std::size_t size = payload.size();
        payload.resize(size + growth);
        payload.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t *>(payload.data()), size,
                                        size + growth));
        break;
    }
    }
}

/// As an input of at most `max` bytes.
std::size_t give(const Bytes &file, std::uint8_t *data, std::size_t max) {
    const std::size_t size = std::min(file.size(), max);
    std::memcpy(data, file.data(), size);
    return size;
}

} // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t *data, std::size_t size,
                                               std::size_t max, unsigned seed) {
    std::mt19937 random(seed);
    auto chunks = take_apart(std::as_bytes(std::span(data, size)));
    if (chunks.empty() || random() % 16 == 0) // the seams as well, now and then
        return LLVMFuzzerMutate(data, size, max);
    change(chunks, random);
    return give(put_together(chunks), data, max);
}

/// The beginning of one, the rest of the other.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t *one, std::size_t one_size,
                                                 const std::uint8_t *other, std::size_t other_size,
                                                 std::uint8_t *out, std::size_t max,
                                                 unsigned seed) {
    std::mt19937 random(seed);
    auto chunks = take_apart(std::as_bytes(std::span(one, one_size)));
    const auto more = take_apart(std::as_bytes(std::span(other, other_size)));
    chunks.resize(random() % (chunks.size() + 1));
    const auto from = static_cast<std::ptrdiff_t>(random() % (more.size() + 1));
    chunks.insert(chunks.end(), more.begin() + from, more.end());
    return give(put_together(chunks), out, max);
}

} // namespace argtrace::fuzz
