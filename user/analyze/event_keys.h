// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/aggregation.h"
#include "lang/parser.h"
#include "model/event.h"

namespace argtrace {

/// A value that was recorded: by the name that it has there, or as the expression was written.
struct RecordedValue {
    std::string name;    ///< what it is called in the output
    std::string written; ///< the expression,
    std::optional<lang::Expression> expression = std::nullopt; ///< which is worked out of what has been recorded, if it was not itself
    /// The number that stands for a stack which was not recorded, if another was; nothing: it must have been.
    std::optional<std::uint64_t> absent_stack = std::nullopt;
};

class EventExpression;

/// The keys of calls that were recorded, and the values to add up: what a map's program would have made
/// of them. Recorded values are known by their names; func, comm, pid, tid, cpu, caller, ret and duration
/// belong to each call. Numbers may also be worked out of these.
class EventKeys {
public:
    /// Without a value, calls are counted.
    EventKeys(std::vector<RecordedValue> keys, std::optional<RecordedValue> value);

    /// Adds the call; false if what its function recorded lacks one of them: see missing().
    bool add(const EventView &view, Aggregation &to);

    /// The key of a call alone; nothing, as above.
    std::optional<Key> key_of(const EventView &view);

    /// Its value; not captured if it could not be read. Nothing, as above.
    std::optional<Value> value_of(const EventView &view);

    /// Which of the names the calls of a function lack; empty: none. The probe must stay where it is.
    const std::string &missing(const Probe &probe) { return places_of(probe).missing; }

    /// Whether the values of a function are signed numbers, as far as its probe says.
    bool has_signed_value(const Probe &probe);

    /// The types and lengths of the parts of the key, as KeyPart has them, in what that probe records.
    struct PartType {
        std::uint8_t type = ARGTRACE_TYPE_U64;
        std::uint32_t length = 0; ///< of text, at most
        std::optional<std::size_t> argument = {}; ///< which one it is; nothing: none
    };
    std::vector<PartType> types_of(const Probe &probe);

private:
    enum class Source : std::uint8_t {
        function,
        comm,
        pid,
        tid,
        cpu,
        caller,
        duration,
        argument,
        expression,
        absent_stack,
        missing,
    };

    struct Place {
        Source source = Source::missing;
        std::size_t argument = 0;
        std::shared_ptr<EventExpression> expression = {}; ///< of this probe's events
        std::uint64_t number = 0; ///< of an absent stack
    };

    struct Places {
        std::vector<Place> keys;
        Place value;
        std::string missing;
    };

    static Place find(const Probe &probe, const RecordedValue &wanted);
    static Place work_out(const Probe &probe, const RecordedValue &wanted);
    const Places &places_of(const Probe &probe);
    static KeyPart part_of(const EventView &view, const Place &place);
    static Value number_of(const EventView &view, const Place &place);

    std::vector<RecordedValue> keys_;
    std::optional<RecordedValue> value_;
    std::unordered_map<const Probe *, Places> known_;
};

} // namespace argtrace
