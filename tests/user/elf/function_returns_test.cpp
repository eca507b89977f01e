// SPDX-License-Identifier: GPL-2.0-only
#include "elf/function_returns.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/function_returns.h"

// Functions of each shape, in this program itself.
extern "C" {
long fr_one(long);
long fr_many(long);
long fr_jumps(long);
long fr_jumps_by_register(long (*)(long));
long fr_loops(long);
void fr_nothing();
long fr_table(long);
long fr_bad(long);
void fr_data();
void fr_far();
void fr_over();
}
asm(R"(
    .text
    .type fr_one, @function
    .globl fr_one
fr_one: mov %rdi, %rax
    ret
    .size fr_one, . - fr_one
    .type fr_many, @function
    .globl fr_many
fr_many: test %rdi, %rdi
    .byte 0x74, 8               # je 1f: assemblers choose its size
    mov $0xc3, %eax
    ret $0
1:  xor %eax, %eax
    rep ret
    .size fr_many, . - fr_many
    .type fr_jumps, @function
    .globl fr_jumps
fr_jumps: test %rdi, %rdi
    .byte 0x75, fr_one - 1f     # jne fr_one
1:  ret
    .size fr_jumps, . - fr_jumps
    .type fr_jumps_by_register, @function
    .globl fr_jumps_by_register
fr_jumps_by_register: jmp *%rdi
    .size fr_jumps_by_register, . - fr_jumps_by_register
    .type fr_loops, @function
    .globl fr_loops
fr_loops: sub $1, %rdi
    .byte 0x7f, 0xfa            # jg fr_loops
    ret
    .size fr_loops, . - fr_loops
    .type fr_nothing, @function
    .globl fr_nothing
fr_nothing: ret
    .size fr_nothing, . - fr_nothing
    .type fr_table, @function
    .globl fr_table
fr_table: lea 2f(%rip), %rdx
    movslq (%rdx,%rdi,4), %rax
    add %rdx, %rax
    jmp *%rax
    nop
1:  ret
    .size fr_table, . - fr_table
    .section .rodata
2:  .long 1b - 2b
    .text
    # Bytes that are no code, as clang's -fsanitize=function has them.
    .type fr_data, @function
    .globl fr_data
fr_data: .byte 0xeb, 6, 0x76, 0x32, 0x40, 0xca, 0xc3, 0x02
    ret
    .size fr_data, . - fr_data
    .type fr_marked_data, @function
    .globl fr_marked_data
fr_marked_data: endbr64
    .byte 0xeb, 6, 0x76, 0x32, 0x40, 0xca, 0xc3, 0x02
    ret
    .size fr_marked_data, . - fr_marked_data
    # Code that is reached by another jump alone: an `else`, as compilers have it that do not optimise.
    .type fr_over, @function
    .globl fr_over
fr_over: test %rdi, %rdi
    .byte 0x74, 2               # je 1f
    .byte 0xeb, 2               # jmp 2f
1:  xor %eax, %eax
2:  ret
    .size fr_over, . - fr_over
    # The same in a function that has no other instruction before the jump, which a table elsewhere leads behind.
    .type fr_first_over, @function
    .globl fr_first_over
fr_first_over: .byte 0xeb, 1   # jmp 1f
    nop
1:  ret
    .byte 0xeb, 0xfc            # jmp 1b - 1
    .size fr_first_over, . - fr_first_over
    # Without an instruction that returns: it ends with a call that is its last instruction but for padding, or goes on for ever.
    .type fr_never, @function
    .globl fr_never
fr_never: test %rdi, %rdi
    .byte 0x75, 1               # jne 1f
    hlt
1:  call fr_one
    nop
    .size fr_never, . - fr_never
    .type fr_for_ever, @function
    .globl fr_for_ever
fr_for_ever: pause
    .byte 0xeb, 0xfc            # jmp fr_for_ever
    .size fr_for_ever, . - fr_for_ever
    # It goes on to the next one.
    .type fr_goes_on, @function
    .globl fr_goes_on
fr_goes_on: call fr_one
    inc %rax
    .size fr_goes_on, . - fr_goes_on
    .type fr_far, @function
    .globl fr_far
fr_far: test %rdi, %rdi
    ret
    lretq
    .size fr_far, . - fr_far
    # A jump into the middle of an instruction: what looks like one is none.
    .type fr_bad, @function
    .globl fr_bad
fr_bad: .byte 0x74, 1          # je 1f + 1
1:  mov $0xc3c3c3c3, %eax
    ret
    .size fr_bad, . - fr_bad
)");

namespace argtrace::elf {
namespace {

class FunctionReturnsOf : public testing::Test {
protected:
    NamedFunction at(const std::string &name) const { return functions_.at(name); }
    FunctionReturns of(const std::string &name, std::uint32_t entry = 0, bool has_data = true) const { return functions_.of(name, entry, has_data); }

