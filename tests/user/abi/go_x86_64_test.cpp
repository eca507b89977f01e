// SPDX-License-Identifier: GPL-2.0-only
// The examples of Go's description of its ABIInternal, and what it says in words.
#include "abi/go_convention.h"

#include <gtest/gtest.h>

#include "uapi/argtrace.h"

namespace argtrace {
namespace {

constexpr std::uint8_t go_order[] = {ARGTRACE_X86_64_RAX, ARGTRACE_X86_64_RBX, 3, 0, 1, 4, 5, ARGTRACE_X86_64_R10, ARGTRACE_X86_64_R11};

GoParts go_words(std::size_t count) {
    std::vector<RegisterPart> parts;
    for (std::size_t i = 0; i < count; i++)
        parts.push_back({.offset = static_cast<std::uint32_t>(8 * i)});
    return parts;
}

GoParts go_float() {
    return std::vector<RegisterPart>{{.is_floating = true}};
}

/// The registers of a value by their numbers in Go's order, or -1 of floating-point numbers on; {99}: it is on the stack.
std::vector<int> go_numbers(const GoParts &parts) {
    if (!parts)
        return {99};
    std::vector<int> numbers;
    for (const RegisterPart &part : *parts)
        numbers.push_back(part.is_floating ? -1 - part.index : static_cast<int>(std::find(go_order, std::end(go_order), part.index) - go_order));
    return numbers;
}

using Numbers = std::vector<int>;

// func f(a1 uint8, a2 [2]uintptr, a3 uint8) (r1 struct { x uintptr; y [2]uintptr }, r2 string)
TEST(GoAbi, OfTheDescriptionsExample) {
    const GoParts arguments[] = {std::vector<RegisterPart>{{.bytes = 1}}, std::nullopt, std::vector<RegisterPart>{{.bytes = 1}}};
    const auto placed = go_convention_x86_64.place(arguments);
    EXPECT_EQ(go_numbers(placed[0]), Numbers{0});
    EXPECT_EQ(go_numbers(placed[1]), Numbers{99});
    EXPECT_EQ(go_numbers(placed[2]), Numbers{1});
    const GoParts results[] = {std::nullopt, go_words(2)};
    const auto returned = go_convention_x86_64.place(results);
    EXPECT_EQ(go_numbers(returned[0]), Numbers{99});
    EXPECT_EQ(go_numbers(returned[1]), (Numbers{0, 1}));
}

TEST(GoAbi, PutsAValueWhollyInRegistersOrNot) {
    const GoParts values[] = {go_words(4), go_words(3), go_words(3), go_words(2), go_words(1), go_words(0)};
    const auto placed = go_convention_x86_64.place(values);
    EXPECT_EQ(go_numbers(placed[0]), (Numbers{0, 1, 2, 3}));
    EXPECT_EQ(go_numbers(placed[1]), (Numbers{4, 5, 6}));
    EXPECT_EQ(go_numbers(placed[2]), Numbers{99});
    EXPECT_EQ(go_numbers(placed[3]), (Numbers{7, 8})); // still fits
    EXPECT_EQ(go_numbers(placed[4]), Numbers{99});
    EXPECT_EQ(go_numbers(placed[5]), Numbers{});
}

TEST(GoAbi, CountsFloatingPointNumbersByThemselves) {
    std::vector<GoParts> values(16, go_float());
    values.insert(values.begin() + 3, go_words(1));
    values.push_back(std::vector<RegisterPart>{{}, {.offset = 8, .is_floating = true}}); // no register is left for one of them
    values.push_back(go_words(1));
    const auto placed = go_convention_x86_64.place(values);
    EXPECT_EQ(go_numbers(placed[0]), Numbers{-1});
    EXPECT_EQ(go_numbers(placed[3]), Numbers{0});
    EXPECT_EQ(go_numbers(placed[15]), Numbers{-15});
    EXPECT_EQ(go_numbers(placed[16]), Numbers{99});
    EXPECT_EQ(go_numbers(placed[17]), Numbers{99});
    EXPECT_EQ(go_numbers(placed[18]), Numbers{1});
}

TEST(GoAbi, KnowsRegistersByTheirNumbersInDwarf) {
    const unsigned numbers[] = {0, 3, 2, 5, 4, 8, 9, 10, 11};
    for (std::size_t i = 0; i < std::size(numbers); i++)
        EXPECT_EQ(go_convention_x86_64.register_by_dwarf(numbers[i]), go_order[i]);
    for (const unsigned other : {1u, 6u, 7u, 12u, 14u, 17u})
        EXPECT_FALSE(go_convention_x86_64.register_by_dwarf(other));
    for (unsigned number = 0; number < 15; number++)
        EXPECT_EQ(go_convention_x86_64.vector_by_dwarf(17 + number), number);
    for (const unsigned other : {0u, 16u, 32u})
        EXPECT_FALSE(go_convention_x86_64.vector_by_dwarf(other));
}

} // namespace
} // namespace argtrace
