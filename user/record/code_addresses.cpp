// SPDX-License-Identifier: GPL-2.0-only
#include "record/code_addresses.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include "btf/format.h"
#include "model/type.h"

namespace argtrace {

namespace {

constexpr std::uint32_t elements_followed = 64; // of an array
constexpr std::size_t places_max = 1024;        // in one record

/// Offsets of the pointers to functions in what `format` describes.
void find_functions(const Format &format, std::uint32_t base, std::vector<std::uint32_t> &out) {
    if (out.size() >= places_max)
        return;
    switch (format.kind) {
    case Format::Kind::function:
        if (format.bytes == sizeof(std::uint64_t))
            out.push_back(base);
        break;
    case Format::Kind::array:
        for (std::uint32_t i = 0; i < std::min(format.count, elements_followed); ++i)
            find_functions(*format.element, base + i * format.element->bytes, out);
        break;
    case Format::Kind::aggregate:
        for (const Format::Field &field : format.fields) {
            if (field.bit_size == 0)
                find_functions(*field.format, base + field.bit_offset / 8, out);
        }
        break;
    default:
        break;
    }
}

std::uint64_t word_at(const std::byte *at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof(word));
    return word;
}

bool is_no_code(std::uint64_t address) {
    return address == 0 || address >= std::uint64_t(-4095); // an error pointer
}

} // namespace

void CodeAddresses::add(const Probe &probe) {
    if (probe.id > ARGTRACE_ID_MAX)
        return;
    if (places_.size() <= probe.id)
        places_.resize(probe.id + std::size_t{1});
    Places &places = places_[probe.id];
    if (std::exchange(places.known, true))
        return;

    places.first = static_cast<std::uint32_t>(offsets_.size());
    std::uint32_t at = sizeof(argtrace_record);
    if (!(format_ & ARGTRACE_FORMAT_NO_CALLER)) {
        offsets_.push_back(at);
        at += sizeof(std::uint64_t);
    }
    if (!probe.types.empty() || stack_places(probe).any())
        add_arguments(probe, at);
    while (offsets_.size() > places.first && offsets_.back() & length_here)
        offsets_.pop_back(); // nothing behind it
    places.count = static_cast<std::uint32_t>(offsets_.size()) - places.first;
    if (places.count == 1 && offsets_.back() == sizeof(argtrace_record))
        places.only_at_begin = sizeof(argtrace_record) + sizeof(std::uint64_t);
}

/// From `at` on, which is behind the caller.
void CodeAddresses::add_arguments(const Probe &probe, std::uint32_t at) {
    if (records_returns(probe))
        at += sizeof(std::uint64_t); // the duration
    const ProbeFormats formats(probe);
    for (std::size_t i = 0; i < probe.args.size(); ++i) {
        const Argument &argument = probe.args[i];
        if (argument.type == ARGTRACE_TYPE_END || argument.loc == ARGTRACE_LOC_PROGRAM)
            continue;
        if (format_ & ARGTRACE_FORMAT_NAMED)
            at += static_cast<std::uint32_t>(argument.name.size()) + 2; // its NUL and the type
        if (argument.type == ARGTRACE_TYPE_BYTES)
            at += sizeof(std::uint16_t);
        if (const Format *format = formats.argument(i))
            find_functions(*format, at, offsets_);
        at += argument.size;
    }
    add_outputs(probe, formats, at + sizeof(std::uint64_t)); // which says what could not be read
}

