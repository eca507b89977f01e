// SPDX-License-Identifier: GPL-2.0-only
#include "export/parquet_page.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include <zstd.h>

#include "export/append_bytes.h"
#include "export/thrift.h"

namespace argtrace {

namespace {

enum : int { page_data = 0, page_dictionary = 2, levels_encoding = 3 };

// Speed before size: dictionaries and differences have done most of it already.
constexpr int zstd_level = -1;

/// Making one takes longer than compressing a page of a few rows.
ZSTD_CCtx *compressor() {
    struct Free {
        void operator()(ZSTD_CCtx *context) const { ZSTD_freeCCtx(context); }
    };
    static thread_local const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
    if (!context)
        throw std::bad_alloc();
    return context.get();
}

void put_varint(std::string &out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
}

template<typename Number>
void put_zigzag(std::string &out, Number value) {
    using Unsigned = std::make_unsigned_t<Number>;
    put_varint(out, static_cast<Unsigned>(static_cast<Unsigned>(value) << 1 ^
                                          static_cast<Unsigned>(value >> (8 * sizeof(value) - 1))));
}

/// Four numbers of at most 16 bits, the first in the lowest bits.
template<typename Number>
[[gnu::always_inline]] inline std::uint64_t pack_four(const Number *values, unsigned bits) {
    return ((std::uint64_t{values[3]} << bits | values[2]) << bits | values[1]) << bits | values[0];
}

/// Packs numbers of so many bits, the first in the lowest bits; `count` is a multiple of eight.
template<typename Number>
void pack(std::string &out, const Number *values, std::size_t count, unsigned bits) {
    const std::size_t begin = out.size();
    __extension__ using Wide = unsigned __int128;
    out.resize(begin + count / 8 * bits + sizeof(Wide));
    char *to = &out[begin];
    if (bits <= 16) { // eight at a time
        for (std::size_t i = 0; i < count; i += 8) {
            const Wide word = Wide{pack_four(&values[i + 4], bits)} << 4 * bits | pack_four(&values[i], bits);
            std::memcpy(to, &word, sizeof(word));
            to += bits;
        }
        return out.resize(begin + count / 8 * bits);
    }
    using Word = std::conditional_t<sizeof(Number) == 8, Wide, std::uint64_t>;
    Word word = 0;
    unsigned filled = 0;
    for (std::size_t i = 0; i < count; ++i) {
        word |= Word{values[i]} << filled;
        filled += bits;
        if (filled >= 8 * sizeof(Number)) {
            const auto part = static_cast<Number>(word);
            std::memcpy(to, &part, sizeof(part));
            to += sizeof(part);
            word >>= 8 * sizeof(Number);
            filled -= static_cast<unsigned>(8 * sizeof(Number));
        }
    }
    const auto part = static_cast<Number>(word);
    std::memcpy(to, &part, sizeof(part));
    out.resize(begin + count / 8 * bits);
}

void put_run(std::string &out, std::uint64_t value, std::size_t count, unsigned bits) {
    put_varint(out, count << 1);
    for (unsigned byte = 0; byte < (bits + 7) / 8; ++byte)
        out += static_cast<char>(value >> 8 * byte);
}

ParquetPage make_page(std::string_view plain, std::size_t values, ParquetEncoding encoding,
                      bool dictionary) {
    constexpr std::size_t header_max = 64;
    ParquetPage page;
    std::string packed(ZSTD_compressBound(plain.size()), '\0');
    const std::size_t size = ZSTD_compressCCtx(compressor(), packed.data(), packed.size(),
                                               plain.data(), plain.size(), zstd_level);
    if (ZSTD_isError(size))
        throw std::bad_alloc();
    ThriftWriter header;
    header.i32(1, dictionary ? page_dictionary : page_data);
    header.i32(2, static_cast<std::int64_t>(plain.size()));
    header.i32(3, static_cast<std::int64_t>(size));
    header.begin(dictionary ? 7 : 5);
    header.i32(1, static_cast<std::int64_t>(values));
    header.i32(2, static_cast<int>(encoding));
    if (!dictionary) {
        header.i32(3, levels_encoding);
        header.i32(4, levels_encoding);
    }
    header.end();
    header.finish();
    page.bytes.reserve(header_max + size);
    page.bytes = header.bytes();
    page.bytes.append(packed, 0, size);
    page.plain_size = header.bytes().size() + plain.size();
    return page;
}

/// A block has 128 differences, as what they are above the least of them, in four parts whose numbers
/// have as many bits as the largest of the part.
constexpr std::size_t delta_block = 128, delta_parts = 4, delta_part = delta_block / delta_parts;

template<typename Number>
void put_beginning(std::string &out, Number first, std::size_t count) {
    put_varint(out, delta_block);
    put_varint(out, delta_parts);
    put_varint(out, count);
    put_zigzag(out, static_cast<std::make_signed_t<Number>>(first));
}

template<typename Number>
void put_blocks(std::string &out, std::span<const Number> values) {
    using Signed = std::make_signed_t<Number>;
    std::array<Number, delta_block> deltas;
    for (std::size_t at = 1; at < values.size(); at += delta_block) {
        const std::size_t count = std::min(delta_block, values.size() - at);
        Signed least = static_cast<Signed>(values[at] - values[at - 1]);
        for (std::size_t i = 0; i < count; ++i) {
            deltas[i] = static_cast<Number>(values[at + i] - values[at + i - 1]);
            least = std::min(least, static_cast<Signed>(deltas[i]));
        }
        std::fill(deltas.begin() + static_cast<std::ptrdiff_t>(count), deltas.end(),
                  static_cast<Number>(least));
        put_zigzag(out, least);
        std::array<unsigned, delta_parts> widths{};
        for (std::size_t part = 0; part < delta_parts; ++part) {
            Number all = 0;
            for (std::size_t i = part * delta_part; i < (part + 1) * delta_part; ++i) {
                deltas[i] = static_cast<Number>(deltas[i] - static_cast<Number>(least));
                all |= deltas[i];
            }
            widths[part] = static_cast<unsigned>(std::bit_width(all));
            out += static_cast<char>(widths[part]);
        }
        for (std::size_t part = 0; part < delta_parts && part * delta_part < count; ++part)
            pack(out, &deltas[part * delta_part], delta_part, widths[part]);
    }
}

template<typename Number>
void put_deltas_of(std::string &out, std::span<const Number> values) {
    put_beginning(out, values.empty() ? Number{0} : values[0], values.size());
    put_blocks(out, values);
}

unsigned index_bits(std::size_t words) {
    return static_cast<unsigned>(std::max(1, static_cast<int>(std::bit_width(std::max<std::size_t>(words, 1) - 1))));
}

void put_equal_levels(std::string &out, std::uint64_t level, std::size_t rows) {
    std::string levels;
    if (rows > 0)
        put_run(levels, level, rows, 1);
    append_bytes(out, static_cast<std::uint32_t>(levels.size()));
    out += levels;
}

} // namespace

ParquetPage make_data_page(std::string_view plain, std::size_t rows, ParquetEncoding encoding) {
    return make_page(plain, rows, encoding, false);
}

ParquetPage make_dictionary_page(std::string_view plain, std::size_t words) {
    return make_page(plain, words, ParquetEncoding::plain, true);
}

void put_no_nulls(std::string &out, std::size_t rows) {
    put_equal_levels(out, 1, rows);
}

void put_nulls(std::string &out, std::size_t rows) {
    put_equal_levels(out, 0, rows);
}

void put_levels(std::string &out, const std::vector<bool> &present) {
    const std::size_t rows = present.size();
    std::string levels;
    put_varint(levels, (rows + 7) / 8 << 1 | 1);
    unsigned char byte = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        byte = static_cast<unsigned char>(byte | present[i] << i % 8);
        if (i % 8 == 7 || i + 1 == rows) {
            levels += static_cast<char>(byte);
            byte = 0;
        }
    }
    append_bytes(out, static_cast<std::uint32_t>(levels.size()));
    out += levels;
}

