// SPDX-License-Identifier: GPL-2.0-only
#include "report/recorded_choice.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace {

RecordedChoice::RecordedChoice(std::vector<Spec> specs, std::vector<lang::Expression> conditions, std::vector<std::uint32_t> pids,
                               const Symbols &symbols)
    : conditions_(std::move(conditions)), pids_(std::move(pids)), symbols_(symbols) {
    for (Spec &spec : specs)
        (spec.exclude ? excluded_ : specs_).push_back(std::move(spec));
    // Report invalid conditions even without calls.
    for (const Spec &spec : specs_)
        if (spec.condition)
            EventExpression{*spec.condition};
    for (const lang::Expression &condition : conditions_) {
        try {
            EventExpression{condition};
        } catch (const Error &error) {
            throw Error(fmt::format("--if: {}", error.what()));
        }
    }
}

EventFilter RecordedChoice::filter_of(const std::vector<Spec> &specs) {
    EventFilter filter;
    for (const Spec &spec : specs) {
        if (!spec.exclude)
            filter.functions.push_back(spec);
        else if (!spec.module || spec.kind->qualifier != Qualifier::module) // of which module a function is, the reader does not know
            filter.excluded.push_back(spec);
    }
    return filter;
}

std::string RecordedChoice::module_of(const Probe &probe) const {
    const auto symbol = symbols_.find(code_place(probe));
    return symbol ? std::string(symbol->module) : "";
}

const Spec *RecordedChoice::spec_of(const Probe &probe) const {
    const std::string module = module_of(probe);
    const auto found = std::find_if(specs_.begin(), specs_.end(),
                                    [&](const Spec &spec) { return spec.matches(probe.function, module); });
    return found == specs_.end() ? nullptr : &*found;
}

bool RecordedChoice::means(const Probe *probe) const {
    if (!probe)
        return specs_.empty();
    if (is_excluded(excluded_, probe->function, module_of(*probe)))
        return false;
    return specs_.empty() || spec_of(*probe);
}

bool RecordedChoice::wants(const EventView &view) {
    const Event &event = *view.event;
    Plan &plan = plan_of(*event.probe);
    if (!plan.meant)
        return false;
    if (!pids_.empty() && std::find(pids_.begin(), pids_.end(), event.tgid) == pids_.end()) {
        ++filtered_;
        return false;
    }
    if (!plan.missing.empty()) {
        ++left_out_[event.probe->function];
        return false;
    }
    const bool holds = std::all_of(plan.conditions.begin(), plan.conditions.end(),
                                   [&view](EventExpression &condition) { return condition.holds(view); });
    filtered_ += !holds;
    return holds;
}

RecordedChoice::Plan &RecordedChoice::plan_of(const Probe &probe) {
    const auto [known, added] = plans_.try_emplace(&probe);
    Plan &plan = known->second;
    if (!added)
        return plan;
    plan.meant = means(&probe);
    if (!plan.meant)
        return plan;
    for (const lang::Expression &condition : conditions_)
        add_condition(plan, condition, probe, "--if: ");
    const Spec *spec = spec_of(probe);
    if (spec && spec->condition)
        add_condition(plan, *spec->condition, probe, spec->place);
    if (missing_.empty())
        missing_ = plan.missing;
    return plan;
}

void RecordedChoice::add_condition(Plan &plan, const lang::Expression &condition, const Probe &probe, const std::string &place) {
    EventExpression expression(condition);
    try {
        const std::string &missing = expression.check(probe);
        if (plan.missing.empty())
            plan.missing = missing;
    } catch (const Error &error) {
        throw Error(fmt::format("{}{}", place, error.what()));
    }
    plan.conditions.push_back(std::move(expression));
}

} // namespace argtrace
