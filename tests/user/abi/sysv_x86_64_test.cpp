// SPDX-License-Identifier: GPL-2.0-only
#include "abi/calling_convention.h"

#include <gmock/gmock.h>

namespace argtrace {
namespace {

using Kind = Shape::Kind;
using testing::ElementsAre;

constexpr Shape POINTER{.kind = Kind::Pointer, .bytes = 8};
constexpr Shape INT{.kind = Kind::Integer, .bytes = 4, .is_signed = true};
constexpr Shape INT128{.kind = Kind::Integer, .bytes = 16, .is_signed = true};
constexpr Shape DOUBLE{.kind = Kind::Float, .bytes = 8};

Shape integer(std::uint32_t bytes, bool is_signed) {
    return {.kind = Kind::Integer, .bytes = bytes, .is_signed = is_signed};
}

Shape aggregate(std::uint32_t bytes) {
    return {.kind = Kind::Aggregate, .bytes = bytes};
}

std::vector<Argument> place(const std::vector<Shape> &shapes, const Shape &result = INT) {
    Prototype prototype;
    prototype.result_shape = result;
    for (const Shape &shape : shapes)
        prototype.parameters.push_back({"name", "type", shape});
    return sysv_x86_64(prototype);
}

// Where each lies, in the words that users read.
std::vector<std::string> places(const std::vector<Shape> &shapes, const Shape &result = INT) {
    std::vector<std::string> found;
    for (const Argument &argument : place(shapes, result))
        found.push_back(sysv_x86_64_location(argument));
    return found;
}

Argument only(const Shape &shape) {
    return place({shape}).at(0);
}

TEST(SysvX8664, TakesRegistersInOrder) {
    EXPECT_THAT(places({INT, POINTER, INT, INT, INT, INT, INT, INT}),
                ElementsAre("rdi", "rsi", "rdx", "rcx", "r8", "r9", "sp+8", "sp+16"));
    EXPECT_THAT(places({}), ElementsAre());
}

TEST(SysvX8664, DescribesAnArgumentWhole) {
    Prototype prototype;
    prototype.result_shape = INT;
    prototype.parameters.push_back({"file", "struct file *", POINTER});
    prototype.parameters.push_back({"pair", "struct pair", aggregate(16)});
    EXPECT_THAT(sysv_x86_64(prototype), ElementsAre(Argument{.loc = ARGTRACE_LOC_REG,
                                                             .index = 0,
                                                             .type = ARGTRACE_TYPE_PTR,
                                                             .size = 8,
                                                             .name = "file",
                                                             .type_name = "struct file *"},
                                                    Argument{.loc = ARGTRACE_LOC_REG_PAIR,
                                                             .index = 1,
                                                             .type = ARGTRACE_TYPE_BYTES,
                                                             .size = 16,
                                                             .name = "pair",
                                                             .type_name = "struct pair"}));
}

TEST(SysvX8664, TypesIntegersBySizeAndSign) {
    const struct {
        std::uint32_t bytes;
        bool is_signed;
        std::uint8_t type;
    } cases[] = {
        {1, false, ARGTRACE_TYPE_U8},    {1, true, ARGTRACE_TYPE_S8},
        {2, false, ARGTRACE_TYPE_U16},   {2, true, ARGTRACE_TYPE_S16},
        {4, false, ARGTRACE_TYPE_U32},   {4, true, ARGTRACE_TYPE_S32},
        {8, false, ARGTRACE_TYPE_U64},   {8, true, ARGTRACE_TYPE_S64},
        {16, false, ARGTRACE_TYPE_U128}, {16, true, ARGTRACE_TYPE_S128},
    };
    for (const auto &[bytes, is_signed, type] : cases) {
        EXPECT_EQ(only(integer(bytes, is_signed)).type, type);
        EXPECT_EQ(only(integer(bytes, is_signed)).size, bytes);
        const Shape enumeration{.kind = Kind::Enum, .bytes = bytes, .is_signed = is_signed};
        EXPECT_EQ(only(enumeration).type, type);
        EXPECT_EQ(only(enumeration).size, bytes);
    }
}

TEST(SysvX8664, TypesBoolAndChar) {
    Shape shape{.kind = Kind::Integer, .bytes = 1, .is_bool = true};
    EXPECT_EQ(only(shape).type, ARGTRACE_TYPE_BOOL);
    shape = {.kind = Kind::Integer, .bytes = 1, .is_signed = true, .is_char = true};
    EXPECT_EQ(only(shape).type, ARGTRACE_TYPE_CHAR);
    shape.is_signed = false;
    EXPECT_EQ(only(shape).type, ARGTRACE_TYPE_UCHAR);
    EXPECT_EQ(only(shape).size, 1u);
}

TEST(SysvX8664, SizesAgreeWithTheTypeCodes) {
    for (const Shape &shape :
         {POINTER, INT, integer(1, true), integer(2, false), integer(8, true), INT128})
        EXPECT_EQ(only(shape).size, argtrace_type_size(only(shape).type));
}

TEST(SysvX8664, Int128TakesTwoRegistersOrNone) {
    EXPECT_THAT(places({INT128, INT}), ElementsAre("rdi:rsi", "rdx"));
    EXPECT_THAT(places({INT, INT128, INT}), ElementsAre("rdi", "rsi:rdx", "rcx"));
    EXPECT_THAT(places({INT, INT, INT, INT, INT128, INT}),
                ElementsAre("rdi", "rsi", "rdx", "rcx", "r8:r9", "sp+8"));
    EXPECT_THAT(places({INT, INT, INT, INT, INT, INT128, INT, INT}),
                ElementsAre("rdi", "rsi", "rdx", "rcx", "r8", "sp+8", "r9", "sp+24"));
}

TEST(SysvX8664, Int128IsAlignedOnTheStack) {
    const std::vector<std::string> found =
        places({INT128, INT128, INT128, INT, INT128, INT, INT128});
    EXPECT_THAT(std::vector(found.begin() + 3, found.end()),
                ElementsAre("sp+8", "sp+24", "sp+40", "sp+56"));
}

TEST(SysvX8664, SmallAggregatesTakeRegistersLargeOnesNone) {
    EXPECT_THAT(places({aggregate(1), INT}), ElementsAre("rdi", "rsi"));
    EXPECT_THAT(places({aggregate(8), INT}), ElementsAre("rdi", "rsi"));
    EXPECT_THAT(places({aggregate(9), INT}), ElementsAre("rdi:rsi", "rdx"));
    EXPECT_THAT(places({aggregate(16), INT}), ElementsAre("rdi:rsi", "rdx"));
    EXPECT_THAT(places({aggregate(17), INT}), ElementsAre("sp+8", "rdi"));
    EXPECT_THAT(places({aggregate(0), INT}), ElementsAre("", "rdi"));
    EXPECT_THAT(places({INT, INT, INT, INT, INT, aggregate(16), INT}),
                ElementsAre("rdi", "rsi", "rdx", "rcx", "r8", "sp+8", "r9"));
    Shape unaligned = aggregate(12);
    unaligned.unaligned = true;
    EXPECT_THAT(places({unaligned, INT, unaligned, aggregate(24), aggregate(17)}),
                ElementsAre("sp+8", "rdi", "sp+24", "sp+40", "sp+64"));
}

// BTF does not tell of __attribute__((aligned(16))): it may ask for a gap before the struct.
TEST(SysvX8664, SaysNothingWhereAnAlignmentWouldMoveThePlace) {
    EXPECT_THAT(places({aggregate(32), aggregate(24), INT}), ElementsAre("sp+8", "sp+40", "rdi"));
    EXPECT_THAT(places({aggregate(24), aggregate(24), INT}), ElementsAre("sp+8", "sp+32", "rdi"));
    EXPECT_THAT(places({INT, aggregate(24), aggregate(32), INT}),
                ElementsAre("rdi", "sp+8", "", ""));
}

TEST(SysvX8664, AResultInMemoryTakesTheFirstRegister) {
    EXPECT_THAT(places({INT, INT}, aggregate(24)), ElementsAre("rsi", "rdx"));
    EXPECT_THAT(places({INT}, aggregate(16)), ElementsAre("rdi"));
    EXPECT_THAT(places({INT}, Shape{.kind = Kind::Void}), ElementsAre("rdi"));
    EXPECT_THAT(places({INT}, Shape{}), ElementsAre("")) << "who knows";
}

TEST(SysvX8664, FloatsTakeNoIntegerRegister) {
    EXPECT_THAT(places({DOUBLE, INT}), ElementsAre("", "rdi"));
    std::vector<Shape> shapes(9, DOUBLE); // one more than there are vector registers
    shapes.push_back(aggregate(24));
    EXPECT_EQ(places(shapes).back(), "sp+16");
}

TEST(SysvX8664, SaysNothingBehindWhatItCannotPlace) {
    Shape mixed = aggregate(16);
    mixed.has_float = true;
    EXPECT_THAT(places({INT, mixed, INT}), ElementsAre("rdi", "", ""));
    EXPECT_THAT(places({INT, Shape{}, INT}), ElementsAre("rdi", "", ""));
    EXPECT_THAT(places({Shape{.kind = Kind::Float, .bytes = 16}, INT}), ElementsAre("", ""));
    EXPECT_THAT(places({integer(3, false), INT}), ElementsAre("", ""));
    Shape large = aggregate(24);
    large.has_float = true;
    EXPECT_THAT(places({large, INT}), ElementsAre("sp+8", "rdi")) << "surely in memory";
    Shape ambiguous = aggregate(16);
    ambiguous.ambiguous = true;
    EXPECT_THAT(places({ambiguous, INT}), ElementsAre("", ""));
    EXPECT_THAT(places({INT}, ambiguous), ElementsAre(""));
}

TEST(SysvX8664, LeavesOutWhatTheModuleWouldRefuse) {
    EXPECT_THAT(places({aggregate(1025), INT, aggregate(1017)}), ElementsAre("", "rdi", ""))
        << "too large; ends too far up the stack";
    EXPECT_THAT(places({aggregate(1016), aggregate(1024), INT}), ElementsAre("sp+8", "", ""))
        << "may be aligned";
    EXPECT_THAT(places({aggregate(1024), aggregate(1016), aggregate(1), aggregate(17)}),
                ElementsAre("sp+8", "sp+1032", "rdi", ""));
}

TEST(SysvX8664, TellsWhatCaptureCosts) {
    const std::vector<Argument> arguments = place({POINTER, aggregate(12), DOUBLE, INT});
    EXPECT_EQ(captured_bytes(arguments[0]), 8u);
    EXPECT_EQ(captured_bytes(arguments[1]), 14u) << "with its length";
    EXPECT_EQ(captured_bytes(arguments[2]), 0u);
    EXPECT_EQ(record_bytes(arguments), 16u + 8 + 8 + 14 + 4 + 6);
    EXPECT_EQ(record_bytes({}), 24u);
}

} // namespace
} // namespace argtrace
