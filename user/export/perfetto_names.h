// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "util/protobuf.h"

namespace argtrace {

/// Strings that are written once and then go by their numbers: Perfetto's interned data.
class PerfettoNames {
public:
    /// `field`: of which table (perfetto::interned). The first has the number `first`, each further one
    /// `step` more.
    explicit PerfettoNames(unsigned field, std::uint64_t first = 1, std::uint64_t step = 1)
        : field_(field), first_(first), step_(step) {}

    /// None has been written yet.
    void clear() { ids_.clear(); }

    /// The number of that string. One that is new goes to `data`, which has to come before it is
    /// used. 0 when there are too many already.
    std::uint64_t id(std::string_view text, ProtobufWriter &data);

private:
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };

    // What a kernel has functions is half of that; a broken file may have any number of names.
    static constexpr std::size_t names_max = 1 << 17;

    unsigned field_;
    std::uint64_t first_, step_;
    std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> ids_;
};

} // namespace argtrace