/// If a value could not be read, a word after it may be taken instead: either it has a symbol, or it does no harm.
void CodeAddresses::add_outputs(const Probe &probe, const ProbeFormats &formats, std::uint32_t at) {
    for (std::size_t i = 0; i < probe.args.size(); ++i) {
        const Argument &argument = probe.args[i];
        if (argument.loc != ARGTRACE_LOC_PROGRAM)
            continue;
        const bool is_text = type_info(argument.type).type_class == TypeClass::text;
        const bool counted = is_text || argument.type == ARGTRACE_TYPE_BYTES;
        const std::uint32_t length_at = at;
        if (counted)
            at += sizeof(std::uint16_t);
        const Format *format = formats.argument(i);
        if (format && !is_text)
            find_functions(*format, at, offsets_);
        if (argument.type == ARGTRACE_TYPE_STACK)
            offsets_.push_back(at | stack_here);
        if (counted)
            offsets_.push_back(length_at | length_here);
        else
            at += argument.size;
    }
}

bool CodeAddresses::scan(std::span<const std::byte> records) {
    // What recording takes beside writing, the checksum apart, is mostly this. Calls often come in
    // a row from one place: those that differ from the one before in nothing but their time, their
    // task and their arguments are passed over at a glance.
    constexpr std::size_t what = offsetof(argtrace_record, id); // up to context and preempt
    constexpr std::size_t caller = sizeof(argtrace_record);
    static_assert(caller - what == sizeof(std::uint64_t));
    std::uint64_t last_what = 0, last_caller = 0;
    std::size_t last_size = std::numeric_limits<std::size_t>::max();

    const std::span<Places> all = places_;
    const std::byte *at = records.data();
    const std::byte *const end = at + records.size();
    for (;;) {
        while (static_cast<std::size_t>(end - at) >= last_size && word_at(at + what) == last_what &&
               word_at(at + caller) == last_caller)
            at += last_size;
        if (static_cast<std::size_t>(end - at) < sizeof(argtrace_record))
            return true;
        argtrace_record record;
        std::memcpy(&record, at, sizeof(record));
        if (record.size < sizeof(record) || record.size > end - at)
            return true; // the reader of the file will say so
        if (record.id < all.size()) {
            Places &places = all[record.id];
            if (record.size >= places.only_at_begin) {
                last_size = record.size;
                last_what = word_at(at + what);
                last_caller = word_at(at + caller);
                if (last_caller != places.recent) {
                    places.recent = last_caller;
                    note(last_caller);
                }
            } else if (places.known) {
                scan_record({at, record.size}, places);
            } else {
                return false;
            }
        } else if (const std::uint32_t probe = argtrace_record_probe(record.id)) {
            if (probe >= all.size() || !all[probe].known)
                return false;
            scan_record({at, record.size}, all[probe]);
        }
        at += record.size;
    }
}

void CodeAddresses::scan_record(std::span<const std::byte> record, const Places &places) {
    std::size_t lengths = 0; // of what stands before
    for (std::uint32_t i = 0; i < places.count; ++i) {
        const std::uint32_t place = offsets_[places.first + i];
        const std::size_t offset = (place & ~(length_here | stack_here)) + lengths;
        if (place & length_here) {
            std::uint16_t length;
            if (offset + sizeof(length) > record.size())
                break;
            std::memcpy(&length, record.data() + offset, sizeof(length));
            lengths += length & ~ARGTRACE_TEXT_CUT;
            continue;
        }
        if (offset + sizeof(std::uint64_t) > record.size())
            break;
        const std::uint64_t word = word_at(record.data() + offset);
        if (place & stack_here)
            note_stack(word);
        else
            note(word);
    }
}

void CodeAddresses::note_stack(std::uint64_t id) {
    if (id != 0 && stacks_seen_.insert(id).second)
        new_stacks_.push_back(id);
}

void CodeAddresses::note(std::uint64_t address) {
    std::uint64_t &recent = recent_[(address ^ address >> 12) % recent_.size()];
    if (recent == address)
        return;
    recent = address;
    if (!is_no_code(address) && seen_.insert(address).second)
        new_.push_back(address);
}

std::vector<std::uint64_t> CodeAddresses::take_new_stacks() {
    return std::exchange(new_stacks_, {});
}

std::vector<std::uint64_t> CodeAddresses::take_new() {
    return std::exchange(new_, {});
}

} // namespace argtrace
