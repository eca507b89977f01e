// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "btf/format.h"
#include "model/event.h"
#include "render/caller.h"
#include "render/line.h"
#include "render/value_writer.h"

namespace argtrace {

/// A string with the same number in all of a trace.
struct PerfettoName {
    std::uint64_t id = 0;
    std::uint32_t index = 0; ///< among all of them, whatever their table
    std::string entry;       ///< what interns it: a field of InternedData
};

/// What the events of a probe have in common.
struct PerfettoPlan {
    struct Argument {
        /// Type and whether it was captured, in one.
        static std::uint16_t looks_of(const Value &value) {
            return static_cast<std::uint16_t>(value.type | value.captured << 8);
        }
        static constexpr std::uint16_t no_number = 0xffff;

        /// The annotation up to its value, for numbers: field, a byte for the length, name, and the value's
        /// field. Copied as a word.
        std::array<char, 8> head{};
        std::uint8_t head_size = 0;
        std::uint16_t index = 0;         ///< of the value
        std::uint16_t looks = no_number; ///< what the value has to look like to be no more than a number
        std::uint64_t max = 0;           ///< the largest such number
        std::uint64_t name = 0;
        const Format *format = nullptr; ///< as in ProbeFormats::argument()
    };

    std::vector<Argument> arguments; ///< that are shown as such
    std::optional<Argument> result;  ///< what was returned
    StackPlaces stacks; ///< which of the values are the stacks
    Snippet head;                      ///< category and name, encoded
    std::size_t size_max = 0;          ///< of a packet, without what takes more than a number
    std::vector<const PerfettoName *> names;
    std::uint32_t index = 0; ///< among the plans
};

/// Makes the plan of each probe, once. A plan stays as it is, so that others may read it meanwhile.
class PerfettoPlans {
public:
    /// The names stay the caller's.
    explicit PerfettoPlans(CallerNames &callers);

    const PerfettoPlan &find(const Probe &probe) {
        Recent &recent = recent_[probe.id % recent_.size()];
        if (recent.probe != &probe) [[unlikely]]
            recent = {&probe, &make(probe)};
        return *recent.plan;
    }

    /// Names of annotations that are not arguments.
    struct Common {
        const PerfettoName *args, *caller, *cpu, *flags, *comm, *tid, *result;
    };
    const Common &common() const { return common_; }

private:
    using Table = std::unordered_map<std::string, const PerfettoName *>;

    struct Recent {
        const Probe *probe = nullptr;
        const PerfettoPlan *plan = nullptr;
    };

    const PerfettoPlan &make(const Probe &probe);
    static PerfettoPlan::Argument argument_of(const Probe &probe, std::size_t index,
                                              const Format *format, unsigned field,
                                              const PerfettoName &name);
    const PerfettoName &name(Table &table, unsigned field, std::uint64_t step,
                             std::string_view text);
    const PerfettoName &annotation(std::string_view text);

    CallerNames &callers_;
    ValueWriter values_; // has the formats
    std::deque<PerfettoName> names_;
    Table event_names_, categories_, annotations_;
    Common common_{};
    std::unordered_map<const Probe *, PerfettoPlan> plans_;
    std::array<Recent, 256> recent_{}; // by probe id
};

} // namespace argtrace
