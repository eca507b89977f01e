// SPDX-License-Identifier: GPL-2.0-only
#include "decode/decode.h"

#include <algorithm>
#include <cstring>

#include "decode/values.h"

namespace argtrace {

namespace {

constexpr std::size_t record_alignment = 8;
constexpr std::uint32_t known_formats = ARGTRACE_FORMAT_NAMED | ARGTRACE_FORMAT_NO_CALLER;

constexpr std::uint64_t largest_disagreement_ns = 1000000;

std::uint64_t end_on_stack(const Argument &argument) {
    return std::uint64_t{argument.offset} + argument.size;
}

/// The value of the argument that ends highest on the stack, whose first byte says how many words there were read; null
/// when none is there.
const Value *unreadable_mark(const Probe &probe, std::span<const Value> values) {
    const Value *mark = nullptr;
    std::uint64_t highest = 0;
    for (std::size_t i = 0; i < probe.args.size(); ++i) {
        const Argument &argument = probe.args[i];
        if (argument.loc != ARGTRACE_LOC_STACK || end_on_stack(argument) <= highest)
            continue;
        highest = end_on_stack(argument);
        mark = &values[i];
    }
    return mark;
}

/// Removes the values that a record with an id ARGTRACE_ID_UNREADABLE could not read. False if the record cannot be one.
bool take_out_unreadable(const Probe &probe, std::span<Value> values,
                         std::span<const std::byte> bytes) {
    constexpr std::uint64_t word_size = 8;
    const Value *mark = unreadable_mark(probe, values);
    if (!mark)
        return false;
    const std::uint64_t words = mark->type == ARGTRACE_TYPE_BYTES
                                    ? std::to_integer<std::uint64_t>(bytes[mark->low])
                                    : mark->low & 0xff;
    for (std::size_t i = 0; i < probe.args.size(); ++i) {
        if (probe.args[i].loc == ARGTRACE_LOC_STACK &&
            end_on_stack(probe.args[i]) > words * word_size)
            values[i] = {};
    }
    return true;
}

/// A call that was left has returned nothing.
void take_out_result(const Probe &probe, std::span<Value> values) {
    for (std::size_t i = 0; i < probe.args.size(); ++i)
        if (probe.args[i].loc == ARGTRACE_LOC_RETURN)
            values[i] = {};
}

bool any_is_unread(const Probe &probe, std::span<const Value> values) {
    for (std::size_t i = 0; i < probe.args.size(); ++i)
        if (is_unread(probe.args[i], values[i])) [[unlikely]]
            return true;
    return false;
}

} // namespace

DecodeStatus Decoder::open(std::span<const std::byte> packet) {
    DecodeStatus status = open_cut(packet);
    if (status != DecodeStatus::ok || header_.size == packet.size())
        return status;
    offset_ = packet.size();
    return DecodeStatus::bad_packet_size;
}

DecodeStatus Decoder::open_cut(std::span<const std::byte> packet) {
    std::uint32_t cpu = header_.cpu;
    packet_ = packet;
    header_ = {};
    offset_ = packet.size();
    if (packet.size() < sizeof(header_))
        return DecodeStatus::packet_too_short;
    std::memcpy(&header_, packet.data(), sizeof(header_));
    if (header_.magic != ARGTRACE_PACKET_MAGIC)
        return DecodeStatus::bad_magic;
    if (header_.version != ARGTRACE_RECORD_VERSION)
        return DecodeStatus::bad_version;
    if (header_.size < packet.size())
        return DecodeStatus::bad_packet_size;
    if (header_.header < sizeof(header_) || header_.header % record_alignment != 0 ||
        header_.header > packet.size())
        return DecodeStatus::bad_header_size;
    if (header_.format & ~known_formats)
        return DecodeStatus::unknown_format;
    if (header_.clock_id != ARGTRACE_CLOCK_MONOTONIC && header_.clock_id != ARGTRACE_CLOCK_TSC)
        return DecodeStatus::unknown_clock;

    offset_ = header_.header;
    anchor_ = {header_.clock, header_.ns};
    task_known_ = false;
    if (header_.cpu != cpu)
        latest_ = 0;
    return DecodeStatus::ok;
}

DecodeStatus Decoder::next_record(std::size_t limit, argtrace_record &record) const {
    std::size_t left = limit - offset_;
    if (left < sizeof(record))
        return DecodeStatus::record_too_short;
    std::memcpy(&record, packet_.data() + offset_, sizeof(record));
    if (record.size < sizeof(record) || record.size % record_alignment != 0 || record.size > left)
        return DecodeStatus::bad_record_size;
    return DecodeStatus::ok;
}

bool Decoder::skip(std::size_t limit) {
    limit = std::min(limit, packet_.size());
    argtrace_record record;
    if (offset_ >= limit || next_record(limit, record) != DecodeStatus::ok)
        return false;
    offset_ += record.size;
    return true;
}

std::size_t Decoder::count(std::size_t limit) const {
    limit = std::min(limit, packet_.size());
    std::size_t records = 0;
    std::size_t at = offset_;
    while (at < limit && limit - at >= sizeof(argtrace_record)) {
        std::uint16_t size;
        std::memcpy(&size, packet_.data() + at + offsetof(argtrace_record, size), sizeof(size));
        if (size < sizeof(argtrace_record))
            break;
        at += size;
        ++records;
    }
    return records;
}

std::uint64_t Decoder::full_clock(std::uint32_t low) const {
    return anchor_.clock >> 32 << 32 | low;
}

/// The time by CLOCK_MONOTONIC.
std::uint64_t Decoder::nanoseconds(std::uint64_t clock) const {
    if (header_.clock_id == ARGTRACE_CLOCK_MONOTONIC)
        return clock;
    // Both are below 2^32, of an honest packet; of another it must be no more than nonsense.
    if (clock >= anchor_.clock)
        return anchor_.ns + ((clock - anchor_.clock) * header_.mult >> ARGTRACE_MULT_SHIFT);
    return anchor_.ns - ((anchor_.clock - clock) * header_.mult >> ARGTRACE_MULT_SHIFT);
}

/// In nanoseconds. Of an honest record it is no longer than the clock runs.
std::uint64_t Decoder::duration(std::uint64_t took) const {
    if (header_.clock_id == ARGTRACE_CLOCK_MONOTONIC)
        return took;
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide{took} * header_.mult >> ARGTRACE_MULT_SHIFT);
}

