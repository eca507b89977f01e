// SPDX-License-Identifier: GPL-2.0-only
#include "export/parquet_rows.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

#include "export/append_bytes.h"
#include "export/result.h"
#include "model/type.h"
#include "model/unfinished.h"
#include "render/common_value.h"
#include "render/flags.h"
#include "render/json.h"
#include "render/stack.h"
#include "util/utf8_text.h"

namespace argtrace {

namespace {

constexpr std::size_t text_size_max = 8 << 20; // of the arguments of a group

bool is_number(const Argument &argument) {
    const TypeInfo &type = type_info(argument.type);
    return type.size > 0 && !type.is_wide();
}

/// Fibonacci hashing: the product's upper bits depend on all of the keys.
template<std::size_t Keys>
std::size_t place_of(const std::array<std::uint64_t, Keys> &keys, unsigned bits) {
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
    std::uint64_t hash = 0;
    for (const std::uint64_t key : keys)
        hash = (hash ^ key) * factor;
    return hash >> (64 - bits);
}

std::uint64_t flags_of(const Event &event) {
    return std::uint64_t{event.context} << 8 | event.preempt;
}

/// Without a call of memcmp().
template<std::size_t Keys>
bool are_equal(const std::array<std::uint64_t, Keys> &a, const std::array<std::uint64_t, Keys> &b) {
    std::uint64_t difference = 0;
    for (std::size_t i = 0; i < Keys; ++i)
        difference |= a[i] ^ b[i];
    return difference == 0;
}

/// The least and the greatest of these numbers, each larger by `offset`; there are some.
std::pair<std::int64_t, std::int64_t> limits(std::span<const std::uint64_t> words, std::uint64_t offset) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max(), greatest = std::numeric_limits<std::int64_t>::min();
    for (const std::uint64_t word : words) {
        least = std::min(least, static_cast<std::int64_t>(word + offset));
        greatest = std::max(greatest, static_cast<std::int64_t>(word + offset));
    }
    return {least, greatest};
}

} // namespace

ParquetRows::ParquetRows(const Symbols &symbols, const TraceInfo &info)
    : callers_(symbols), values_(callers_, ValueWriter::Style::json), host_(valid_utf8(info.host)),
      kernel_(valid_utf8(info.kernel)), utc_offset_(info.begin_realtime - info.begin_monotonic) {}

