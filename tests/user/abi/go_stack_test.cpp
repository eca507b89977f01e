// SPDX-License-Identifier: GPL-2.0-only
#include "abi/go_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "abi/go_convention.h"

namespace argtrace {
namespace {

using testing::ElementsAre;

GoValue in_registers(std::uint32_t bytes, std::uint32_t alignment, std::size_t parts = 1) {
    return {.is_known = true, .bytes = bytes, .alignment = alignment, .parts = std::vector<RegisterPart>(parts)};
}

GoValue in_memory(std::uint32_t bytes, std::uint32_t alignment) {
    return {.is_known = true, .bytes = bytes, .alignment = alignment};
}

GoStack stack_of(const std::vector<GoValue> &taken, const std::vector<GoValue> &returned) {
    std::vector<GoValue> values = taken;
    values.insert(values.end(), returned.begin(), returned.end());
    std::vector<GoParts> placed, results;
    for (const GoValue &value : taken)
        placed.push_back(value.parts);
    for (const GoValue &value : returned)
        results.push_back(value.parts);
    placed = go_convention_x86_64.place(placed);
    results = go_convention_x86_64.place(results);
    placed.insert(placed.end(), results.begin(), results.end());
    return go_stack(values, placed, taken.size());
}

const std::optional<std::uint32_t> nowhere;

// The sizes are those that `go build -gcflags=-S` says of such functions.
TEST(GoStack, HasRoomForAllThatIsTakenAndReturned) {
    // func(a int, b int8) int
    EXPECT_EQ(stack_of({in_registers(8, 8), in_registers(1, 1)}, {in_registers(8, 8)}).bytes, 16u);
    // func(a [5]int16, b int8) [3]int
    const GoStack arrays = stack_of({in_memory(10, 2), in_registers(1, 1)}, {in_memory(24, 8)});
    EXPECT_EQ(arrays.bytes, 48u);
    EXPECT_THAT(arrays.places, ElementsAre(0u, nowhere, 16u));
    EXPECT_TRUE(arrays.has_gaps);
    // func(s struct { a int32; b [3]int8; c string }, b int8, z struct{}, f float32) (int, [2]int8)
    const GoStack mixed = stack_of({in_memory(24, 8), in_registers(1, 1), in_registers(0, 1, 0), in_registers(4, 4)}, {in_registers(8, 8), in_memory(2, 1)});
    EXPECT_EQ(mixed.bytes, 40u);
    EXPECT_THAT(mixed.places, ElementsAre(0u, nowhere, nowhere, nowhere, nowhere, 24u));
    EXPECT_FALSE(mixed.has_gaps);
    // func() ([2]int8, complex64)
    EXPECT_EQ(stack_of({}, {in_memory(2, 1), in_registers(8, 4, 2)}).bytes, 8u);
    // func(b struct { a [200]int }, i int) struct { a [200]int }
    const GoStack large = stack_of({in_memory(1600, 8), in_registers(8, 8)}, {in_memory(1600, 8)});
    EXPECT_EQ(large.bytes, 3208u);
    EXPECT_THAT(large.places, ElementsAre(0u, nowhere, 1600u));
}

// What comes behind a value for which too few registers are left may still have one.
TEST(GoStack, HasWhatNoRegisterIsLeftFor) {
    std::vector<GoValue> words(8, in_registers(8, 8));
    words.push_back(in_registers(24, 8, 3));
    words.push_back(in_registers(8, 8));
    words.push_back(in_registers(1, 1));
    const GoStack stack = stack_of(words, {});
    EXPECT_EQ(stack.places[8], 0u);
    EXPECT_FALSE(stack.places[9]);
    EXPECT_EQ(stack.places[10], 24u);
    EXPECT_TRUE(stack.has_gaps);
    EXPECT_EQ(stack.bytes, 32u + 9 * 8);
}

} // namespace
} // namespace argtrace
