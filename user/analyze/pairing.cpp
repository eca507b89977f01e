// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/pairing.h"

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
    const bool known =
        !open_.insert_or_assign(value->low, Begun{view.event->ts, std::move(*key)}).second;
    unpaired_.replaced += known;
    return true;
}

bool Pairing::end(const EventView &view) {
    const std::optional<Value> value = ends_.value_of(view);
    if (!value)
        return false;
    const auto begun = value->captured ? open_.find(value->low) : open_.end();
    if (!value->captured) {
        ++unpaired_.unreadable;
    } else if (begun == open_.end()) {
        ++unpaired_.ends;
    } else {
        // Clocks of two CPUs may differ by a few nanoseconds.
        const std::uint64_t ended = view.event->ts, began = begun->second.time;
        pairs_.add_value(begun->second.key, ended > began ? ended - began : 0);
        open_.erase(begun);
    }
    return true;
}

Pairing::Unpaired Pairing::unpaired() const {
    Unpaired unpaired = unpaired_;
    unpaired.open = open_.size();
    return unpaired;
}

} // namespace argtrace
