// SPDX-License-Identifier: GPL-2.0-only
#include "spec/usdt.h"


#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/disassemble.h"
#include "support/resolve_kernel.h"

namespace argtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string usdt_path() {
    return ARGTRACE_USDT_PROBES;
}

std::string usdt_spec(const std::string &rest) {
    return fmt::format("usdt:{}:{}", usdt_path(), rest);
}

std::vector<Probe> usdt_probes(const std::string &rest) {
    Kernel kernel = make_kernel_without_tracefs();
    return resolve(kernel, request({usdt_spec(rest)})).probes;
}

std::vector<Function> usdt_functions(const std::string &rest) {
    Kernel kernel = make_kernel_without_tracefs();
    return list_functions(kernel, request({usdt_spec(rest)})).functions;
}

std::string refused_usdt(const std::string &spec) {
    return thrown([&] {
        Kernel kernel = make_kernel_without_tracefs();
        resolve(kernel, request({spec}));
    });
}

std::vector<std::string> argument_texts(const Probe &probe) {
    std::vector<std::string> texts;
    for (const Argument &argument : probe.args)
        texts.push_back(fmt::format("{} {} {}:{}", argument.type_name, argument.name, argument.loc, argument.index));
    return texts;
}

std::vector<std::string> usdt_program_of(const std::string &rest) {
    std::vector<std::string> lines;
    for (const std::string &line : lang::disassemble(usdt_functions(rest).at(0).capture.program))
        lines.push_back(line.substr(5));
    return lines;
}

TEST(UsdtProbes, AreNamedByObjectProviderAndName) {
    for (const char *name : {"text", "usdt_probes:text", "tex?", "usdt_*:text", "*:text"}) {
        const std::vector<Probe> probes = usdt_probes(name);
        ASSERT_EQ(probes.size(), 1u) << name;
        EXPECT_EQ(probes[0].function, "usdt:usdt_probes:usdt_probes:text");
        EXPECT_EQ(probes[0].kind, ARGTRACE_KIND_USER);
        EXPECT_EQ(kind_of(probes[0]), usdt_kind);
        EXPECT_EQ(probes[0].semaphore, 0u);
        EXPECT_EQ(probes[0].file->path, usdt_path());
        EXPECT_THAT(argument_texts(probes[0]), ElementsAre("long unsigned int arg1 1:0")) << "which the module finds by itself";
        EXPECT_THAT(probes[0].program, IsEmpty());
    }
    EXPECT_GT(usdt_probes("*").size(), 10u);
    for (const char *spec : {"usdt:usdt_probes:text", "usdt:/any/usdt_probes:usdt_probes:text", "usdt:*:t*", "U:usdt_probes:text", "usdt:usdt_probes:*"})
        EXPECT_TRUE(parse_spec(spec, PatternSyntax::glob).matches("usdt:usdt_probes:usdt_probes:text", "")) << spec;
    for (const char *spec : {"u:usdt_probes:text", "usdt:usdt_probes:tex", "usdt:usdt_probes:other:text", "usdt:usdt:text", "text", "u:*:*"})
        EXPECT_FALSE(parse_spec(spec, PatternSyntax::glob).matches("usdt:usdt_probes:usdt_probes:text", "")) << spec;
    EXPECT_FALSE(parse_spec("usdt:*:*", PatternSyntax::glob).matches("u:usdt_probes:pass_text", ""));
}

TEST(UsdtProbes, HaveTheirSemaphore) {
    const std::vector<Probe> probes = usdt_probes("guarded");
    ASSERT_EQ(probes.size(), 1u);
    EXPECT_NE(probes[0].semaphore, 0u);
    EXPECT_THAT(argument_texts(probes[0]), ElementsAre("long unsigned int arg1 5:0", "short unsigned int arg2 5:0"));
}

TEST(UsdtProbes, OfSeveralPlacesAreSeveralOfOneName) {
    const std::vector<Function> functions = usdt_functions("sites");
    ASSERT_EQ(functions.size(), 3u);
    for (const Function &function : functions) {
        EXPECT_EQ(function.title, "usdt:usdt_probes:usdt_probes:sites");
        EXPECT_TRUE(function.namesakes);
    }
    EXPECT_EQ(functions[0].prototype.text, "usdt:usdt_probes:usdt_probes:sites(int arg1)");
    EXPECT_EQ(functions[2].prototype.text, "usdt:usdt_probes:usdt_probes:sites(short int arg1)");
    EXPECT_FALSE(usdt_functions("text").at(0).namesakes);
}

