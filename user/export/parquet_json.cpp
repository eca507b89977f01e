// SPDX-License-Identifier: GPL-2.0-only
#include "export/parquet_json.h"

#include <algorithm>
#include <string>
#include <utility>

namespace argtrace {

/// Too many rows have a value of their own: writes them one after the other, also those that there are.
void ParquetJson::stop_repeating() {
    repeats_ = false;
    const Line words = std::exchange(text_, Line());
    for (const std::uint32_t index : indices_) {
        const std::size_t begin = index == 0 ? 0 : words_[index - 1].end;
        text_ += words.view().substr(begin, words_[index].end - begin);
    }
}

/// A page with all rows that are in none; it is the only one where they are in a dictionary.
void ParquetJson::end_page() {
    const std::size_t rows = row_count();
    std::string plain;
    if (nulls_ == rows)
        put_nulls(plain, rows);
    else if (nulls_ > 0)
        put_levels(plain, present_);
    else
        put_no_nulls(plain, rows);
    if (repeats_) {
        chunk_.encoding = ParquetEncoding::dictionary;
        chunk_.dictionary = make_dictionary_page(text_.view(), words_.size());
        put_indices(plain, indices_, words_.size());
    } else {
        plain += text_.view();
    }
    const ParquetPage page = make_data_page(plain, rows, chunk_.encoding);
    chunk_.data.bytes += page.bytes;
    chunk_.data.plain_size += page.plain_size;
    chunk_.nulls += nulls_;
    rows_ = nulls_ = 0;
    text_.clear();
    present_.clear();
}

ParquetChunk ParquetJson::take() {
    if (row_count() > 0)
        end_page();
    repeats_ = true;
    tried_ = false;
    for (const Word &word : words_)
        table_[word.place] = 0;
    words_.clear();
    indices_.clear();
    return std::exchange(chunk_, {});
}

} // namespace argtrace
