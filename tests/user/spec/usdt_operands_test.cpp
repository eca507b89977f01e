// SPDX-License-Identifier: GPL-2.0-only
#include "spec/usdt_operands.h"

#include <random>

#include <elf.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "uapi/argtrace.h"

namespace argtrace {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t site_address = 0x1000;

std::optional<std::uint64_t> symbol_here(std::string_view name) {
    if (name == "known")
        return 0x5000;
    if (name == ".LC0")
        return 0x800;
    return std::nullopt;
}

std::string shown_operand(const UsdtArgument &argument) {
    std::string text = fmt::format("{} ", argument.type());
    if (!argument.operand)
        return text + "unread";
    const UserOperand &operand = *argument.operand;
    const auto name = [](const NamedRegister &one) { return fmt::format("reg{}.{}{}", one.index, one.bytes, one.shift ? "h" : ""); };
    if (operand.kind == UserOperand::Kind::constant)
        return text + fmt::format("{}", operand.number);
    if (operand.kind == UserOperand::Kind::in_register)
        return text + name(*operand.base);
    if (operand.kind == UserOperand::Kind::in_vector)
        return text + fmt::format("vector{}", operand.number);
    text += '[';
    if (operand.base)
        text += name(*operand.base);
    if (operand.index)
        text += fmt::format(" + {} * {}", name(*operand.index), operand.scale);
    return text + fmt::format(" + {}]", operand.number);
}

std::vector<std::string> parsed(std::string_view note, int machine = EM_X86_64) {
    std::vector<std::string> all;
    for (const UsdtArgument &argument : parse_usdt_arguments(note, {machine, site_address, symbol_here}))
        all.push_back(shown_operand(argument));
    return all;
}

TEST(UsdtOperands, OfArm64) {
    const auto parsed_arm64 = [](std::string_view note) { return parsed(note, EM_AARCH64); };
    EXPECT_THAT(parsed_arm64("8@x0 -4@w1 8@x30 8@sp -4@5 8@-1 x8"),
                ElementsAre("unsigned long reg0.8", "int reg1.4", "unsigned long reg30.8", "unsigned long reg31.8", "int 5",
                            "unsigned long -1", "unsigned long reg8.8"));
    EXPECT_THAT(parsed_arm64("-4@[sp, 12] 8@[x19] 1@[x0, -8] 8@[x1, x2] 4@[x1, x2, lsl 2] 4@[x29, #16] 4@#3"),
                ElementsAre("int [reg31.8 + 12]", "unsigned long [reg19.8 + 0]", "unsigned char [reg0.8 + -8]", "unsigned long [reg1.8 + reg2.8 * 1 + 0]",
                            "unsigned int [reg1.8 + reg2.8 * 4 + 0]", "unsigned int [reg29.8 + 16]", "unsigned int 3"));
    EXPECT_THAT(parsed_arm64("8f@d3 4f@s1 8f@v31"), ElementsAre("double vector3", "float vector1", "double vector31"));
    for (const char *unread : {"8@x31", "8@x01", "8@d32", "8@q0", "8@sp0", "8f@x0", "8@[x1, w2, sxtw 2]", "8@[x1, 8]!", "8@[w1]", "8@[sp, sp]", "8@[x0, x1, lsl 4]",
                               "8@[x0, x1, lsr 1]", "8@[]", "8@[x0,]", "8@pc", "8@xzr", "8@%rax", "8@[x0, :lo12:name]"})
        for (const std::string &shown : parsed_arm64(unread))
            EXPECT_THAT(shown, testing::EndsWith("unread")) << unread;
    EXPECT_THAT(parsed("8@%rax", EM_RISCV), ElementsAre("unsigned long unread"));
}

TEST(UsdtOperands, Registers) {
    EXPECT_THAT(parsed("8@%rax -4@%ebx 2@%cx 1@%dl -1@%dh 8@%r15 -4@%r12d 2@%r8w 1@%r9b 1@%sil 8@%rip"),
                ElementsAre("unsigned long reg6.8", "int reg7.4", "unsigned short reg3.2", "unsigned char reg2.1", "signed char reg2.1h",
                            "unsigned long reg15.8", "int reg12.4", "unsigned short reg4.2", "unsigned char reg5.1", "unsigned char reg1.1",
                            "unsigned long reg16.8"));
    EXPECT_THAT(parsed("%rdi 8@%xmm0 8@%fs:8 8@%zax 8@% 8@%rdi+1"),
                ElementsAre("unsigned long reg0.8", "unsigned long vector0", "unsigned long unread", "unsigned long unread", "unsigned long unread",
                            "unsigned long unread"));
}

TEST(UsdtOperands, Constants) {
    EXPECT_THAT(parsed("1@$-1 -8@$0x10 4@$4294967295 -8@$-0x8000000000000000 $5"),
                ElementsAre("unsigned char -1", "long 16", "unsigned int 4294967295", "long -9223372036854775808", "unsigned long 5"));
    EXPECT_THAT(parsed("8@$known 8@$ 8@$1x 8@$99999999999999999999"),
                ElementsAre("unsigned long unread", "unsigned long unread", "unsigned long unread", "unsigned long unread"));
}

TEST(UsdtOperands, Memory) {
    EXPECT_THAT(parsed("8@(%rsp) -4@-20(%rbp) 2@0x10(%rax,%rbx,4) 1@(%rax,%rbx) 8@8(,%r9,8) 4@( %rax , %rbx , 2 ) -4@3(%rip) 8@64"),
                ElementsAre("unsigned long [reg9.8 + 0]", "int [reg8.8 + -20]", "unsigned short [reg6.8 + reg7.8 * 4 + 16]",
                            "unsigned char [reg6.8 + reg7.8 * 1 + 0]", "unsigned long [ + reg5.8 * 8 + 8]", "unsigned int [reg6.8 + reg7.8 * 2 + 0]",
                            "int unread", "unsigned long [ + 64]"));
    for (const char *wrong : {"8@(%eax)", "8@(%rax,%ebx)", "8@(%rax,%rbx,3)", "8@(%rax,%rbx,4", "8@()", "8@8(", "8@(%rax)x", "8@(%rax,,4)", "8@(%rax,%rip",
                              "8@*8(%rax)", "8@-", "8@8+", "8@known(%rax)", "8@known(%rip,%rax,2)"})
        EXPECT_THAT(parsed(wrong), ElementsAre("unsigned long unread")) << wrong;
}

TEST(UsdtOperands, Symbols) {
    EXPECT_THAT(parsed("8@known(%rip) -4@known+8(%rip) 1@-8+known(%rip) 8@known 8@.LC0(%rip) 4@8+known-4"),
                ElementsAre("unsigned long [reg16.8 + 16384]", "int [reg16.8 + 16392]", "unsigned char [reg16.8 + 16376]",
                            "unsigned long [reg16.8 + 16384]", "unsigned long [reg16.8 + -2048]", "unsigned int [reg16.8 + 16388]"));
    EXPECT_THAT(parsed("8@unknown(%rip) 8@known@GOTPCREL(%rip) 8@known+known(%rip)"),
                ElementsAre("unsigned long unread", "unsigned long unread", "unsigned long unread"));
}

TEST(UsdtOperands, SizesThatAreNotRead) {
    EXPECT_THAT(parsed("8f@%xmm0 4f@%xmm1 16f@(%rsp) -8f@%xmm0"),
                ElementsAre("double vector0", "float vector1", "long double unread", "double vector0"));
    EXPECT_THAT(parsed("8f@-16(%rbp) 8f@%rax 8f@$1 8f@%xmm16 8@%xmm15"),
                ElementsAre("double [reg8.8 + -16]", "double unread", "double unread", "double unread", "unsigned long vector15"));
    EXPECT_THAT(parsed("3@%rax 16@%rax @%rax x@%rax 08x@%rax"),
                ElementsAre("unsigned long unread", "unsigned long unread", "unsigned long unread", "unsigned long unread", "unsigned long unread"));
    EXPECT_THAT(parsed(""), ElementsAre());
    EXPECT_THAT(parsed("   "), ElementsAre());
}

TEST(UsdtOperands, AnythingIsParsed) {
    constexpr std::string_view pieces[] = {"8@", "-4@", "%rax", "%eax", "(", ")", ",", "$", "-", "+", "known", "0x", "9", " ", "f", "@", ":", "%fs"};
    std::mt19937_64 random(45);
    for (unsigned round = 0; round < 20000; round++) {
        std::string note;
        for (unsigned i = 0; i < random() % 12; i++)
            note += pieces[random() % std::size(pieces)];
        for (const UsdtArgument &argument : parse_usdt_arguments(note, {EM_X86_64, site_address, symbol_here})) {
            EXPECT_FALSE(argument.text.empty());
            EXPECT_TRUE(argument.bytes == 1 || argument.bytes == 2 || argument.bytes == 4 || argument.bytes == 8 || argument.is_floating) << note;
        }
    }
}

} // namespace
} // namespace argtrace
