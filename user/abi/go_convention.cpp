// SPDX-License-Identifier: GPL-2.0-only
#include "abi/go_convention.h"

#include <algorithm>
#include <cstddef>

#include <elf.h>

#include "abi/go_arm64.h"
#include "abi/go_x86_64.h"

namespace argtrace {

std::vector<GoParts> place_go(std::span<const GoParts> values, std::span<const std::uint8_t> registers, std::size_t floating_registers) {
    std::vector<GoParts> placed(values.begin(), values.end());
    std::size_t integers = 0, floatings = 0;
    for (GoParts &parts : placed) {
        if (!parts)
            continue;
        const auto wanted = static_cast<std::size_t>(std::ranges::count_if(*parts, &RegisterPart::is_floating));
        // All of it or nothing: what comes behind it may still fit.
        if (integers + parts->size() - wanted > registers.size() || floatings + wanted > floating_registers) {
            parts.reset();
            continue;
        }
        for (RegisterPart &part : *parts)
            part.index = part.is_floating ? static_cast<std::uint8_t>(floatings++) : registers[integers++];
    }
    return placed;
}

constexpr GoConvention go_convention_x86_64{go_x86_64, go_register_x86_64, go_vector_x86_64, 9, true};
constexpr GoConvention go_convention_arm64{go_arm64, go_register_arm64, go_vector_arm64, 16, false};

const GoConvention &go_convention(int machine) {
    return machine == EM_AARCH64 ? go_convention_arm64 : go_convention_x86_64;
}

} // namespace argtrace
