// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace argtrace {

/// How the values of a page are encoded (https://parquet.apache.org/docs/file-format/data-pages/encodings).
enum class ParquetEncoding : std::uint8_t { plain = 0, delta = 5, dictionary = 8 };

/// A page, compressed, with its header.
struct ParquetPage {
    std::string bytes;
    std::size_t plain_size = 0; ///< before it was compressed, with its header
};

/// A column in a group of rows.
struct ParquetChunk {
    ParquetPage dictionary; ///< empty: it has none
    ParquetPage data;
    ParquetEncoding encoding = ParquetEncoding::plain;
    std::size_t nulls = 0;
    std::int64_t min = 0, max = 0;
};

/// A group of rows: a chunk for each column.
struct ParquetGroup {
    std::uint64_t rows = 0;
    std::vector<ParquetChunk> chunks;
};

/// A page of data: for each row a bit that says whether it has a value (see put_levels()), then the values
/// as they are encoded. `values` counts rows.
ParquetPage make_data_page(std::string_view plain, std::size_t rows, ParquetEncoding encoding);
ParquetPage make_dictionary_page(std::string_view plain, std::size_t words);

/// Appends the levels of so many rows, of which none is null, or all are.
void put_no_nulls(std::string &out, std::size_t rows);
void put_nulls(std::string &out, std::size_t rows);

/// Appends levels: whether each row has a value.
void put_levels(std::string &out, const std::vector<bool> &present);

/// Appends the places of values in a dictionary of so many words, their width first.
void put_indices(std::string &out, std::span<const std::uint32_t> indices, std::size_t words);

/// The same of so many rows that all have the first of the words.
void put_first_index(std::string &out, std::size_t rows, std::size_t words);

/// Appends numbers as differences: DELTA_BINARY_PACKED. Differences wrap around at the width of the type.
void put_deltas(std::string &out, std::span<const std::uint32_t> values);
void put_deltas(std::string &out, std::span<const std::uint64_t> values);

/// The same in two parts: numbers that are all larger by as much have another beginning, and the same rest.
void put_deltas_begin(std::string &out, std::uint64_t first, std::size_t count);
void put_deltas_rest(std::string &out, std::span<const std::uint64_t> values);

} // namespace argtrace
