// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "export/exporter.h"
#include "export/parquet_json.h"
#include "export/parquet_page.h"
#include "export/parquet_texts.h"
#include "render/caller.h"
#include "render/line.h"
#include "render/value_writer.h"
#include "util/plain_vector.h"

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
        std::uint64_t group = 0; // of rows in which the next two are so
        std::uint32_t function_text = 0, module_text = 0;
    };

    /// The columns of which calls that share their values mostly have the same.
    enum Column : std::size_t { tids, pids, comms, functions, modules, callers, flags, column_count };

    /// What these columns have in a row: which of their texts.
    using Kind = std::array<std::uint32_t, column_count>;

    /// What some of the columns have of something that these keys tell from others.
    template<std::size_t Keys, std::size_t Texts>
    struct Recent {
        std::uint64_t group = 0; // of rows in which it was found
        std::array<std::uint64_t, Keys> keys{};
        std::array<std::uint32_t, Texts> texts{};
    };
    template<std::size_t Keys, std::size_t Texts>
    using Recents = std::vector<Recent<Keys, Texts>>;

    /// A row, and what stands in the columns of those that are like it and share its values.
    struct Shared {
        std::uint64_t group = 0;
        const EventBatch *batch = nullptr;
        const Probe *probe = nullptr;
        CodePlace caller;
        std::uint64_t flags = 0;
        std::uint32_t tid = 0, tgid = 0, first_value = 0;
        std::array<char, ARGTRACE_COMM_LEN> comm{};
        std::uint32_t args = ParquetJson::no_index, ret = ParquetJson::no_index; // which JSON
        std::uint32_t kind = 0;                                                  // in kinds_
    };

    Plan &plan_of(const Probe &probe);
    std::size_t put_rows(Calls calls);
    void put_new(const EventBlock::Entry &call, Shared *shared);
    std::uint32_t put_args(const EventView &view, const Plan &plan);
    std::uint32_t put_ret(const EventView &view, const Plan &plan);
    void put_json(Line &out, const EventView &view, const Plan &plan);
    ParquetGroup put_group(Calls calls);
    ParquetChunk constant(std::string_view text, std::size_t rows) const;
    template<typename Number, typename Has, typename Get>
    ParquetChunk numbers(Calls calls, PlainVector<Number> &values, Has has, Get get);
    void put_times(Calls calls, ParquetGroup &group);
    template<std::size_t Keys, std::size_t Texts, typename Find>
    const std::array<std::uint32_t, Texts> &look_up(Recents<Keys, Texts> &recents, const std::array<std::uint64_t, Keys> &keys,
                                                    Find find);
    Kind kind_of(const Event &event, Plan &plan);
    ParquetChunk column(Column number);

    CallerNames callers_;
    ValueWriter values_;
    std::string host_, kernel_;
    std::uint64_t utc_offset_;
    std::unordered_map<const Probe *, Plan> plans_;
    std::array<std::pair<const Probe *, Plan *>, 256> recent_plans_{}; // by probe id
    ParquetJson args_, ret_;
    std::uint64_t group_ = 0;
    static constexpr unsigned recent_bits = 11;
    Recents<3, 3> recent_tasks_ = Recents<3, 3>(std::size_t{1} << recent_bits);
    Recents<2, 1> recent_callers_ = Recents<2, 1>(std::size_t{1} << recent_bits);
    Recents<1, 1> recent_flags_ = Recents<1, 1>(std::size_t{1} << recent_bits);
    std::array<ParquetTexts, column_count> texts_;
    std::vector<Kind> kinds_;
    static constexpr unsigned shared_bits = 10;
    static constexpr std::size_t kinds_max = rows_max / 4; // with more, no row is looked up in shared_
    std::vector<Shared> shared_ = std::vector<Shared>(std::size_t{1} << shared_bits);
    PlainVector<std::uint32_t> rows_; // which of the kinds each is
    PlainVector<std::uint64_t> words_;
    PlainVector<std::uint32_t> halves_;
};

} // namespace argtrace
