// SPDX-License-Identifier: GPL-2.0-only
#include "abi/calling_convention.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace argtrace {
namespace {

using Kind = Shape::Kind;
using testing::ElementsAre;

constexpr Shape int_shape{.kind = Kind::integer, .bytes = 4, .is_signed = true};
constexpr Shape int128_shape{.kind = Kind::integer, .bytes = 16, .is_signed = true};
constexpr Shape double_shape{.kind = Kind::floating, .bytes = 8};

Shape aggregate(std::uint32_t bytes) {
    return {.kind = Kind::aggregate, .bytes = bytes};
}

std::vector<Argument> place(const std::vector<Shape> &shapes) {
    Prototype prototype;
    for (const Shape &shape : shapes)
        prototype.parameters.push_back({"name", "type", shape});
    return aapcs64(prototype);
}

// Where each is passed, after so many ints.
std::vector<std::string> places(std::size_t ints, std::vector<Shape> shapes) {
    shapes.insert(shapes.begin(), ints, int_shape);
    std::vector<std::string> found;
    for (const Argument &argument : place(shapes))
        found.push_back(aapcs64_location(argument));
    found.erase(found.begin(), found.begin() + std::ptrdiff_t(ints));
    return found;
}

TEST(Aapcs64, TakesRegistersInOrderThenTheStack) {
    EXPECT_THAT(places(0, {int_shape, int_shape}), ElementsAre("x0", "x1"));
    EXPECT_THAT(places(7, {int_shape, int_shape, int_shape}), ElementsAre("x7", "sp+0", "sp+8"));
}

TEST(Aapcs64, Int128TakesAnEvenPair) {
    EXPECT_THAT(places(0, {int128_shape, int_shape}), ElementsAre("x0:x1", "x2"));
    EXPECT_THAT(places(1, {int128_shape, int_shape}), ElementsAre("x2:x3", "x4"));
    EXPECT_THAT(places(6, {int128_shape, int_shape}), ElementsAre("x6:x7", "sp+0"));
    EXPECT_THAT(places(7, {int128_shape, int_shape}), ElementsAre("sp+0", "sp+16"));
    EXPECT_THAT(places(9, {int128_shape, int_shape}), ElementsAre("sp+16", "sp+32"));
}

TEST(Aapcs64, AggregatesThatDoNotFitCloseTheRegisters) {
    EXPECT_THAT(places(0, {aggregate(5), aggregate(12), aggregate(0), int_shape}),
                ElementsAre("x0", "x1:x2", "", "x3"));
    EXPECT_THAT(places(7, {aggregate(12), int_shape}), ElementsAre("sp+0", "sp+16"));
}

TEST(Aapcs64, LargeAggregatesArePassedByReference) {
    EXPECT_THAT(places(0, {aggregate(17), int_shape}), ElementsAre("[x0]", "x1"));
    EXPECT_THAT(places(8, {int_shape, aggregate(40), int_shape}),
                ElementsAre("sp+0", "[sp+8]", "sp+16"));
    EXPECT_THAT(places(0, {aggregate(1025), int_shape}), ElementsAre("", "x1")) << "too large";
    const Argument argument = place({aggregate(40)}).at(0);
    EXPECT_EQ(argument.type, ARGTRACE_TYPE_BYTES);
    EXPECT_EQ(argument.size, 40u);
}

// A member may be aligned to 16: BTF does not tell.
TEST(Aapcs64, SaysNothingWhereAnAlignmentWouldMoveThePlace) {
    EXPECT_THAT(places(2, {aggregate(16), int_shape}), ElementsAre("x2:x3", "x4"));
    EXPECT_THAT(places(1, {aggregate(16), int_shape}), ElementsAre("", ""));
    EXPECT_THAT(places(7, {aggregate(16), int_shape}), ElementsAre("sp+0", "sp+16"));
    EXPECT_THAT(places(9, {aggregate(16), int_shape}), ElementsAre("", ""));
}

TEST(Aapcs64, FloatsTakeNoGeneralRegister) {
    EXPECT_THAT(places(0, {double_shape, int_shape}), ElementsAre("", "x0"));
    EXPECT_THAT(places(0, {double_shape, double_shape, double_shape, double_shape, int_shape,
                           double_shape, int_shape}),
                ElementsAre("", "", "", "", "x0", "", ""))
        << "complex ones might go to the stack";
    Shape shape = aggregate(64);
    shape.has_float = true;
    EXPECT_THAT(places(0, {shape, int_shape}), ElementsAre("", ""))
        << "perhaps in vector registers";
    shape.bytes = 72;
    EXPECT_THAT(places(0, {shape, int_shape}), ElementsAre("[x0]", "x1"));
}

// As DWARF has it.
Shape of_floats(std::uint8_t count, std::uint8_t bytes) {
    Shape shape = aggregate(std::uint32_t{count} * bytes);
    shape.has_float = true;
    shape.homogeneous = Homogeneous{count, bytes};
    return shape;
}

Shape number(std::uint8_t bytes) {
    return {.kind = Kind::floating, .bytes = bytes, .homogeneous = Homogeneous{1, bytes}};
}

/// What a program reads of each: "d3", "d0.4+4,d1", "sp+8", or nothing.
std::vector<std::string> operands(const std::vector<Shape> &shapes) {
    Prototype prototype;
    for (const Shape &shape : shapes)
        prototype.parameters.push_back({"name", "type", shape});
    std::vector<std::string> found;
    for (const auto &operand : aapcs64_operands(prototype)) {
        std::string &text = found.emplace_back();
        if (operand && operand->kind == UserOperand::Kind::in_vector)
            text = fmt::format("d{}", operand->number);
        else if (operand && operand->kind == UserOperand::Kind::on_stack)
            text = fmt::format("sp+{}", operand->number);
        else if (operand && operand->kind == UserOperand::Kind::memory)
            text = fmt::format("[x{}]", operand->base->index);
        else if (operand)
            for (const RegisterPart &part : operand->parts)
                text += fmt::format("{}d{}:{}", text.empty() ? "" : " ", part.index, part.offset);
    }
    return found;
}

TEST(Aapcs64, FloatingPointNumbersAreInVectorRegistersThenOnTheStack) {
    EXPECT_THAT(operands({number(8), int_shape, number(4), number(16), number(8)}), ElementsAre("d0", "", "d1", "d2:0 d66:8", "d3"));
    std::vector<Shape> nine(9, number(4));
    nine.push_back(number(8));
    EXPECT_THAT(operands(nine), ElementsAre("d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "sp+0", "sp+8"));
    EXPECT_THAT(places(0, {number(8), int_shape, of_floats(4, 8), int_shape}), ElementsAre("", "x0", "", "x1"));
}

TEST(Aapcs64, AggregatesThatAreAlikeHaveARegisterForEachMember) {
    EXPECT_THAT(operands({of_floats(3, 4), of_floats(2, 8), number(8)}), ElementsAre("d0:0 d1:4 d2:8", "d3:0 d4:8", "d5"));
    // All of it or nothing, and then nothing behind it either.
    EXPECT_THAT(operands({of_floats(4, 8), of_floats(3, 4), of_floats(2, 4), number(8)}), ElementsAre("d0:0 d1:8 d2:16 d3:24", "d4:0 d5:4 d6:8", "sp+0", "sp+8"));
    EXPECT_THAT(operands({of_floats(2, 16), number(8)}), ElementsAre("d0:0 d64:8 d1:16 d65:24", "d2"));
}

TEST(Aapcs64, OthersAreInGeneralRegistersOrMemory) {
    Shape mixed = aggregate(16), large = aggregate(24);
    mixed.has_float = large.has_float = true;
    mixed.homogeneous = large.homogeneous = Homogeneous{};
    EXPECT_THAT(places(0, {mixed, large, int_shape}), ElementsAre("x0:x1", "[x2]", "x3"));
    EXPECT_THAT(operands({mixed, large, int_shape}), ElementsAre("", "[x2]", ""));
    EXPECT_EQ(operands(std::vector<Shape>(9, int_shape)).back(), "sp+0");
    std::vector<Shape> behind(8, int_shape);
    behind.push_back(large);
    EXPECT_EQ(operands(behind).back(), "") << "its address is on the stack";
}

TEST(Aapcs64, SaysNothingBehindWhatItDoesNotKnow) {
    EXPECT_THAT(places(1, {Shape{}, int_shape}), ElementsAre("", ""));
}

Returning returning(const Shape &result, const std::vector<Shape> &shapes = {}) {
    Prototype prototype;
    prototype.result = "type";
    prototype.result_shape = result;
    for (const Shape &shape : shapes)
        prototype.parameters.push_back({"name", "type", shape});
    return aapcs64_returning(prototype);
}

TEST(Aapcs64, ReturnsInOneRegisterOrTwo) {
    EXPECT_EQ(returning(Shape{.kind = Kind::nothing}).value.loc, ARGTRACE_LOC_NONE);
    EXPECT_EQ(aapcs64_location(returning(int_shape).value), "x0");
    EXPECT_EQ(aapcs64_location(returning(int128_shape).value), "x0:x1");
    EXPECT_EQ(aapcs64_location(returning(aggregate(16)).value), "x0:x1");
    EXPECT_EQ(returning(int_shape).why_not, "");
    EXPECT_FALSE(returning(aggregate(16)).in_memory);
}

TEST(Aapcs64, OfWhatIsReturnedInMemoryTheAddressIsReturned) {
    const Returning found = returning(aggregate(17));
    EXPECT_EQ(found.why_not, "");
    EXPECT_TRUE(found.in_memory);
    EXPECT_EQ(found.value.type, ARGTRACE_TYPE_PTR);
    EXPECT_EQ(found.value.type_name, "type *");
    EXPECT_EQ(returning(aggregate(17), std::vector<Shape>(8, int_shape)).stack_words, 0u) << "x8 passes no argument";
}

TEST(Aapcs64, WhetherAResultIsInMemoryIsNotOfItsSizeAlone) {
    Shape result = aggregate(8);
    result.by_address = true;
    EXPECT_TRUE(returning(result).in_memory) << "a class with a destructor";
    EXPECT_EQ(returning(result).value.type, ARGTRACE_TYPE_PTR);
    result = aggregate(32);
    result.has_float = true;
    EXPECT_FALSE(returning(result).in_memory) << "maybe in four vector registers";
    EXPECT_THAT(returning(result).why_not, testing::HasSubstr("floating-point"));
    result.bytes = 72;
    EXPECT_TRUE(returning(result).in_memory);
    EXPECT_EQ(returning(result).why_not, "");
}

TEST(Aapcs64, ReturnsFloatingPointNumbersInVectorRegisters) {
    EXPECT_EQ(aapcs64_location(returning(number(8)).value), "d0");
    EXPECT_EQ(aapcs64_location(returning(number(4)).value), "s0");
    EXPECT_FALSE(returning(number(8)).is_unread);
    const Returning quad = returning(number(16)); // a long double
    ASSERT_TRUE(quad.operand);
    EXPECT_EQ(quad.operand->parts, (std::vector<RegisterPart>{{0, 8, true, 0}, {8, 8, true, ARGTRACE_VECTOR_UPPER}}));
    EXPECT_FALSE(quad.is_unread);
    const Returning four = returning(of_floats(4, 8));
    ASSERT_TRUE(four.operand);
    EXPECT_TRUE(four.operand->at_return);
    EXPECT_EQ(four.operand->parts.size(), 4u);
    EXPECT_EQ(four.operand->parts.back(), (RegisterPart{24, 8, true, 3}));
    EXPECT_FALSE(four.is_unread || four.in_memory);
    Shape mixed = aggregate(16);
    mixed.has_float = true;
    mixed.homogeneous = Homogeneous{};
    EXPECT_EQ(aapcs64_location(returning(mixed).value), "x0:x1");
    mixed.bytes = 24;
    EXPECT_TRUE(returning(mixed).in_memory);
}

TEST(Aapcs64, SaysWhichReturnsAreNotFollowed) {
    EXPECT_THAT(returning(double_shape).why_not, testing::HasSubstr("floating-point"));
    EXPECT_THAT(returning(int_shape, {Shape{}}).why_not, testing::HasSubstr("stack"));
}

TEST(Aapcs64, CountsTheWordsOfTheStack) {
    EXPECT_EQ(returning(int_shape, std::vector<Shape>(8, int_shape)).stack_words, 0u);
    EXPECT_EQ(returning(int_shape, std::vector<Shape>(10, int_shape)).stack_words, 2u);
    EXPECT_EQ(returning(int_shape, std::vector<Shape>(9, int128_shape)).stack_words, 10u) << "four in registers";
}

} // namespace
} // namespace argtrace
