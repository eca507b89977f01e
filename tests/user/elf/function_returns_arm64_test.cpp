// SPDX-License-Identifier: GPL-2.0-only
// Where functions of arm64 return, in what the cross compiler makes.
#include "elf/function_returns.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "support/function_returns.h"

namespace argtrace::elf {
namespace {

/// Compiles or assembles it to a library.
std::optional<Object> compile(const std::string &command, const char *name, const std::string &source) {
    std::string folder = testing::TempDir() + "argtrace_arm64_XXXXXX";
    if (!::mkdtemp(folder.data()))
        return std::nullopt;
    std::ofstream(folder + '/' + name) << source;
    const std::string line = command + " -fPIC -shared -nostdlib -w -o " + folder + "/it.so " + folder + '/' + name;
    EXPECT_EQ(std::system(line.c_str()), 0) << line;
    auto object = open_object(folder + "/it.so");
    std::filesystem::remove_all(folder);
    return object;
}

constexpr const char *shapes = R"(
    .macro function name
    .type \name, %function
\name:
    .endm
    .macro end name
    .size \name, . - \name
    .endm
    .text
    function fa_one
    mov x0, x1
    ret
    end fa_one
    function fa_many
    cbz x0, 1f
    bl fa_one
    blr x3
    tbnz x0, #3, 1f
    b.eq 2f
    ret
1:  mov x0, #7
2:  ret
    end fa_many
    function fa_jumps
    cbnz x0, hidden
    ret
    end fa_jumps
    function fa_jumps_by_bit
    tbz x0, #40, hidden
    ret
    end fa_jumps_by_bit
    function fa_jumps_at_last
    cbnz x0, 1f
    ret
1:  b hidden
    end fa_jumps_at_last
    function fa_jumps_by_register
    cbz x0, 1f
    br x0
1:  ret
    end fa_jumps_by_register
    function fa_jumps_into_an_array
    adr x1, fa_one
    ldr x2, [x1, x0, lsl #3]
    add x2, x1, x2
    br x2
    ret
    end fa_jumps_into_an_array
    function fa_table
    adrp x1, table
    add x1, x1, #:lo12:table
    ldrb w0, [x1, w0, uxtw]
    adr x1, 1f
    add x0, x1, w0, sxtb #2
    br x0
1:  nop
    ret
    end fa_table
    function fa_loops
    subs x0, x0, #1
    b.gt fa_loops
    ret
    end fa_loops
    function fa_never
    cbz x0, 1f
    brk #1
1:  bl fa_one
    nop
    end fa_never
    function fa_for_ever
    yield
    b fa_for_ever
    end fa_for_ever
    function fa_goes_on
    bl fa_one
    add x0, x0, #1
    end fa_goes_on
    function fa_signed
    paciasp
    autiasp
    ret
    end fa_signed
    function fa_returns_signed
    paciasp
    cbz x0, 1f
    .inst 0xd65f0bff // retaa
1:  autiasp
    ret
    end fa_returns_signed
    function fa_returns_elsewhere
    cbz x0, 1f
    ret x1
1:  ret
    end fa_returns_elsewhere
    function fa_has_data
    ldr w0, 1f
    ret
1:  .word 0xd65f03c0
    end fa_has_data
    function fa_has_much_data
    ldr x0, 2f
    ldr q0, 3f
    b 4f
2:  .quad 0xd65f03c0d65f03c0
3:  .quad 0xd65f03c0d65f03c0, 0x1800001800000018
4:  ldr w1, 5f
    ret
5:  .word 0x14000000
    end fa_has_much_data
    function fa_runs_into_data
    ldr w0, 1f
    cbz w0, 2f
1:  .word 0xd65f03c0
2:  ret
    end fa_runs_into_data
    function fa_jumps_to_data
    ldr w0, 1f
    cbz w0, 1f
    ret
1:  .word 0xd65f03c0
    end fa_jumps_to_data
    function fa_has_data_before
    b 2f
1:  .word 0xd65f03c0
2:  ldr w0, 1b
    ret
    end fa_has_data_before
    function fa_has_constants_of_go
    cbz x0, 1f
    ret
1:  b .
    ret
    .word 0x000186c8, 0xd65f03c0, 0
    end fa_has_constants_of_go
    function fa_is_for_ever_in_go
    cbz x0, 1f
    b .
1:  ret
    .word 0
    end fa_is_for_ever_in_go
    function fa_jumps_to_constants_of_go
    cbz x0, 1f
    ret
    b .
1:  ret
    .word 0x000186c8
    end fa_jumps_to_constants_of_go
    function fa_has_no_code
    ret
    .word 0
    end fa_has_no_code
    function fa_cut
    ret
    .short 0
    end fa_cut
    .balign 4
hidden: ret
    .section .rodata
table: .byte 0, 1
)";

class FunctionReturnsOnArm64 : public testing::Test {
protected:
    NamedFunction at(const std::string &name) const { return functions_.at(name); }
    FunctionReturns of(const std::string &name, std::uint32_t entry = 0) const { return functions_.of(name, entry); }

