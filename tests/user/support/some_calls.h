// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "export/exporter.h"
#include "model/unfinished.h"
#include "support/packet_builder.h"

namespace argtrace::test {

/// Knows nothing.
struct NoSymbols : Symbols {
    std::optional<Symbol> find(CodePlace) const override { return std::nullopt; }
};

/// Two stacks of functions of the kernel and of a module.
struct SomeStacks : Symbols {
    std::optional<Symbol> find(CodePlace place) const override {
        const std::uint64_t addr = place.address;
        if (addr < 0x1000)
            return std::nullopt;
        if (addr < 0x2000)
            return Symbol{0x1000, "ksys_read", "", 0};
        return Symbol{0x2000, "ext4_read", "ext4", 0};
    }
    std::optional<Stack> stack(std::uint64_t id, StackRoom & /*room*/) const override {
        if (id == 1)
            return Stack{one, false};
        if (id == 20)
            return Stack{two, true};
        return std::nullopt;
    }
    std::vector<std::uint64_t> one{0x1010}, two{0x2010, 0x1020};
};

/// Hands on one call, of a batch that stays until the exporter has finished.
inline void give_event(Exporter &exporter, const EventBatch &batch, const Event &event) {
    exporter.take({{{&batch, &event}}, {}});
}

/// Calls of a function for each name, with one argument `n`, a number of its own, from 1 on.
class SomeCalls {
public:
    struct Place {
        std::uint32_t tid = 100;
        std::uint32_t tgid = 100;
        std::uint32_t cpu = 0;
        std::uint8_t context = 0;
        std::string_view comm = "dd";
    };

    void call(const std::string &function, std::uint64_t ts, std::uint64_t duration, Place place) {
        Event event;
        event.ts = ts;
        event.duration = duration;
        event.caller = 0xffffffff81000010;
        event.probe = &probe(function);
        event.cpu = place.cpu;
        event.tid = place.tid;
        event.tgid = place.tgid;
        event.context = place.context;
        event.first_value = static_cast<std::uint32_t>(batch_.values.size());
        std::copy(place.comm.begin(), place.comm.end(), event.comm.begin());
        Value value;
        value.low = batch_.events.size() + 1;
        value.type = ARGTRACE_TYPE_U64;
        value.captured = true;
        batch_.values.push_back(value);
        batch_.events.push_back(event);
    }

    void call(const std::string &function, std::uint64_t ts, std::uint64_t duration) {
        call(function, ts, duration, {});
    }

    void instant(const std::string &function, std::uint64_t ts, Place place) {
        call(function, ts, Event::unknown_duration, place);
    }

    /// One that had not returned: where it began is not known.
    void unfinished(const std::string &function, std::uint64_t ts, Place place) {
        instant(function, ts, place);
        for (Probe &known : probes_)
            if (known.function == function)
                known.flags |= ARGTRACE_PROBE_RETURN;
        batch_.events.back().cpu = unknown_cpu;
    }

    std::uint64_t number_of(const Event &event) const {
        return batch_.values[event.first_value].low;
    }

    const EventBatch &batch() const { return batch_; }

    /// As they come from a file: by their beginnings, the longest first.
    std::vector<const Event *> in_order() const {
        const auto length = [](const Event &event) {
            return event.has_duration() ? event.duration : 0;
        };
        std::vector<const Event *> events;
        for (const Event &event : batch_.events)
            events.push_back(&event);
        std::stable_sort(events.begin(), events.end(), [&](const Event *a, const Event *b) {
            return a->ts != b->ts ? a->ts < b->ts : length(*a) > length(*b);
        });
        return events;
    }

    void give(Exporter &exporter) const {
        constexpr std::size_t block_size = 1000;
        EventBlock block;
        for (const Event *event : in_order()) {
            block.events.push_back({&batch_, event});
            if (block.events.size() == block_size)
                exporter.take(std::exchange(block, {}));
        }
        exporter.take(std::move(block));
        exporter.finish();
    }

    const Probe &probe(const std::string &function) {
        for (const Probe &known : probes_) {
            if (known.function == function)
                return known;
        }
        Probe probe;
        probe.id = static_cast<std::uint32_t>(probes_.size() + 1);
        probe.function = function;
        probe.args = {argument("n", ARGTRACE_TYPE_U64, "u64")};
        return probes_.emplace_back(std::move(probe));
    }

    /// Calls of a thread, nested at random, with beginnings and ends at few moments, so that many
    /// are equal.
    template<typename Random>
    void nest(Random &random, Place place, std::uint64_t begin, std::uint64_t end, int depth) {
        std::uint64_t at = begin;
        while (at <= end && depth > 0) {
            at += random() % 3;
            const std::uint64_t stop = std::min(end, at + random() % 12);
            if (at > end)
                return;
            const std::string name(1, static_cast<char>('a' + random() % 5));
            if (random() % 8 == 0) {
                instant(name, at, place);
            } else {
                call(name, at, stop - at, place);
                nest(random, place, at, stop, depth - 1);
            }
            at = stop + (random() % 2);
            if (stop == end && random() % 2)
                return;
        }
    }

private:
    std::deque<Probe> probes_;
    EventBatch batch_;
};

} // namespace argtrace::test
