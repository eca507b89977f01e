// SPDX-License-Identifier: GPL-2.0-only
#include "report/trace_aggregation.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "model/key_room.h"
#include "report/in_time_order.h"
#include "spec/common_form.h"

namespace argtrace {

namespace {

constexpr std::size_t names_listed = 5;

} // namespace

TraceAggregation::TraceAggregation(TraceReader &reader, std::vector<RecordedValue> keys, std::optional<RecordedValue> value,
                                   Buckets buckets)
    : reader_(reader), names_(keys), keys_(std::move(keys), std::move(value)), wanted_(buckets) {}

Aggregation TraceAggregation::run(const std::function<void()> &tell) {
    while (const auto item = reader_.next()) {
        if (!item->packet)
            continue;
        begin();
        for (const Event &event : item->packet->batch.events)
            add(item->packet->batch.view(event));
        tell();
    }
    return take();
}

void TraceAggregation::run(TraceIntervals &intervals, const std::function<void()> &tell) {
    const auto take_event = [&](const TimeOrder::Packet &packet, const Event &event) {
        if (!intervals.reach(event.end()))
            return false;
        begin();
        add(packet->batch.view(event));
        return true;
    };
    const auto go_on = [&] {
        tell();
        return !intervals.satisfied();
    };
    read_in_time_order(
        reader_, [](const DecodedPacket &) {}, take_event, go_on);
    intervals.finish();
}

/// Whether values are signed is known once the first packet is there, behind its functions.
void TraceAggregation::begin() {
    if (all_)
        return;
    all_.emplace(buckets());
    if (!probes_with_keys().empty())
        check_linear(all_->buckets());
}

void TraceAggregation::add(const EventView &view) {
    if (choice_ && !choice_(view))
        return;
    if (keys_.add(view, *all_)) {
        ++calls_;
        return;
    }
    ++left_out_[view.event->probe->function];
    if (missing_.empty())
        missing_ = keys_.missing(*view.event->probe);
}

Aggregation TraceAggregation::take() {
    if (!all_)
        return Aggregation(buckets());
    const std::vector<std::uint32_t> room = share_key_room(key_lengths());
    Aggregation all = *std::exchange(all_, std::nullopt);
    return all.fits(room) ? std::move(all) : all.cut_to(room);
}

Buckets TraceAggregation::buckets() {
    Buckets buckets = wanted_;
    reader_.schema().for_each([&](const Probe &probe) {
        buckets.is_signed = buckets.is_signed || (probe_choice_(probe) && keys_.has_signed_value(probe));
    });
    return buckets;
}

/// By id, so that the first of them is always the same.
std::vector<const Probe *> TraceAggregation::probes_with_keys() {
    std::vector<const Probe *> probes;
    reader_.schema().for_each([&](const Probe &probe) {
        if (probe_choice_(probe) && keys_.missing(probe).empty())
            probes.push_back(&probe);
    });
    std::sort(probes.begin(), probes.end(),
              [](const Probe *a, const Probe *b) { return a->id < b->id; });
    return probes;
}

std::vector<std::uint32_t> TraceAggregation::key_lengths() {
    std::vector<std::uint32_t> lengths(names_.size());
    for (const Probe *probe : probes_with_keys()) {
        const std::vector<EventKeys::PartType> types = keys_.types_of(*probe);
        for (std::size_t i = 0; i < types.size(); ++i)
            lengths[i] = std::max(lengths[i], types[i].length);
    }
    return lengths;
}

std::vector<KeyColumn> TraceAggregation::columns() {
    std::vector<KeyColumn> columns;
    const std::vector<const Probe *> probes = probes_with_keys();
    const std::vector<EventKeys::PartType> first =
        probes.empty() ? std::vector<EventKeys::PartType>() : keys_.types_of(*probes.front());
    if (!probes.empty())
        formats_ = std::make_unique<ProbeFormats>(*probes.front());
    for (std::size_t i = 0; i < names_.size(); ++i) {
        std::string_view written = names_[i].written;
        if (written.starts_with('$'))
            written.remove_prefix(1);
        KeyColumn &column = columns.emplace_back();
        column.name = names_[i].name;
        column.is_function = names_[i].written == "func";
        column.is_result = written == "ret" && !probes.empty() && kind_of(*probes.front()) != user_kind;
        column.is_user_stack = written == "ustack";
        const bool is_argument = !first.empty() && first[i].argument;
        if (written == "caller" && !is_argument)
            column.format = caller_format();
        if (!is_argument)
            continue;
        // Where functions differ, values are shown as the numbers that they are.
        const Argument &argument = probes.front()->args[*first[i].argument];
        const bool alike = std::all_of(probes.begin(), probes.end(), [&](const Probe *probe) {
            const auto at = keys_.types_of(*probe)[i].argument;
            return at && probe->args[*at].type_name == argument.type_name;
        });
        if (alike)
            column.format = formats_->argument(*first[i].argument);
        CommonForm form(Calls::shared());
        for (const Probe *probe : probes)
            if (const auto at = keys_.types_of(*probe)[i].argument)
                form.add(*probe, probe->args[*at]);
        column.shown = form.form();
    }
    return columns;
}

std::string_view TraceAggregation::describe_missing() const {
    std::string_view missing = missing_;
    if (missing.starts_with('$'))
        missing.remove_prefix(1);
    return missing;
}

TracePairing::TracePairing(TraceReader &reader, const TraceSurvey &survey, Pairing pairing, Spec from, Spec to)
    : reader_(reader), pairing_(std::move(pairing)), from_(std::move(from)), to_(std::move(to)) {
    for (const TraceSurvey::Gap &gap : survey.gaps)
        pairing_.lost(gap.from, gap.to);
}

void TracePairing::run(TraceIntervals *intervals, const std::function<void()> &tell) {
    const auto take = [&](const TimeOrder::Packet &packet, const Event &event) {
        if (intervals && !intervals->reach(event.end()))
            return false;
        add(packet->batch.view(event));
        return true;
    };
    const auto go_on = [&] {
        tell();
        return !intervals || !intervals->satisfied();
    };
    read_in_time_order(
        reader_, [](const DecodedPacket &) {}, take, go_on);
    if (intervals)
        intervals->finish();
}

void TracePairing::add(const EventView &view) {
    if (choice_ && !choice_(view))
        return;
    const std::string &function = view.event->probe->function;
    pairing_.take(view, from_.matches_title(function), to_.matches_title(function));
}

std::uint64_t calls_of(const std::map<std::string, std::uint64_t> &functions) {
    std::uint64_t calls = 0;
    for (const auto &[name, count] : functions)
        calls += count;
    return calls;
}

std::string describe_left_out(const std::map<std::string, std::uint64_t> &functions, std::string_view missing, const Schema &schema) {
    const std::uint64_t calls = calls_of(functions);
    if (calls == 0)
        return "";
    std::vector<std::string> names;
    for (const auto &[name, count] : functions)
        if (names.size() < names_listed)
            names.push_back(name);
    const bool returned = missing == "ret" || missing == "duration";
    return fmt::format("{} call{} of {}{} {} left out: {} was not recorded of them{}; recorded are {}", calls, calls == 1 ? "" : "s",
                       fmt::join(names, ", "), names.size() < functions.size() ? " ..." : "", calls == 1 ? "is" : "are", missing,
                       returned ? ", which takes `argtrace record --return`" : "", list_recorded_values(schema));
}

std::string list_recorded_values(const Schema &schema) {
    std::set<std::string> names;
    schema.for_each([&names](const Probe &probe) {
        for (const Argument &argument : probe.args)
            if (argument.loc != ARGTRACE_LOC_NONE)
                names.insert(argument.name);
        if (records_returns(probe))
            names.insert("duration");
    });
    constexpr std::size_t listed_max = 20;
    std::vector<std::string> all{"func", "comm", "pid", "tid", "cpu", "caller"};
    for (const std::string &name : names)
        if (all.size() < listed_max)
            all.push_back(name);
    const bool more = names.size() + 6 > all.size();
    return fmt::format("{}{}", fmt::join(all, ", "), more ? " ..." : "");
}

} // namespace argtrace
