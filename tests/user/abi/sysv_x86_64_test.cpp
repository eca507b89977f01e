// SPDX-License-Identifier: GPL-2.0-only
#include "abi/calling_convention.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace argtrace {
namespace {

using Kind = Shape::Kind;
using testing::ElementsAre;

constexpr Shape pointer_shape{.kind = Kind::pointer, .bytes = 8};
constexpr Shape int_shape{.kind = Kind::integer, .bytes = 4, .is_signed = true};
constexpr Shape int128_shape{.kind = Kind::integer, .bytes = 16, .is_signed = true};
constexpr Shape double_shape{.kind = Kind::floating, .bytes = 8};

Shape integer(std::uint32_t bytes, bool is_signed) {
    return {.kind = Kind::integer, .bytes = bytes, .is_signed = is_signed};
}

Shape aggregate(std::uint32_t bytes) {
    return {.kind = Kind::aggregate, .bytes = bytes};
}

std::vector<Argument> place(const std::vector<Shape> &shapes, const Shape &result = int_shape) {
    Prototype prototype;
    prototype.result_shape = result;
    for (const Shape &shape : shapes)
        prototype.parameters.push_back({"name", "type", shape});
    return sysv_x86_64(prototype);
}

// Where each is passed, in the words that users read.
std::vector<std::string> places(const std::vector<Shape> &shapes, const Shape &result = int_shape) {
    std::vector<std::string> found;
    for (const Argument &argument : place(shapes, result))
        found.push_back(sysv_x86_64_location(argument));
    return found;
}

Argument only(const Shape &shape) {
    return place({shape}).at(0);
}

TEST(SysvX8664, TakesRegistersInOrder) {
    EXPECT_THAT(places({int_shape, pointer_shape, int_shape, int_shape, int_shape, int_shape,
                        int_shape, int_shape}),
                ElementsAre("rdi", "rsi", "rdx", "rcx", "r8", "r9", "sp+8", "sp+16"));
    EXPECT_THAT(places({}), ElementsAre());
}

TEST(SysvX8664, DescribesAnArgumentWhole) {
    Prototype prototype;
    prototype.result_shape = int_shape;
    prototype.parameters.push_back({"file", "struct file *", pointer_shape});
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
        const Shape enumeration{.kind = Kind::enumeration, .bytes = bytes, .is_signed = is_signed};
        EXPECT_EQ(only(enumeration).type, type);
        EXPECT_EQ(only(enumeration).size, bytes);
    }
}

TEST(SysvX8664, TypesBoolAndChar) {
    Shape shape{.kind = Kind::integer, .bytes = 1, .is_bool = true};
    EXPECT_EQ(only(shape).type, ARGTRACE_TYPE_BOOL);
    shape = {.kind = Kind::integer, .bytes = 1, .is_signed = true, .is_char = true};
    EXPECT_EQ(only(shape).type, ARGTRACE_TYPE_CHAR);
    shape.is_signed = false;
    EXPECT_EQ(only(shape).type, ARGTRACE_TYPE_UCHAR);
    EXPECT_EQ(only(shape).size, 1u);
}

TEST(SysvX8664, SizesAgreeWithTheTypeCodes) {
    for (const Shape &shape : {pointer_shape, int_shape, integer(1, true), integer(2, false),
                               integer(8, true), int128_shape})
        EXPECT_EQ(only(shape).size, argtrace_type_size(only(shape).type));
}

TEST(SysvX8664, Int128TakesTwoRegistersOrNone) {
    EXPECT_THAT(places({int128_shape, int_shape}), ElementsAre("rdi:rsi", "rdx"));
    EXPECT_THAT(places({int_shape, int128_shape, int_shape}), ElementsAre("rdi", "rsi:rdx", "rcx"));
    EXPECT_THAT(places({int_shape, int_shape, int_shape, int_shape, int128_shape, int_shape}),
                ElementsAre("rdi", "rsi", "rdx", "rcx", "r8:r9", "sp+8"));
    EXPECT_THAT(places({int_shape, int_shape, int_shape, int_shape, int_shape, int128_shape,
                        int_shape, int_shape}),
                ElementsAre("rdi", "rsi", "rdx", "rcx", "r8", "sp+8", "r9", "sp+24"));
}