    ReturningFunctions functions_{compile("aarch64-linux-gnu-gcc", "shapes.s", shapes)};
};

TEST_F(FunctionReturnsOnArm64, AreWhereItReturns) {
    EXPECT_EQ(of("fa_one").places, ReturnPlaces{4});
    EXPECT_EQ(of("fa_many").places, (ReturnPlaces{20, 28}));
    EXPECT_EQ(of("fa_table").places, ReturnPlaces{28});
    EXPECT_EQ(of("fa_signed").places, ReturnPlaces{8});
    EXPECT_FALSE(of("fa_many").loops);
}

TEST_F(FunctionReturnsOnArm64, AreNotKnownWhereItMayEndOtherwise) {
    for (const char *name : {"fa_jumps", "fa_jumps_by_bit", "fa_jumps_at_last", "fa_jumps_by_register", "fa_jumps_into_an_array", "fa_returns_elsewhere"})
        EXPECT_TRUE(of(name).places.empty()) << name;
}

// The kernel sets no breakpoint there.
TEST_F(FunctionReturnsOnArm64, AreNotKnownWhereTheAddressIsCheckedAtOnce) {
    EXPECT_TRUE(of("fa_returns_signed").places.empty());
}

TEST_F(FunctionReturnsOnArm64, AreNotKnownAmongData) {
    for (const char *name : {"fa_runs_into_data", "fa_jumps_to_data", "fa_has_data_before", "fa_has_no_code"})
        EXPECT_TRUE(of(name).places.empty()) << name;
    EXPECT_TRUE(of("fa_cut").places.empty());
}

TEST_F(FunctionReturnsOnArm64, AreNotWhatItLoadsFromBehindItself) {
    EXPECT_EQ(of("fa_has_data").places, ReturnPlaces{4});
    EXPECT_EQ(of("fa_has_much_data").places, ReturnPlaces{40});
}

// Its linker puts zeros behind a function, and its assembler constants behind a jump to itself.
TEST_F(FunctionReturnsOnArm64, OfGoAreBeforeConstantsAndZeros) {
    EXPECT_EQ(functions_.of("fa_has_constants_of_go", 0, false).places, ReturnPlaces{4});
    EXPECT_TRUE(of("fa_has_constants_of_go").places.empty());
    EXPECT_EQ(functions_.of("fa_is_for_ever_in_go", 0, false).places, ReturnPlaces{8});
    EXPECT_TRUE(functions_.of("fa_jumps_to_constants_of_go", 0, false).places.empty());
    EXPECT_EQ(functions_.of("fa_has_no_code", 0, false).places, ReturnPlaces{0});
    EXPECT_EQ(functions_.of("fa_has_data", 0, false).places, ReturnPlaces{4});
    EXPECT_TRUE(functions_.of("fa_cut", 0, false).places.empty());
}

TEST_F(FunctionReturnsOnArm64, LoopsAreThoseToWhereItsCallsBegin) {
    EXPECT_TRUE(of("fa_loops").loops);
    EXPECT_EQ(of("fa_loops").places, ReturnPlaces{8});
    const FunctionReturns behind = of("fa_loops", 4);
    EXPECT_EQ(behind.places, ReturnPlaces{4});
    EXPECT_FALSE(behind.loops);
}

TEST_F(FunctionReturnsOnArm64, OfSomeThereAreNone) {
    for (const char *name : {"fa_never", "fa_for_ever"}) {
        EXPECT_TRUE(of(name).never) << name;
        EXPECT_TRUE(of(name).places.empty()) << name;
    }
    EXPECT_TRUE(of("fa_for_ever").loops);
    for (const char *name : {"fa_goes_on", "fa_one", "fa_jumps_at_last", "fa_jumps_by_register", "fa_returns_signed", "fa_returns_elsewhere", "fa_has_data_before"})
        EXPECT_FALSE(of(name).never) << name;
}

TEST_F(FunctionReturnsOnArm64, APieceElsewhereIsAPartOfIt) {
    const NamedFunction jumps = at("fa_jumps"), cut = at("fa_cut");
    const auto hidden = cut.address + 8;
    const auto returns = find_returns(functions_.object(), {{{jumps.address, jumps.size}, {hidden, 4}}});
    EXPECT_EQ(returns.places, (ReturnPlaces{4, static_cast<std::int32_t>(hidden - jumps.address)}));
}

/// A `switch` of many cases that calls, as it is compiled.
class FunctionReturnsOfASwitch : public testing::TestWithParam<const char *> {};

TEST_P(FunctionReturnsOfASwitch, AreKnown) {
    std::string source = "void use(long); long chooses(long n) { switch (n) {\n";
    for (int i = 0; i < 40; i++)
        source += "case " + std::to_string(i) + ": use(" + std::to_string(i * i) + "); return n * " + std::to_string(7 * i * i + 3) + ";\n";
    source += "} return 0; }\n"
              "long jumps(long (*f)(long), long n) { return f(n + 1); }\n"
              "long jumps_by_array(long (*const *f)(long), long n) { return f[n](n); }\n";
    const auto object = compile(GetParam(), "it.c", source);
    ASSERT_TRUE(object);
    for (const NamedFunction &function : list_functions(*object)) {
        const bool is_known = !find_returns(*object, {{{function.address, function.size}}}).places.empty();
        EXPECT_EQ(is_known, function.symbol == "chooses") << function.symbol;
    }
}

INSTANTIATE_TEST_SUITE_P(, FunctionReturnsOfASwitch,
                         testing::Values("aarch64-linux-gnu-gcc -O1 -foptimize-sibling-calls", "aarch64-linux-gnu-gcc -O2", "aarch64-linux-gnu-gcc -Os -foptimize-sibling-calls",
                                         "aarch64-linux-gnu-gcc -O2 -mbranch-protection=standard", "clang --target=aarch64-linux-gnu -fuse-ld=lld -O2"));

/// Libraries that the cross compiler brings along.
class FunctionReturnsOfAnArm64Library : public testing::TestWithParam<const char *> {};

TEST_P(FunctionReturnsOfAnArm64Library, AreReturns) {
    const auto object = open_object(GetParam());
    ASSERT_TRUE(object);
    const auto [known, all] = look_at_returns(*object, [](const NamedFunction &function, const Text &code, std::size_t place) {
        std::uint32_t word = 0;
        ASSERT_LE(place + sizeof(word), code.size()) << function.symbol;
        std::memcpy(&word, code.data() + place, sizeof(word));
        EXPECT_EQ(word, 0xd65f03c0u) << function.symbol << '+' << place;
    });
    EXPECT_GT(all, 500u);
    EXPECT_GT(known, all / 2);
    RecordProperty("known", static_cast<int>(known));
    RecordProperty("all", static_cast<int>(all));
}

INSTANTIATE_TEST_SUITE_P(, FunctionReturnsOfAnArm64Library,
                         testing::Values("/usr/aarch64-linux-gnu/lib/libc.so.6", "/usr/aarch64-linux-gnu/lib/libm.so.6",
                                         "/usr/aarch64-linux-gnu/lib/libstdc++.so.6"));

} // namespace
} // namespace argtrace::elf
