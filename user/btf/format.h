// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/probe.h"

namespace argtrace {

/// How a value is shown, prepared from BTF: a tree.
struct Format {
    enum class Kind : std::uint8_t {
        unknown,  ///< not shown
        scalar,   ///< as `type` says
        function, ///< the address of code
        enumeration,
        text, ///< an array of char
        array,
        aggregate, ///< struct or union
    };

    struct Field {
        std::string name;
        std::uint32_t bit_offset = 0;
        std::uint32_t bit_size = 0; ///< of a bitfield, else 0
        const Format *format = nullptr;
    };

    struct Enumerator {
        std::uint64_t value = 0; ///< cut to the size of the enum
        std::string name;
    };

    /// The name of a value of this enumeration; empty when none fits.
    std::string_view name_of(std::uint64_t value) const;

    Kind kind = Kind::unknown;
    std::uint8_t type = ARGTRACE_TYPE_END; ///< scalar, function, enumeration: a type code
    std::uint32_t bytes = 0;
    std::uint32_t count = 0;         ///< of an array's elements
    const Format *element = nullptr; ///< of an array
    std::vector<Field> fields;       ///< those of anonymous members among them
    std::vector<Enumerator> names;   ///< by value, each value once
    std::uint64_t parts = 1;         ///< what it takes to show all of it
};

/// The formats of one probe's arguments.
class ProbeFormats {
public:
    /// `types` as in Probe. From what is malformed nothing is taken.
    ProbeFormats(std::span<const std::byte> types, std::size_t nr_args);

    /// Null: as its type code says.
    const Format *argument(std::size_t index) const { return arguments_[index]; }

private:
    class Builder;

    std::deque<Format> formats_; // they refer to each other
    std::vector<const Format *> arguments_;
};

/// The formats of each probe, prepared when it is first asked for.
class FormatCache {
public:
    /// Null when there are none. The probe must stay where it is.
    const ProbeFormats *find(const Probe &probe) {
        if (probe.types.empty())
            return nullptr;
        if (&probe != last_probe_) {
            last_ = &prepare(probe);
            last_probe_ = &probe;
        }
        return last_;
    }

private:
    const ProbeFormats &prepare(const Probe &probe);

    std::unordered_map<const Probe *, ProbeFormats> known_;
    const Probe *last_probe_ = nullptr;
    const ProbeFormats *last_ = nullptr;
};

} // namespace argtrace
