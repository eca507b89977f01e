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
        found.emplace_back(sysv_x86_64_location(argument));
    return found;
}

Argument only(const Shape &shape) {
    return place({shape}).at(0);
}

TEST(SysvX8664, TakesRegistersInOrder) {
    EXPECT_THAT(places({INT, POINTER, INT, INT, INT, INT, INT}),
                ElementsAre("rdi", "rsi", "rdx", "rcx", "r8", "r9", "not recorded"));
    EXPECT_THAT(places({}), ElementsAre());
}

TEST(SysvX8664, DescribesAnArgumentWhole) {
    Prototype prototype;
    prototype.parameters.push_back({"file", "struct file *", POINTER});
    prototype.parameters.push_back({"pair", "struct pair", aggregate(16)});
    EXPECT_THAT(sysv_x86_64(prototype), ElementsAre(Argument{.loc = ARGTRACE_LOC_REG,
                                                             .index = 0,
                                                             .type = ARGTRACE_TYPE_PTR,
                                                             .size = 8,
                                                             .name = "file",
                                                             .type_name = "struct file *"},
                                                    Argument{.loc = ARGTRACE_LOC_NONE,
                                                             .index = 0,
                                                             .type = ARGTRACE_TYPE_END,
                                                             .size = 0,
                                                             .name = "pair",
                                                             .type_name = "struct pair"}));
}

TEST(SysvX8664, TypesIntegersBySizeAndSign) {
    const struct {
        std::uint32_t bytes;
        bool is_signed;
        std::uint8_t type;
    } cases[] = {
        {1, false, ARGTRACE_TYPE_U8},  {1, true, ARGTRACE_TYPE_S8},   {2, false, ARGTRACE_TYPE_U16},
        {2, true, ARGTRACE_TYPE_S16},  {4, false, ARGTRACE_TYPE_U32}, {4, true, ARGTRACE_TYPE_S32},
        {8, false, ARGTRACE_TYPE_U64}, {8, true, ARGTRACE_TYPE_S64},
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
    for (const Shape &shape : {POINTER, INT, integer(1, true), integer(2, false), integer(8, true)})
        EXPECT_EQ(only(shape).size, type_size(only(shape).type));
}

TEST(SysvX8664, Int128TakesTwoRegistersOrNone) {
    EXPECT_THAT(places({INT128, INT}), ElementsAre("not recorded", "rdx"));
    EXPECT_THAT(places({INT, INT128, INT}), ElementsAre("rdi", "not recorded", "rcx"));
    EXPECT_THAT(places({INT, INT, INT, INT, INT128, INT}),
                ElementsAre("rdi", "rsi", "rdx", "rcx", "not recorded", "not recorded"));
    EXPECT_THAT(
        places({INT, INT, INT, INT, INT, INT128, INT, INT}),
        ElementsAre("rdi", "rsi", "rdx", "rcx", "r8", "not recorded", "r9", "not recorded"));
}

TEST(SysvX8664, SmallAggregatesTakeRegistersLargeOnesNone) {
    EXPECT_THAT(places({aggregate(1), INT}), ElementsAre("not recorded", "rsi"));
    EXPECT_THAT(places({aggregate(8), INT}), ElementsAre("not recorded", "rsi"));
    EXPECT_THAT(places({aggregate(9), INT}), ElementsAre("not recorded", "rdx"));
    EXPECT_THAT(places({aggregate(16), INT}), ElementsAre("not recorded", "rdx"));
    EXPECT_THAT(places({aggregate(17), INT}), ElementsAre("not recorded", "rdi"));
    EXPECT_THAT(places({aggregate(0), INT}), ElementsAre("not recorded", "rdi"));
    EXPECT_THAT(places({INT, INT, INT, INT, INT, aggregate(16), INT}),
                ElementsAre("rdi", "rsi", "rdx", "rcx", "r8", "not recorded", "r9"));
    Shape unaligned = aggregate(12);
    unaligned.unaligned = true;
    EXPECT_THAT(places({unaligned, INT}), ElementsAre("not recorded", "rdi"));
}

TEST(SysvX8664, AResultInMemoryTakesTheFirstRegister) {
    EXPECT_THAT(places({INT, INT}, aggregate(24)), ElementsAre("rsi", "rdx"));
    EXPECT_THAT(places({INT}, aggregate(16)), ElementsAre("rdi"));
    EXPECT_THAT(places({INT}, Shape{.kind = Kind::Void}), ElementsAre("rdi"));
}

TEST(SysvX8664, FloatsTakeNoIntegerRegister) {
    EXPECT_THAT(places({DOUBLE, INT}), ElementsAre("not recorded", "rdi"));
}

TEST(SysvX8664, SaysNothingBehindWhatItCannotPlace) {
    Shape mixed = aggregate(16);
    mixed.has_float = true;
    EXPECT_THAT(places({INT, mixed, INT}), ElementsAre("rdi", "not recorded", "not recorded"));
    EXPECT_THAT(places({INT, Shape{}, INT}), ElementsAre("rdi", "not recorded", "not recorded"));
    Shape large = aggregate(24);
    large.has_float = true;
    EXPECT_THAT(places({large, INT}), ElementsAre("not recorded", "rdi")) << "surely in memory";
}

} // namespace
} // namespace argtrace