TEST(SysvX8664, Int128IsAlignedOnTheStack) {
    const std::vector<std::string> found =
        places({int128_shape, int128_shape, int128_shape, int_shape, int128_shape, int_shape,
                int128_shape});
    EXPECT_THAT(std::vector(found.begin() + 3, found.end()),
                ElementsAre("sp+8", "sp+24", "sp+40", "sp+56"));
}

TEST(SysvX8664, SmallAggregatesTakeRegistersLargeOnesNone) {
    EXPECT_THAT(places({aggregate(1), int_shape}), ElementsAre("rdi", "rsi"));
    EXPECT_THAT(places({aggregate(8), int_shape}), ElementsAre("rdi", "rsi"));
    EXPECT_THAT(places({aggregate(9), int_shape}), ElementsAre("rdi:rsi", "rdx"));
    EXPECT_THAT(places({aggregate(16), int_shape}), ElementsAre("rdi:rsi", "rdx"));
    EXPECT_THAT(places({aggregate(17), int_shape}), ElementsAre("sp+8", "rdi"));
    EXPECT_THAT(places({aggregate(0), int_shape}), ElementsAre("", "rdi"));
    EXPECT_THAT(
        places({int_shape, int_shape, int_shape, int_shape, int_shape, aggregate(16), int_shape}),
        ElementsAre("rdi", "rsi", "rdx", "rcx", "r8", "sp+8", "r9"));
    Shape unaligned = aggregate(12);
    unaligned.unaligned = true;
    EXPECT_THAT(places({unaligned, int_shape, unaligned, aggregate(24), aggregate(17)}),
                ElementsAre("sp+8", "rdi", "sp+24", "sp+40", "sp+64"));
}

// BTF does not tell of __attribute__((aligned(16))): it may ask for a gap before the struct.
TEST(SysvX8664, SaysNothingWhereAnAlignmentWouldMoveThePlace) {
    EXPECT_THAT(places({aggregate(32), aggregate(24), int_shape}),
                ElementsAre("sp+8", "sp+40", "rdi"));
    EXPECT_THAT(places({aggregate(24), aggregate(24), int_shape}),
                ElementsAre("sp+8", "sp+32", "rdi"));
    EXPECT_THAT(places({int_shape, aggregate(24), aggregate(32), int_shape}),
                ElementsAre("rdi", "sp+8", "", ""));
}

TEST(SysvX8664, AResultInMemoryTakesTheFirstRegister) {
    EXPECT_THAT(places({int_shape, int_shape}, aggregate(24)), ElementsAre("rsi", "rdx"));
    EXPECT_THAT(places({int_shape}, aggregate(16)), ElementsAre("rdi"));
    EXPECT_THAT(places({int_shape}, Shape{.kind = Kind::nothing}), ElementsAre("rdi"));
    EXPECT_THAT(places({int_shape}, Shape{}), ElementsAre("")) << "who knows";
}

TEST(SysvX8664, FloatsTakeNoIntegerRegister) {
    EXPECT_THAT(places({double_shape, int_shape}), ElementsAre("", "rdi"));
    std::vector<Shape> shapes(9, double_shape); // one more than there are vector registers
    shapes.push_back(aggregate(24));
    EXPECT_EQ(places(shapes).back(), "sp+16");
}

TEST(SysvX8664, SaysNothingBehindWhatItCannotPlace) {
    Shape mixed = aggregate(16);
    mixed.has_float = true;
    EXPECT_THAT(places({int_shape, mixed, int_shape}), ElementsAre("rdi", "", ""));
    EXPECT_THAT(places({int_shape, Shape{}, int_shape}), ElementsAre("rdi", "", ""));
    EXPECT_THAT(places({Shape{.kind = Kind::floating, .bytes = 16}, int_shape}),
                ElementsAre("", ""));
    EXPECT_THAT(places({integer(3, false), int_shape}), ElementsAre("", ""));
    Shape large = aggregate(24);
    large.has_float = true;
    EXPECT_THAT(places({large, int_shape}), ElementsAre("sp+8", "rdi")) << "surely in memory";
    Shape ambiguous = aggregate(16);
    ambiguous.ambiguous = true;
    EXPECT_THAT(places({ambiguous, int_shape}), ElementsAre("", ""));
    EXPECT_THAT(places({int_shape}, ambiguous), ElementsAre(""));
}