ParquetRows::Plan &ParquetRows::plan_of(const Probe &probe) {
    auto &recent = recent_plans_[probe.id % recent_plans_.size()];
    if (recent.first == &probe) [[likely]]
        return *recent.second;
    const auto [found, added] = plans_.try_emplace(&probe);
    Plan &plan = found->second;
    recent = {&probe, &plan};
    if (!added)
        return plan;
    plan.function = valid_utf8(probe.function);
    plan.module = valid_utf8(callers_.module(code_place(probe)));
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

/// Both return which JSON it is; no_index: that does not repeat, or it is null.
std::uint32_t ParquetRows::put_args(const EventView &view, const Plan &plan) {
    const auto args = [&](Line &out) { put_json(out, view, plan); };
    std::uint32_t index = ParquetJson::no_index;
    if (plan.are_numbers) [[likely]]
        index = args_.add(&plan, view.values.first(std::min(plan.result, view.values.size())), args);
    else
        args_.add(args);
    args_.end_row();
    return index;
}

std::uint32_t ParquetRows::put_ret(const EventView &view, const Plan &plan) {
    if (plan.result >= view.values.size() || !view.values[plan.result].captured) {
        ret_.add_null();
        return ParquetJson::no_index;
    }
    const Value &value = view.values[plan.result];
    const auto result = [&](Line &out) { values_.append(out, view, value, plan.result_format); };
    std::uint32_t index = ParquetJson::no_index;
    if (plan.is_number) [[likely]]
        index = ret_.add(plan.result_format, {&value, 1}, result);
    else
        ret_.add(result);
    ret_.end_row();
    return index;
}

/// A row that is like no other with the same values; `shared` remembers it, if there is one.
void ParquetRows::put_new(const EventBlock::Entry &call, Shared *shared) {
    const Event &event = *call.event;
    const EventView view = call.view();
    Plan &plan = plan_of(*event.probe);
    const auto kind = static_cast<std::uint32_t>(kinds_.size());
    kinds_.push_back(kind_of(event, plan));
    rows_.push_back(kind);
    const std::uint32_t args = put_args(view, plan), ret = put_ret(view, plan);
    if (shared)
        *shared = {group_,     call.batch,        event.probe, event.caller_place(), flags_of(event), event.tid,
                   event.tgid, event.first_value, event.comm,  args,         ret,             kind};
}

/// Takes as many calls as there is room for, and returns how many.
std::size_t ParquetRows::put_rows(Calls calls) {
    ++group_; // what was found before is not meant
    texts_ = {};
    kinds_.clear();
    rows_.clear();
    const std::size_t count = std::min(calls.size(), rows_max);
    std::size_t rows = 0;
    while (rows < count && (rows == 0 || args_.size() + ret_.size() < text_size_max)) {
        const EventBlock::Entry &call = calls[rows++];
        const Event &event = *call.event;
        if (kinds_.size() > kinds_max || !args_.repeats() || !ret_.repeats()) {
            put_new(call, nullptr);
            continue;
        }
        Shared &shared = shared_[place_of(std::array{reinterpret_cast<std::uintptr_t>(call.batch) ^ event.first_value}, shared_bits)];
        const bool is_known = shared.group == group_ && shared.batch == call.batch && shared.first_value == event.first_value &&
                              shared.probe == event.probe && shared.caller == event.caller_place() && shared.tid == event.tid &&
                              shared.tgid == event.tgid && shared.flags == flags_of(event) && event.has_comm(shared.comm);
        if (!is_known) [[unlikely]] {
            put_new(call, &shared);
            continue;
        }
        rows_.push_back(shared.kind);
        args_.add_again(shared.args);
        args_.end_row();
        if (shared.ret == ParquetJson::no_index) {
            ret_.add_null();
        } else {
            ret_.add_again(shared.ret);
            ret_.end_row();
        }
    }
    return rows;
}

/// What the columns have of a thing that is told by `keys`: what was found for it before, or what `find()` says.
template<std::size_t Keys, std::size_t Texts, typename Find>
const std::array<std::uint32_t, Texts> &ParquetRows::look_up(Recents<Keys, Texts> &recents, const std::array<std::uint64_t, Keys> &keys,
                                                             Find find) {
    Recent<Keys, Texts> &recent = recents[place_of(keys, recent_bits)];
    if (recent.group != group_ || !are_equal(recent.keys, keys)) [[unlikely]]
        recent = {group_, keys, find()};
    return recent.texts;
}

ParquetRows::Kind ParquetRows::kind_of(const Event &event, Plan &plan) {
    const std::uint32_t null = ParquetTexts::null;
    std::array<std::uint64_t, 3> task{std::uint64_t{event.tgid} << 32 | event.tid, 0, 0};
    static_assert(sizeof(event.comm) == 2 * sizeof(task[1]));
    std::memcpy(&task[1], event.comm.data(), sizeof(event.comm));
    const auto [tid, pid, comm] = look_up(recent_tasks_, task, [&] {
        return std::array{texts_[tids].index_of(event.tid),
                          event.tgid != 0 || event.tid == 0 ? texts_[pids].index_of(event.tgid) : null,
                          texts_[comms].index_of(valid_utf8(event.comm_view()))};
    });
    if (plan.group != group_) [[unlikely]] {
        plan.group = group_;
        plan.function_text = texts_[functions].index_of(plan.function);
        plan.module_text = plan.module.empty() ? null : texts_[modules].index_of(plan.module);
    }
    const auto [caller] = look_up(recent_callers_, std::array{event.caller, std::uint64_t{static_cast<std::uint32_t>(event.caller_space)}}, [&] {
        const std::string_view name = event.caller != 0 ? std::string_view(callers_.name(event.caller_place())) : CallerNames::unknown;
        return std::array{name == CallerNames::unknown ? null : texts_[callers].index_of(valid_utf8(name))};
    });
    const auto [flag] = look_up(recent_flags_, std::array{flags_of(event)}, [&] {
        return std::array{texts_[flags].index_of(std::string_view(flags_column(event.context, event.preempt)))};
    });
    return {tid, pid, comm, plan.function_text, plan.module_text, caller, flag};
}

/// A column that kind_of() is about.
ParquetChunk ParquetRows::column(Column number) {
    const std::uint32_t first = kinds_[0][number];
    if (std::all_of(kinds_.begin(), kinds_.end(), [&](const Kind &kind) { return kind[number] == first; }))
        return texts_[number].encode_equal(first, rows_.size());
    halves_.clear();
    std::uint32_t *to = halves_.extend(rows_.size());
    for (const std::uint32_t kind : rows_)
        *to++ = kinds_[kind][number];
    return texts_[number].encode(halves_);
}

ParquetChunk ParquetRows::constant(std::string_view text, std::size_t rows) const {
    ParquetChunk chunk;
    chunk.encoding = ParquetEncoding::dictionary;
    std::string word, plain;
    append_bytes(word, static_cast<std::uint32_t>(text.size()));
    word += text;
    chunk.dictionary = make_dictionary_page(word, 1);
    put_no_nulls(plain, rows);
    put_first_index(plain, rows, 1);
    chunk.data = make_data_page(plain, rows, chunk.encoding);
    return chunk;
}

/// A column of numbers, those of the calls that `has` them.
template<typename Number, typename Has, typename Get>
ParquetChunk ParquetRows::numbers(Calls calls, PlainVector<Number> &values, Has has, Get get) {
    ParquetChunk chunk;
    chunk.encoding = ParquetEncoding::delta;
    values.clear();
    values.extend(calls.size());
    std::size_t count = 0;
    for (const EventBlock::Entry &call : calls) {
        values[count] = get(*call.event);
        count += has(*call.event);
    }
    values.shrink(count);
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
    put_deltas(plain, std::span<const Number>(values));
    chunk.data = make_data_page(plain, calls.size(), chunk.encoding);
    if constexpr (sizeof(Number) == sizeof(std::int64_t)) { // no others have statistics
        if (count > 0)
            std::tie(chunk.min, chunk.max) = limits(values, 0);
    }
    return chunk;
}

/// The columns ts and utc, whose differences are the same.
void ParquetRows::put_times(Calls calls, ParquetGroup &group) {
    words_.clear();
    words_.extend(calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i)
        words_[i] = calls[i].event->ts;
    std::string rest;
    put_deltas_rest(rest, words_);
    const auto [least, greatest] = limits(words_, 0);
    for (const std::uint64_t offset : {std::uint64_t{0}, utc_offset_}) {
        ParquetChunk chunk;
        chunk.encoding = ParquetEncoding::delta;
        std::string plain;
        put_no_nulls(plain, calls.size());
        put_deltas_begin(plain, words_[0] + offset, words_.size());
        plain += rest;
        chunk.data = make_data_page(plain, calls.size(), chunk.encoding);
        // The order is the same unless they wrap around.
        if (__builtin_add_overflow(least, static_cast<std::int64_t>(offset), &chunk.min) ||
            __builtin_add_overflow(greatest, static_cast<std::int64_t>(offset), &chunk.max))
            std::tie(chunk.min, chunk.max) = limits(words_, offset);
        group.chunks.push_back(std::move(chunk));
    }
}

/// The columns of these calls, which have been put.
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

    for (const Column number : {tids, pids, comms, functions, modules, callers, flags})
        add(column(number));
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
        const std::size_t rows = put_rows(rest);
        groups.push_back(put_group(rest.first(rows)));
        rest = rest.subspan(rows);
    }
    return groups;
}

} // namespace argtrace
