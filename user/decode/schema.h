// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "decode/layout.h"
#include "model/probe.h"

namespace argtrace {

/// Probe id -> probe: what is needed to read its records.
class Schema {
public:
    /// Fetches all probes anew, removed ones too.
    using Source = std::function<std::vector<Probe>()>;

    /// Without a source, reload() finds nothing.
    explicit Schema(Source source = {}) : source_(std::move(source)) {}

    /// A probe, and how its records are read.
    struct Entry {
        explicit Entry(Probe known)
            : probe(std::move(known)), layout(probe),
              context_mask(static_cast<std::uint8_t>(~kind_of(probe).own_context)) {}

        Probe probe;
        CompactLayout layout;
        std::uint8_t context_mask; ///< what its records say of the context is said of what has called it
    };

    /// That of this id, or null. It stays where it is as long as the schema lives.
    const Entry *entry(std::uint32_t id) const {
        if (id < dense_.size())
            return dense_[id];
        auto known = entries_.find(id);
        return known == entries_.end() ? nullptr : &known->second;
    }

    /// The probe of that id, or null; likewise.
    const Probe *find(std::uint32_t id) const {
        const Entry *known = entry(id);
        return known ? &known->probe : nullptr;
    }

    /// Calls `visit` with each probe, in no order.
    template<typename Visit>
    void for_each(Visit visit) const {
        for (const auto &[id, entry] : entries_)
            visit(entry.probe);
    }

    /// Adds a probe. One that is known already is kept as it is: ids are not used twice.
    void add(Probe probe);

    /// Asks the source for probes added meanwhile. True when there were any.
    bool reload();

private:
    Source source_;
    std::unordered_map<std::uint32_t, Entry> entries_;
    std::vector<const Entry *> dense_; // small ids, which is nearly all of them
};

} // namespace argtrace
