// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/event_expression.h"
#include "model/event.h"
#include "report/event_filter.h"
#include "spec/spec.h"
#include "symbols/symbols.h"

namespace argtrace {

/// Which calls of a recording are meant. Those of functions that are meant, but not of such processes, or of which a condition does not
/// hold, are counted, as the module would have counted them when they were made.
class RecordedChoice {
public:
    /// The functions of the specs, of all if there are none. `conditions` are those of --if, beside which each spec may have one of its
    /// own; `pids` are the processes, all if there are none. The symbols tell of which modules functions are, and stay the caller's.
    /// Throws Error for a condition about what no recording tells.
    RecordedChoice(std::vector<Spec> specs, std::vector<lang::Expression> conditions, std::vector<std::uint32_t> pids,
                   const Symbols &symbols);

    /// What a reader is to leave out beforehand: functions of other names.
    static EventFilter filter_of(const std::vector<Spec> &specs);

    /// Whether these calls are meant, as far as their function goes. Null: it is not known, as nothing was recorded of it.
    bool means(const Probe *probe) const;

    /// Throws Error for a condition that makes no sense with the types that a function has recorded.
    bool wants(const EventView &view);

    /// Calls of functions that are meant that are not wanted themselves, and by function those that have not recorded what a condition
    /// takes, which is `missing` of the first of them.
    std::uint64_t filtered() const { return filtered_; }
    const std::map<std::string, std::uint64_t> &left_out() const { return left_out_; }
    const std::string &missing() const { return missing_; }

private:
    /// What is asked of the calls of a probe.
    struct Plan {
        bool meant = false;
        std::string missing;
        std::vector<EventExpression> conditions;
    };

    const Spec *spec_of(const Probe &probe) const;
    std::string module_of(const Probe &probe) const;
    Plan &plan_of(const Probe &probe);
    static void add_condition(Plan &plan, const lang::Expression &condition, const Probe &probe, const std::string &place);

    std::vector<Spec> specs_, excluded_;
    std::vector<lang::Expression> conditions_;
    std::vector<std::uint32_t> pids_;
    const Symbols &symbols_;
    std::unordered_map<const Probe *, Plan> plans_;
    std::uint64_t filtered_ = 0;
    std::map<std::string, std::uint64_t> left_out_;
    std::string missing_;
};

} // namespace argtrace
