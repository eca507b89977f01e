// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/assessment.h"
#include "spec/functions.h"
#include "spec/kernel.h"
#include "spec/left_out.h"
#include "spec/search.h"
#include "spec/spec.h"

namespace argtrace {

/// Finds functions of the kernel and its modules.
class FunctionFinder {
public:
    /// They stay the caller's. `listing`: for a list, in which functions are that share their name.
    FunctionFinder(Kernel &kernel, const Request &request, bool listing, Search &search)
        : kernel_(kernel), request_(request), listing_(listing), search_(search) {}

    /// Those that the spec means. Throws Error when there are none, and says why.
    void find(const Spec &spec);

private:
    void find_name(const Spec &spec);
    void find_pattern(const Spec &spec);
    std::vector<Symbol> symbols_of(const Spec &spec);
    void note_left(const Spec &spec, const std::vector<Assessment> &left);
    std::string listable(const Spec &spec) const;
    Error why_nothing(const Spec &spec, const LeftOut &left);
    std::optional<Function> take(Assessment &assessment);
    void look_at_namesakes(Assessment &assessment);
    bool is_traced(const Traceable &traceable, const Symbol &symbol);

    Kernel &kernel_;
    const Request &request_;
    bool listing_;
    Search &search_;
};

} // namespace argtrace