    ReturningFunctions functions_{open_object("/proc/self/exe")};
};

// Where a function's calls begin behind its first instruction, its returns are counted from there, and a loop leads there.
TEST_F(FunctionReturnsOf, AreCountedFromWhereItsCallsBegin) {
    EXPECT_TRUE(of("fr_loops").loops);
    const FunctionReturns behind = of("fr_loops", 4);
    EXPECT_EQ(behind.places, ReturnPlaces{2});
    EXPECT_FALSE(behind.loops);
}

// At its beginning a function may have data behind a short jump. Where it may have none, other jumps may lead there.
TEST_F(FunctionReturnsOf, WithoutDataHaveCodeBehindEachJump) {
    EXPECT_TRUE(of("fr_first_over").places.empty());
    EXPECT_EQ(of("fr_first_over", 0, false).places, ReturnPlaces{3});
}

// Such as `if (x) return 0; else return 1;` without optimisation.
TEST_F(FunctionReturnsOf, BehindAnElseAreKnown) {
    EXPECT_EQ(of("fr_over").places, ReturnPlaces{9});
}

TEST_F(FunctionReturnsOf, AreWhereItReturns) {
    EXPECT_EQ(of("fr_one").places, ReturnPlaces{3});
    EXPECT_EQ(of("fr_many").places, (ReturnPlaces{10, 15}));
    EXPECT_EQ(of("fr_nothing").places, ReturnPlaces{0});
    EXPECT_EQ(of("fr_table").places, ReturnPlaces{17});
    EXPECT_EQ(of("fr_data").places, ReturnPlaces{8});
    EXPECT_EQ(of("fr_marked_data").places, ReturnPlaces{12});
    EXPECT_FALSE(of("fr_many").loops);
}

TEST_F(FunctionReturnsOf, AreNotKnownWhereItMayEndOtherwise) {
    EXPECT_TRUE(of("fr_jumps").places.empty());
    EXPECT_TRUE(of("fr_jumps_by_register").places.empty());
    EXPECT_TRUE(of("fr_bad").places.empty());
    EXPECT_TRUE(of("fr_far").places.empty());
}

TEST_F(FunctionReturnsOf, OfSomeThereAreNone) {
    for (const char *name : {"fr_never", "fr_for_ever"}) {
        EXPECT_TRUE(of(name).never) << name;
        EXPECT_TRUE(of(name).places.empty()) << name;
    }
    EXPECT_TRUE(of("fr_for_ever").loops);
    for (const char *name : {"fr_goes_on", "fr_one", "fr_jumps", "fr_jumps_by_register", "fr_bad", "fr_far"})
        EXPECT_FALSE(of(name).never) << name;
    EXPECT_FALSE(find_returns(functions_.object(), {}).never);
    const NamedFunction never = at("fr_never"), goes_on = at("fr_goes_on");
    EXPECT_FALSE(find_returns(functions_.object(), {{{never.address, never.size}, {goes_on.address, goes_on.size}}}).never);
}

TEST_F(FunctionReturnsOf, LoopsAreThoseToTheFirstInstruction) {
    EXPECT_TRUE(of("fr_loops").loops);
    EXPECT_EQ(of("fr_loops").places, ReturnPlaces{6});
}

TEST_F(FunctionReturnsOf, APieceElsewhereIsAPartOfIt) {
    const NamedFunction jumps = at("fr_jumps"), one = at("fr_one");
    const auto returns = find_returns(functions_.object(), {{{jumps.address, jumps.size}, {one.address, one.size}}});
    const auto elsewhere = static_cast<std::int32_t>(one.address + 3 - jumps.address);
    EXPECT_EQ(returns.places, (ReturnPlaces{5, elsewhere}));
}

TEST_F(FunctionReturnsOf, WhatIsNoCodeIsNotKnown) {
    EXPECT_TRUE(find_returns(functions_.object(), {}).places.empty());
    EXPECT_TRUE(find_returns(functions_.object(), {{{0xffffffffffff0000, 16}}}).places.empty());
    EXPECT_TRUE(find_returns(functions_.object(), {{{functions_.object().segments()[0].p_vaddr, 0}}}).places.empty());
    const NamedFunction one = at("fr_one");
    EXPECT_TRUE(find_returns(functions_.object(), {{{one.address, ~0ull}}}).places.empty());
    EXPECT_TRUE(find_returns(functions_.object(), {{{one.address, 2}}}).places.empty()); // cuts an instruction
}

// All of the C library: most functions return where that is known, and each place is an instruction that returns.
TEST(FunctionReturnsOfALibrary, AreReturns) {
    Dl_info info;
    void *const libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD); // a sanitizer has an fopen() of its own
    ASSERT_TRUE(libc && dladdr(dlsym(libc, "fopen"), &info));
    const auto object = open_object(info.dli_fname);
    ASSERT_TRUE(object);
    const auto [known, all] = look_at_returns(*object, [](const NamedFunction &function, const Text &code, std::size_t place) {
        ASSERT_LT(place, code.size()) << function.symbol;
        auto byte = static_cast<unsigned char>(code[place]);
        if (byte == 0xf2 || byte == 0xf3)
            byte = static_cast<unsigned char>(code[place + 1]);
        EXPECT_TRUE(byte == 0xc3 || byte == 0xc2) << function.symbol << '+' << place;
    });
    EXPECT_GT(all, 1000u);
    EXPECT_GT(known, all / 2);
}

} // namespace
} // namespace argtrace::elf