TEST(UsdtProbes, ArgumentsAreComputedWhereTheyAre) {
    EXPECT_THAT(usdt_program_of("memory(arg1, arg3, arg5, arg7, arg9)"),
                ElementsAre("record 8 bytes of user[reg0]", "record 4 bytes of user[reg0 - 8].4", "slot0 = reg0", "slot1 = reg1",
                            "slot1 = slot1 *.8 8", "slot0 = slot0 +.8 slot1", "record 8 bytes of user[slot0 + 8]", "slot0 = reg10",
                            "slot0 = slot0 *.8 8", "record 8 bytes of user[slot0]", "record 8 bytes of user[reg9]"));
    EXPECT_THAT(usdt_program_of("constants(arg1, arg4)"), ElementsAre("record 1 bytes of 255", "record 4 bytes of 0xfffffffffffffff9"));
    EXPECT_THAT(usdt_program_of("bytes(arg1 as high)"), ElementsAre("record 1 bytes of reg6 >> 8 & 0xff"));
    EXPECT_THAT(usdt_program_of("text(str(arg1) as text)"), ElementsAre("record user text at reg0, at most 256 bytes"));
}

// A constant of a note is the file's, which may come from anywhere.
TEST(UsdtProbes, NoArgumentLeadsToTheKernelsMemory) {
    EXPECT_THAT(usdt_program_of("constants(str(arg6))"), ElementsAre(HasSubstr("record user text at ")));
    EXPECT_THAT(usdt_program_of("constants(*(int *)arg6)").back(), HasSubstr("user["));
    EXPECT_THAT(usdt_program_of("registers(*(int *)(arg1 + arg2))").back(), HasSubstr("user["));
    EXPECT_THAT(usdt_program_of("registers(*(int *)reg(\"r12\"))").back(), HasSubstr("user["));
}

TEST(UsdtProbes, WhatCannotBeReadIsNotRecorded) {
    const std::vector<Probe> probes = usdt_probes("unread");
    ASSERT_EQ(probes.size(), 1u);
    EXPECT_THAT(argument_texts(probes[0]), ElementsAre("double arg1 5:0", "int arg2 1:0", "long unsigned int arg3 0:0", "long unsigned int arg4 0:0",
                                                       "long unsigned int arg5 0:0", "long unsigned int arg6 0:0", "int arg7 1:0"));
    EXPECT_THAT(refused_usdt(usdt_spec("unread(arg3 + 1)")), HasSubstr("where the argument arg3 is cannot be read"));
}

TEST(UsdtProbes, RegistersAreReadByName) {
    EXPECT_THAT(usdt_program_of("nothing(reg(\"rax\"), reg(\"ebx\") as b, reg(\"ah\") as c, reg(\"rip\") as d)"),
                ElementsAre("record 8 bytes of reg6", "record 4 bytes of reg7", "record 1 bytes of reg6 >> 8 & 0xff", "record 8 bytes of reg16"));
    EXPECT_THAT(refused_usdt(usdt_spec("nothing(reg(\"zax\"))")), HasSubstr("there is no register zax; there are rax"));
    EXPECT_THAT(refused_usdt(usdt_spec("nothing(reg(rax))")), HasSubstr("the name of a register is in quotes"));
    EXPECT_THAT(refused_usdt("vfs_read(reg(\"rax\"))"), HasSubstr("registers are read of user functions and USDT probes"));
}

TEST(UsdtProbes, WhatIsWrongIsSaid) {
    EXPECT_THAT(refused_usdt("usdt:text"), HasSubstr("an object is missing: usdt:OBJECT:text"));
    EXPECT_THAT(refused_usdt("usdt:libnone:f"), HasSubstr("libnone: there is no such library or program"));
    EXPECT_THAT(refused_usdt("usdt:/etc/passwd:f"), HasSubstr("/etc/passwd is no 64-bit ELF file"));
    EXPECT_THAT(refused_usdt(usdt_spec("txt")), HasSubstr("has no such USDT probe; did you mean text"));
    EXPECT_THAT(refused_usdt(usdt_spec("no_such_*")), HasSubstr("matches no USDT probe of"));
    EXPECT_THAT(refused_usdt("usdt:/bin/true:f"), HasSubstr("/bin/true has no USDT probes"));
    EXPECT_THAT(thrown([] { parse_spec("usdt:x:y=", PatternSyntax::glob); }), HasSubstr("a USDT probe returns nothing"));
    EXPECT_THAT(refused_usdt(fmt::format("u:{}:guarded", usdt_path())),
                HasSubstr(fmt::format("but a USDT probe of that name: usdt:{}:usdt_probes:guarded", usdt_path())));
    EXPECT_THAT(refused_usdt("sdt:libc:setjmp"), HasSubstr("a USDT probe is usdt:OBJECT:PROVIDER:NAME"));
}

} // namespace
} // namespace argtrace
