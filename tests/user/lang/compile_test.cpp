// SPDX-License-Identifier: GPL-2.0-only

// What expressions compile to: one instruction for each term that fits one.

#include "lang/compile.h"

#include <sys/socket.h>

#include <gmock/gmock.h>

#include "lang/disassemble.h"
#include "support/lang_kernel.h"
#include "support/program_interpreter.h"
#include "support/thrown.h"

namespace argtrace::lang {
namespace {

using testing::ElementsAre;

Program condition_of(const char *function, const std::string &text) {
    const Expression expression = parse_condition(text);
    return compile(SmallKernel::get().scope(function), std::span(&expression, 1), {});
}

Program values_of(const char *function, const std::string &text) {
    const ParsedArguments parsed = parse_arguments("(" + text + ")", 0);
    return compile(SmallKernel::get().scope(function), {}, parsed.arguments);
}

std::vector<std::string> lines_of(const Program &program) {
    const FakeMemory memory;
    EXPECT_EQ(ProgramInterpreter(program, memory).verify(), "");
    std::vector<std::string> lines;
    for (const std::string &line : disassemble(program))
        lines.push_back(line.substr(5));
    return lines;
}

std::vector<std::string> filter_lines(const char *function, const std::string &text) {
    return lines_of(condition_of(function, text));
}

std::vector<std::string> value_lines(const char *function, const std::string &text) {
    return lines_of(values_of(function, text));
}

TEST(Compile, FlagsAreTheValueAndItsNames) {
    const ProgramValue flags = values_of("vfs_read", "flags(file->f_flags, \"O_*\")").values.at(0);
    EXPECT_EQ(flags.type, ARGTRACE_TYPE_U32);
    EXPECT_EQ(flags.btf_id, 0u);
    EXPECT_FALSE(flags.one_flag);
    EXPECT_THAT(flags.flags, testing::Contains(FlagName{"O_CREAT", 0100}));
    EXPECT_EQ(value_lines("vfs_read", "flags(file->f_flags, \"O_*\")"),
              value_lines("vfs_read", "file->f_flags"));

    const ProgramValue family = values_of("vfs_read", "name(count, \"AF_*\")").values.at(0);
    EXPECT_THAT(family.flags, testing::AllOf(testing::Contains(FlagName{"AF_UNIX", 1}),
                                             testing::Not(testing::Contains(FlagName{"AF_LOCAL", 1}))));

    const ProgramValue gfp = values_of("vfs_read", "flags(count, \"*GFP_*\")").values.at(0);
    EXPECT_THAT(gfp.flags, testing::AllOf(testing::Contains(FlagName{"__GFP_IO", 1 << 6}),
                                          testing::Not(testing::Contains(
                                              testing::Field(&FlagName::name, "___GFP_IO_BIT")))));

    const ProgramValue color = values_of("look", "name(color, \"BL*\")").values.at(0);
    EXPECT_TRUE(color.one_flag);
    EXPECT_THAT(color.flags, ElementsAre(FlagName{"BLUE", ~std::uint64_t{0}}));
    EXPECT_THAT(values_of("vfs_read", "flags(count, \"O_*\") + 1").values.at(0).flags,
                testing::IsEmpty())
        << "a sum is no flags any more";
}

TEST(Compile, FlagsWhoseBitsAreNumberedHaveTheNamesOfTheMacros) {
    EXPECT_THAT(values_of("vfs_read", "flags(count, \"REQ_*\")").values.at(0).flags,
                ElementsAre(FlagName{"REQ_FAILFAST_DEV", 1 << 8}, FlagName{"REQ_SYNC", 1 << 11}));
    EXPECT_THAT(values_of("vfs_read", "flags(count, \"SLAB_*\")").values.at(0).flags, ElementsAre(FlagName{"SLAB_POISON", 1 << 2}));
    EXPECT_THAT(thrown([] { values_of("vfs_read", "count & REQ_NR_BITS"); }), testing::HasSubstr("REQ_NR_BITS"));
    EXPECT_FALSE(filter_lines("vfs_read", "count & REQ_SYNC").empty());
}

TEST(Compile, AnArgumentMayBeCalledAs) {
    const std::vector<ArgumentExpression> values = parse_values("as, count, (as)");
    ASSERT_EQ(values.size(), 3u);
    EXPECT_EQ(values[0].expression.plain_name(), "as");
    EXPECT_THAT(thrown([] { parse_values("count, as more"); }), testing::HasSubstr("something to record is missing before 'as'"));
}

TEST(Compile, SymbolsAreAddresses) {
    const ProgramValue caller = values_of("vfs_read", "sym(caller + 1)").values.at(0);
    EXPECT_TRUE(caller.symbol);
    EXPECT_EQ(caller.type, ARGTRACE_TYPE_PTR);
    EXPECT_THAT(thrown([] { values_of("vfs_open", "sym(*path)"); }), testing::IsEmpty());
    EXPECT_FALSE(values_of("vfs_read", "caller").values.at(0).symbol);
}

Scope returning_scope(const char *function) {
    Scope scope = SmallKernel::get().scope(function);
    TypeName type;
    type.name = "int";
    scope.set_result(*scope.types().find(type));
    return scope;
}

Program at_return(const char *function, const std::string &text) {
    const Expression condition = parse_condition(text);
    return compile(returning_scope(function), std::span(&condition, 1),
                   parse_values("ret + 1, duration"));
}

Program returning_values(const char *function, const std::string &text) {
    return compile(returning_scope(function), {}, parse_values(text));
}

TEST(Compile, ValuesAreOfTheEntryUnlessWritten) {
    const auto lines = [](const char *text) { return lines_of(returning_values("vfs_read", text)); };
    EXPECT_THAT(lines("*pos, *pos@ret, comm@ret, cpu@ret"),
                ElementsAre("record 8 bytes of [reg3]", "record 8 bytes of [reg3], at return",
                            "record text at task + 24, at most 16 bytes, at return",
                            "record 4 bytes of cpu, at return"));
    EXPECT_THAT(lines("(str(buf) == \"x\")@ret, (count - *pos)@ret"), testing::Each(testing::Not(
                    testing::AllOf(testing::StartsWith("record"), testing::Not(testing::EndsWith(
                                                                      ", at return"))))));
    EXPECT_THAT(lines("str(file->f_path.dentry->d_iname@ret)").back(),
                testing::EndsWith(", at return"))
        << "as its operand";
    EXPECT_THAT(lines("path(file)@ret, buf(buf, ret)"),
                ElementsAre(testing::EndsWith(", at return"), testing::_,
                            testing::EndsWith(", at return")));
    EXPECT_THAT(lines("((struct file *)(u64)ret)->f_inode->i_ino, str((char *)(u64)ret)"),
                testing::Contains(testing::EndsWith(", at return")).Times(2))
        << "what it returns leads there";
    EXPECT_THAT(lines("count - ret"), testing::Contains(testing::EndsWith(", at return")))
        << "arguments are what they were";
    EXPECT_EQ(at_return("vfs_read", "*pos > 3").nr_return, 0u);
    EXPECT_EQ(at_return("vfs_read", "*pos@ret > 3 && count > 1").nr_return, 1u);

    FakeMemory entry, later;
    entry.put<std::uint64_t>(0x1000, 5);
    later.put<std::uint64_t>(0x1000, 837);
    FakeCall call;
    call.registers[3] = 0x1000;
    call.returned[0] = 832;
    const Program program = returning_values("vfs_read", "*pos@ret, *pos, *pos@ret + ret, ret");
    const auto values = ProgramInterpreter(program, entry).values(call, later);
    ASSERT_EQ(values.size(), 4u);
    EXPECT_EQ(values[0].as<std::uint64_t>(), 837u);
    EXPECT_EQ(values[1].as<std::uint64_t>(), 5u);
    EXPECT_EQ(values[2].as<std::uint64_t>(), 1669u);
    EXPECT_EQ(values[3].as<std::uint32_t>(), 832u);
}

TEST(Compile, OneExpressionIsOfOneMoment) {
    const auto refused = [](const char *text) {
        return thrown([text] { returning_values("vfs_read", text); });
    };
    EXPECT_EQ(refused("*pos@ret - *pos"),
              "this is read when the function is entered, and the rest is known when it returns: "
              "write (...)@ret around this for what is there then\n"
              "  *pos@ret - *pos\n"
              "             ^");
    EXPECT_THAT(refused("*pos == ret"), testing::StartsWith("this is read when the function is"));
    EXPECT_THAT(thrown([] { at_return("vfs_read", "count > 1 && (ret < 0 || str(buf) == \"x\")"); }),
                testing::StartsWith("this is read when the function is"));
    EXPECT_EQ(refused("pid == ret"), "") << "the task's";
    EXPECT_EQ(refused("*pos@ret == ret"), "");
    EXPECT_EQ(refused("(*pos == ret)@ret"), "");
    EXPECT_THAT(refused("count@ret"), testing::StartsWith("count is what the function was called "
                                                          "with, and no other when it returns"));
    EXPECT_THAT(thrown([] { values_of("vfs_read", "*pos@ret"); }),
                testing::StartsWith("*pos@ret is known of calls that are recorded when they return"));
    const auto on_stack = [](const char *text) {
        return thrown([text] { returning_values("many", text); });
    };
    EXPECT_EQ(on_stack("g + ret"), "") << "the function has a copy of its own";
    EXPECT_THAT(on_stack("g@ret"), testing::StartsWith("g is what the function was called with"));
    EXPECT_THAT(on_stack("h->f_pos + ret"), testing::StartsWith("this is read when"));
}

TEST(Compile, TermsOfTheReturnAreTestedThen) {
    const Program program = at_return("vfs_read", "ret < 0 && count > 100 && duration > 1ms");
    EXPECT_THAT(lines_of(program),
                ElementsAre("if reg2 in 0..100: reject, else accept",
                            "if ret & 0xffffffff in 0x80000000..0xffffffff: next, else reject",
                            "if duration in 0..0xf4240: reject, else accept",
                            testing::HasSubstr("slot0 = "), testing::_, testing::_,
                            "record 8 bytes of duration, at return"))
        << "each filter by itself, then the values";
    EXPECT_EQ(program.nr_filter, 1u);
    EXPECT_EQ(program.nr_return, 2u);
    EXPECT_EQ(at_return("vfs_read", "ret == 0").nr_filter, 0u);
    EXPECT_EQ(at_return("vfs_read", "ret == 0 || count > 3").nr_return, 2u)
        << "what C evaluates together stays together";
    EXPECT_EQ(at_return("vfs_read", "count > 3").nr_return, 0u);
}

TEST(Compile, OutcomesAreKnownOfReturnsAlone) {
    EXPECT_THAT(thrown([] { condition_of("vfs_read", "ret < 0"); }),
                testing::HasSubstr("ret is known of calls that are recorded when they return: add "
                                   "--return, or '=' behind the function"));
    EXPECT_THAT(thrown([] { values_of("vfs_read", "$duration"); }),
                testing::HasSubstr("duration is known of calls"));
    Scope scope = SmallKernel::get().scope("vfs_read");
    scope.set_result(Type::of(Type::Basic::void_));
    EXPECT_THAT(thrown([&] { compile(scope, {}, parse_values("ret")); }),
                testing::HasSubstr("vfs_read returns nothing"));
}

TEST(Compile, ItIsTheSubject) {
    const Scope scope = SmallKernel::get().scope("vfs_read");
    std::vector<ArgumentExpression> values = parse_values("it->f_flags");
    values.front().subject = "file";
    EXPECT_EQ(lines_of(compile(scope, {}, values)), value_lines("vfs_read", "file->f_flags"));
    values.front().subject.clear();
    EXPECT_THAT(thrown([&] { compile(scope, {}, values); }),
                testing::HasSubstr("vfs_read has no argument it"));
}

TEST(Compile, AComparisonWithANumberIsOneInstruction) {
    const auto read = [](const char *text) { return filter_lines("vfs_read", text); };
    EXPECT_THAT(read("count == 4096"), ElementsAre("if reg2 == 0x1000: accept, else reject"));
    EXPECT_THAT(read("count != 4096"), ElementsAre("if reg2 == 0x1000: reject, else accept"));
    EXPECT_THAT(read("count > 64K"), ElementsAre("if reg2 in 0..0x10000: reject, else accept"));
    EXPECT_THAT(read("count <= 100"), ElementsAre("if reg2 in 0..100: accept, else reject"));
    EXPECT_THAT(read("100 >= count"), ElementsAre("if reg2 in 0..100: accept, else reject"));
    EXPECT_THAT(read("count < 100"), ElementsAre("if reg2 in 0..99: accept, else reject"));
    EXPECT_THAT(read("100 < count"), ElementsAre("if reg2 in 0..100: reject, else accept"));
    EXPECT_THAT(read("count"), ElementsAre("if reg2 == 0: reject, else accept"));
    EXPECT_THAT(read("!count"), ElementsAre("if reg2 == 0: accept, else reject"));
    EXPECT_THAT(read("count >= 1"), ElementsAre("if reg2 == 0: reject, else accept"));
    EXPECT_THAT(read("file == NULL"), ElementsAre("if reg0 == 0: accept, else reject"));
}

TEST(Compile, NarrowNumbersAreExtendedOnlyIfTheirSignMatters) {
    const auto look = [](const char *text) { return filter_lines("look", text); };
    EXPECT_THAT(look("index == 3"), ElementsAre("if reg1 & 0xffffffff == 3: accept, else reject"));
    EXPECT_THAT(look("index == -1"),
                ElementsAre("if reg1 & 0xffffffff == 0xffffffff: accept, else reject"));
    EXPECT_THAT(look("index > 5"),
                ElementsAre("if reg1 << 32 >>> 32 in 0xffffffff80000000..5: reject, else accept"));
    EXPECT_THAT(look("index < 0"), ElementsAre("if reg1 & 0xffffffff in 0x80000000..0xffffffff: "
                                               "accept, else reject"));
    EXPECT_THAT(look("unsigned_index < 10"),
                ElementsAre("if reg2 & 0xffffffff in 0..9: accept, else reject"));
    EXPECT_THAT(look("narrow == -2"), ElementsAre("if reg3 & 0xff == 254: accept, else reject"));
    EXPECT_THAT(look("flag"), ElementsAre("if reg4 & 0xff == 0: reject, else accept"));
    EXPECT_THAT(look("p->u8_ == 200"), ElementsAre("if [reg0 + 1].1 == 200: accept, else reject"));
    EXPECT_THAT(look("p->s32_ == -5"),
                ElementsAre("if [reg0 + 8].4 == 0xfffffffb: accept, else reject"));
    EXPECT_THAT(look("p->color == GREEN"),
                testing::ElementsAre(testing::EndsWith(".4 == 5: accept, else reject")));
}

// Never holding, or always, does not spare the load: it may fault.
TEST(Compile, WhatCannotBeStillReads) {
    EXPECT_THAT(filter_lines("look", "p->u8_ == 256"),
                ElementsAre("if [reg0 + 1].1 in 0..0xffffffffffffffff: reject, else reject"));
    EXPECT_THAT(
        filter_lines("look", "p->s8_ < 128"),
        ElementsAre("if [reg0].1 << 56 >>> 56 in 0..0xffffffffffffffff: accept, else accept"));
    EXPECT_THAT(filter_lines("vfs_read", "file->f_flags < 0u"),
                ElementsAre("if [reg0 + 4].4 in 0..0xffffffffffffffff: reject, else reject"));
}

TEST(Compile, UpToThreeLoadsAreOneInstruction) {
    const auto read = [](const char *text) { return filter_lines("vfs_read", text); };
    EXPECT_THAT(read("file->f_inode->i_ino == 42"),
                ElementsAre("if [[reg0 + 8] + 8] == 42: accept, else reject"));
    EXPECT_THAT(read("file->f_inode->i_sb->s_magic == 0xef53"),
                ElementsAre("if [[[reg0 + 8] + 16]].4 == 0xef53: accept, else reject"));
    EXPECT_THAT(read("file->f_inode->i_sb->s_root_inode->i_ino == 1"),
                ElementsAre("slot0 = [[[reg0 + 8] + 16] + 40]",
                            "if [slot0 + 8] == 1: accept, else reject"));
    EXPECT_THAT(read("file->f_flags & O_DIRECT"),
                ElementsAre("if [reg0 + 4].4 & 0x4000 == 0: reject, else accept"));
    EXPECT_THAT(read("(file->f_mode & 3) == 2"),
                ElementsAre("if [reg0].4 & 0x3 == 2: accept, else reject"));
    EXPECT_THAT(read("S_ISUID & file->f_inode->i_mode"),
                ElementsAre("if [[reg0 + 8]].2 & 0x800 == 0: reject, else accept"));
    EXPECT_THAT(read("file->f_inode->i_mode >> 12 == 8"),
                ElementsAre("if [[reg0 + 8]].2 & 0xf000 == 0x8000: accept, else reject"));
    EXPECT_THAT(read("file->f_inode->i_mode >> 12 > 8"),
                ElementsAre("if [[reg0 + 8]].2 >> 12 in 0..8: reject, else accept"));
    EXPECT_THAT(read("&file->f_path == (void *)0x1000"),
                ElementsAre("if reg0 == 0xfe0: accept, else reject"))
        << "an offset is taken from the number";
}

TEST(Compile, BitFieldsAreOneInstruction) {
    EXPECT_THAT(filter_lines("tcp_connect", "sk->sk_protocol == 6"),
                ElementsAre("if [reg0 + 26].1 == 6: accept, else reject"));
    EXPECT_THAT(filter_lines("tcp_connect", "sk->sk_ok"),
                ElementsAre("if [reg0 + 27].1 & 0x1 == 0: reject, else accept"));
}

TEST(Compile, BigEndianNumbersAreComparedAsTheyLie) {
    EXPECT_THAT(filter_lines("tcp_connect", "sk->__sk_common.skc_dport == 443"),
                ElementsAre("if [reg0 + 8].2 == 0xbb01: accept, else reject"));
    EXPECT_THAT(filter_lines("tcp_connect", "sk->__sk_common.skc_dport < 1024"),
                ElementsAre("if swap([reg0 + 8].2) >> 48 in 0..1023: accept, else reject"));
    EXPECT_THAT(filter_lines("by_value", "port == 80"),
                ElementsAre("if reg4 & 0xffff == 0x5000: accept, else reject"));
    EXPECT_THAT(value_lines("tcp_connect", "sk->__sk_common.skc_dport"),
                ElementsAre("record 2 bytes of swap([reg0 + 8].2) >> 48"));
}

TEST(Compile, BuiltinsAreSourcesOrLoadsFromTheTask) {
    const auto read = [](const char *text) { return filter_lines("vfs_read", text); };
    EXPECT_THAT(read("pid == 1"), ElementsAre("if [task + 12].4 == 1: accept, else reject"));
    EXPECT_THAT(read("tid == 1"), ElementsAre("if [task + 8].4 == 1: accept, else reject"));
    EXPECT_THAT(read("ppid == 1"),
                ElementsAre("if [[task + 16] + 12].4 == 1: accept, else reject"));
    EXPECT_THAT(read("uid == 0"), ElementsAre("if uid == 0: accept, else reject"));
    EXPECT_THAT(read("gid == 0"), ElementsAre("if gid == 0: accept, else reject"));
    EXPECT_THAT(read("cgroup == 1"), ElementsAre("if cgroup == 1: accept, else reject"));
    EXPECT_THAT(read("pid == 1 && uid == 2 && count == 3"),
                ElementsAre("if reg2 == 3: next, else reject",
                            "if [task + 12].4 == 1: next, else reject",
                            "if uid == 2: accept, else reject"));
    EXPECT_THAT(read("cpu == 3"), ElementsAre("if cpu == 3: accept, else reject"));
    EXPECT_THAT(read("caller == 0xffffffff81000000"),
                ElementsAre("if caller == 0xffffffff81000000: accept, else reject"));
    EXPECT_THAT(read("$pid == 1"), ElementsAre("if [task + 12].4 == 1: accept, else reject"));
}

TEST(Compile, ShortTextsInArraysAreNumbers) {
    const auto read = [](const char *text) { return filter_lines("vfs_read", text); };
    EXPECT_THAT(read("comm == \"dd\""),
                ElementsAre("if [task + 24].4 & 0xffffff == 0x6464: accept, else reject"));
    EXPECT_THAT(read("comm != \"dd\""),
                ElementsAre("if [task + 24].4 & 0xffffff == 0x6464: reject, else accept"));
    EXPECT_THAT(read("comm == \"systemd\""),
                ElementsAre("if [task + 24] == 0x646d6574737973: accept, else reject"));
    EXPECT_THAT(read("comm == \"kworker/0:1\""),
                ElementsAre("if [task + 24] == 0x2f72656b726f776b: next, else reject",
                            "if [task + 32].4 == 0x313a30: accept, else reject"));
    EXPECT_THAT(read("comm ~ \"kw*\""),
                ElementsAre("if [task + 24].2 == 0x776b: accept, else reject"));
    EXPECT_THAT(read("file->f_inode->i_sb->s_id == \"sda1\""),
                ElementsAre("if [[[reg0 + 8] + 16] + 4] & 0xffffffffff == 0x31616473: accept, else "
                            "reject"));
    EXPECT_THAT(read("comm ~ \"*\""),
                ElementsAre("if [task + 24].1 in 0..0xffffffffffffffff: accept, else accept"));
    EXPECT_THAT(read("comm == \"\""), ElementsAre("if [task + 24].1 == 0: accept, else reject"));
    // No load reaches beyond the array.
    EXPECT_THAT(filter_lines("look", "p->name == \"abcd\""),
                testing::ElementsAre(testing::EndsWith(".4 == 0x64636261: next, else reject"),
                                     testing::EndsWith(".1 == 0: accept, else reject")));
}

TEST(Compile, OtherTextsAreLookedAt) {
    const auto read = [](const char *text) { return filter_lines("vfs_read", text); };
    EXPECT_THAT(read("buf == \"dd\""),
                ElementsAre("if user text at reg1, 3 bytes, is \"dd\": accept, else reject"));
    EXPECT_THAT(read("\"dd\" != str(buf)"),
                ElementsAre("if user text at reg1, 3 bytes, is \"dd\": reject, else accept"));
    EXPECT_THAT(
        read("comm ~ \"*worker*\""),
        ElementsAre("if text at task + 24, 16 bytes, contains \"worker\": accept, else reject"));
    EXPECT_THAT(
        read("comm !~ \"k?orker\""),
        ElementsAre("if text at task + 24, 16 bytes, matches \"k?orker\": reject, else accept"));
    EXPECT_THAT(read("str(buf, 64) ~ \"*.c\""),
                ElementsAre("if user text at reg1, 64 bytes, ends with \".c\": accept, else reject"));
    EXPECT_THAT(read("file->f_path.dentry->d_name.name ~ \"lib*\""),
                ElementsAre("if text at [[reg0 + 40] + 40], 3 bytes, begins with \"lib\": accept, "
                            "else reject"));
    EXPECT_THAT(read("buf ~ \"*.c\""),
                ElementsAre("if user text at reg1, 256 bytes, ends with \".c\": accept, else reject"))
        << "no more than the module looks at";
    EXPECT_THAT(read("buf == \"\""), ElementsAre("if user[reg1].1 == 0: accept, else reject"));
    EXPECT_THAT(read("buf !~ \"*\""),
                ElementsAre("if user[reg1].1 in 0..0xffffffffffffffff: reject, else reject"))
        << "which cannot be read is rejected all the same";
}

TEST(Compile, ShortCircuitsAreJumps) {
    EXPECT_THAT(filter_lines("vfs_read", "file && (count > 100 || pos)"),
                ElementsAre("if reg0 == 0: reject, else next",
                            "if reg2 in 0..100: next, else accept",
                            "if reg3 == 0: reject, else accept"));
    EXPECT_THAT(filter_lines("look", "(index ? flag : narrow) && p"),
                ElementsAre("if reg1 & 0xffffffff == 0: 2, else next",
                            "if reg4 & 0xff == 0: reject, else 3",
                            "if reg3 & 0xff == 0: reject, else next",
                            "if reg0 == 0: reject, else accept"));
    EXPECT_THAT(
        filter_lines("vfs_read", "!(count == 1 && file)"),
        ElementsAre("if reg2 == 1: next, else accept", "if reg0 == 0: accept, else reject"));
}

TEST(Compile, WhatNoWayLeadsToIsLeftOut) {
    EXPECT_THAT(filter_lines("vfs_read", "count + (pos || 1) == 3"),
                ElementsAre("slot0 = reg2", "if reg3 == 0: next, else next", "slot1 = 1",
                            "slot0 = slot0 +.8 slot1", "if slot0 == 3: accept, else reject"));
    EXPECT_THAT(value_lines("vfs_read", "count + (*pos && 0), count"),
                ElementsAre("slot0 = reg2", "if [reg3] == 0: next, else next", "slot1 = 0",
                            "slot0 = slot0 +.8 slot1", "record 8 bytes of slot0",
                            "record 8 bytes of reg2"));
    EXPECT_THAT(
        filter_lines("vfs_read", "count && 0 || *pos"),
        ElementsAre("if reg2 == 0: next, else next", "if [reg3] == 0: reject, else accept"));
}

TEST(Compile, CheapTermsComeFirst) {
    EXPECT_THAT(filter_lines("vfs_read", "file->f_flags == 1 && comm ~ \"d*\" && count > 3"),
                ElementsAre("if reg2 in 0..3: reject, else next",
                            "if [task + 24].1 == 100: next, else reject",
                            "if [reg0 + 4].4 == 1: accept, else reject"));
    EXPECT_THAT(filter_lines("vfs_read", "file && file->f_inode && file->f_inode->i_ino == 1"),
                ElementsAre("if reg0 == 0: reject, else next",
                            "if [reg0 + 8] == 0: reject, else next",
                            "if [[reg0 + 8] + 8] == 1: accept, else reject"));
    EXPECT_THAT(filter_lines("vfs_read", "file->f_flags == 1 || count > 3"),
                ElementsAre("if [reg0 + 4].4 == 1: accept, else next",
                            "if reg2 in 0..3: reject, else accept"))
        << "a fault rejects: the order counts";
}

TEST(Compile, OtherOperandsTakeSlots) {
    EXPECT_THAT(filter_lines("vfs_read", "count == *pos"),
                ElementsAre("slot0 = reg2", "slot0 = slot0 ^.8 [reg3]",
                            "if slot0 == 0: accept, else reject"));
    EXPECT_THAT(filter_lines("look", "index < narrow"),
                ElementsAre("slot0 = reg1 << 32 >>> 32",
                            "slot0 = slot0 signed <.8 reg3 << 56 >>> 56",
                            "if slot0 == 0: reject, else accept"));
    EXPECT_THAT(value_lines("look", "p->array[index]"),
                ElementsAre("slot0 = reg1 << 32 >>> 32", "slot0 = slot0 *.8 4",
                            "slot0 = slot0 +.8 reg0 + 60", "record 4 bytes of [slot0].4"));
    EXPECT_THAT(value_lines("look", "index ? 7 : 8"),
                ElementsAre("if reg1 & 0xffffffff == 0: 3, else next", "slot0 = 7", "go to 4",
                            "slot0 = 8", "record 4 bytes of slot0"));
}

TEST(Compile, ConstantsAreFolded) {
    EXPECT_THAT(filter_lines("vfs_read", "count == 4 * 1024 + sizeof(u64) - 8"),
                ElementsAre("if reg2 == 0x1000: accept, else reject"));
    EXPECT_THAT(filter_lines("vfs_read", "1 && count == 1"),
                ElementsAre("if reg2 == 1: accept, else reject"));
    EXPECT_TRUE(condition_of("vfs_read", "2 > 1").empty()) << "every call is accepted";
    EXPECT_THAT(filter_lines("vfs_read", "0 && count"), ElementsAre("go to reject"));
    EXPECT_THAT(filter_lines("vfs_read", "count == __GFP_DMA + __GFP_IO"),
                ElementsAre("if reg2 == 65: accept, else reject"));
    EXPECT_THAT(filter_lines("vfs_read", "count == GFP_KERNEL"),
                ElementsAre("if reg2 == 0xcc0: accept, else reject"));
    EXPECT_THAT(filter_lines("look", "index == -ENOENT"),
                ElementsAre("if reg1 & 0xffffffff == 0xfffffffe: accept, else reject"));
    EXPECT_THAT(filter_lines("look", "index == -ERESTARTSYS"),
                ElementsAre("if reg1 & 0xffffffff == 0xfffffe00: accept, else reject"));
}

TEST(Compile, ValuesSayWhatTheyAre) {
    const Program program =
        values_of("vfs_read",
                  "file->f_inode->i_ino as ino, *pos, comm, str(buf), file->f_inode->i_mode & 7, "
                  "*file->f_op, path(file), buf(buf, count), buf(buf, 16), &file->f_path, caller");
    const std::uint32_t operations =
        SmallKernel::get().types().find({TypeName::Tag::structure, "file_operations", 0, 0, 0})->id;
    std::vector<std::string> found;
    for (const ProgramValue &value : program.values)
        found.push_back(
            fmt::format("{}: {} {} {}", value.name, value.type_name, value.type, value.size));
    EXPECT_THAT(found, ElementsAre("ino: u64 7 8", "*pos: loff_t 8 8", "comm: char[16] 15 16",
                                   "str(buf): char * 15 256", "file->f_inode->i_mode & 7: int 6 4",
                                   "*file->f_op: const struct file_operations 16 16",
                                   "path(file): path 17 1024", "buf(buf, count): u8[] 16 1024",
                                   "buf(buf, 16): u8[] 16 16", "&file->f_path: struct path * 14 8",
                                   "caller: void * 14 8"));
    EXPECT_EQ(SmallKernel::get().types().traits(Type::btf(program.values[5].btf_id)).bare,
              operations);
    EXPECT_THAT(lines_of(program),
                ElementsAre("record 8 bytes of [[reg0 + 8] + 8]", "record 8 bytes of [reg3]",
                            "record text at task + 24, at most 16 bytes",
                            "record user text at reg1, at most 256 bytes",
                            "record 4 bytes of [[reg0 + 8]].2 & 0x7",
                            "record 16 bytes at [reg0 + 24]", "record path of path reg0 + 32",
                            "slot0 = reg2", "record slot0 user bytes at reg1, at most 1024",
                            "record 16 user bytes at reg1", "record 8 bytes of reg0 + 32",
                            "record 8 bytes of caller"));
    EXPECT_TRUE(program.reads_memory());
    EXPECT_FALSE(values_of("vfs_read", "count, buf, cpu").reads_memory());
}

TEST(Compile, PathsHaveTheirLayout) {
    const Program program = values_of("vfs_open", "path(path), path(file), path(path->dentry)");
    EXPECT_THAT(lines_of(program),
                ElementsAre("record path of path reg0", "record path of path reg1 + 32",
                            "record path of dentry [reg0 + 8]"));
    ASSERT_EQ(program.data.size(), sizeof(argtrace_mount_layout)) << "once";
    argtrace_mount_layout layout;
    std::memcpy(&layout, program.data.data(), sizeof(layout));
    EXPECT_EQ(layout.mnt_parent, 8u);
    EXPECT_EQ(layout.mnt_mountpoint, 16u);
    EXPECT_EQ(layout.mnt, 24u);
    EXPECT_EQ(layout.mnt_ns, 40u);
    EXPECT_EQ(layout.ns_root, 32u);
    EXPECT_EQ(layout.reserved, 0u);
    EXPECT_EQ(values_of("vfs_open", "path(path->dentry)").data.size(), 0u) << "no mounts";
}

TEST(Compile, PathsOfCgroupsHaveTheirLayout) {
    const Program program = values_of("vfs_open", "cgroup_path() as here, path(path), cgroup_path() as there");
    EXPECT_THAT(lines_of(program), ElementsAre("record path of node [[[task + 48] + 24]]", "record path of path reg0",
                                               "record path of node [[[task + 48] + 24]]"));
    ASSERT_EQ(program.data.size(), sizeof(argtrace_node_layout) + sizeof(argtrace_mount_layout)) << "once";
    argtrace_node_layout layout;
    std::memcpy(&layout, program.data.data(), sizeof(layout));
    EXPECT_EQ(layout.parent, 16u);
    EXPECT_EQ(layout.name, 24u);
    EXPECT_TRUE(program.reads_memory());
}

TEST(Compile, BytesAreAProgram) {
    Program program = condition_of("vfs_read", "buf == \"abc\"");
    const std::vector<std::byte> bytes = program.bytes(100, 1000);
    ASSERT_EQ(bytes.size(), 24u + 48u + 8u) << "with padding";
    argtrace_program header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    EXPECT_EQ(header.nr_insns, 1u);
    EXPECT_EQ(header.nr_filter, 1u);
    EXPECT_EQ(header.data, 4u) << "with its NUL";
    EXPECT_EQ(header.sample, 100u);
    EXPECT_EQ(header.max_rate, 1000u);
    EXPECT_EQ(std::memcmp(bytes.data() + 72, "abc\0\0\0\0\0", 8), 0);
}

TEST(Compile, CarriesWhatBecomesOfTheCall) {
    Program program = values_of("vfs_read", "*pos");
    program.sink = ARGTRACE_SINK_MAP;
    program.map = 3;
    const std::vector<std::byte> bytes = program.bytes();
    argtrace_program header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    EXPECT_EQ(header.sink, ARGTRACE_SINK_MAP);
    EXPECT_EQ(header.map, 3u);
    EXPECT_EQ(disassemble(program), (std::vector<std::string>{"  0  take 8 bytes of [reg3]",
                                                              "     add it to map 3"}));
    Program counted;
    EXPECT_TRUE(counted.empty());
    counted.sink = ARGTRACE_SINK_COUNT;
    EXPECT_FALSE(counted.empty());
    EXPECT_EQ(counted.bytes().size(), sizeof(header));
    EXPECT_EQ(disassemble(counted), std::vector<std::string>{"     count the call"});
}

TEST(Compile, TellsTheCost) {
    EXPECT_EQ(describe(filter_cost(condition_of("vfs_read", "count > 1"))),
              "reads no memory; about 15 instructions");
    EXPECT_EQ(describe(filter_cost(condition_of("vfs_read", "file->f_inode->i_ino == 1"))),
              "reads memory 2 times; about 37 instructions");
    EXPECT_EQ(describe(values_cost(values_of("vfs_read", "*pos"))),
              "reads memory once; about 26 instructions");
}

/// A glob of that many characters that no simpler pattern says.
std::string glob_of(std::size_t length) {
    return "*?" + std::string(length - 2, 'x');
}

TEST(Compile, OneGlobOfAnyLengthMayBeTaken) {
    const Program program = condition_of("vfs_read", fmt::format("str(buf) ~ \"{}\"", glob_of(255)));
    EXPECT_LE(program.cost(), ARGTRACE_COST_MAX);
    EXPECT_GE(program.cost(), 255u * 256u) << "each may be compared with each";
}

TEST(CompileError, WhatACallMayTakeIsBounded) {
    const auto globs = [](std::size_t length, unsigned count) {
        std::string text = fmt::format("str(buf) ~ \"{}\"", glob_of(length));
        for (unsigned i = 1; i < count; i++)
            text += fmt::format(" || str(buf) ~ \"{}{}\"", glob_of(length - 2), 10 + i);
        return text;
    };
    EXPECT_NO_THROW(condition_of("vfs_read", globs(60, 4)));
    const std::string dear = globs(60, 5);
    EXPECT_EQ(thrown([&] { condition_of("vfs_read", dear); }),
              "a call may take 1244360 steps with this, and 1244360 in all, where at most 1048576 are allowed: the function "
              "waits for them; use fewer globs, or shorter ones, or compare less of the text: "
              "str(ADDRESS, LENGTH)\n"
              "  " + dear + "\n  ^");
    // Nothing that is merely large is refused.
    std::string many = "file->f_inode->i_ino == 0";
    for (int i = 1; i < 240; i++)
        many += fmt::format(" || file->f_inode->i_ino == {}", 2 * i);
    EXPECT_NO_THROW(condition_of("vfs_read", many));
}

TEST(CompileError, ProgramsAreBounded) {
    const auto refused = [](const std::string &text) {
        const std::string all = thrown([&] { condition_of("vfs_read", text); });
        return all.substr(0, all.find('\n'));
    };
    std::string many = "count == 0";
    for (int i = 1; i < 240; i++)
        many += fmt::format(" || count == {}", 2 * i);
    EXPECT_EQ(condition_of("vfs_read", many).insns.size(), 240u);
    EXPECT_EQ(refused(many + " || pos"), "this is too much for one program, which has 240 "
                                         "instructions at most: use fewer terms or values");
    std::string deep = "count";
    for (int i = 0; i < 20; i++)
        deep = "*pos * (" + deep + ")";
    EXPECT_EQ(refused(deep), "this is nested too deeply: a program has 16 variables");
    const std::string text = "str(buf, 1000)";
    EXPECT_EQ(
        thrown([&] {
            values_of("vfs_read", fmt::format("{}, {}, {}, {}, {}", text, text, text, text, text));
        }),
        "the values of a call have at most 4096 bytes, and with this they are up to 5010; "
        "str(ADDRESS, LENGTH) takes less\n"
        "  (str(buf, 1000), str(buf, 1000), str(buf, 1000), str(buf, 1000), str(buf, 1000))\n" +
            std::string(67, ' ') + "^");
}

TEST(Faults, RejectAndAreNoValue) {
    FakeMemory memory;
    memory.put<std::uint64_t>(0x1008, 0x2000); // file->f_inode, whose inode is not there
    memory.put<std::uint32_t>(0x1000, 1);      // file->f_mode
    FakeCall call;
    call.registers[0] = 0x1000;
    call.registers[2] = 5;
    const auto verdict = [&](const char *text) {
        const Program program = condition_of("vfs_read", text);
        return ProgramInterpreter(program, memory).accepts(call);
    };
    EXPECT_EQ(verdict("file->f_inode->i_ino == 1"), std::nullopt);
    EXPECT_EQ(verdict("!(file->f_inode->i_ino == 1)"), std::nullopt);
    EXPECT_EQ(verdict("file->f_inode->i_ino == 1 || count == 5"), std::nullopt);
    EXPECT_EQ(verdict("count == 5 || file->f_inode->i_ino == 1"), true);
    EXPECT_EQ(verdict("file->f_inode->i_ino == 1 && count == 6"), false) << "not even read";
    EXPECT_EQ(verdict("file->f_mode == 1 && file->f_inode"), true);
    EXPECT_EQ(verdict("count / (file->f_mode - 1) == 1"), std::nullopt);
    EXPECT_EQ(verdict("buf == \"x\""), std::nullopt);
    EXPECT_EQ(verdict("file->f_inode->i_mode >> 12 > 15"), std::nullopt) << "never, but read";

    const Program program = values_of(
        "vfs_read", "file->f_inode->i_ino, count, count ? *pos : 1, str(buf), file->f_mode");
    ProgramInterpreter computed(program, memory);
    EXPECT_EQ(computed.verify(), "");
    const auto outputs = computed.values(call);
    ASSERT_EQ(outputs.size(), 5u);
    EXPECT_FALSE(outputs[0].readable);
    EXPECT_EQ(outputs[1].as<std::uint64_t>(), 5u);
    EXPECT_FALSE(outputs[2].readable);
    EXPECT_FALSE(outputs[3].readable);
    EXPECT_EQ(outputs[4].as<std::uint32_t>(), 1u);
}

TEST(Texts, AreComparedByContent) {
    FakeMemory memory;
    memory.put(0x5000 + 24, "kworker/0:1\0\0\0\0", 16);
    memory.put(0x6000, "/usr/lib/libc.so", 17);
    FakeCall call;
    call.task = 0x5000;
    call.registers[1] = 0x6000;
    const auto holds = [&](const char *text) {
        const Program program = condition_of("vfs_read", text);
        ProgramInterpreter decided(program, memory);
        EXPECT_EQ(decided.verify(), "") << text;
        return decided.accepts(call).value();
    };
    for (const char *text : {"comm == \"kworker/0:1\"",
                             "comm != \"kworker/0:\"",
                             "comm != \"kworker/0:11\"",
                             "comm ~ \"kworker*\"",
                             "comm ~ \"k*\"",
                             "comm ~ \"kworker/0:*\"",
                             "comm ~ \"*:1\"",
                             "comm ~ \"*work*\"",
                             "comm ~ \"k[a-x]orker/?:*\"",
                             "comm !~ \"k[!w]*\"",
                             "comm ~ \"kworker/0:1\"",
                             "comm ~ \"kworker\\\\/0:1\"",
                             "comm !~ \"worker*\"",
                             "comm !~ \"*worker\"",
                             "comm != \"\"",
                             "buf == \"/usr/lib/libc.so\"",
                             "str(buf, 4) == \"/usr\"",
                             "str(buf) ~ \"/usr/*.so\"",
                             "str(buf) ~ \"*lib*\"",
                             "buf ~ \"/usr*\"",
                             "buf != \"\"",
                             "buf + 16 == \"\"",
                             "buf ~ \"*\"",
                             "buf ~ \"*libc*\"",
                             "buf ~ \"*so\"",
                             "buf[1] == 'u'",
                             "str(buf + 5) ~ \"lib/*\"",
                             "!(comm == \"sh\")",
                             "\"kworker/0:1\" == comm",
                             "(comm == \"sh\") + (buf ~ \"*so\") == 1"})
        EXPECT_TRUE(holds(text)) << text;
}

TEST(Compile, PagesHaveNumbersIfTheyCanBeRead) {
    const std::uint64_t begin = 0xffffea8000000000;
    FakeMemory memory;
    memory.put(small_kernel_vmemmap_base, &begin, sizeof(begin));
    const std::string pages(256, '\xff');
    memory.put(begin + 0x12345 * 64, pages.data(), pages.size());
    const Program program = values_of("migrate", "pfn(page) as page, pfn(folio) as folio, pfn(page + 1) == pfn as next");
    ProgramInterpreter interpreter(program, memory);
    EXPECT_EQ(interpreter.verify(), "");
    FakeCall call;
    call.registers[0] = begin + 0x12345 * 64;
    call.registers[1] = begin + 0x12347 * 64;
    call.registers[2] = 0x12346;
    auto values = interpreter.values(call);
    ASSERT_EQ(values.size(), 3u);
    EXPECT_EQ(values[0].as<std::uint64_t>(), 0x12345u);
    EXPECT_EQ(values[1].as<std::uint64_t>(), 0x12347u);
    EXPECT_EQ(values[2].as<int>(), 1);
    call.registers[0] = 0;
    call.registers[1] = static_cast<std::uint64_t>(-2);
    values = interpreter.values(call);
    EXPECT_FALSE(values[0].readable);
    EXPECT_FALSE(values[1].readable);
}

// What is read of a socket address where that many bytes are left on its page, and none on the next.
std::string sockaddr_bytes(std::uint16_t family, std::size_t left) {
    const std::uint64_t page_end = 0xffff888000002000, at = page_end - left;
    FakeMemory memory;
    std::string bytes(left, 'x');
    std::memcpy(bytes.data(), &family, std::min(left, sizeof(family)));
    memory.put(at, bytes.data(), bytes.size());
    FakeCall call;
    call.registers[0] = at;
    const Program program = values_of("bind", "sockaddr(address)");
    ProgramInterpreter interpreter(program, memory);
    EXPECT_EQ(interpreter.verify(), "");
    const auto values = interpreter.values(call);
    EXPECT_EQ(values.size(), 1u);
    if (!values.at(0).readable)
        return "unreadable";
    EXPECT_EQ(values[0].bytes, bytes.substr(0, values[0].bytes.size()));
    return fmt::format("{}", values[0].bytes.size());
}

TEST(Compile, ASocketAddressIsReadAsFarAsItsFamilyHasIt) {
    EXPECT_EQ(sockaddr_bytes(AF_INET, 4000), "16");
    EXPECT_EQ(sockaddr_bytes(AF_INET, 16), "16");
    EXPECT_EQ(sockaddr_bytes(AF_INET, 15), "unreadable");
    EXPECT_EQ(sockaddr_bytes(AF_INET6, 4096), "28");
    EXPECT_EQ(sockaddr_bytes(AF_INET6, 28), "28");
    EXPECT_EQ(sockaddr_bytes(AF_INET6, 27), "unreadable");
    EXPECT_EQ(sockaddr_bytes(AF_UNIX, 4096), "110");
    EXPECT_EQ(sockaddr_bytes(AF_UNIX, 111), "110");
    EXPECT_EQ(sockaddr_bytes(AF_UNIX, 110), "110");
    EXPECT_EQ(sockaddr_bytes(AF_UNIX, 109), "109");
    EXPECT_EQ(sockaddr_bytes(AF_UNIX, 3), "3");
    EXPECT_EQ(sockaddr_bytes(AF_NETLINK, 2), "2") << "of others the family is shown";
    EXPECT_EQ(sockaddr_bytes(AF_INET, 1), "unreadable");
    EXPECT_EQ(sockaddr_bytes(AF_INET, 0), "unreadable");
}

TEST(Compile, OnlyIsTheValueOrNothing) {
    const Program program = values_of(
        "tcp_connect", "only(sk->__sk_common.skc_dport, size == 7) as port, "
                       "only(sk->__sk_common, sk->__sk_common.skc_num > 2)");
    ASSERT_EQ(program.values.size(), 2u);
    EXPECT_EQ(program.values[0].type, ARGTRACE_TYPE_BYTES);
    EXPECT_EQ(program.values[0].type_name, "__be16");
    EXPECT_EQ(program.values[0].size, 2u);
    EXPECT_EQ(program.values[1].type_name, "struct sock_common");

    FakeMemory memory;
    const std::string common = std::string("abcdefgh\x01\xbb\x03\0", 12) + "............";
    memory.put(0x1000, common.data(), common.size());
    FakeCall call;
    call.registers[0] = 0x1000;
    call.registers[1] = 7;
    ProgramInterpreter interpreter(program, memory);
    EXPECT_EQ(interpreter.verify(), "");
    auto values = interpreter.values(call);
    ASSERT_EQ(values.size(), 2u);
    EXPECT_EQ(values[0].bytes, "\x01\xbb");
    EXPECT_EQ(values[1].bytes, common);
    call.registers[1] = 8;
    values = interpreter.values(call);
    EXPECT_TRUE(values[0].readable);
    EXPECT_EQ(values[0].bytes, "");
    call.registers[0] = 0x2000;
    EXPECT_FALSE(interpreter.values(call)[1].readable) << "the condition cannot be read";
}

} // namespace
} // namespace argtrace::lang
