// SPDX-License-Identifier: GPL-2.0-only

// The BTF of the machine that runs the tests, where it has some.

#include <filesystem>

#include <gmock/gmock.h>

#include "abi/calling_convention.h"
#include "btf/kernel_types.h"

namespace argtrace {
namespace {

class RunningKernel : public testing::Test {
protected:
    void SetUp() override {
        if (!std::filesystem::exists("/sys/kernel/btf/vmlinux"))
            GTEST_SKIP() << "this kernel has no BTF";
    }
};

TEST_F(RunningKernel, DescribesVfsRead) {
    KernelTypes types = KernelTypes::load();
    const std::vector<Prototype> found = types.prototypes("vfs_read");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].text,
              "ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)");

    const std::vector<Argument> args = sysv_x86_64(found[0]);
    ASSERT_EQ(args.size(), 4u);
    EXPECT_EQ(args[0].type, ARGTRACE_TYPE_PTR);
    EXPECT_EQ(args[2].type, ARGTRACE_TYPE_U64);
    EXPECT_EQ(args[2].index, 2);
    EXPECT_EQ(args[3].type_name, "loff_t *");
}

TEST_F(RunningKernel, EveryFunctionIsDescribedInFull) {
    KernelTypes types = KernelTypes::load();
    const std::vector<std::string_view> names = types.functions();
    EXPECT_GT(names.size(), 10000u);
    for (const std::string_view name : names) {
        for (const Prototype &prototype : types.prototypes(name)) {
            EXPECT_EQ(prototype.text.find('?'), std::string::npos) << prototype.text;
            EXPECT_EQ(prototype.text.find('\n'), std::string::npos) << prototype.text;
            for (const Parameter &parameter : prototype.parameters)
                EXPECT_NE(parameter.shape.kind, Shape::Kind::unknown) << prototype.text;
            for (const Argument &argument : sysv_x86_64(prototype)) {
                if (argument.type != ARGTRACE_TYPE_BYTES) {
                    EXPECT_EQ(argument.size, argtrace_type_size(argument.type)) << prototype.text;
                }
            }
        }
    }
}

} // namespace
} // namespace argtrace
