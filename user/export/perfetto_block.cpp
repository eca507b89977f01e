// SPDX-License-Identifier: GPL-2.0-only
#include "export/perfetto_block.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "export/perfetto_fields.h"
#include "model/result.h"
#include "model/unfinished.h"
#include "render/flags.h"
#include "util/utf8_text.h"

namespace argtrace {

namespace {

using namespace perfetto;

/// A message that has been opened by hand: the field, and room for two bytes of length.
char *open_message(char *to, unsigned field) {
    *to = static_cast<char>(field << 3 | 2);
    return to + 3;
}

[[gnu::always_inline]] inline char *put_number(char *to, unsigned field, std::uint64_t value) {
    *to = static_cast<char>(field << 3);
    return write_varint(to + 1, value);
}

/// Fibonacci hashing: the product's upper bits depend on all of the key.
std::size_t note_place(std::uint64_t key, unsigned bits) {
    return key * 0x9e3779b97f4a7c15 >> (64 - bits);
}

/// An annotation of a number, if it is no more than that; else null.
[[gnu::always_inline]] inline char *
put_plain(char *to, const PerfettoPlan::Argument &argument, const Value &value) {
    if (PerfettoPlan::Argument::looks_of(value) != argument.looks || value.low > argument.max)
        [[unlikely]]
        return nullptr;
    std::memcpy(to, argument.head.data(), argument.head.size());
    char *end = write_varint(to + argument.head_size, value.low);
    to[1] = static_cast<char>(end - to - 2);
    return end;
}

static_assert(event::slice_begin == unsigned{static_cast<std::uint8_t>(PerfettoBlock::Kind::begin)} &&
              event::slice_end == unsigned{static_cast<std::uint8_t>(PerfettoBlock::Kind::end)} &&
              event::instant == unsigned{static_cast<std::uint8_t>(PerfettoBlock::Kind::instant)} &&
              event::counter_value == unsigned{static_cast<std::uint8_t>(PerfettoBlock::Kind::counter)});

constexpr std::size_t opened_size = 1 + short_length_size; // a field's key, and the length of its message

/// The beginning of a packet: where its event's fields are, and where they go on behind the track.
struct Head {
    char *event, *end;
};

[[gnu::always_inline]] inline Head put_head(char *to, const PerfettoBlock::Item &item) {
    static constexpr std::array<char, 4> sequence{0x50, 0x01, 0x68, 0x02};
    static_assert(packet::sequence_id << 3 == 0x50 && perfetto_sequence == 1 &&
                  packet::sequence_flags << 3 == 0x68 && packet::needs_state == 2);
    to = open_message(to, trace::packet);
    to = put_number(to, packet::timestamp, item.ts);
    std::memcpy(to, sequence.data(), sequence.size());
    to += sequence.size();
    char *const event = open_message(to, packet::track_event);
    to = put_number(event, event::type, static_cast<std::uint8_t>(item.kind));
    return {event, put_number(to, event::track, item.track)};
}

} // namespace

/// Says that what was interned counts no more, and what all packets have in common.
void PerfettoBlockWriter::begin_block() {
    ++block_;
    memos_left_ = memos_in_vain_max;
    values_.forget();
    stacks_.forget();
    const std::size_t begin = out_.open(trace::packet);
    out_.number(packet::sequence_id, perfetto_sequence);
    out_.number(packet::sequence_flags, packet::state_cleared);
    const std::size_t defaults = out_.open(packet::defaults);
    out_.number(packet_defaults::timestamp_clock, snapshot::monotonic);
    out_.close(defaults);
    out_.close(begin);
    for (const PerfettoName *name : {common_.args, common_.caller, common_.cpu, common_.flags,
                                     common_.comm, common_.tid, common_.result})
        intern(*name);
}

void PerfettoBlockWriter::intern(const PerfettoName &name) {
    if (interned_names_.size() <= name.index)
        interned_names_.resize(name.index + 1);
    if (std::exchange(interned_names_[name.index], block_) != block_)
        values_.interned().raw(name.entry);
}

void PerfettoBlockWriter::intern(const PerfettoPlan &plan) {
    if (interned_plans_.size() <= plan.index)
        interned_plans_.resize(plan.index + 1);
    if (std::exchange(interned_plans_[plan.index], block_) == block_) [[likely]]
        return;
    for (const PerfettoName *name : plan.names)
        intern(*name);
}

/// The field of the event is still to be closed, as is that of the packet.
void PerfettoBlockWriter::begin_event(const char *packet, const char *event) {
    packet_ = out_.size() + opened_size;
    event_ = out_.size() + static_cast<std::size_t>(event - packet);
}

/// A packet up to the track of its event.
char *PerfettoBlockWriter::begin_event(const PerfettoBlock::Item &item, std::size_t room) {
    char *const packet = out_.room(room);
    const Head head = put_head(packet, item);
    begin_event(packet, head.event);
    return head.end;
}

/// What was interned meanwhile is in the same packet, where it is read first.
void PerfettoBlockWriter::end_event() {
    out_.close(event_);
    if (ProtobufWriter &interned = values_.interned(); !interned.empty()) [[unlikely]] {
        out_.text(packet::interned_data, interned.view());
        interned.clear();
    }
    out_.close(packet_);
}

void PerfettoBlockWriter::make_note(Note &note, std::uint64_t key, std::uint64_t name,
                                    std::string_view text) {
    note_.clear();
    values_.append_string(note_, event::annotation, name, text);
    note.block = 0;
    if (note_.size() <= note.bytes.size()) { // others are made again
        note.block = block_;
        note.key = key;
        note.size = static_cast<std::uint8_t>(note_.size());
        std::copy(note_.view().begin(), note_.view().end(), note.bytes.begin());
    }
}

/// That which was made last where it does not fit into a note.
void PerfettoBlockWriter::put_note(const Note &note) {
    if (note.block != block_) [[unlikely]]
        return out_.raw(note_.view());
    std::memcpy(out_.room(Note::size_max), note.bytes.data(), Note::size_max);
    out_.set_end(out_.room(0) + note.size);
}

/// A value that is more than a number, at the end of what was written.
void PerfettoBlockWriter::put_value(unsigned field, const PerfettoPlan::Argument &argument,
                                    const Value &value, std::span<const std::byte> bytes) {
    values_.append(out_, field, argument.name, EventView{nullptr, {}, bytes}, value,
                   argument.format);
}

char *PerfettoBlockWriter::put_arguments(char *to, const PerfettoPlan &plan, const EventView &view) {
    char *const begin = open_message(to, event::annotation);
    const std::size_t args = out_.size() + static_cast<std::size_t>(begin - out_.view().end());
    to = put_number(begin, annotation::name_id, common_.args->id);
    bool plain = true;
    for (const PerfettoPlan::Argument &argument : plan.arguments) {
        const Value &value = view.values[argument.index];
        if (char *end = put_plain(to, argument, value)) [[likely]] {
            to = end;
            continue;
        }
        if (!value.captured)
            continue;
        plain = false;
        out_.set_end(to);
        put_value(annotation::entry, argument, value, view.bytes);
        to = out_.room(plan.size_max);
    }
    if (plain && to - begin < 1 << 14) [[likely]] {
        const auto length = static_cast<unsigned>(to - begin);
        begin[-2] = static_cast<char>(length | 0x80);
        begin[-1] = static_cast<char>(length >> 7);
        return to;
    }
    out_.set_end(to);
    out_.close(args);
    return out_.room(plan.size_max);
}

void PerfettoBlockWriter::put_stack(const StackValues &stacks, const Probe &probe) {
    if ((stacks.kernel && stacks.kernel->captured) || (stacks.user && stacks.user->captured))
        out_.number(event::callstack_id, stacks_.id(stacks, probe, values_.interned()));
}

/// Where the track does not say whose call it is.
void PerfettoBlockWriter::put_task(const Event &event) {
    values_.append_string(out_, event::annotation, common_.comm->id, valid_utf8(event.comm_view()));
    const std::size_t begin = out_.open(event::annotation);
    out_.number(annotation::name_id, common_.tid->id);
    out_.number(annotation::unsigned_integer, event.tid);
    out_.close(begin);
}

/// Where the memo of such a call is, or is to be made; null where too few calls are alike.
[[gnu::always_inline]] inline PerfettoBlockWriter::Memo *PerfettoBlockWriter::find_memo(const PerfettoBlock::Item &item, bool &known) {
    if (memos_left_ == 0)
        return nullptr;
    const Event &event = *item.call.event;
    const std::uint64_t place = std::uint64_t{event.cpu} << 32 | std::uint64_t{event.context} << 8 | event.preempt;
    Memo &memo = memos_[note_place(event.caller ^ place ^ std::uint64_t{event.first_value} << 16, memo_bits)];
    known = memo.block == block_ && memo.batch == item.call.batch && memo.first_value == event.first_value &&
            memo.caller == event.caller && memo.caller_space == event.caller_space && memo.place == place && memo.plan == item.plan;
    if (known)
        return &memo;
    --memos_left_;
    memo.block = 0; // until it has been made
    memo.batch = item.call.batch;
    memo.plan = item.plan;
    memo.caller = event.caller;
    memo.caller_space = event.caller_space;
    memo.place = place;
    memo.first_value = event.first_value;
    return &memo;
}

/// What the call is, from where on its category and name stand.
void PerfettoBlockWriter::put_body(const PerfettoBlock::Item &item, char *to) {
    const PerfettoPlan &plan = *item.plan;
    const Event &event = *item.call.event;
    to = plan.head.write(to);
    if (!plan.arguments.empty())
        to = put_arguments(to, plan, item.call.view());
    out_.set_end(to);

    if (event.caller != 0) {
        Note &note = caller_notes_[note_place(event.caller, caller_bits)];
        if (note.key != event.caller || note.space != event.caller_space || note.block != block_) [[unlikely]] {
            note.space = event.caller_space;
            make_note(note, event.caller, common_.caller->id, callers_.name(event.caller_place()));
        }
        put_note(note);
    }
    if (event.cpu != unknown_cpu) [[likely]] {
        to = out_.room(4 * varint_size_max + Note::size_max);
        char *const cpu = to;
        *to++ = static_cast<char>(event::annotation << 3 | 2);
        to = put_number(to + 1, annotation::name_id, common_.cpu->id);
        to = put_number(to, annotation::unsigned_integer, event.cpu);
        cpu[1] = static_cast<char>(to - cpu - 2);
        out_.set_end(to);
    }
    const std::uint64_t flags = std::uint64_t{event.context} << 8 | event.preempt;
    Note &note = flags_notes_[note_place(flags, flags_bits)];
    if (note.key != flags || note.block != block_) [[unlikely]]
        make_note(note, flags, common_.flags->id, flags_column(event.context, event.preempt));
    put_note(note);
    if (plan.stacks.any()) [[unlikely]]
        put_stack(StackValues::of(item.call.view(), plan.stacks), *event.probe);
}

/// Inlined into the only place that calls it.
[[gnu::always_inline]] inline void PerfettoBlockWriter::put_call(const PerfettoBlock::Item &item) {
    const PerfettoPlan &plan = *item.plan;
    bool known = false;
    Memo *const memo = find_memo(item, known);
    if (known) [[likely]] {
        const std::size_t size = memo->size;
        char *const packet = out_.room(plan.size_max + size);
        const Head head = put_head(packet, item);
        std::memcpy(head.end, out_.view().data() + memo->begin, size);
        char *const end = head.end + size;
        if (!item.tells_task) [[likely]] {
            write_length(head.event, end);
            write_length(packet + opened_size, end);
            return out_.set_end(end);
        }
        begin_event(packet, head.event);
        out_.set_end(end);
    } else {
        intern(plan);
        char *const to = begin_event(item, plan.size_max);
        const std::size_t begin = out_.size() + static_cast<std::size_t>(to - out_.view().end());
        put_body(item, to);
        if (const std::size_t size = out_.size() - begin; memo && size < memo_size_max) {
            memo->begin = begin;
            memo->size = static_cast<std::uint32_t>(size);
            memo->block = block_;
        }
    }
    if (item.tells_task) [[unlikely]]
        put_task(*item.call.event);
    end_event();
}

void PerfettoBlockWriter::put_end(const PerfettoBlock::Item &item, const PerfettoBlock::End &end) {
    constexpr std::size_t room = 8 * varint_size_max;
    char *to = begin_event(item, room);
    if (end.plan->result && end.result.captured) {
        const PerfettoPlan::Argument &argument = *end.plan->result;
        if (char *behind = put_plain(to, argument, end.result)) [[likely]] {
            to = behind;
        } else {
            out_.set_end(to);
            std::span<const std::byte> bytes;
            if (end.bytes)
                bytes = std::as_bytes(std::span(*end.bytes));
            put_value(event::annotation, argument, end.result, bytes);
            to = out_.room(0);
        }
    }
    out_.set_end(to);
    end_event();
}

void PerfettoBlockWriter::put_counter(const PerfettoBlock::Item &item) {
    constexpr std::size_t room = 8 * varint_size_max;
    out_.set_end(begin_event(item, room));
    out_.number(event::counter, item.number);
    end_event();
}

ProtobufWriter PerfettoBlockWriter::write(const PerfettoBlock &block) {
    (void)out_.room(size_ + size_ / 8);
    begin_block();
    out_.raw(block.tracks.view());
    for (const PerfettoBlock::Item &item : block.items) {
        switch (item.kind) {
        case PerfettoBlock::Kind::begin:
        case PerfettoBlock::Kind::instant:
            put_call(item);
            break;
        case PerfettoBlock::Kind::end:
            put_end(item, block.ends[item.number]);
            break;
        case PerfettoBlock::Kind::counter:
            put_counter(item);
            break;
        }
    }
    size_ = out_.size();
    return std::exchange(out_, {});
}

} // namespace argtrace
