// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "render/line.h"
#include "spec/calls.h"

namespace argtrace {

/// Numbers as the table of calls has them shown. Programs pass the same flags and commands over and over, and looking their names up takes
/// longer than all else of a line, so that those seen last are kept.
class ShownNumbers {
public:
    /// Appends ShownAs::text() of the number. False, with nothing appended, where this is empty.
    bool append(Line &out, const ShownAs &as, std::uint64_t number);

private:
    struct Known {
        const NamedValues *values = nullptr;
        NumberForm form = NumberForm::typed;
        std::uint64_t number = 0;
        std::string text;
    };

    static bool append_plain(Line &out, NumberForm form, std::uint64_t number);

    std::array<Known, 256> known_;
};

} // namespace argtrace
