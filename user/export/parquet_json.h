// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "export/parquet_page.h"
#include "model/event.h"
#include "render/line.h"

namespace argtrace {

/// A column of JSON that is made of values: each different one once, in a dictionary, as long as values
/// come again. Others are written row by row.
class ParquetJson {
public:
    /// A row whose JSON, which `make(line)` appends, depends on nothing but `owner` and the numbers among these
    /// values. They stay where they are until take().
    template<typename Make>
    void add(const void *owner, std::span<const Value> values, Make make) {
        if (!repeats_)
            return add(make);
        if (rows_ == trial_rows && words_.size() > trial_rows / 2) [[unlikely]] {
            stop_repeating();
            return add(make);
        }
        const std::uint64_t hash = hash_of(owner, values);
        std::size_t place = hash >> (64 - table_bits);
        for (;; place = (place + 1) % table_.size()) {
            const std::uint32_t known = table_[place];
            if (known == 0)
                break;
            const Word &word = words_[known - 1];
            if (word.hash == hash && word.owner == owner && are_same(word.values, values)) {
                indices_.push_back(known - 1);
                ++rows_;
                return;
            }
        }
        begin_text();
        make(text_);
        end_text();
        words_.push_back({hash, owner, values, text_.size()});
        table_[place] = static_cast<std::uint32_t>(words_.size());
        indices_.push_back(table_[place] - 1);
        ++rows_;
    }

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
    void end_row() {
        if (nulls_ > 0)
            present_.push_back(true);
        if (!repeats_ && text_.size() >= page_size) [[unlikely]]
            end_page();
    }

    void add_null() {
        if (nulls_ == 0)
            present_.assign(row_count(), true);
        ++nulls_;
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
        std::size_t end = 0; // of its text
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
    ParquetChunk chunk_;               // the pages that are complete
    std::size_t rows_ = 0, nulls_ = 0; // of the page: rows with a value, and without
    std::size_t begin_ = 0;
    Line text_; // each behind its length
    std::vector<Word> words_;
    std::vector<std::uint32_t> indices_;
    std::vector<std::uint32_t> table_ = std::vector<std::uint32_t>(std::size_t{1} << table_bits);
    std::vector<bool> present_;
};

} // namespace argtrace
