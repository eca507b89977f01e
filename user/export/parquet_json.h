// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "export/parquet_page.h"
#include "model/event.h"
#include "render/line.h"
#include "util/plain_vector.h"

namespace argtrace {

/// A column of JSON that is made of values: each different one once, in a dictionary, as long as values
/// come again. Others are written row by row.
class ParquetJson {
public:
    static constexpr std::uint32_t no_index = ~std::uint32_t{0};

    /// A row whose JSON, which `make(line)` appends, depends on nothing but `owner` and the numbers among these
    /// values. They stay where they are until take(). Returns which of the different ones it is; no_index: they are
    /// written row by row.
    template<typename Make>
    std::uint32_t add(const void *owner, std::span<const Value> values, Make make) {
        if (!repeats_) {
            add(make);
            return no_index;
        }
        if (rows_ >= trial_rows && !std::exchange(tried_, true) && words_.size() > trial_rows / 2) [[unlikely]] {
            stop_repeating();
            add(make);
            return no_index;
        }
        const std::uint64_t hash = hash_of(owner, values);
        std::size_t place = hash >> (64 - table_bits);
        for (;; place = (place + 1) % table_.size()) {
            const std::uint32_t known = table_[place];
            if (known == 0)
                break;
            const Word &word = words_[known - 1];
            if (word.hash == hash && word.owner == owner && are_same(word.values, values)) {
                add_again(known - 1);
                return known - 1;
            }
        }
        begin_text();
        make(text_);
        end_text();
        words_.push_back({hash, owner, values, text_.size(), place});
        const auto index = static_cast<std::uint32_t>(words_.size() - 1);
        table_[place] = index + 1;
        add_again(index);
        return index;
    }

    /// A row that has the JSON of another, as long as repeats() is true.
    [[gnu::always_inline]] void add_again(std::uint32_t index) {
        indices_.push_back(index);
        ++rows_;
    }

    bool repeats() const { return repeats_; }

    /// A row of its own. Nothing is known to come again from then on.
    template<typename Make>
    void add(Make make) {
        if (repeats_)
            stop_repeating();
        begin_text();
        make(text_);
        end_text();
        ++rows_;
    }

    /// To be called behind a row with a value.
    [[gnu::always_inline]] void end_row() {
        if (nulls_ > 0) [[unlikely]] {
            if (present_.empty())
                present_.assign(nulls_, false);
            present_.push_back(true);
        }
        if (!repeats_ && text_.size() >= page_size) [[unlikely]]
            end_page();
    }

    void add_null() {
        ++nulls_;
        if (rows_ == 0) [[likely]]
            return;
        if (present_.empty())
            present_.assign(rows_, true);
        present_.push_back(false);
    }

    /// Bytes of text that are kept.
    std::size_t size() const { return text_.size(); }

    /// Encodes the rows, and begins anew.
    ParquetChunk take();

    static constexpr std::size_t rows_max = std::size_t{1} << 14;

private:
    struct Word {
        std::uint64_t hash = 0;
        const void *owner = nullptr;
        std::span<const Value> values;
        std::size_t end = 0;   // of its text
        std::size_t place = 0; // in the table
    };

    static constexpr unsigned table_bits = 15;
    static_assert(std::size_t{1} << table_bits >= 2 * rows_max);
    static constexpr std::size_t trial_rows = 2048;
    static constexpr std::size_t page_size = 512 << 10;

    static std::uint64_t hash_of(const void *owner, std::span<const Value> values) {
        constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
        auto hash = reinterpret_cast<std::uintptr_t>(owner) * factor;
        for (const Value &value : values)
            hash = (hash ^ hash >> 32 ^ value.low) * factor + value.captured;
        return (hash ^ hash >> 32) * factor;
    }
    static bool are_same(std::span<const Value> a, std::span<const Value> b) {
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (a[i].low != b[i].low || a[i].captured != b[i].captured || a[i].type != b[i].type)
                return false;
        }
        return a.size() == b.size();
    }

    std::size_t row_count() const { return rows_ + nulls_; }
    void begin_text() {
        begin_ = text_.size();
        text_.set_end(text_.reserve(sizeof(std::uint32_t)) + sizeof(std::uint32_t));
    }
    void end_text() {
        const auto size = static_cast<std::uint32_t>(text_.size() - begin_ - sizeof(std::uint32_t));
        std::memcpy(text_.reserve(0) - size - sizeof(size), &size, sizeof(size));
    }
    void stop_repeating();
    void end_page();

    bool repeats_ = true;
    bool tried_ = false;
    ParquetChunk chunk_;               // the pages that are complete
    std::size_t rows_ = 0, nulls_ = 0; // of the page: rows with a value, and without
    std::size_t begin_ = 0;
    Line text_; // each behind its length
    std::vector<Word> words_;
    PlainVector<std::uint32_t> indices_;
    std::vector<std::uint32_t> table_ = std::vector<std::uint32_t>(std::size_t{1} << table_bits);
    std::vector<bool> present_; // by row, if some have a value and others do not
};

} // namespace argtrace