void put_indices(std::string &out, std::span<const std::uint32_t> indices, std::size_t words) {
    constexpr std::size_t pack_size = 8;
    const unsigned bits = index_bits(words);
    out += static_cast<char>(bits);
    if (indices.empty())
        return;
    if (std::all_of(indices.begin(), indices.end(),
                    [&](std::uint32_t index) { return index == indices[0]; }))
        return put_run(out, indices[0], indices.size(), bits);
    const std::size_t whole = indices.size() / pack_size * pack_size;
    put_varint(out, (indices.size() + pack_size - 1) / pack_size << 1 | 1);
    pack(out, indices.data(), whole, bits);
    if (whole < indices.size()) {
        std::array<std::uint32_t, pack_size> rest{};
        std::copy(indices.begin() + static_cast<std::ptrdiff_t>(whole), indices.end(), rest.begin());
        pack(out, rest.data(), rest.size(), bits);
    }
}

void put_first_index(std::string &out, std::size_t rows, std::size_t words) {
    const unsigned bits = index_bits(words);
    out += static_cast<char>(bits);
    put_run(out, 0, rows, bits);
}

void put_deltas(std::string &out, std::span<const std::uint32_t> values) {
    put_deltas_of(out, values);
}

void put_deltas(std::string &out, std::span<const std::uint64_t> values) {
    put_deltas_of(out, values);
}

void put_deltas_begin(std::string &out, std::uint64_t first, std::size_t count) {
    put_beginning(out, first, count);
}

void put_deltas_rest(std::string &out, std::span<const std::uint64_t> values) {
    put_blocks(out, values);
}

} // namespace argtrace
