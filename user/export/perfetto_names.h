// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "export/protobuf.h"

namespace argtrace {

/// Strings that are written once and then go by their numbers: Perfetto's interned data.
class PerfettoNames {
public:
    /// `field`: of which table (perfetto::interned).
    explicit PerfettoNames(unsigned field) : field_(field) {}

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
    std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> ids_;
};

} // namespace argtrace