/// Where two packets, or the parts of one, do not quite agree about the time, the later is right
/// for both: times do not decrease along a CPU, if its packets are decoded in their order. Larger
/// steps are told as they are.
std::uint64_t Decoder::smoothed(std::uint64_t ns) const {
    bool steps_back = ns < latest_ && latest_ - ns < largest_disagreement_ns;
    return steps_back && header_.clock_id != ARGTRACE_CLOCK_MONOTONIC ? latest_ : ns;
}

DecodeStatus Decoder::special(const argtrace_record &record, std::span<const std::byte> data) {
    switch (record.id) {
    case ARGTRACE_ID_CLOCK:
        if (data.size() < sizeof(anchor_))
            return DecodeStatus::bad_clock_record;
        std::memcpy(&anchor_, data.data(), sizeof(anchor_));
        break;
    case ARGTRACE_ID_TASK:
        if (data.size() < sizeof(task_))
            return DecodeStatus::bad_task_record;
        std::memcpy(&task_, data.data(), sizeof(task_));
        task_tid_ = record.tid;
        task_known_ = true;
        break;
    default: // of a later version: its size is all we know
        break;
    }
    return DecodeStatus::ok;
}

/// Appends the values of the arguments, or says what is wrong with them. This and the next two are inlined into the only place that
/// calls them.
[[gnu::always_inline]] inline DecodeStatus
Decoder::read_arguments(const argtrace_record &record, std::span<const std::byte> data, const Schema::Entry &known,
                        EventBatch &out, bool &has_unread) const {
    const std::size_t first_value = out.values.size();
    const std::size_t first_byte = out.bytes.size();
    const bool compact = !(header_.format & ARGTRACE_FORMAT_NAMED);
    static_assert(sizeof(argtrace_record) >= CompactLayout::readable_before);
    if (!compact || !known.layout.read(data, out.values, out.bytes)) {
        const DecodeStatus status = read_values(data, known.probe, out);
        if (status != DecodeStatus::ok)
            return status;
        has_unread = any_is_unread(known.probe, std::span(out.values).subspan(first_value));
    }
    if (argtrace_record_is_left(record.id)) [[unlikely]] {
        take_out_result(known.probe, std::span(out.values).subspan(first_value));
        has_unread = false; // what it would have returned is not unreadable
    } else if (record.id > ARGTRACE_ID_MAX) [[unlikely]] {
        const auto values = std::span(out.values).subspan(first_value);
        if (!take_out_unreadable(known.probe, values, out.bytes)) {
            out.values.shrink(first_value);
            out.bytes.resize(first_byte);
            return DecodeStatus::bad_unreadable_record;
        }
    }
    return DecodeStatus::ok;
}

