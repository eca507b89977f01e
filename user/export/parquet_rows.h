// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "export/exporter.h"
#include "export/parquet_json.h"
#include "export/parquet_page.h"
#include "render/caller.h"
#include "render/line.h"
#include "render/value_writer.h"

namespace argtrace {

/// Calls -> groups of rows, with the columns that ParquetExporter has, in that order. A worker has one.
class ParquetRows {
public:
    ParquetRows(const Symbols &symbols, const TraceInfo &info);

    /// In groups of as many calls as their arguments have room for.
    std::vector<ParquetGroup> encode(const EventBlock &calls);

    /// The most rows that a group has.
    static constexpr std::size_t rows_max = ParquetJson::rows_max;

private:
    using Calls = std::span<const EventBlock::Entry>;

    /// What the calls of a probe have in common.
    struct Plan {
        struct Argument {
            Snippet before; // "name":
            const Format *format = nullptr;
            std::size_t index = 0;
            bool is_stack = false;
        };
        std::vector<Argument> arguments;
        std::string function, module;
        const Format *result_format = nullptr;
        std::size_t result = 0; // which of the values; none: how many there are
        std::size_t size_max = 0;
        bool are_numbers = true; // none of the arguments is more than a word
        bool is_number = true;   // what was returned, neither
    };

    /// The different values of a column in one group of rows: texts, or numbers of 32 bits.
    class Texts {
    public:
        static constexpr std::uint32_t null = ~std::uint32_t{0};

        std::uint32_t index_of(std::string_view text);
        std::uint32_t index_of(std::uint32_t number);
        ParquetChunk encode(std::vector<std::uint32_t> &rows) const;

    private:
        std::unordered_map<std::string, std::uint32_t> known_;
        std::string words_; // a text is behind its length
    };

    /// What several columns say of a thing that rows have in common: which of their values it is.
    template<std::size_t Columns>
    struct Things {
        std::array<Texts, Columns> columns;
        std::vector<std::array<std::uint32_t, Columns>> things;
        std::vector<std::uint32_t> rows; // which thing
    };

    /// Which text something had in this group of rows.
    struct Recent {
        std::uint64_t group = 0;
        std::uint64_t keys[3] = {0, 0, 0};
        std::uint32_t index = 0;
    };

    const Plan &plan_of(const Probe &probe);
    std::size_t put_arguments(Calls calls);
    void put_json(Line &out, const EventView &view, const Plan &plan);
    ParquetGroup put_group(Calls calls);
    ParquetChunk constant(std::string_view text, std::size_t rows) const;
    template<typename Number, typename Has, typename Get>
    ParquetChunk numbers(Calls calls, std::vector<Number> &values, Has has, Get get);
    void put_times(Calls calls, ParquetGroup &group);
    template<std::size_t Columns, typename Key, typename Find>
    void look_up(Calls calls, Things<Columns> &things, Key key, Find find);
    template<std::size_t Columns>
    ParquetChunk column(const Things<Columns> &things, std::size_t number);

    CallerNames callers_;
    ValueWriter values_;
    std::string host_, kernel_;
    std::uint64_t utc_offset_;
    std::unordered_map<const Probe *, Plan> plans_;
    const Probe *last_probe_ = nullptr;
    const Plan *last_plan_ = nullptr;
    ParquetJson args_, ret_;
    std::uint64_t group_ = 0;
    std::vector<Recent> recent_;
    std::vector<std::uint64_t> words_;
    std::vector<std::uint32_t> halves_;
};

} // namespace argtrace
