// SPDX-License-Identifier: GPL-2.0-only
#include "export/parquet_texts.h"

#include <algorithm>
#include <vector>

#include "export/append_bytes.h"

namespace argtrace {

std::uint32_t ParquetTexts::index_of(std::string_view text) {
    const auto [known, added] =
        known_.try_emplace(std::string(text), static_cast<std::uint32_t>(known_.size()));
    if (added) {
        append_bytes(words_, static_cast<std::uint32_t>(text.size()));
        words_ += text;
    }
    return known->second;
}

std::uint32_t ParquetTexts::index_of(std::uint32_t number) {
    std::string word;
    append_bytes(word, number);
    const auto [known, added] = known_.try_emplace(word, static_cast<std::uint32_t>(known_.size()));
    if (added)
        words_ += word;
    return known->second;
}

/// A column of which the rows have these values.
ParquetChunk ParquetTexts::encode(std::span<const std::uint32_t> rows) const {
    ParquetChunk chunk;
    chunk.encoding = ParquetEncoding::dictionary;
    chunk.nulls = static_cast<std::size_t>(std::count(rows.begin(), rows.end(), null));
    chunk.dictionary = make_dictionary_page(words_, known_.size());
    std::string plain;
    if (chunk.nulls > 0) {
        std::vector<bool> present(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i)
            present[i] = rows[i] != null;
        put_levels(plain, present);
        std::vector<std::uint32_t> others(rows.begin(), rows.end());
        std::erase(others, null);
        put_indices(plain, others, known_.size());
    } else {
        put_no_nulls(plain, rows.size());
        put_indices(plain, rows, known_.size());
    }
    chunk.data = make_data_page(plain, rows.size(), chunk.encoding);
    return chunk;
}

ParquetChunk ParquetTexts::encode_equal(std::uint32_t text, std::size_t rows) const {
    ParquetChunk chunk;
    chunk.encoding = ParquetEncoding::dictionary;
    chunk.nulls = text == null ? rows : 0;
    chunk.dictionary = make_dictionary_page(words_, known_.size());
    std::string plain;
    if (text == null) {
        put_nulls(plain, rows);
        put_indices(plain, {}, known_.size());
    } else {
        put_no_nulls(plain, rows);
        put_first_index(plain, rows, known_.size());
    }
    chunk.data = make_data_page(plain, rows, chunk.encoding);
    return chunk;
}

} // namespace argtrace