/// Says in the event where the values of the arguments are, those of an earlier call or new ones.
[[gnu::always_inline]] inline DecodeStatus
Decoder::arguments(const argtrace_record &record, std::span<const std::byte> data, const Schema::Entry &known, EventBatch &out,
                   SharedArguments *shared, Event &event) const {
    SharedArguments::Known *place = nullptr;
    if (shared && record.id <= ARGTRACE_ID_MAX) {
        bool is_same = false;
        place = shared->find(known, data, is_same);
        if (is_same) {
            event.first_value = place->first_value;
            event.has_unread = place->has_unread;
            return DecodeStatus::ok;
        }
    }
    event.first_value = static_cast<std::uint32_t>(out.values.size());
    const DecodeStatus status = read_arguments(record, data, known, out, event.has_unread);
    if (place && status == DecodeStatus::ok)
        *place = {&known, data.data(), static_cast<std::uint32_t>(data.size()), event.first_value, event.has_unread};
    return status;
}

[[gnu::always_inline]] inline DecodeStatus
Decoder::call(const argtrace_record &record, std::span<const std::byte> data,
              const Schema::Entry &known, EventBatch &out, SharedArguments *shared) {
    std::uint64_t caller = 0;
    if (!(header_.format & ARGTRACE_FORMAT_NO_CALLER)) {
        if (data.size() < sizeof(caller))
            return DecodeStatus::caller_cut_off;
        std::memcpy(&caller, data.data(), sizeof(caller));
        data = data.subspan(sizeof(caller));
    }

    std::uint64_t took = 0; // in units of the clock
    const bool returned = records_returns(known.probe);
    if (returned) [[unlikely]] {
        if (data.size() < sizeof(took))
            return DecodeStatus::duration_cut_off;
        std::memcpy(&took, data.data(), sizeof(took));
        data = data.subspan(sizeof(took));
    }

    Event event{};
    if (const DecodeStatus status = arguments(record, data, known, out, shared, event); status != DecodeStatus::ok)
        return status;

    static constexpr argtrace_task no_task{};
    const argtrace_task &task = task_known_ && task_tid_ == record.tid ? task_ : no_task;
    event.clock = full_clock(record.clock);
    event.ts = latest_ = smoothed(nanoseconds(event.clock));
    if (returned) [[unlikely]] {
        event.duration = duration(took);
        event.ts -= event.duration;
        event.left = argtrace_record_is_left(record.id);
    }
    event.caller = caller;
    event.position = header_.seq * header_.size + offset_;
    event.probe = &known.probe;
    event.cpu = header_.cpu;
    event.tid = record.tid;
    event.tgid = task.tgid;
    event.context = record.context & known.context_mask;
    event.preempt = record.preempt;
    std::memcpy(event.comm.data(), task.comm, sizeof(task.comm));
    out.events.push_back(event);
    return DecodeStatus::ok;
}

DecodeStatus Decoder::decode(std::size_t limit, std::size_t first, const Schema &schema,
                             EventBatch &out, SharedArguments *shared) {
    limit = std::min(limit, packet_.size());
    while (offset_ < limit) {
        argtrace_record record;
        DecodeStatus status = next_record(limit, record);
        if (status != DecodeStatus::ok)
            return status;
        auto data = packet_.subspan(offset_ + sizeof(record), record.size - sizeof(record));

        if (record.id > ARGTRACE_ID_MAX && !argtrace_record_probe(record.id)) {
            status = special(record, data);
        } else if (offset_ >= first) {
            const Schema::Entry *known = schema.entry(argtrace_record_probe(record.id));
            status = known ? call(record, data, *known, out, shared) : DecodeStatus::unknown_probe;
        }
        if (status != DecodeStatus::ok)
            return status;
        offset_ += record.size;
    }
    return DecodeStatus::ok;
}

/// Appends the values that the layout could not read, or says what is wrong with them.
DecodeStatus Decoder::read_values(std::span<const std::byte> data, const Probe &probe,
                                  EventBatch &out) const {
    const std::size_t first_value = out.values.size();
    const std::size_t first_byte = out.bytes.size();
    const std::span values(out.values.extend(probe.args.size()), probe.args.size());
    const DecodeStatus status = header_.format & ARGTRACE_FORMAT_NAMED
                                    ? read_named(data, probe, values, out.bytes)
                                    : read_compact(data, probe, values, out.bytes);
    if (status != DecodeStatus::ok) {
        out.values.shrink(first_value);
        out.bytes.resize(first_byte);
    }
    return status;
}

} // namespace argtrace
