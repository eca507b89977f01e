// SPDX-License-Identifier: GPL-2.0-only
#include "decode/schema.h"

namespace argtrace {

namespace {

constexpr std::uint32_t dense_ids = 1u << 17;

} // namespace

void Schema::add(Probe probe) {
    std::uint32_t id = probe.id;
    auto [known, added] = entries_.try_emplace(id, std::move(probe));
    if (!added || id >= dense_ids)
        return;
    if (dense_.size() <= id)
        dense_.resize(id + 1);
    dense_[id] = &known->second;
}

bool Schema::reload() {
    if (!source_)
        return false;
    std::size_t before = entries_.size();
    for (Probe &probe : source_())
        add(std::move(probe));
    return entries_.size() > before;
}

} // namespace argtrace