TEST(SysvX8664, LeavesOutWhatTheModuleWouldRefuse) {
    EXPECT_THAT(places({aggregate(1025), int_shape, aggregate(1017)}), ElementsAre("", "rdi", ""))
        << "too large; ends too far up the stack";
    EXPECT_THAT(places({aggregate(1016), aggregate(1024), int_shape}), ElementsAre("sp+8", "", ""))
        << "may be aligned";
    EXPECT_THAT(places({aggregate(1024), aggregate(1016), aggregate(1), aggregate(17)}),
                ElementsAre("sp+8", "sp+1032", "rdi", ""));
}

TEST(SysvX8664, TellsWhatCaptureCosts) {
    const std::vector<Argument> arguments =
        place({pointer_shape, aggregate(12), double_shape, int_shape});
    EXPECT_EQ(captured_bytes(arguments[0]), 8u);
    EXPECT_EQ(captured_bytes(arguments[1]), 14u) << "with its length";
    EXPECT_EQ(captured_bytes(arguments[2]), 0u);
    EXPECT_EQ(record_bytes(arguments), 16u + 8 + 8 + 14 + 4 + 6);
    EXPECT_EQ(record_bytes({}), 24u);
}

Returning returning(const std::vector<Shape> &shapes, const Shape &result,
                    bool variadic = false) {
    Prototype prototype;
    prototype.result = "result";
    prototype.result_shape = result;
    prototype.variadic = variadic;
    for (const Shape &shape : shapes)
        prototype.parameters.push_back({"name", "type", shape});
    return sysv_x86_64_returning(prototype);
}

TEST(SysvX8664Returning, ResultsAreInRax) {
    EXPECT_EQ(returning({}, int_shape).value, (Argument{.loc = ARGTRACE_LOC_RETURN,
                                                        .type = ARGTRACE_TYPE_S32,
                                                        .size = 4,
                                                        .name = "ret",
                                                        .type_name = "result"}));
    EXPECT_EQ(sysv_x86_64_location(returning({}, int_shape).value), "rax");
    EXPECT_EQ(returning({}, {.kind = Kind::nothing}).value.loc, ARGTRACE_LOC_NONE);
    EXPECT_EQ(returning({}, aggregate(0)).value.loc, ARGTRACE_LOC_NONE) << "a struct without members";
    EXPECT_EQ(returning({}, int128_shape).value.type, ARGTRACE_TYPE_S128);
    const Argument pair = returning({}, aggregate(16)).value;
    EXPECT_EQ(pair.type, ARGTRACE_TYPE_BYTES);
    EXPECT_EQ(pair.size, 16u);
    EXPECT_EQ(sysv_x86_64_location(pair), "rax:rdx");
    const Argument large = returning({}, aggregate(24)).value;
    EXPECT_EQ(large.type, ARGTRACE_TYPE_PTR);
    EXPECT_EQ(large.type_name, "result *");
}

// However it would be in registers.
TEST(SysvX8664Returning, NumbersInMemoryAreInNoVectorRegister) {
    Shape three_doubles = aggregate(24);
    three_doubles.has_float = true;
    for (const bool is_classified : {false, true}) {
        if (is_classified)
            three_doubles.words = {WordClass::memory};
        const Returning found = returning({double_shape}, three_doubles);
        EXPECT_TRUE(found.is_address);
        EXPECT_FALSE(found.is_unread);
        EXPECT_EQ(sysv_x86_64_location(found.value), "rax");
    }
}

