// SPDX-License-Identifier: GPL-2.0-only
#include "abi/calling_convention.h"

#include <gmock/gmock.h>

namespace argtrace {
namespace {

using Kind = Shape::Kind;
using testing::ElementsAre;

constexpr Shape INT{.kind = Kind::Integer, .bytes = 4, .is_signed = true};
constexpr Shape INT128{.kind = Kind::Integer, .bytes = 16, .is_signed = true};
constexpr Shape DOUBLE{.kind = Kind::Float, .bytes = 8};

Shape aggregate(std::uint32_t bytes) {
    return {.kind = Kind::Aggregate, .bytes = bytes};
}

std::vector<Argument> place(const std::vector<Shape> &shapes) {
    Prototype prototype;
    for (const Shape &shape : shapes)
        prototype.parameters.push_back({"name", "type", shape});
    return aapcs64(prototype);
}

// Where each lies, behind so many ints.
std::vector<std::string> places(std::size_t ints, std::vector<Shape> shapes) {
    shapes.insert(shapes.begin(), ints, INT);
    std::vector<std::string> found;
    for (const Argument &argument : place(shapes))
        found.push_back(aapcs64_location(argument));
    found.erase(found.begin(), found.begin() + std::ptrdiff_t(ints));
    return found;
}

TEST(Aapcs64, TakesRegistersInOrderThenTheStack) {
    EXPECT_THAT(places(0, {INT, INT}), ElementsAre("x0", "x1"));
    EXPECT_THAT(places(7, {INT, INT, INT}), ElementsAre("x7", "sp+0", "sp+8"));
}

TEST(Aapcs64, Int128TakesAnEvenPair) {
    EXPECT_THAT(places(0, {INT128, INT}), ElementsAre("x0:x1", "x2"));
    EXPECT_THAT(places(1, {INT128, INT}), ElementsAre("x2:x3", "x4"));
    EXPECT_THAT(places(6, {INT128, INT}), ElementsAre("x6:x7", "sp+0"));
    EXPECT_THAT(places(7, {INT128, INT}), ElementsAre("sp+0", "sp+16"));
    EXPECT_THAT(places(9, {INT128, INT}), ElementsAre("sp+16", "sp+32"));
}

TEST(Aapcs64, AggregatesThatDoNotFitCloseTheRegisters) {
    EXPECT_THAT(places(0, {aggregate(5), aggregate(12), aggregate(0), INT}),
                ElementsAre("x0", "x1:x2", "", "x3"));
    EXPECT_THAT(places(7, {aggregate(12), INT}), ElementsAre("sp+0", "sp+16"));
}

TEST(Aapcs64, LargeAggregatesArePassedByReference) {
    EXPECT_THAT(places(0, {aggregate(17), INT}), ElementsAre("[x0]", "x1"));
    EXPECT_THAT(places(8, {INT, aggregate(40), INT}), ElementsAre("sp+0", "[sp+8]", "sp+16"));
    EXPECT_THAT(places(0, {aggregate(1025), INT}), ElementsAre("", "x1")) << "too large";
    const Argument argument = place({aggregate(40)}).at(0);
    EXPECT_EQ(argument.type, ARGTRACE_TYPE_BYTES);
    EXPECT_EQ(argument.size, 40u);
}

// A member may be aligned to 16: BTF does not tell.
TEST(Aapcs64, SaysNothingWhereAnAlignmentWouldMoveThePlace) {
    EXPECT_THAT(places(2, {aggregate(16), INT}), ElementsAre("x2:x3", "x4"));
    EXPECT_THAT(places(1, {aggregate(16), INT}), ElementsAre("", ""));
    EXPECT_THAT(places(7, {aggregate(16), INT}), ElementsAre("sp+0", "sp+16"));
    EXPECT_THAT(places(9, {aggregate(16), INT}), ElementsAre("", ""));
}

TEST(Aapcs64, FloatsTakeNoGeneralRegister) {
    EXPECT_THAT(places(0, {DOUBLE, INT}), ElementsAre("", "x0"));
    EXPECT_THAT(places(0, {DOUBLE, DOUBLE, DOUBLE, DOUBLE, INT, DOUBLE, INT}),
                ElementsAre("", "", "", "", "x0", "", ""))
        << "complex ones might go to the stack";
    Shape shape = aggregate(64);
    shape.has_float = true;
    EXPECT_THAT(places(0, {shape, INT}), ElementsAre("", "")) << "perhaps in vector registers";
    shape.bytes = 72;
    EXPECT_THAT(places(0, {shape, INT}), ElementsAre("[x0]", "x1"));
}

TEST(Aapcs64, SaysNothingBehindWhatItDoesNotKnow) {
    EXPECT_THAT(places(1, {Shape{}, INT}), ElementsAre("", ""));
}

} // namespace
} // namespace argtrace
