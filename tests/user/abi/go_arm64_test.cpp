// SPDX-License-Identifier: GPL-2.0-only
// What Go's description of its ABIInternal says of arm64.
#include "abi/go_convention.h"

#include <gtest/gtest.h>

#include "abi/user_registers.h"

namespace argtrace {
namespace {

GoParts arm64_words(std::size_t count) {
    std::vector<RegisterPart> parts;
    for (std::size_t i = 0; i < count; i++)
        parts.push_back({.offset = static_cast<std::uint32_t>(8 * i)});
    return parts;
}

/// The registers of a value by their numbers; {99}: it is on the stack.
std::vector<int> arm64_numbers(const GoParts &parts) {
    if (!parts)
        return {99};
    std::vector<int> numbers;
    for (const RegisterPart &part : *parts)
        numbers.push_back(part.index);
    return numbers;
}

using Arm64Numbers = std::vector<int>;

TEST(GoAbiOfArm64, HasSixteenRegisters) {
    const GoParts values[] = {arm64_words(9), arm64_words(5), arm64_words(3), arm64_words(2), arm64_words(1), arm64_words(0)};
    const auto placed = go_convention_arm64.place(values);
    EXPECT_EQ(arm64_numbers(placed[0]), (Arm64Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(arm64_numbers(placed[1]), (Arm64Numbers{9, 10, 11, 12, 13}));
    EXPECT_EQ(arm64_numbers(placed[2]), Arm64Numbers{99});
    EXPECT_EQ(arm64_numbers(placed[3]), (Arm64Numbers{14, 15})); // still fits
    EXPECT_EQ(arm64_numbers(placed[4]), Arm64Numbers{99});
    EXPECT_EQ(arm64_numbers(placed[5]), Arm64Numbers{});
}

TEST(GoAbiOfArm64, CountsFloatingPointNumbersByThemselves) {
    std::vector<GoParts> values(17, std::vector<RegisterPart>{{.is_floating = true}});
    values.insert(values.begin() + 3, arm64_words(1));
    values.push_back(arm64_words(1));
    const auto placed = go_convention_arm64.place(values);
    EXPECT_EQ(arm64_numbers(placed[0]), Arm64Numbers{0});
    EXPECT_EQ(arm64_numbers(placed[3]), Arm64Numbers{0});
    EXPECT_EQ(arm64_numbers(placed[16]), Arm64Numbers{15});
    EXPECT_EQ(arm64_numbers(placed[17]), Arm64Numbers{99});
    EXPECT_EQ(arm64_numbers(placed[18]), Arm64Numbers{1});
}

TEST(GoAbiOfArm64, KnowsRegistersByTheirNumbersInDwarf) {
    for (unsigned number = 0; number < 16; number++) {
        EXPECT_EQ(go_convention_arm64.register_by_dwarf(number), number);
        EXPECT_EQ(go_convention_arm64.register_by_dwarf(number), user_registers_aarch64.by_dwarf(number)->index);
        EXPECT_EQ(go_convention_arm64.vector_by_dwarf(64 + number), number);
    }
    for (const unsigned other : {16u, 28u, 31u, 64u})
        EXPECT_FALSE(go_convention_arm64.register_by_dwarf(other));
    for (const unsigned other : {0u, 63u, 80u})
        EXPECT_FALSE(go_convention_arm64.vector_by_dwarf(other));
}

} // namespace
} // namespace argtrace
