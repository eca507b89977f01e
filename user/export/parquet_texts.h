// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "export/parquet_page.h"

namespace argtrace {

/// The different values of a column in one group of rows: texts, or numbers of 32 bits.
class ParquetTexts {
public:
    static constexpr std::uint32_t null = ~std::uint32_t{0};

    std::uint32_t index_of(std::string_view text);
    std::uint32_t index_of(std::uint32_t number);

    /// The column of rows that have these values.
    ParquetChunk encode(std::span<const std::uint32_t> rows) const;

    /// The same for rows that all have the same one.
    ParquetChunk encode_equal(std::uint32_t text, std::size_t rows) const;

private:
    std::unordered_map<std::string, std::uint32_t> known_;
    std::string words_; // a text is behind its length
};

} // namespace argtrace
