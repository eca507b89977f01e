// SPDX-License-Identifier: GPL-2.0-only
// The code that a signal's handler returns to is known by its bytes where nothing describes it.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "elf/symbol_addresses.h"
#include "elf/unwind_table.h"

namespace argtrace::elf {
namespace {

struct SignalCode {
    const char *compiler, *before, *code;
    std::uint64_t padding, size; // in bytes
    int stack_pointer, distance;
};

class Sigreturn : public testing::TestWithParam<SignalCode> {
protected:
    Sigreturn() {
        std::string name = testing::TempDir() + "argtrace_sigreturn_XXXXXX";
        folder_ = ::mkdtemp(name.data());
    }
    ~Sigreturn() override { std::filesystem::remove_all(folder_); }

    std::string folder_;
};

TEST_P(Sigreturn, IsFoundWithWhatPrecedesIt) {
    const SignalCode &expected = GetParam();
    std::ofstream(folder_ + "/x.s") << ".globl before, code, behind\n.rept 100; ret; .endr\nbefore: " << expected.before << "\ncode: " << expected.code
                                    << "\nbehind: ret\n";
    const std::string path = folder_ + "/x.so", command = std::string(expected.compiler) + " -nostdlib -shared -o " + path + " " + folder_ + "/x.s";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    const auto object = Object::open(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
    ASSERT_TRUE(object);
    const auto code = SymbolAddresses(*object).find("code");
    ASSERT_TRUE(code);
    const std::uint64_t at = object->offset_of(*code).value();
    const UnwindTable table = unwind_table(*object);
    ASSERT_EQ(table.rules.size(), 1u);
    EXPECT_EQ(table.rules[0].cfa, ARGTRACE_CFA_SIGNAL);
    EXPECT_EQ(table.rules[0].reg, expected.stack_pointer);
    EXPECT_EQ(table.rules[0].offset, expected.distance);
    ASSERT_EQ(table.rows.size(), 2u);
    EXPECT_EQ(table.rows[0].offset, at - expected.padding);
    EXPECT_EQ(table.rows[1].offset, at + expected.size);
}

// The siginfo before the ucontext on arm64: struct rt_sigframe of the kernel.
INSTANTIATE_TEST_SUITE_P(Of, Sigreturn,
                         testing::Values(SignalCode{"cc", "nop", "mov $15, %rax; syscall", 1, 9, 7, 0}, SignalCode{"cc", "int3", "mov $15, %rax; syscall", 1, 9, 7, 0},
                                         SignalCode{"cc", "ret", "mov $15, %rax; syscall", 0, 9, 7, 0},
                                         SignalCode{"aarch64-linux-gnu-gcc", "nop", "mov x8, #139; svc #0", 4, 8, 31, 128},
                                         SignalCode{"aarch64-linux-gnu-gcc", "ret", "mov x8, #139; svc #0", 0, 8, 31, 128}));

} // namespace
} // namespace argtrace::elf
