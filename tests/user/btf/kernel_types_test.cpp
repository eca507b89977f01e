// SPDX-License-Identifier: GPL-2.0-only
#include "btf/kernel_types.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <unistd.h>

#include "support/btf_builder.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// int vfs_read(struct file *file, char), and a few of the same names.
BtfBuilder make_kernel_types() {
    BtfBuilder b;
    const int int_ = b.integer("int", 4, BTF_INT_SIGNED);
    const int char_ = b.integer("char", 1);
    const int file = b.pointer(b.structure("file", 16));
    b.function("vfs_read", int_, {{"file", file}, {"", char_}});
    b.function("printk", int_, {{"fmt", b.pointer(b.constant(char_))}, {"", 0}});
    b.function("same", 0, {{"a", int_}});
    b.function("same", 0, {{"a", int_}});
    b.function("differs", 0, {{"a", int_}});
    b.function("differs", 0, {{"a", file}});
    b.function("nothing", 0, {});
    return b;
}

TEST(KernelTypes, DescribesAFunction) {
    KernelTypes types(make_kernel_types().take());
    const std::vector<Prototype> found = types.prototypes("vfs_read");
    ASSERT_EQ(found.size(), 1u);
    const Prototype &prototype = found.front();
    EXPECT_EQ(prototype.function, "vfs_read");
    EXPECT_EQ(prototype.text, "int vfs_read(struct file *file, char)");
    EXPECT_EQ(prototype.result, "int");
    EXPECT_EQ(prototype.result_shape.kind, Shape::Kind::integer);
    EXPECT_FALSE(prototype.variadic);
    ASSERT_EQ(prototype.parameters.size(), 2u);
    EXPECT_EQ(prototype.parameters[0].name, "file");
    EXPECT_EQ(prototype.parameters[0].type, "struct file *");
    EXPECT_EQ(prototype.parameters[0].shape.kind, Shape::Kind::pointer);
    EXPECT_EQ(prototype.parameters[1].name, "arg1") << "it has no name";
    EXPECT_EQ(prototype.parameters[1].type, "char");
}

TEST(KernelTypes, DescribesFunctionsWithoutParametersOrWithAnyNumber) {
    KernelTypes types(make_kernel_types().take());
    const Prototype nothing = types.prototypes("nothing").at(0);
    EXPECT_EQ(nothing.text, "void nothing(void)");
    EXPECT_EQ(nothing.result_shape.kind, Shape::Kind::nothing);
    EXPECT_THAT(nothing.parameters, IsEmpty());

    const Prototype printk = types.prototypes("printk").at(0);
    EXPECT_TRUE(printk.variadic);
    EXPECT_EQ(printk.text, "int printk(const char *fmt, ...)");
    EXPECT_EQ(printk.parameters.size(), 1u);
}

TEST(KernelTypes, TellsFunctionsOfOneNameApart) {
    KernelTypes types(make_kernel_types().take());
    EXPECT_EQ(types.prototypes("same").size(), 1u);
    EXPECT_EQ(types.prototypes("differs").size(), 2u);
    EXPECT_THAT(types.prototypes("absent"), IsEmpty());
    EXPECT_THAT(types.prototypes("vfs_rea"), IsEmpty());
}

TEST(KernelTypes, ListsFunctionsOnce) {
    KernelTypes types(make_kernel_types().take());
    EXPECT_THAT(types.functions(), ElementsAre("differs", "nothing", "printk", "same", "vfs_read"));
}

TEST(KernelTypes, DescribesModulesOnTopOfTheKernel) {
    BtfBuilder kernel = make_kernel_types();
    const int file = btf__find_by_name_kind(kernel.get(), "file", BTF_KIND_STRUCT);
    ASSERT_GT(file, 0);
    BtfBuilder module(kernel.get());
    module.function("ext4_open", 0, {{"file", module.pointer(file)}});
    BtfPtr module_types = module.take();

    KernelTypes types(kernel.take());
    types.add_module("ext4", std::move(module_types));
    EXPECT_EQ(types.prototypes("ext4_open", "ext4").at(0).text,
              "void ext4_open(struct file *file)");
    EXPECT_THAT(types.prototypes("ext4_open"), IsEmpty());
    EXPECT_THAT(types.prototypes("vfs_read", "ext4"), IsEmpty());
    EXPECT_THAT(types.functions("ext4"), ElementsAre("ext4_open"));

    KernelTypes moved = std::move(types);
    EXPECT_EQ(moved.prototypes("ext4_open", "ext4").size(), 1u);
}

TEST(KernelTypes, KnowsWhichModulesHaveTypes) {
    KernelTypes types(make_kernel_types().take());
    EXPECT_TRUE(types.has_module(""));
    EXPECT_FALSE(types.has_module("ext4"));
    EXPECT_THAT(types.prototypes("ext4_open", "ext4"), IsEmpty());
    EXPECT_THAT(types.functions("ext4"), IsEmpty());
}

// A directory like /sys/kernel/btf.
class BtfDirectory : public testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(path); }
    void TearDown() override { std::filesystem::remove_all(path); }

    void write(const std::string &name, const btf *types) {
        std::ofstream(path + '/' + name, std::ios::binary) << raw_btf(types);
    }

    const std::string path =
        testing::TempDir() + "argtrace_kernel_types_test_" + std::to_string(getpid());
};

TEST_F(BtfDirectory, IsReadWithItsModules) {
    const BtfBuilder kernel = make_kernel_types();
    write("vmlinux", kernel.get());
    BtfBuilder module(kernel.get());
    const int file = btf__find_by_name_kind(kernel.get(), "file", BTF_KIND_STRUCT);
    module.function("ext4_open", 0, {{"file", module.pointer(file)}});
    write("ext4", module.get());

    KernelTypes types = KernelTypes::load(path);
    EXPECT_EQ(types.prototypes("vfs_read").size(), 1u);
    EXPECT_TRUE(types.has_module("ext4"));
    EXPECT_EQ(types.prototypes("ext4_open", "ext4").at(0).text,
              "void ext4_open(struct file *file)");
    EXPECT_FALSE(types.has_module("xfs"));
}

TEST_F(BtfDirectory, WithoutTypesIsAnError) {
    EXPECT_THAT(thrown([this] { KernelTypes::load(path); }),
                AllOf(HasSubstr("vmlinux does not exist"), HasSubstr("CONFIG_DEBUG_INFO_BTF=y")));
    std::ofstream(path + "/vmlinux") << "this is no BTF at all";
    EXPECT_THAT(thrown([this] { KernelTypes::load(path); }), HasSubstr("cannot be read"));
}

} // namespace
} // namespace argtrace
