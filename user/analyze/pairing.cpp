// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/pairing.h"

#include <algorithm>

namespace argtrace {

void Pairing::take(const EventView &view, bool begins, bool ends) {
    ++calls_;
    bool known = true;
    if (ends)
        known = end(view);
    if (begins)
        known = begin(view) && known;
    left_out_ += !known;
}

bool Pairing::begin(const EventView &view) {
    std::optional<Key> key = begins_.key_of(view);
    const std::optional<Value> value = begins_.value_of(view);
    if (!key || !value)
        return false;
    if (!value->captured) {
        ++unpaired_.unreadable;
        return true;
    }
    const std::uint64_t time = view.event->ts;
    if (const auto earlier = close(value->low))
        ++(gaps_.meets(earlier->time, time) ? unpaired_.lost : unpaired_.replaced);
    open(value->low, {time, std::move(*key)});
    return true;
}

bool Pairing::end(const EventView &view) {
    const std::optional<Value> value = ends_.value_of(view);
    if (!value)
        return false;
    if (!value->captured) {
        ++unpaired_.unreadable;
        return true;
    }
    const auto begun = close(value->low);
    if (!begun) {
        ++unpaired_.ends;
        return true;
    }
    // Clocks of two CPUs may differ by a few nanoseconds.
    const std::uint64_t began = begun->time, ended = std::max(view.event->ts, began);
    if (gaps_.meets(began, ended)) {
        ++unpaired_.lost;
        ++unpaired_.ends; // whichever call it ends, it is not known to be that one
    } else {
        pairs_.add_value(begun->key, ended - began);
    }
    return true;
}

void Pairing::open(std::uint64_t value, Begun begun) {
    if (open_.size() >= open_max_) {
        for (const auto &[old_value, old] : older_)
            ++(gaps_.meets(old.time) ? unpaired_.lost : unpaired_.given_up);
        older_ = std::exchange(open_, {});
    }
    open_.emplace(value, std::move(begun));
}

std::optional<Pairing::Begun> Pairing::close(std::uint64_t value) {
    for (Open *open : {&open_, &older_}) {
        const auto found = open->find(value);
        if (found == open->end())
            continue;
        Begun begun = std::move(found->second);
        open->erase(found);
        return begun;
    }
    return std::nullopt;
}

Pairing::Unpaired Pairing::unpaired() const {
    Unpaired unpaired = unpaired_;
    for (const Open *open : {&open_, &older_})
        for (const auto &[value, begun] : *open)
            ++(gaps_.meets(begun.time) ? unpaired.lost : unpaired.open);
    return unpaired;
}

} // namespace argtrace
