// SPDX-License-Identifier: GPL-2.0-only

// Which memory a load reads is decided by where its pointer comes from: a pointer of the program's never reads the kernel's memory.

#include "lang/spaces.h"

#include <gmock/gmock.h>

#include "lang/compile.h"
#include "lang/disassemble.h"
#include "support/lang_kernel.h"
#include "support/thrown.h"
#include "util/cpus.h"

namespace argtrace::lang {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> spaces_of(const char *function, const std::string &text) {
    std::vector<std::string> lines;
    for (const std::string &line : disassemble(compile(SmallKernel::get().scope(function), {}, parse_values(text))))
        lines.push_back(line.substr(5));
    return lines;
}

std::string space_refusal(const char *function, const std::string &text) {
    const std::string all = thrown([&] { compile(SmallKernel::get().scope(function), {}, parse_values(text)); });
    return all.substr(0, all.find('\n'));
}

TEST(Spaces, ParametersThatTheSourcesMarkAreThePrograms) {
    EXPECT_EQ(space_of_parameter(function_kind, "vfs_read", "buf"), Space::user);
    EXPECT_EQ(space_of_parameter(function_kind, "vfs_read", "pos"), Space::unsaid);
    EXPECT_EQ(space_of_parameter(function_kind, "do_sys_openat2", "filename"), Space::user);
    EXPECT_EQ(space_of_parameter(function_kind, "vfs_rea", "buf"), Space::unsaid);
    EXPECT_EQ(space_of_parameter(function_kind, "vfs_read", "bu"), Space::unsaid);
    EXPECT_EQ(space_of_parameter(syscall_kind, "s:openat", "filename"), Space::user);
    EXPECT_EQ(space_of_parameter(syscall_kind, "s:no_such_call", "anything"), Space::user);
    EXPECT_EQ(space_of_member("struct iovec", "iov_base"), Space::user);
    EXPECT_EQ(space_of_member("struct iovec", "iov_len"), Space::unsaid);
    EXPECT_EQ(space_of_member("struct zone", "per_cpu_pageset"), Space::per_cpu);
    EXPECT_EQ(with_user_mark("const char *"), "const char __user *");
    EXPECT_EQ(with_user_mark("char **"), "char __user **");
    EXPECT_EQ(with_user_mark("char __user *"), "char __user *");
    EXPECT_EQ(with_user_mark("int"), "int");
}

TEST(Spaces, OfText) {
    EXPECT_THAT(spaces_of("vfs_read", "str(buf), str(file->f_path.dentry->d_name.name)"),
                ElementsAre("record user text at reg1, at most 256 bytes", AllOf(StartsWith("record text at "), Not(HasSubstr("user")))));
    EXPECT_THAT(spaces_of("vfs_read", "buf(buf, 16), buf(file, 16), buf(buf + 4, count)"),
                ElementsAre("record 16 user bytes at reg1", "record 16 bytes at reg0", "slot0 = reg2",
                            "record slot0 user bytes at reg1 + 4, at most 1024"));
    EXPECT_THAT(spaces_of("vfs_read", "*buf, buf[3], *pos"),
                ElementsAre("record 1 bytes of user[reg1].1", "record 1 bytes of user[reg1 + 3].1", "record 8 bytes of [reg3]"));
    EXPECT_THAT(spaces_of("vfs_read", "str(kernel(buf)), str((char *)user(file))"),
                ElementsAre("record text at reg1, at most 256 bytes", "record user text at reg0, at most 256 bytes"));
}

// What is in memory of the program's was written by it.
TEST(Spaces, APointerInUserMemoryLeadsToUserMemory) {
    EXPECT_THAT(spaces_of("look", "user(p)->self->s8_, user(p)->self->self->u64_, user(p)->pchar[0], str(user(p)->names[1])"),
                ElementsAre(HasSubstr("user[user[reg0 + "), HasSubstr("user[user[user[reg0 + "), HasSubstr("user[user[reg0 + "),
                            AllOf(StartsWith("record user text at user[user[reg0"))));
    EXPECT_THAT(spaces_of("look", "*(u64 *)user(p)->address, *(u64 *)(user(p)->address + 8), *(u64 *)(user(p)->address | 1)"),
                testing::Contains(HasSubstr("user[user[reg0 + ")).Times(testing::Ge(1)));
    EXPECT_THAT(spaces_of("look", "*(u64 *)(user(p)->address & ~7)").back(), HasSubstr("user["));
    // A cast changes the type alone.
    EXPECT_THAT(spaces_of("vfs_read", "((struct shapes *)buf)->u64_, *(int *)(buf + 8), *(u64 *)(u64)buf"),
                ElementsAre(StartsWith("record 8 bytes of user[reg1 + "), "record 4 bytes of user[reg1 + 8].4", "record 8 bytes of user[reg1]"));
}

TEST(Spaces, OfNumbersIsSaid) {
    EXPECT_THAT(spaces_of("vfs_read", "*(u64 *)count, *(u64 *)user(count), str(user(count))"),
                ElementsAre("record 8 bytes of [reg2]", "record 8 bytes of user[reg2]", "record user text at reg2, at most 256 bytes"));
}

TEST(Spaces, WhatTheKernelAloneHasIsNotInUserMemory) {
    EXPECT_EQ(space_refusal("vfs_read", "path(user(file))"), "user(file) is in user memory, and what has a path is the kernel's");
    EXPECT_THAT(space_refusal("vfs_read", "path((struct file *)buf)"), HasSubstr("is in user memory, and what has a path is the kernel's"));
    EXPECT_THAT(space_refusal("migrate", "pfn(user(page))"), HasSubstr("is a pointer to user memory, and pages are described in the kernel's"));
    EXPECT_EQ(space_refusal("vfs_read", "*(count ? buf : (char *)file)"),
              "this is either a char __user * or a char *: user() or kernel() says of one of them where it points to");
    EXPECT_EQ(space_refusal("vfs_read", "*(count ? user(pos) : pos)"),
              "this is either a loff_t __user * or a loff_t *: user() or kernel() says of one of them where it points to");
    EXPECT_EQ(space_refusal("look", "*user(narrow)"), "narrow is no address: s8");
}

TEST(Spaces, PerCpuPointersAreFollowedOnACpu) {
    EXPECT_THAT(spaces_of("look", "this_cpu(p)->u64_").back(), StartsWith("record 8 bytes of ["));
    EXPECT_EQ(space_refusal("look", "per_cpu(p, 0)->u64_"), "");
    EXPECT_EQ(space_refusal("look", "per_cpu(p, index)->u64_"), "");
    EXPECT_THAT(space_refusal("look", "per_cpu(p, 100000)->u64_"),
                "there is no such CPU: the last one that this machine can have is " + std::to_string(possible_cpus() - 1));
    EXPECT_EQ(space_refusal("look", "this_cpu(index)"), "index is no pointer: int");
    EXPECT_EQ(space_refusal("vfs_read", "*this_cpu(buf)"),
              "buf is a pointer to user memory, and the variables of CPUs are in the kernel's");
    EXPECT_EQ(space_refusal("look", "this_cpu()"), "it is this_cpu(POINTER), with 1 operand");
}

// As of read(2), whose value at return may be an error.
TEST(Spaces, LengthsAreSignedWhereTheirTypeIs) {
    EXPECT_THAT(spaces_of("look", "buf(p, index)").back(), HasSubstr("signed slot"));
    EXPECT_THAT(spaces_of("look", "buf(p, unsigned_index)").back(), Not(HasSubstr("signed slot")));
}

// What a table says of the arguments of a call: NULL is nothing, and what is not there yet is read at the return.
TEST(Spaces, LenientValues) {
    const auto lines = [](const std::string &text, bool follow) {
        Scope scope = SmallKernel::get().scope("vfs_read");
        if (follow)
            scope.set_result(Type::of(Type::Basic::long_));
        std::vector<ArgumentExpression> values = parse_values(text);
        for (ArgumentExpression &value : values)
            value.lenient = true;
        return compile(scope, {}, values);
    };
    const auto flags = [](const Program &program) { return program.insns.back().then; };
    EXPECT_EQ(flags(lines("str(buf)", false)), ARGTRACE_OUT_NULL);
    EXPECT_EQ(flags(lines("str(buf)", true)), ARGTRACE_OUT_NULL | ARGTRACE_OUT_AGAIN);
    EXPECT_EQ(flags(lines("text(buf, count)", true)), ARGTRACE_OUT_NULL | ARGTRACE_OUT_AGAIN);
    EXPECT_EQ(flags(lines("text(buf, ret)@ret", true)), ARGTRACE_OUT_NULL) << "it is read at the return anyway";
    EXPECT_EQ(flags(lines("str(file->f_path.dentry->d_name.name)", true)), ARGTRACE_OUT_NULL) << "the kernel's memory is there";
    EXPECT_EQ(flags(lines("count", true)), 0) << "a number is no pointer";
    EXPECT_EQ(flags(compile(SmallKernel::get().scope("vfs_read"), {}, parse_values("str(buf)"))), 0);
    EXPECT_EQ(disassemble(lines("str(buf)", true)).back().substr(5), "record user text at reg1, at most 256 bytes, or else at return");
}

TEST(Spaces, OfDataThatIsText) {
    EXPECT_THAT(spaces_of("vfs_read", "text(buf, count), text(buf, count, 100)"),
                ElementsAre("slot0 = reg2", "record slot0 user bytes at reg1, at most 32", "slot0 = reg2",
                            "record slot0 user bytes at reg1, at most 100"));
    EXPECT_THAT(spaces_of("vfs_read", "only(str(buf), count > 4)").back(), StartsWith("record user text at slot0"));
    EXPECT_THAT(spaces_of("vfs_read", "text(buf, 16), text(buf, 100), array(pos, 2)"),
                ElementsAre("record 16 user bytes at reg1", "record 32 user bytes at reg1", "record 16 bytes at reg3"));
    const Program program = compile(SmallKernel::get().scope("vfs_read"), {}, parse_values("text(buf, count), array(pos, count), array(pos, 2)"));
    EXPECT_EQ(program.values.at(0).type_name, "char[]");
    EXPECT_EQ(program.values.at(1).type_name, "loff_t[]");
    EXPECT_EQ(program.values.at(1).size, 1024u);
    EXPECT_EQ(program.values.at(1).type, ARGTRACE_TYPE_BYTES);
    EXPECT_EQ(program.values.at(2).size, 16u);
    EXPECT_EQ(spaces_of("vfs_read", "text(buf)").back(), "record user text at reg1, at most 32 bytes");
    EXPECT_THAT(spaces_of("vfs_read", "sockaddr(buf, count)").back(), HasSubstr("user bytes at reg1, at most 110"));
    EXPECT_THAT(spaces_of("vfs_read", "head(file, count)").back(), HasSubstr(" bytes at reg0, at most "));
    const Program head = compile(SmallKernel::get().scope("vfs_read"), {}, parse_values("head(file, count)"));
    EXPECT_EQ(head.values.at(0).type, ARGTRACE_TYPE_BYTES);
    EXPECT_EQ(head.values.at(0).type_name, "struct file");
    EXPECT_EQ(space_refusal("vfs_read", "head(buf, 4)"), "head() takes a pointer to a struct or union, and buf is a char __user *");
    EXPECT_EQ(space_refusal("vfs_read", "head(file)"), "it is head(POINTER, BYTES), with 2 operands");
    EXPECT_EQ(space_refusal("vfs_read", "array(pos, 200)"), "so many elements have 1600 bytes, and 1 to 1024 are recorded");
    EXPECT_EQ(space_refusal("vfs_read", "array(pos, 0)"), "so many elements have 0 bytes, and 1 to 1024 are recorded");
    EXPECT_EQ(space_refusal("vfs_read", "array(count, 2)"), "count is no pointer to the first element: size_t");
    EXPECT_EQ(space_refusal("vfs_read", "array(pos, file)"), "a number of elements must be an integer, and this is a struct file *");
    EXPECT_EQ(space_refusal("vfs_read", "text(buf, count, 2000)"), "a length is 1 to 1024");
    EXPECT_EQ(space_refusal("vfs_read", "text(buf, count) + 1"), "text() can be recorded, and nothing else");
    EXPECT_THAT(spaces_of("vfs_read", "records(file, count)").back(), HasSubstr(" bytes at reg0, at most 1024"));
    EXPECT_EQ(compile(SmallKernel::get().scope("vfs_read"), {}, parse_values("records(file, count)")).values.at(0).type_name, "struct file[+]");
    EXPECT_EQ(space_refusal("vfs_read", "records(buf, 4)"), "records() takes a pointer to the first of several structs, and buf is a char __user *");
    EXPECT_EQ(spaces_of("look", "pointers(user(p)->names)").back().substr(0, 23), "record 1024 user bytes ");
    EXPECT_EQ(space_refusal("vfs_read", "pointers(buf)"), "pointers() takes an array of pointers that ends with NULL, and buf is a char __user *");
    const Program first = compile(SmallKernel::get().scope("vfs_read"), {}, parse_values("on_page(array(pos, count)), on_page(pointers((char **)buf)), array(pos, count)"));
    EXPECT_EQ(first.values.at(0).type_name, "loff_t[...]");
    EXPECT_EQ(first.values.at(0).size, 256u);
    EXPECT_EQ(first.values.at(1).type_name, "void *[0...]");
    EXPECT_EQ(first.values.at(2).type_name, "loff_t[]");
    EXPECT_EQ(space_refusal("vfs_read", "on_page(count)"), "on_page() takes what array(), pointers() or sockaddr() yields");
    EXPECT_EQ(space_refusal("vfs_read", "on_page(records(file, count))"), "on_page() takes what array(), pointers() or sockaddr() yields");
    EXPECT_THAT(spaces_of("look", "strs(user(p)->names)").back(), HasSubstr("user texts that pointers at "));
    EXPECT_EQ(space_refusal("vfs_read", "strs(buf)"), "strs() takes an array of pointers to characters that ends with NULL, and buf is a char __user *");
    EXPECT_THAT(spaces_of("vfs_read", "path(fd(count))"), ElementsAre("slot0 = file of descriptor reg2 & 0xffffffff", HasSubstr("record path of path slot0 + ")));
    EXPECT_EQ(space_refusal("vfs_read", "fd(file)"), "a descriptor must be an integer, and this is a struct file *");
}

} // namespace
} // namespace argtrace::lang
