// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "spec/assessment.h"

namespace argtrace {

/// The functions that match a pattern and are not taken, with the reasons.
class LeftOut {
public:
    void add(const Assessment &assessment);

    std::size_t total() const;

    /// "2 that BTF does not describe (a, b; --raw shows registers), ...". Of each reason the first
    /// few are named; where there are more, and `pattern` is not empty, `argtrace list` is named as
    /// what shows them all.
    std::string describe(std::string_view pattern) const;

private:
    enum Reason { clone, shared, undescribed, no_module_btf, cold, untraceable, reasons };

    struct Group {
        std::size_t count = 0;
        std::size_t different = 0;      ///< names; functions that share one follow each other
        std::string last;               ///< name
        std::vector<std::string> names; ///< the first few
    };

    static Reason reason_of(Doubt doubt);

    std::array<Group, reasons> groups_;
};

} // namespace argtrace
