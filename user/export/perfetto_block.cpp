// SPDX-License-Identifier: GPL-2.0-only
#include "export/perfetto_block.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "export/perfetto_fields.h"
#include "export/utf8_text.h"
#include "model/result.h"
#include "model/unfinished.h"
#include "render/flags.h"

namespace argtrace {

namespace {

using namespace perfetto;

/// A message that has been opened by hand: the field, and room for two bytes of length.
char *open_message(char *to, unsigned field) {
    *to = static_cast<char>(field << 3 | 2);
    return to + 3;
}

char *put_number(char *to, unsigned field, std::uint64_t value) {
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

constexpr std::uint64_t type_of(PerfettoBlock::Kind kind) {
    switch (kind) {
    case PerfettoBlock::Kind::begin:
        return event::slice_begin;
    case PerfettoBlock::Kind::end:
        return event::slice_end;
    case PerfettoBlock::Kind::instant:
        return event::instant;
    case PerfettoBlock::Kind::counter:
        return event::counter_value;
    }
    return 0;
}

} // namespace

/// Says that what was interned counts no more, and what all packets have in common.
void PerfettoBlockWriter::begin_block() {
    ++block_;
    memos_asked_ = memos_helped_ = 0;
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

/// A packet up to the track of its event. The field of the event is still to be closed, as is that of the
/// packet.
char *PerfettoBlockWriter::begin_event(const PerfettoBlock::Item &item, std::size_t room) {
    static constexpr std::array<char, 4> sequence{0x50, 0x01, 0x68, 0x02};
    static_assert(packet::sequence_id << 3 == 0x50 && perfetto_sequence == 1 &&
                  packet::sequence_flags << 3 == 0x68 && packet::needs_state == 2);
    char *to = open_message(out_.room(room), trace::packet);
    packet_ = out_.size() + 3;
    to = put_number(to, packet::timestamp, item.ts);
    std::memcpy(to, sequence.data(), sequence.size());
    to += sequence.size();
    to = open_message(to, packet::track_event);
    event_ = out_.size() + static_cast<std::size_t>(to - out_.view().end());
    to = put_number(to, event::type, type_of(item.kind));
    return put_number(to, event::track, item.track);
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

void PerfettoBlockWriter::put_stack(const Value &stack, const Probe &probe) {
    if (stack.captured)
        out_.number(event::callstack_id, stacks_.id(stack.low, probe, values_.interned()));
}

/// Where the track does not say whose call it is.
void PerfettoBlockWriter::put_task(const Event &event) {
    values_.append_string(out_, event::annotation, common_.comm->id, valid_utf8(event.comm_view()));
    const std::size_t begin = out_.open(event::annotation);
    out_.number(annotation::name_id, common_.tid->id);
    out_.number(annotation::unsigned_integer, event.tid);
    out_.close(begin);
}

/// Where the memo of such a call is, or is to be made; null where there can be none: its values are more than some numbers, or too few
/// calls are alike.
PerfettoBlockWriter::Memo *PerfettoBlockWriter::find_memo(const PerfettoPlan &plan, const EventView &view, bool &known) {
    if (!plan.has_memos || (memos_asked_ >= memo_trial && memos_helped_ < memos_asked_ / 2))
        return nullptr;
    const Event &event = *view.event;
    const std::uint64_t place = std::uint64_t{event.cpu} << 32 | std::uint64_t{event.context} << 8 | event.preempt;
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
    std::uint64_t hash = (event.caller ^ place << 20) * factor + plan.index;
    for (const PerfettoPlan::Argument &argument : plan.arguments) {
        const Value &value = view.values[argument.index];
        if (PerfettoPlan::Argument::looks_of(value) != argument.looks) [[unlikely]]
            return nullptr;
        hash = (hash ^ hash >> 32 ^ value.low) * factor;
    }
    Memo &memo = memos_[hash >> (64 - memo_bits)];
    ++memos_asked_;
    known = memo.block == block_ && memo.plan == &plan && memo.caller == event.caller && memo.place == place;
    for (std::size_t i = 0; known && i < plan.arguments.size(); ++i)
        known = memo.values[i] == view.values[plan.arguments[i].index].low;
    if (known) {
        ++memos_helped_;
        return &memo;
    }
    memo.block = 0; // until it has been made
    memo.plan = &plan;
    memo.caller = event.caller;
    memo.place = place;
    for (std::size_t i = 0; i < plan.arguments.size(); ++i)
        memo.values[i] = view.values[plan.arguments[i].index].low;
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
        if (note.key != event.caller || note.block != block_) [[unlikely]] {
            make_note(note, event.caller, common_.caller->id, callers_.name(event.caller));
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
    if (plan.stack) [[unlikely]]
        put_stack(item.call.view().values[*plan.stack], *event.probe);
}

void PerfettoBlockWriter::put_call(const PerfettoBlock::Item &item) {
    const PerfettoPlan &plan = *item.plan;
    bool known = false;
    Memo *const memo = find_memo(plan, item.call.view(), known);
    if (known) [[likely]] {
        char *const to = begin_event(item, plan.size_max + Memo::size_max);
        std::memcpy(to, memo->bytes.data(), memo->bytes.size());
        out_.set_end(to + memo->size);
    } else {
        intern(plan);
        char *const to = begin_event(item, plan.size_max);
        const std::size_t begin = out_.size() + static_cast<std::size_t>(to - out_.view().end());
        put_body(item, to);
        const std::string_view body = out_.view().substr(begin);
        if (memo && body.size() <= memo->bytes.size()) {
            std::copy(body.begin(), body.end(), memo->bytes.begin());
            memo->size = static_cast<std::uint32_t>(body.size());
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