TEST(SysvX8664Returning, CountsTheWordsOnTheStack) {
    const std::vector<Shape> six(6, int_shape);
    const auto words = [&](std::vector<Shape> more, const Shape &result = int_shape) {
        more.insert(more.begin(), six.begin(), six.end());
        const Returning found = returning(more, result);
        EXPECT_EQ(found.why_not, "");
        return found.stack_words;
    };
    EXPECT_EQ(words({}), 0u);
    EXPECT_EQ(words({int_shape, integer(1, false)}), 2u);
    EXPECT_EQ(words({aggregate(24), int_shape}), 4u);
    EXPECT_EQ(words({int_shape, int128_shape}), 4u) << "it is aligned to 16";
    EXPECT_EQ(words({}, aggregate(24)), 1u) << "the address of the result takes a register";
}

TEST(SysvX8664Returning, SaysWhatTheKernelCanFollow) {
    const Returning variadic = returning(std::vector<Shape>(7, int_shape), int_shape, true);
    EXPECT_EQ(variadic.by_kernel, static_cast<std::uint32_t>(ARGTRACE_BY_VARIADIC));
    EXPECT_EQ(variadic.value.loc, ARGTRACE_LOC_RETURN);
    EXPECT_EQ(variadic.stack_words, 1u) << "of the arguments that have names";
    const Returning open = returning({{.kind = Kind::aggregate, .bytes = 8, .ambiguous = true}}, int_shape);
    EXPECT_EQ(open.by_kernel, static_cast<std::uint32_t>(ARGTRACE_BY_STACK));
    EXPECT_EQ(open.value.loc, ARGTRACE_LOC_RETURN);
    EXPECT_EQ(returning({int_shape}, int_shape).by_kernel, static_cast<std::uint32_t>(ARGTRACE_BY_CHOICE));
    EXPECT_EQ(returning({int_shape}, double_shape, true).by_kernel, static_cast<std::uint32_t>(ARGTRACE_BY_CHOICE));
}

Shape classified(std::uint32_t bytes, WordClass first, WordClass second = WordClass::none) {
    return {.kind = Kind::aggregate, .bytes = bytes, .words = {first, second}};
}

// "xmm0 rdi+8": the registers of an operand, and where in the value each begins.
std::string text_of(const std::optional<UserOperand> &operand) {
    constexpr std::string_view integers[] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"}, returned[] = {"rax", "rdx"};
    if (!operand)
        return "?";
    if (operand->kind == UserOperand::Kind::on_stack)
        return fmt::format("sp+{}", operand->number);
    if (operand->kind == UserOperand::Kind::in_vector)
        return fmt::format("xmm{}", operand->number);
    std::string text;
    for (const RegisterPart &part : operand->parts) {
        text += text.empty() ? "" : " ";
        text += part.is_floating ? fmt::format("xmm{}", part.index) : std::string(operand->at_return ? returned[part.index] : integers[part.index]);
        text += fmt::format(":{}", part.bytes);
        text += part.offset != 0 ? fmt::format("+{}", part.offset) : "";
    }
    return text;
}

std::vector<std::string> operands(const std::vector<Shape> &shapes) {
    Prototype prototype;
    prototype.result_shape = int_shape;
    for (const Shape &shape : shapes)
        prototype.parameters.push_back({"name", "type", shape});
    std::vector<std::string> texts;
    for (const auto &operand : user_functions_x86_64.operands(prototype))
        texts.push_back(text_of(operand));
    return texts;
}

constexpr WordClass sse = WordClass::vector, whole = WordClass::integer;

// 3.2.3, "Passing": each eightbyte takes the next register of its class.
TEST(SysvX8664Operands, WordsTakeRegistersOfTheirClass) {
    EXPECT_THAT(operands({classified(16, sse, sse), int_shape, classified(16, sse, sse)}), ElementsAre("xmm0:8 xmm1:8+8", "?", "xmm2:8 xmm3:8+8"));
    EXPECT_THAT(operands({classified(4, sse), classified(8, sse), classified(12, sse, sse)}), ElementsAre("xmm0:4", "xmm1:8", "xmm2:8 xmm3:4+8"));
    EXPECT_THAT(operands({int_shape, classified(16, whole, sse), classified(16, sse, whole), double_shape}),
                ElementsAre("?", "rsi:8 xmm0:8+8", "xmm1:8 rdx:8+8", "xmm2"));
    EXPECT_THAT(operands({classified(16, whole, whole), classified(9, sse, whole)}), ElementsAre("?", "xmm0:8 rdx:1+8")) << "the module finds the first";
}

