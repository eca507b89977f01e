// SPDX-License-Identifier: GPL-2.0-only
#include "export/parquet_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "export/append_bytes.h"
#include "export/result.h"
#include "export/utf8_text.h"
#include "model/type.h"
#include "model/unfinished.h"
#include "render/common_value.h"
#include "render/flags.h"
#include "render/json.h"
#include "render/stack.h"

namespace argtrace {

namespace {

constexpr std::size_t text_size_max = 8 << 20; // of the arguments of a group
constexpr unsigned recent_bits = 12;

bool is_number(const Argument &argument) {
    const TypeInfo &type = type_info(argument.type);
    return type.size > 0 && !type.is_wide();
}

/// Fibonacci hashing: the product's upper bits depend on all of the keys.
std::size_t recent_place(std::uint64_t one, std::uint64_t other) {
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
    return (one ^ other * factor) * factor >> (64 - recent_bits);
}

} // namespace

ParquetRows::ParquetRows(const Symbols &symbols, const TraceInfo &info)
    : callers_(symbols), values_(callers_, ValueWriter::Style::json), host_(valid_utf8(info.host)),
      kernel_(valid_utf8(info.kernel)), utc_offset_(info.begin_realtime - info.begin_monotonic),
      recent_(std::size_t{1} << recent_bits) {}

const ParquetRows::Plan &ParquetRows::plan_of(const Probe &probe) {
    if (last_probe_ == &probe) [[likely]]
        return *last_plan_;
    const auto [found, added] = plans_.try_emplace(&probe);
    Plan &plan = found->second;
    last_probe_ = &probe;
    last_plan_ = &plan;
    if (!added)
        return plan;
    plan.function = valid_utf8(probe.function);
    plan.module = valid_utf8(callers_.module(probe.addr));
    plan.result = result_index(probe).value_or(probe.args.size());
    plan.size_max = 2; // {}
    const ProbeFormats &formats = values_.formats(probe);
    for (std::size_t i = 0; i < probe.args.size(); ++i) {
        if (i == plan.result) {
            plan.result_format = formats.argument(i);
            plan.is_number = is_number(probe.args[i]);
            continue;
        }
        std::string before = plan.arguments.empty() ? "" : ",";
        append_json_string(before, probe.args[i].name);
        before += ':';
        plan.size_max += before.size() + Snippet::block + common_json_size_max;
        plan.arguments.push_back({Snippet(std::move(before)), formats.argument(i), i,
                                  probe.args[i].type == ARGTRACE_TYPE_STACK});
        // The result is behind them.
        plan.are_numbers &= is_number(probe.args[i]) && i < plan.result;
    }
    return plan;
}

void ParquetRows::put_json(Line &out, const EventView &view, const Plan &plan) {
    char *to = out.reserve(plan.size_max);
    *to++ = '{';
    for (const Plan::Argument &argument : plan.arguments) {
        const Value &value = view.values[argument.index];
        to = argument.before.write(to);
        char *end = argument.format || argument.is_stack ? nullptr : write_common_json(to, value);
        if (!end) [[unlikely]] {
            out.set_end(to);
            if (argument.is_stack)
                append_json_stack(out, callers_, value);
            else
                values_.append(out, view, value, argument.format);
            end = out.reserve(plan.size_max);
        }
        to = end;
    }
    *to++ = '}';
    out.set_end(to);
}

/// Takes as many calls as there is room for, and returns how many.
std::size_t ParquetRows::put_arguments(Calls calls) {
    std::size_t rows = 0;
    while (rows < std::min(calls.size(), rows_max) &&
           (rows == 0 || args_.size() + ret_.size() < text_size_max)) {
        const EventView view = calls[rows++].view();
        const Plan &plan = plan_of(*view.event->probe);
        const auto args = [&](Line &out) { put_json(out, view, plan); };
        if (plan.are_numbers) [[likely]]
            args_.add(&plan, view.values.first(std::min(plan.result, view.values.size())), args);
        else
            args_.add(args);
        args_.end_row();
        if (plan.result >= view.values.size() || !view.values[plan.result].captured) {
            ret_.add_null();
            continue;
        }
        const Value &value = view.values[plan.result];
        const auto result = [&](Line &out) {
            values_.append(out, view, value, plan.result_format);
        };
        if (plan.is_number) [[likely]]
            ret_.add(plan.result_format, {&value, 1}, result);
        else
            ret_.add(result);
        ret_.end_row();
    }
    return rows;
}

std::uint32_t ParquetRows::Texts::index_of(std::string_view text) {
    const auto [known, added] =
        known_.try_emplace(std::string(text), static_cast<std::uint32_t>(known_.size()));
    if (added) {
        append_bytes(words_, static_cast<std::uint32_t>(text.size()));
        words_ += text;
    }
    return known->second;
}

std::uint32_t ParquetRows::Texts::index_of(std::uint32_t number) {
    std::string word;
    append_bytes(word, number);
    const auto [known, added] = known_.try_emplace(word, static_cast<std::uint32_t>(known_.size()));
    if (added)
        words_ += word;
    return known->second;
}

/// A column of which the rows have these values.
ParquetChunk ParquetRows::Texts::encode(std::vector<std::uint32_t> &rows) const {
    ParquetChunk chunk;
    const std::size_t count = rows.size();
    chunk.encoding = ParquetEncoding::dictionary;
    chunk.nulls = static_cast<std::size_t>(std::count(rows.begin(), rows.end(), null));
    chunk.dictionary = make_dictionary_page(words_, known_.size());
    std::string plain;
    if (chunk.nulls == count) {
        put_nulls(plain, count);
        rows.clear();
    } else if (chunk.nulls > 0) {
        std::vector<bool> present(count);
        for (std::size_t i = 0; i < count; ++i)
            present[i] = rows[i] != null;
        put_levels(plain, present);
        std::erase(rows, null);
    } else {
        put_no_nulls(plain, count);
    }
    put_indices(plain, rows, known_.size());
    chunk.data = make_data_page(plain, count, chunk.encoding);
    return chunk;
}

/// Finds which things the rows have, by `key`: three numbers. `find` says which values of the columns it has, or that it has none by
/// Texts::null.
template<std::size_t Columns, typename Key, typename Find>
void ParquetRows::look_up(Calls calls, Things<Columns> &things, Key key, Find find) {
    ++group_; // what was found before is not meant
    things.rows.resize(calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const Event &event = *calls[i].event;
        const std::array<std::uint64_t, 3> keys = key(event);
        Recent &recent = recent_[recent_place(keys[0], keys[1] ^ keys[2])];
        if (recent.group != group_ || recent.keys[0] != keys[0] || recent.keys[1] != keys[1] || recent.keys[2] != keys[2]) [[unlikely]] {
            recent = {group_, {keys[0], keys[1], keys[2]}, static_cast<std::uint32_t>(things.things.size())};
            things.things.push_back(find(things.columns, event));
        }
        things.rows[i] = recent.index;
    }
}

template<std::size_t Columns>
ParquetChunk ParquetRows::column(const Things<Columns> &things, std::size_t number) {
    halves_.resize(things.rows.size());
    for (std::size_t i = 0; i < things.rows.size(); ++i)
        halves_[i] = things.things[things.rows[i]][number];
    return things.columns[number].encode(halves_);
}

ParquetChunk ParquetRows::constant(std::string_view text, std::size_t rows) const {
    ParquetChunk chunk;
    chunk.encoding = ParquetEncoding::dictionary;
    std::string word, plain;
    append_bytes(word, static_cast<std::uint32_t>(text.size()));
    word += text;
    chunk.dictionary = make_dictionary_page(word, 1);
    put_no_nulls(plain, rows);
    put_indices(plain, std::vector<std::uint32_t>(rows), 1);
    chunk.data = make_data_page(plain, rows, chunk.encoding);
    return chunk;
}

/// A column of numbers, those of the calls that `has` them.
template<typename Number, typename Has, typename Get>
ParquetChunk ParquetRows::numbers(Calls calls, std::vector<Number> &values, Has has, Get get) {
    ParquetChunk chunk;
    chunk.encoding = ParquetEncoding::delta;
    values.resize(calls.size());
    std::size_t count = 0;
    for (const EventBlock::Entry &call : calls) {
        values[count] = get(*call.event);
        count += has(*call.event);
    }
    values.resize(count);
    chunk.nulls = calls.size() - count;
    std::string plain;
    if (chunk.nulls == 0) {
        put_no_nulls(plain, calls.size());
    } else if (count == 0) {
        put_nulls(plain, calls.size());
    } else {
        std::vector<bool> present(calls.size());
        for (std::size_t i = 0; i < calls.size(); ++i)
            present[i] = has(*calls[i].event);
        put_levels(plain, present);
    }
    put_deltas(plain, values);
    chunk.data = make_data_page(plain, calls.size(), chunk.encoding);
    if constexpr (sizeof(Number) == sizeof(std::int64_t)) { // no others have statistics
        for (std::size_t i = 0; i < count; ++i) {
            const auto number = static_cast<std::int64_t>(values[i]);
            chunk.min = i == 0 ? number : std::min(chunk.min, number);
            chunk.max = i == 0 ? number : std::max(chunk.max, number);
        }
    }
    return chunk;
}

/// The columns ts and utc, whose differences are the same.
void ParquetRows::put_times(Calls calls, ParquetGroup &group) {
    words_.resize(calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i)
        words_[i] = calls[i].event->ts;
    std::string rest;
    put_deltas_rest(rest, words_);
    for (const std::uint64_t offset : {std::uint64_t{0}, utc_offset_}) {
        ParquetChunk chunk;
        chunk.encoding = ParquetEncoding::delta;
        std::string plain;
        put_no_nulls(plain, calls.size());
        put_deltas_begin(plain, words_[0] + offset, words_.size());
        plain += rest;
        chunk.data = make_data_page(plain, calls.size(), chunk.encoding);
        chunk.min = chunk.max = static_cast<std::int64_t>(words_[0] + offset);
        for (const std::uint64_t word : words_) {
            chunk.min = std::min(chunk.min, static_cast<std::int64_t>(word + offset));
            chunk.max = std::max(chunk.max, static_cast<std::int64_t>(word + offset));
        }
        group.chunks.push_back(std::move(chunk));
    }
}

/// The columns of these calls, whose arguments have been put.
ParquetGroup ParquetRows::put_group(Calls calls) {
    ParquetGroup group;
    const std::size_t rows = group.rows = calls.size();
    const auto add = [&group](ParquetChunk chunk) { group.chunks.push_back(std::move(chunk)); };
    put_times(calls, group);
    add(constant(host_, rows));
    add(constant(kernel_, rows));
    add(numbers(
        calls, halves_, [](const Event &event) { return event.cpu != unknown_cpu; },
        [](const Event &event) { return event.cpu; }));

    Things<3> tasks; // thread, process, name
    look_up(
        calls, tasks,
        [](const Event &event) {
            std::array<std::uint64_t, 3> words{std::uint64_t{event.tgid} << 32 | event.tid, 0, 0};
            static_assert(sizeof(event.comm) == 2 * sizeof(words[1]));
            std::memcpy(&words[1], event.comm.data(), sizeof(event.comm));
            return words;
        },
        [](std::array<Texts, 3> &columns, const Event &event) {
            return std::array{columns[0].index_of(event.tid),
                              event.tgid != 0 || event.tid == 0 ? columns[1].index_of(event.tgid) : Texts::null,
                              columns[2].index_of(valid_utf8(event.comm_view()))};
        });
    for (const std::size_t number : {0, 1, 2})
        add(column(tasks, number));

    Things<2> functions; // name, module
    look_up(
        calls, functions,
        [](const Event &event) {
            return std::array<std::uint64_t, 3>{reinterpret_cast<std::uintptr_t>(event.probe), 0, 0};
        },
        [this](std::array<Texts, 2> &columns, const Event &event) {
            const Plan &plan = plan_of(*event.probe);
            return std::array{columns[0].index_of(plan.function), plan.module.empty() ? Texts::null : columns[1].index_of(plan.module)};
        });
    add(column(functions, 0));
    add(column(functions, 1));

    Things<1> callers;
    look_up(
        calls, callers, [](const Event &event) { return std::array<std::uint64_t, 3>{event.caller, 0, 0}; },
        [this](std::array<Texts, 1> &columns, const Event &event) {
            if (event.caller == 0)
                return std::array{Texts::null};
            const std::string &name = callers_.name(event.caller);
            return std::array{name == CallerNames::unknown ? Texts::null : columns[0].index_of(valid_utf8(name))};
        });
    add(column(callers, 0));
    Things<1> flags;
    look_up(
        calls, flags,
        [](const Event &event) { return std::array<std::uint64_t, 3>{event.context, event.preempt, 0}; },
        [](std::array<Texts, 1> &columns, const Event &event) {
            return std::array{columns[0].index_of(std::string_view(flags_column(event.context, event.preempt)))};
        });
    add(column(flags, 0));

    add(numbers(
        calls, words_, [](const Event &event) { return event.has_duration(); },
        [](const Event &event) { return event.duration; }));
    add(ret_.take());
    add(args_.take());
    return group;
}

std::vector<ParquetGroup> ParquetRows::encode(const EventBlock &calls) {
    std::vector<ParquetGroup> groups;
    for (Calls rest = calls.events; !rest.empty();) {
        const std::size_t rows = put_arguments(rest);
        groups.push_back(put_group(rest.first(rows)));
        rest = rest.subspan(rows);
    }
    return groups;
}

} // namespace argtrace
