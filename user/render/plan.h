// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "btf/format.h"
#include "model/probe.h"
#include "render/described_call.h"
#include "render/line.h"

namespace argtrace {

/// What stays the same in the lines of one probe, prepared: everything but the values.
struct Plan {
    struct Argument {
        Snippet before;
        const Format *format = nullptr; ///< as in ProbeFormats::argument()
        std::size_t meanings = 0;       ///< in text: see count_meanings()
        bool changes = false;           ///< in text: see is_change()
        bool is_hidden = false;         ///< in JSON: its parts alone are shown
        bool may_be_absent = false;     ///< in JSON: it is left out of calls that have none
    };

    Snippet head;
    std::vector<Argument> arguments; ///< without the result
    Snippet tail;
    const DescribedCall *described = nullptr; ///< see ValueWriter::described()
    bool returns = false;
    bool has_caller = true; ///< in text: not of system calls, which are all called from one place
    StackPlaces stacks = {}; ///< which of the values they are
    bool has_result = false;
    const Format *result = nullptr; ///< as that of an argument
    std::size_t size_max = 0; ///< of all of it, see measure()

    /// Works out the size that it has with values of so many characters.
    void measure(std::size_t value_max) {
        size_max = head.view().size() + tail.view().size() + 1;
        for (const Argument &argument : arguments)
            size_max += argument.before.view().size() + value_max;
    }
};

/// The plan of each probe, made when it is first asked for. The probes must stay where they are.
class PlanCache {
public:
    /// `make` makes it of the probe.
    template<typename Make>
    const Plan &find(const Probe &probe, const Make &make) {
        Recent &recent = recent_[probe.id % recent_.size()];
        if (recent.probe != &probe) [[unlikely]] {
            auto known = known_.find(&probe);
            if (known == known_.end())
                known = known_.try_emplace(&probe, make(probe)).first;
            recent = {&probe, &known->second};
        }
        return *recent.plan;
    }

private:
    struct Recent {
        const Probe *probe = nullptr;
        const Plan *plan = nullptr;
    };

    std::unordered_map<const Probe *, Plan> known_;
    std::array<Recent, 256> recent_{}; // by probe id
};

} // namespace argtrace
