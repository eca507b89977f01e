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

/// A column of which the rows have these texts.
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

/// A column of texts that go by `key`, a pair of numbers; `find` says which it is, or that it is none by Texts::null.
template<typename Key, typename Find>
ParquetChunk ParquetRows::texts(Calls calls, Key key, Find find) {
    ++group_; // what other columns have found is not meant
    Texts column;
    halves_.resize(calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const auto [one, other] = key(*calls[i].event);
        Recent &recent = recent_[recent_place(one, other)];
        if (recent.group != group_ || recent.keys[0] != one || recent.keys[1] != other)
            [[unlikely]]
            recent = {group_, {one, other}, find(column, *calls[i].event)};
        halves_[i] = recent.index;
    }
    return column.encode(halves_);
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
    for (std::size_t i = 0; i < count; ++i) {
        const auto number = static_cast<std::int64_t>(values[i]);
        chunk.min = i == 0 ? number : std::min(chunk.min, number);
        chunk.max = i == 0 ? number : std::max(chunk.max, number);
    }
    return chunk;
}

/// The columns of these calls, whose arguments have been put.
ParquetGroup ParquetRows::put_group(Calls calls) {
    ParquetGroup group;
    const std::size_t rows = group.rows = calls.size();
    const auto add = [&group](ParquetChunk chunk) { group.chunks.push_back(std::move(chunk)); };
    const auto all = [](const Event &) { return true; };
    add(numbers(calls, words_, all, [](const Event &event) { return event.ts; }));
    add(numbers(calls, words_, all,
                [this](const Event &event) { return event.ts + utc_offset_; }));
    add(constant(host_, rows));
    add(constant(kernel_, rows));
    add(numbers(
        calls, halves_, [](const Event &event) { return event.cpu != unknown_cpu; },
        [](const Event &event) { return event.cpu; }));
    add(numbers(calls, halves_, all, [](const Event &event) { return event.tid; }));
    add(numbers(
        calls, halves_, [](const Event &event) { return event.tgid != 0 || event.tid == 0; },
        [](const Event &event) { return event.tgid; }));

    add(texts(
        calls,
        [](const Event &event) {
            std::pair<std::uint64_t, std::uint64_t> words;
            static_assert(sizeof(event.comm) == 2 * sizeof(words.first));
            std::memcpy(&words.first, event.comm.data(), sizeof(words.first));
            std::memcpy(&words.second, event.comm.data() + sizeof(words.first), sizeof(words.second));
            return words;
        },
        [](Texts &column, const Event &event) {
            return column.index_of(valid_utf8(event.comm_view()));
        }));
    const auto probe = [](const Event &event) {
        return std::pair(reinterpret_cast<std::uintptr_t>(event.probe), std::uint64_t{0});
    };
    add(texts(calls, probe, [this](Texts &column, const Event &event) {
        return column.index_of(plan_of(*event.probe).function);
    }));
    add(texts(calls, probe, [this](Texts &column, const Event &event) {
        const std::string &module = plan_of(*event.probe).module;
        return module.empty() ? Texts::null : column.index_of(module);
    }));
    add(texts(
        calls, [](const Event &event) { return std::pair(event.caller, std::uint64_t{0}); },
        [this](Texts &column, const Event &event) {
            if (event.caller == 0)
                return Texts::null;
            const std::string &name = callers_.name(event.caller);
            return name == CallerNames::unknown ? Texts::null : column.index_of(valid_utf8(name));
        }));
    add(texts(
        calls,
        [](const Event &event) {
            return std::pair(std::uint64_t{event.context}, std::uint64_t{event.preempt});
        },
        [](Texts &column, const Event &event) {
            return column.index_of(std::string_view(flags_column(event.context, event.preempt)));
        }));

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
