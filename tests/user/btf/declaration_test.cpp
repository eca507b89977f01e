// SPDX-License-Identifier: GPL-2.0-only
#include "btf/declaration.h"

#include <gmock/gmock.h>

#include "support/btf_builder.h"

namespace argtrace {
namespace {

class Declaration : public testing::Test {
protected:
    BtfBuilder b;
    int int_ = b.integer("int", 4, BTF_INT_SIGNED);
    int char_ = b.integer("char", 1, BTF_INT_SIGNED);
    int file_ = b.structure("file", 16);

    std::string declared(int type, const char *declarator = "") {
        return declare(b.get(), type, declarator);
    }
};

TEST_F(Declaration, OfNamedTypes) {
    EXPECT_EQ(declared(0), "void");
    EXPECT_EQ(declared(int_), "int");
    EXPECT_EQ(declared(int_, "x"), "int x");
    EXPECT_EQ(declared(file_, "f"), "struct file f");
    EXPECT_EQ(declared(b.union_("sigval", 8)), "union sigval");
    EXPECT_EQ(declared(b.enumeration("pid_type", 4, 0)), "enum pid_type");
    EXPECT_EQ(declared(b.enumeration64("big", 8, false)), "enum big");
    EXPECT_EQ(declared(b.name("size_t", int_), "n"), "size_t n");
    EXPECT_EQ(declared(b.forward("pid", BTF_FWD_STRUCT)), "struct pid");
    EXPECT_EQ(declared(b.forward("either", BTF_FWD_UNION)), "union either");
    EXPECT_EQ(declared(b.floating("double", 8)), "double");
}

TEST_F(Declaration, OfAnonymousTypes) {
    EXPECT_EQ(declared(b.structure(nullptr, 4), "s"), "struct {...} s");
    EXPECT_EQ(declared(b.enumeration(nullptr, 4, 0)), "enum {...}");
}

TEST_F(Declaration, OfPointers) {
    const int pointer = b.pointer(file_);
    EXPECT_EQ(declared(pointer), "struct file *");
    EXPECT_EQ(declared(pointer, "file"), "struct file *file");
    EXPECT_EQ(declared(b.pointer(b.pointer(char_)), "argv"), "char **argv");
    EXPECT_EQ(declared(b.pointer(0)), "void *");
}

TEST_F(Declaration, OfQualifiedTypes) {
    const int const_char = b.constant(char_);
    const int to_const = b.pointer(const_char);
    EXPECT_EQ(declared(to_const, "s"), "const char *s");
    EXPECT_EQ(declared(b.constant(to_const), "s"), "const char *const s");
    EXPECT_EQ(declared(b.constant(to_const)), "const char *const");
    EXPECT_EQ(declared(b.pointer(b.constant(to_const)), "s"), "const char *const *s");
    EXPECT_EQ(declared(b.constant(b.volatile_(int_)), "i"), "const volatile int i");
    EXPECT_EQ(declared(b.restrict_(b.pointer(char_)), "p"), "char *restrict p");
    EXPECT_EQ(declared(b.pointer(b.constant(0)), "p"), "const void *p");
}

TEST_F(Declaration, LeavesTypeTagsOut) {
    EXPECT_EQ(declared(b.pointer(b.tag("user", char_)), "buf"), "char *buf");
    EXPECT_EQ(declared(b.pointer(b.tag("user", b.constant(char_))), "buf"), "const char *buf");
}

TEST_F(Declaration, OfArrays) {
    const int four = b.array(int_, int_, 4);
    EXPECT_EQ(declared(four), "int[4]");
    EXPECT_EQ(declared(four, "a"), "int a[4]");
    EXPECT_EQ(declared(b.array(int_, four, 2), "a"), "int a[2][4]");
    EXPECT_EQ(declared(b.array(int_, b.pointer(char_), 3), "a"), "char *a[3]");
    EXPECT_EQ(declared(b.pointer(four), "a"), "int (*a)[4]");
    EXPECT_EQ(declared(b.pointer(b.constant(four))), "const int (*)[4]");
}

TEST_F(Declaration, OfFunctions) {
    const int void_pointer = b.pointer(0);
    const int takes_pointer = b.pointer(b.proto(int_, {{"", void_pointer}}));
    EXPECT_EQ(declared(takes_pointer), "int (*)(void *)");
    EXPECT_EQ(declared(takes_pointer, "fn"), "int (*fn)(void *)");
    EXPECT_EQ(declared(b.proto(0, {}), "f"), "void f(void)");
    EXPECT_EQ(declared(b.proto(int_, {{"fmt", void_pointer}, {"", 0}}), "f"),
              "int f(void *fmt, ...)");
    EXPECT_EQ(declared(b.proto(takes_pointer, {{"sig", int_}}), "signal"),
              "int (*signal(int sig))(void *)");
    EXPECT_EQ(declared(b.proto(b.pointer(file_), {{"fn", takes_pointer}}), "get"),
              "struct file *get(int (*fn)(void *))");
    EXPECT_EQ(declared(b.constant(b.pointer(b.proto(0, {}))), "hook"), "void (*const hook)(void)");
}

TEST_F(Declaration, OfTheSecondTypeOfAName) {
    const int first = b.pointer(file_);
    const int second = b.pointer(b.structure("file", 8));
    EXPECT_EQ(declared(b.proto(0, {{"a", first}, {"b", second}}), "f"),
              "void f(struct file *a, struct file *b)");
}

TEST_F(Declaration, OfBrokenTypesEnds) {
    EXPECT_EQ(declared(12345, "x"), "? x");
    // A pointer to itself.
    const int id = b.pointer(0);
    const_cast<btf_type *>(btf__type_by_id(b.get(), id))->type = id;
    EXPECT_THAT(declared(id), testing::StartsWith("? **"));
}

} // namespace
} // namespace argtrace