// "If there are no registers available for any eightbyte of an argument, the whole argument is passed on the stack."
TEST(SysvX8664Operands, WhatHasNoRoomIsOnTheStackWhole) {
    const Shape two = classified(16, sse, sse), mixed = classified(16, whole, sse);
    EXPECT_THAT(operands({two, two, two, double_shape, two, double_shape, two, mixed, int_shape}),
                ElementsAre("xmm0:8 xmm1:8+8", "xmm2:8 xmm3:8+8", "xmm4:8 xmm5:8+8", "xmm6", "sp+8", "xmm7", "sp+24", "sp+40", "?"));
    EXPECT_THAT(operands({int_shape, int_shape, int_shape, int_shape, int_shape, int_shape, mixed, two}),
                ElementsAre("?", "?", "?", "?", "?", "?", "sp+8", "xmm0:8 xmm1:8+8"));
}

// A vector of 16 bytes has one register, whose upper half is number 64 and up.
TEST(SysvX8664Operands, WideOnesHaveBothHalves) {
    EXPECT_THAT(operands({classified(8, sse), classified(16, sse, WordClass::vector_more), classified(8, sse)}), ElementsAre("xmm0:8", "xmm1:8 xmm65:8+8", "xmm2:8"));
    const Shape quad{.kind = Kind::floating, .bytes = 16, .words = {sse, WordClass::vector_more}};
    EXPECT_THAT(operands({double_shape, quad}), ElementsAre("xmm0", "xmm1:8 xmm65:8+8"));
}

// "Returning of Values": rax and rdx, xmm0 and xmm1, each the next of its class.
TEST(SysvX8664Returning, WordsAreInRegistersOfTheirClass) {
    const auto result = [](const Shape &shape) {
        const Returning found = returning({}, shape);
        return fmt::format("{}{}", text_of(found.operand), found.value.loc == ARGTRACE_LOC_NONE ? "" : ", recorded");
    };
    EXPECT_EQ(result(classified(16, sse, sse)), "xmm0:8 xmm1:8+8");
    EXPECT_EQ(result(classified(16, whole, sse)), "rax:8 xmm0:8+8");
    EXPECT_EQ(result(classified(16, sse, whole)), "xmm0:8 rax:8+8");
    EXPECT_EQ(result(classified(12, sse, sse)), "xmm0:8 xmm1:4+8");
    EXPECT_EQ(result(classified(4, sse)), "xmm0:4");
    EXPECT_EQ(result(classified(16, whole, whole)), "rax:8 rdx:8+8, recorded");
    EXPECT_EQ(result(classified(16, WordClass::memory)), "?, recorded") << "its address";
    EXPECT_EQ(result(classified(16, sse, WordClass::vector_more)), "xmm0:8 xmm64:8+8");
    EXPECT_EQ(result(classified(16, WordClass::x87, WordClass::x87)), "xmm128:8 xmm129:8+8") << "significand, sign and exponent";
    EXPECT_EQ(result({.kind = Kind::floating, .bytes = 16, .words = {WordClass::x87, WordClass::x87}}), "xmm128:8 xmm129:8+8");
    EXPECT_EQ(result(classified(32, WordClass::x87, WordClass::x87)), "?");
}

TEST(SysvX8664Returning, SaysWhyNot) {
    EXPECT_EQ(returning({int_shape}, int_shape, true).why_not,
              "it takes a variable number of arguments");
    EXPECT_EQ(returning({double_shape}, int_shape).why_not, "it takes floating-point numbers");
    EXPECT_EQ(returning({}, double_shape).why_not, "it returns a floating-point number");
    EXPECT_EQ(returning({{.kind = Kind::aggregate, .bytes = 8, .ambiguous = true}}, int_shape).why_not,
              "BTF leaves open what its arguments take on the stack");
    EXPECT_EQ(returning({}, {.kind = Kind::unknown}).why_not,
              "BTF leaves open what its arguments take on the stack");
}

} // namespace
} // namespace argtrace
