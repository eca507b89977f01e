// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "model/code_place.h"
#include "model/probe.h"
#include "util/plain_vector.h"

namespace argtrace {

/// The value of one argument.
struct Value {
    std::uint64_t low = 0;  ///< sign-extended where the type is signed; of BYTES, STR and PATH where
                            ///< they begin in the batch's bytes
    std::uint64_t high = 0; ///< of a 128-bit value; of BYTES, STR and PATH how many they are; else 0
    std::uint8_t type = ARGTRACE_TYPE_END;
    bool captured = false; ///< otherwise nothing was recorded for this argument
    bool cut = false;      ///< of STR and BYTES: there was more

    bool is_text() const { return type == ARGTRACE_TYPE_STR || type == ARGTRACE_TYPE_PATH; }
    bool has_bytes() const { return type == ARGTRACE_TYPE_BYTES || is_text(); }

    bool operator==(const Value &) const = default;
};

using Values = PlainVector<Value>;

/// Whether a program was to compute it when the call was made, and could not read what that takes.
inline bool is_unread(const Argument &argument, const Value &value) {
    return argument.loc == ARGTRACE_LOC_PROGRAM && !value.captured;
}

/// In which of its contexts a call was made by an interrupt.
inline constexpr std::uint8_t interrupt_contexts =
    ARGTRACE_CTX_HARDIRQ | ARGTRACE_CTX_SOFTIRQ | ARGTRACE_CTX_NMI;

/// One call. Its values are in the batch that it belongs to.
struct Event {
    /// In place of a duration, where only the entry was recorded.
    static constexpr std::uint64_t unknown_duration = ~std::uint64_t{0};

    std::uint64_t ts = 0;       ///< of its entry, ns of CLOCK_MONOTONIC
    std::uint64_t duration = unknown_duration; ///< until it returned, ns; of one that was left, until that was known
    std::uint64_t clock = 0;    ///< units of the session's clock: the order of events
    std::uint64_t caller = 0;   ///< return address, in `caller_space`; 0 when it was not recorded
    std::uint64_t position = 0; ///< where its record begins in its CPU's ring
    const Probe *probe = nullptr;
    std::uint32_t cpu = 0;
    std::uint32_t tid = 0;  ///< the thread
    std::uint32_t tgid = 0; ///< its process; 0 when unknown, as comm is then empty
    std::uint32_t first_value = 0;
    std::uint8_t context = 0; ///< ARGTRACE_CTX_*
    std::uint8_t preempt = 0;
    bool has_unread = false; ///< a value that a program was to compute could not be read, see is_unread()
    bool left = false; ///< in another way than by returning: argtrace_record_is_left()
    std::array<char, ARGTRACE_COMM_LEN> comm{};
    CodeSpace caller_space = CodeSpace::kernel;

    CodePlace caller_place() const { return {caller_space, caller}; }

    /// A number of its own for each task: the idle tasks of all CPUs have the tid 0.
    std::uint64_t task() const { return tid != 0 ? tid : (std::uint64_t{1} << 32) + cpu; }

    /// Whether it is called so: as two words, which takes no call.
    bool has_comm(const std::array<char, ARGTRACE_COMM_LEN> &name) const {
        static_assert(sizeof(comm) == 2 * sizeof(std::uint64_t));
        std::uint64_t one[2], other[2];
        std::memcpy(one, comm.data(), sizeof(one));
        std::memcpy(other, name.data(), sizeof(other));
        return one[0] == other[0] && one[1] == other[1];
    }

    bool has_duration() const { return duration != unknown_duration && !left; }

    /// When it was recorded, which events are ordered by: when it was made, or returned, or was known to have been left.
    std::uint64_t end() const { return duration != unknown_duration ? ts + duration : ts; }

    std::string_view comm_view() const {
        std::string_view whole(comm.data(), comm.size());
        return whole.substr(0, whole.find('\0'));
    }
};

/// An event with its values, as it is handed on.
struct EventView {
    const Event *event = nullptr;
    std::span<const Value> values;         ///< one for each argument of the probe
    std::span<const std::byte> bytes = {}; ///< of the whole batch

    std::span<const std::byte> bytes_of(const Value &value) const {
        return bytes.subspan(value.low, value.high);
    }
};

/// Events and their values, which share three allocations however many there are.
struct EventBatch {
    std::vector<Event> events;
    Values values;
    std::vector<std::byte> bytes; ///< what values of type BYTES and STR consist of, and the text of a PATH

    std::span<const Value> values_of(const Event &event) const {
        return std::span(values).subspan(event.first_value, event.probe->args.size());
    }

    /// Copies an event of another batch to the end of this one.
    void append(const EventBatch &from, const Event &event) {
        auto source = from.values_of(event);
        events.push_back(event);
        events.back().first_value = static_cast<std::uint32_t>(values.size());
        for (Value value : source) {
            if (value.has_bytes()) {
                auto first = from.bytes.begin() + static_cast<std::ptrdiff_t>(value.low);
                value.low = bytes.size();
                bytes.insert(bytes.end(), first, first + static_cast<std::ptrdiff_t>(value.high));
            }
            values.push_back(value);
        }
    }

    EventView view(const Event &event) const { return {&event, values_of(event), bytes}; }

    void clear() {
        events.clear();
        values.clear();
        bytes.clear();
    }
};

} // namespace argtrace
