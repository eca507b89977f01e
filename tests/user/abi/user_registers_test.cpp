// SPDX-License-Identifier: GPL-2.0-only
#include "abi/user_registers.h"

#include <gtest/gtest.h>

#include "uapi/argtrace.h"

namespace argtrace {
namespace {

TEST(UserRegisters, OfX8664AreInTheOrderOfDwarf) {
    EXPECT_EQ(user_registers_x86_64.by_dwarf(0), user_registers_x86_64.by_name("rax"));
    EXPECT_EQ(user_registers_x86_64.by_dwarf(5), user_registers_x86_64.by_name("rdi"));
    EXPECT_EQ(user_registers_x86_64.by_dwarf(5)->index, 0);
    EXPECT_EQ(user_registers_x86_64.by_dwarf(16), std::nullopt);
    EXPECT_EQ(user_registers_x86_64.vector_by_dwarf(17), 0);
    EXPECT_EQ(user_registers_x86_64.by_name("x0"), std::nullopt);
}

TEST(UserRegisters, OfArm64AreNumbered) {
    for (unsigned number = 0; number <= ARGTRACE_ARM64_SP; number++)
        EXPECT_EQ(user_registers_aarch64.by_dwarf(number)->index, number);
    EXPECT_EQ(user_registers_aarch64.by_name("x0"), (NamedRegister{0, 8, 0}));
    EXPECT_EQ(user_registers_aarch64.by_name("w8"), (NamedRegister{ARGTRACE_ARM64_X8, 4, 0}));
    EXPECT_EQ(user_registers_aarch64.by_name("fp"), (NamedRegister{29, 8, 0}));
    EXPECT_EQ(user_registers_aarch64.by_name("lr"), (NamedRegister{30, 8, 0}));
    EXPECT_EQ(user_registers_aarch64.by_name("sp"), (NamedRegister{ARGTRACE_ARM64_SP, 8, 0}));
    for (const char *name : {"x31", "w31", "x", "x07", "x1a", "xzr", "d0", "rax", "X0", ""})
        EXPECT_EQ(user_registers_aarch64.by_name(name), std::nullopt) << name;
    // From 32 on they are other ones, the vector registers from 64 on.
    for (const unsigned number : {32u, 33u, 64u, 95u, 256u})
        EXPECT_EQ(user_registers_aarch64.by_dwarf(number), std::nullopt) << number;
    for (unsigned number = 0; number < 32; number++)
        EXPECT_EQ(user_registers_aarch64.vector_by_dwarf(64 + number), number);
    EXPECT_EQ(user_registers_aarch64.vector_by_dwarf(96), std::nullopt);
    EXPECT_EQ(user_registers_aarch64.vector_by_name("d31"), 31);
    EXPECT_EQ(user_registers_aarch64.vector_by_name("v0"), 0);
    for (const char *name : {"d32", "s0", "q0", "d", "d01", "xmm0"})
        EXPECT_EQ(user_registers_aarch64.vector_by_name(name), std::nullopt) << name;
}

TEST(UserRegisters, AreThoseThatSentencesName) {
    for (const UserRegisters *known : {&user_registers_x86_64, &user_registers_aarch64})
        EXPECT_TRUE(known->by_name(known->example));
    EXPECT_EQ(user_registers_x86_64.by_name("rsp"), user_registers_x86_64.stack_pointer);
    EXPECT_EQ(user_registers_x86_64.by_name("r14"), user_registers_x86_64.goroutine);
    EXPECT_EQ(user_registers_x86_64.by_name("rip"), user_registers_x86_64.instruction_pointer);
    EXPECT_EQ(user_registers_aarch64.by_name("sp"), user_registers_aarch64.stack_pointer);
    EXPECT_EQ(user_registers_aarch64.by_name("x28"), user_registers_aarch64.goroutine);
    EXPECT_EQ(user_registers_aarch64.by_name("pc"), user_registers_aarch64.instruction_pointer);
}

} // namespace
} // namespace argtrace
