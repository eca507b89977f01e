// SPDX-License-Identifier: GPL-2.0-only
#include "spec/calls.h"

#include <gmock/gmock.h>

#include "model/probe_kind.h"

namespace argtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CallsTest : public testing::Test {
protected:
    void add(const std::string &text, bool shipped = false) { calls.add(text, "mine", wrong, shipped); }

    std::string shown(const char *values, std::uint64_t number) const { return calls.values(values)->text(number); }

    Calls calls;
    std::vector<std::string> wrong;
};

TEST(CallsOfMachines, HaveTheirOwnConstants) {
    const char *const table = "flags open: A=1\nflags open on x86_64: B=2\nflags open on aarch64: C=2\nflags open: D=4\n"
                              "values v on aarch64 else hex: E=1\n";
    std::vector<std::string> wrong;
    Calls x86_64("x86_64"), aarch64("aarch64");
    x86_64.add(table, "mine", wrong);
    aarch64.add(table, "mine", wrong);
    EXPECT_THAT(wrong, IsEmpty());
    EXPECT_EQ(x86_64.values("open")->text(7), "A|B|D");
    EXPECT_EQ(aarch64.values("open")->text(7), "A|C|D");
    EXPECT_EQ(x86_64.values("v")->text(1), "") << "the name is known, and no constant";
    EXPECT_EQ(aarch64.values("v")->text(1), "E");
    x86_64.add("flags open on pdp11: F=8", "mine", wrong);
    EXPECT_THAT(wrong, ElementsAre(HasSubstr("pdp11 is no machine")));
}

TEST(CallsOfMachines, TestWhatAnotherOneHas) {
    for (const std::string_view machine : {"x86_64", "aarch64"}) {
        std::vector<std::string> wrong;
        Calls shipped(machine);
        shipped.add(shipped_calls, "shipped", wrong, true);
        EXPECT_THAT(wrong, IsEmpty()) << machine;
    }
    Calls aarch64("aarch64");
    std::vector<std::string> wrong;
    aarch64.add("values v: A=1\nvalues v on x86_64: B=2\ns:f(x: v = A|B)\ns:g(x: v = C)", "mine", wrong);
    EXPECT_THAT(wrong, ElementsAre(HasSubstr("C is none of the values")));
}

TEST(CallsOfMachines, TestWhatEachHasByItsOwnNumber) {
    for (const auto &[machine, number] : {std::pair("x86_64", 2u), std::pair("aarch64", 4u)}) {
        std::vector<std::string> wrong;
        Calls calls(machine);
        calls.add("flags v: A=1\nflags v on x86_64: B=2\nflags v on aarch64: B=4\ns:f(x: v & B)", "mine", wrong);
        EXPECT_THAT(wrong, IsEmpty()) << machine;
        const NumberTest &test = calls.rows("s:f")->front().arguments[0].test;
        EXPECT_TRUE(test.accepts(number)) << machine;
        EXPECT_FALSE(test.accepts(6 - number)) << machine;
    }
}

TEST(CallsOfMachines, AreChosenForARecording) {
    Calls::choose_machine("aarch64");
    EXPECT_EQ(Calls::shared().values("open")->text(0x4000), "O_RDONLY|O_DIRECTORY");
    EXPECT_EQ(Calls::shared().values("mmap")->text(0x42), "MAP_PRIVATE|0x40");
    Calls::choose_machine("x86_64");
    EXPECT_EQ(Calls::shared().values("open")->text(0x4000), "O_RDONLY|O_DIRECT");
    EXPECT_EQ(Calls::shared().values("mmap")->text(0x42), "MAP_PRIVATE|MAP_32BIT");
    Calls::choose_machine("");
}

TEST_F(CallsTest, FlagsAreShownInTheOrderOfTheTable) {
    add("flags open: 3/READ=0 3/WRITE=1 3/BOTH=2 CREAT=0x40 DSYNC=0x1000 SYNC=0x101000\n"
        "flags prot: NONE=0 READ=1 WRITE=2\n"
        "flags bare: A=1\n");
    EXPECT_THAT(wrong, IsEmpty());
    EXPECT_EQ(shown("open", 0), "READ") << "a field whose value 0 has a name";
    EXPECT_EQ(shown("open", 0x41), "WRITE|CREAT");
    EXPECT_EQ(shown("open", 3), "") << "a field that has no such value, and nothing else";
    EXPECT_EQ(shown("open", 0x43), "CREAT|0x3");
    EXPECT_EQ(shown("open", 0x1000), "READ|DSYNC");
    EXPECT_EQ(shown("open", 0x101040), "READ|CREAT|SYNC") << "not its parts";
    EXPECT_EQ(shown("open", 0x800000), "READ|0x800000");
    EXPECT_EQ(shown("prot", 0), "NONE");
    EXPECT_EQ(shown("prot", 3), "READ|WRITE");
    EXPECT_EQ(shown("bare", 0), "0");
    EXPECT_EQ(shown("bare", 8), "") << "no name stands for any of it";
}

TEST_F(CallsTest, AFieldMayHaveNamesOfItsOwn) {
    add("values signal: CHLD=17\n"
        "flags clone: VM=0x100 0xff/@signal\n"
        "flags mode else octal: 0170000/REG=0100000\n");
    EXPECT_THAT(wrong, IsEmpty());
    EXPECT_EQ(shown("clone", 0x111), "VM|CHLD");
    EXPECT_EQ(shown("clone", 0x100), "VM") << "0 is no signal";
    EXPECT_EQ(shown("clone", 0x163), "VM|0x63");
    EXPECT_EQ(shown("mode", 0100644), "REG|0644");
}

TEST_F(CallsTest, AValueIsThatOfAnIntWhateverTheRegisterHas) {
    add("values dirfd else int: CWD=-100\nvalues two: FIRST=1 SECOND=1\nvalues io else ioc: TCGETS=0x5401\n");
    EXPECT_EQ(shown("dirfd", static_cast<std::uint64_t>(-100)), "CWD");
    EXPECT_EQ(shown("dirfd", 0xffffff9c), "CWD");
    EXPECT_EQ(shown("dirfd", 0x1ffffff9c), "") << "more than an int";
    EXPECT_EQ(shown("two", 1), "FIRST");
    EXPECT_EQ(number_text(NumberForm::s32, 0xffffffff), "-1");
    EXPECT_EQ(number_text(NumberForm::ioctl, 0xc0105401), "_IOC(_IOC_READ|_IOC_WRITE, 0x54, 0x1, 0x10)");
    EXPECT_EQ(number_text(NumberForm::octal, 0644), "0644");
    EXPECT_EQ(number_text(NumberForm::octal, 0), "0");
}

TEST_F(CallsTest, RowsTestTheirArguments) {
    add("flags open: 3/READ=0 3/WRITE=1 CREAT=0x40 TMPFILE=0x410000\n"
        "values cmd: GET=1 SET=2\n"
        "s:open s:creat(name: addr, flags: open & CREAT|TMPFILE, mode: octal) = int\n"
        "s:open(name: addr, flags: open !& WRITE)\n"
        "s:fcntl(fd: int, cmd: cmd = SET|7, arg)\n");
    EXPECT_THAT(wrong, IsEmpty());
    ASSERT_THAT(*calls.rows("s:open"), SizeIs(2));
    EXPECT_THAT(*calls.rows("s:creat"), SizeIs(1));
    EXPECT_EQ(calls.rows("s:none"), nullptr);
    const CallRow &with_mode = calls.rows("s:open")->front(), &without = calls.rows("s:open")->back();
    EXPECT_THAT(with_mode.arguments, SizeIs(3));
    EXPECT_TRUE(with_mode.arguments[1].test.accepts(0x41));
    EXPECT_TRUE(with_mode.arguments[1].test.accepts(0x410001));
    EXPECT_FALSE(with_mode.arguments[1].test.accepts(0x10000)) << "all bits of it";
    EXPECT_TRUE(without.arguments[1].test.accepts(0x40));
    EXPECT_FALSE(without.arguments[1].test.accepts(1));
    const CallRow &fcntl = calls.rows("s:fcntl")->front();
    EXPECT_TRUE(fcntl.arguments[1].test.accepts(2));
    EXPECT_TRUE(fcntl.arguments[1].test.accepts(7));
    EXPECT_FALSE(fcntl.arguments[1].test.accepts(1));
}

TEST_F(CallsTest, NumbersAreComparedWithoutASign) {
    add("s:name(len: int > 64)\ns:name(len: int < 4)\ns:name(len: int != 5|6)\n");
    ASSERT_THAT(wrong, IsEmpty());
    const auto accepts = [this](std::size_t row, std::uint64_t value) { return (*calls.rows("s:name"))[row].arguments[0].test.accepts(value); };
    EXPECT_TRUE(accepts(0, 65));
    EXPECT_FALSE(accepts(0, 64));
    EXPECT_TRUE(accepts(0, 0xffffffff)) << "-1";
    EXPECT_TRUE(accepts(1, 3));
    EXPECT_FALSE(accepts(1, 4));
    EXPECT_FALSE(accepts(1, 0xffffffff));
    EXPECT_TRUE(accepts(2, 4));
    EXPECT_FALSE(accepts(2, 6));
    add("s:name(len: int < 4|5)\n");
    EXPECT_THAT(wrong.back(), HasSubstr("'<' compares with one number"));
}

TEST_F(CallsTest, ANumberMayBeShownByItsParts) {
    add("values sub else hex: SYNC=0x800001\nvalues type else hex: USER=0\nparts cmd: QCMD(0xffffff00/sub, 0xff/type)\n"
        "parts prio: VALUE(0xe000/uint, 0x1fff/uint)\ns:quota(cmd: cmd = SYNC)\n");
    ASSERT_THAT(wrong, IsEmpty());
    EXPECT_EQ(shown("cmd", 0x80000100), "QCMD(SYNC, USER)");
    EXPECT_EQ(shown("cmd", 0x2a07), "QCMD(0x2a, 0x7)");
    EXPECT_EQ(shown("prio", 0x4007), "VALUE(2, 7)");
    const NumberTest &test = calls.rows("s:quota")->front().arguments[0].test;
    EXPECT_TRUE(test.accepts(0x80000102)) << "whatever the other part is";
    EXPECT_FALSE(test.accepts(0x80000202));
    add("parts x: F\nparts y: F(sub)\nparts cmd: F(1/sub)\n");
    EXPECT_THAT(wrong, SizeIs(3));
}

TEST_F(CallsTest, MembersMayDependOnMembers) {
    add("values how: NONE=1 THREAD=4\n"
        "struct event(value if value != 0, how: how, un._tid as tid: int if how = THREAD && value != 0)\n");
    ASSERT_THAT(wrong, IsEmpty());
    const CallStruct &event = *calls.structure("event");
    ASSERT_THAT(event.members, SizeIs(3));
    EXPECT_EQ(event.members[0].conditions.front().path, "value");
    EXPECT_EQ(event.members[2].path, "un._tid");
    EXPECT_EQ(event.members[2].name, "tid");
    ASSERT_THAT(event.members[2].conditions, SizeIs(2));
    EXPECT_TRUE(event.members[2].conditions[0].test.accepts(4));
    EXPECT_FALSE(event.members[2].conditions[0].test.accepts(1));
    add("struct a(x if y = 1, y)\nstruct b(x if x)\n");
    ASSERT_THAT(wrong, SizeIs(2));
    EXPECT_THAT(wrong[0], HasSubstr("no member before this one is y"));
    EXPECT_THAT(wrong[1], HasSubstr("what x has to be is missing"));
}

TEST_F(CallsTest, RecordsSayHowLongTheyAre) {
    add("records dirent: d_reclen\nrecords cmsghdr: cmsg_len 8\nrecords a\nrecords b:\nrecords c: d 0\nrecords c: d 8 9\n");
    ASSERT_THAT(wrong, SizeIs(4));
    EXPECT_THAT(wrong[1], HasSubstr("a line of records is records STRUCT: MEMBER [ALIGNMENT]"));
    EXPECT_EQ(calls.record_length("dirent")->member, "d_reclen");
    EXPECT_EQ(calls.record_length("dirent")->alignment, 1u);
    EXPECT_EQ(calls.record_length("cmsghdr")->alignment, 8u);
    EXPECT_EQ(calls.record_length("c"), nullptr);
    EXPECT_EQ(calls.record_length("other"), nullptr);
}

TEST_F(CallsTest, PartsWithoutAType) {
    add("struct s(int[2] as x: int, be16[1], char[], value, y as value, x[1])\n");
    ASSERT_THAT(wrong, IsEmpty());
    const std::vector<CallStruct::Member> &members = calls.structure("s")->members;
    const std::byte data[] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
    EXPECT_EQ(members[0].name, "x");
    EXPECT_EQ(members[0].raw->number(data, 0), 0x04030201u);
    EXPECT_EQ(members[0].raw->number(data, 1), std::nullopt) << "there is a byte of it alone";
    EXPECT_FALSE(members[0].raw->is_there(data));
    EXPECT_EQ(members[1].raw->number(data, 1), 0x0304u);
    EXPECT_TRUE(members[1].raw->is_there(data));
    EXPECT_TRUE(members[2].raw->is_text);
    EXPECT_EQ(members[2].raw->index, std::nullopt);
    EXPECT_FALSE(members[2].raw->is_there({}));
    EXPECT_FALSE(members[3].is_whole) << "it is called so";
    EXPECT_TRUE(members[4].is_whole);
    EXPECT_FALSE(members[5].raw) << "x is no type";
}

TEST_F(CallsTest, FormsOfNumbers) {
    EXPECT_EQ(number_text(NumberForm::mode, 0xffff0012), "022");
    EXPECT_EQ(number_text(NumberForm::size_limit, 8388608), "8192*1024");
    EXPECT_EQ(number_text(NumberForm::size_limit, 1024), "1024");
    EXPECT_EQ(number_text(NumberForm::size_limit, 1025), "1025");
    EXPECT_EQ(number_text(NumberForm::bit_set, 0x8000000000000009), "[0 3 63]");
    EXPECT_EQ(number_text(NumberForm::bit_set, 0), "[]");
    EXPECT_EQ(number_text(NumberForm::epoll_data, 0x100000002), "{u32=2, u64=4294967298}");
}

TEST_F(CallsTest, ACallOf32BitsHasItsOwnRowsOrThoseOfItsName) {
    add("s:read(fd: int)\ns:pread(fd: int)\ns:ia32:pread(fd: int, low: uint)\n");
    EXPECT_THAT(calls.rows("s:ia32:read")->front().arguments, SizeIs(1));
    EXPECT_THAT(calls.rows("s:ia32:pread")->front().arguments, SizeIs(2));
}

TEST_F(CallsTest, FunctionsWithoutARowHaveThatOfTheFirstGlob) {
    add("x_recvmsg(a: int)\n*_recvmsg(flags: hex)\nx_*(b: int)\ns:recv*(c: int)\n");
    EXPECT_EQ(calls.rows("x_recvmsg")->front().arguments[0].name, "a");
    EXPECT_EQ(calls.rows("y_recvmsg")->front().arguments[0].name, "flags");
    EXPECT_EQ(calls.rows("x_read")->front().arguments[0].name, "b");
    EXPECT_EQ(calls.rows("read"), nullptr);
    EXPECT_EQ(calls.rows("s:recvmsg"), nullptr) << "a system call has its own";
}

TEST_F(CallsTest, RowsOfTheUserComeFirst) {
    add("flags x: A=1\ns:read(fd: int)\ns:read(a: x, b: int)\n", true);
    add("s:read(fd: x = A)\ns:read(fd: x = 2)\nflags x: B=2\n");
    EXPECT_THAT(wrong, IsEmpty());
    const auto &rows = *calls.rows("s:read");
    ASSERT_THAT(rows, SizeIs(4));
    EXPECT_TRUE(rows[0].arguments[0].test.accepts(1));
    EXPECT_TRUE(rows[1].arguments[0].test.accepts(2));
    EXPECT_EQ(rows[0].source, "mine:1");
    EXPECT_TRUE(rows[2].shipped);
    EXPECT_EQ(shown("x", 3), "A|B");
}

TEST_F(CallsTest, ClassesNameSystemCallsAndOtherClasses) {
    add("class %a: read write\nclass %b: %a open read\n");
    EXPECT_THAT(*calls.members("%b"), ElementsAre("open", "read", "write"));
    EXPECT_EQ(calls.members("%c"), nullptr);
    EXPECT_THAT(calls.classes(), ElementsAre("%a", "%b"));
}

TEST_F(CallsTest, LinesOfTypesAreOthers) {
    EXPECT_FALSE(Calls::is_line("struct file *: path(it), it->f_pos as pos"));
    EXPECT_FALSE(Calls::is_line("gfp_t: flags(it, \"*GFP_*\")"));
    EXPECT_FALSE(Calls::is_line("struct file * it"));
    EXPECT_TRUE(Calls::is_line("flags open: A=1"));
    EXPECT_TRUE(Calls::is_line("  s:open(a: int)"));
    EXPECT_TRUE(Calls::is_line("do_mmap(a: int)"));
    add("struct file *: path(it)\n");
    EXPECT_THAT(wrong, IsEmpty());
}

TEST_F(CallsTest, WrongLinesAreNamed) {
    add("flags open A=1\n"
        "flags open: A\n"
        "flags open: A=x\n"
        "values int: A=1\n"
        "flags prot: A=1\n"
        "values prot: B=1\n"
        "s:open(a: pro)\n"
        "s:open(a: prot = B)\n"
        "s:open(a: prot ~ A)\n"
        "s:open(a: int\n"
        "s:open(a: int) int\n"
        "class net: read\n"
        "class %net: %none\n"
        "s:open(: int)\n"
        "flags f: 3/@none\n"
        "flags g else oct: A=1\n");
    ASSERT_THAT(wrong, SizeIs(15));
    EXPECT_EQ(wrong[0], "mine:1: ':' is missing behind the name\n  flags open A=1");
    EXPECT_THAT(wrong[1], HasSubstr("A has no value: write NAME=NUMBER"));
    EXPECT_THAT(wrong[2], HasSubstr("'x' is no number"));
    EXPECT_THAT(wrong[3], HasSubstr("int is a form of numbers already"));
    EXPECT_THAT(wrong[4], HasSubstr("prot is a name of flags already"));
    EXPECT_THAT(wrong[5], HasSubstr("no flags or values before this line are called 'pro'; did you mean prot?"));
    EXPECT_THAT(wrong[6], HasSubstr("B is none of the values that this argument is shown as"));
    EXPECT_THAT(wrong[7], HasSubstr("'~' is no test"));
    EXPECT_THAT(wrong[8], HasSubstr("a line of a call is"));
    EXPECT_THAT(wrong[9], HasSubstr("'int' cannot follow the arguments"));
    EXPECT_THAT(wrong[10], HasSubstr("begins with %"));
    EXPECT_THAT(wrong[11], HasSubstr("no class before this line is called %none"));
    EXPECT_THAT(wrong[12], HasSubstr("an argument has no name"));
    EXPECT_THAT(wrong[13], HasSubstr("no flags or values before this line are called none"));
    EXPECT_THAT(wrong[14], HasSubstr("oct is no form of a number"));
}

TEST_F(CallsTest, ArgumentsThatNoLineNamesAreKnownByTheirNameOrType) {
    add("flags open: CREAT=0x40\n"
        "flags foll: WRITE=1\n"
        "flags mode else octal: SUID=0x800\n"
        "flags later:\n"
        "type umode_t: mode\n"
        "s:pin(gup_flags: int)\n"
        "create(flags: open, mode: octal)\n"
        "*_pin(start: addr)\n"
        "*(gup_flags: foll, state: later)\n");
    EXPECT_THAT(wrong, IsEmpty());
    EXPECT_EQ(calls.otherwise("gup_flags", "unsigned int")->text(1), "WRITE");
    EXPECT_EQ(calls.otherwise("mode", "const umode_t")->text(04755), "SUID|0755");
    EXPECT_EQ(calls.otherwise("mode", "int"), nullptr);
    const auto names_of = [this](std::string_view title, std::string_view name, std::string_view type) {
        return calls.names_of(calls.rows(title), *split_title(title).kind == function_kind, name, type);
    };
    EXPECT_EQ(names_of("create", "flags", "int"), "open");
    EXPECT_EQ(names_of("create", "mode", "umode_t"), "") << "its own line has a form";
    EXPECT_EQ(names_of("create", "gup_flags", "int"), "foll");
    EXPECT_EQ(names_of("mknod", "mode", "umode_t"), "mode");
    EXPECT_EQ(names_of("mknod", "state", "int"), "") << "flags that have no constants";
    EXPECT_EQ(names_of("s:pin", "gup_flags", "int"), "") << "not of system calls";
    EXPECT_EQ(calls.rows_naming("start", calls.rows("fast_pin")), calls.rows("fast_pin"));
    EXPECT_EQ(calls.rows_naming("gup_flags", calls.rows("fast_pin")), calls.rows("any other"));
    EXPECT_EQ(calls.rows_naming("end", calls.rows("fast_pin")), nullptr);
    add("type x: nothing\ntype : open\n");
    ASSERT_THAT(wrong, SizeIs(2));
    EXPECT_THAT(wrong[1], HasSubstr("a type is missing before ':'"));
}

TEST_F(CallsTest, WhatIsShippedIsWellFormed) {
    calls.add(shipped_calls, "shipped", wrong, true);
    EXPECT_THAT(wrong, IsEmpty());
    EXPECT_GE(calls.all_rows().size(), 500u);
    EXPECT_GE(calls.values("ioctl")->names().size(), 1000u);
    EXPECT_EQ(shown("open", 02000000), "O_RDONLY|O_CLOEXEC");
    EXPECT_EQ(shown("open", 020200001), "O_WRONLY|O_TMPFILE");
    EXPECT_EQ(shown("mmap", 0x22), "MAP_PRIVATE|MAP_ANONYMOUS");
    EXPECT_EQ(shown("mmap", 0x54040022), "MAP_PRIVATE|MAP_ANONYMOUS|MAP_HUGETLB|MAP_HUGE_2MB");
    EXPECT_EQ(shown("prot", 0), "PROT_NONE");
    EXPECT_EQ(shown("clone", 0x1200011), "CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD");
    EXPECT_EQ(shown("futex", 0x89), "FUTEX_WAIT_BITSET_PRIVATE");
    EXPECT_EQ(shown("socktype", 0x80802), "SOCK_DGRAM|SOCK_NONBLOCK|SOCK_CLOEXEC");
    EXPECT_EQ(shown("ioctl", 0x5401), "TCGETS");
    EXPECT_EQ(shown("ioctl", 0x40049409), "FICLONE");
    EXPECT_EQ(shown("mode", 0020666), "S_IFCHR|0666");
    EXPECT_EQ(shown("statx", 0), "AT_STATX_SYNC_AS_STAT");
    EXPECT_EQ(shown("quotacmd", 0x80000701), "QCMD(Q_GETQUOTA, GRPQUOTA)");
    EXPECT_EQ(shown("ioprio", 0x4004), "IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 4)");
    EXPECT_THAT(*calls.members("%network"), testing::Contains("accept4"));
}

/// 64-bit calls and 32-bit ones, by the names of their functions.
TEST_F(CallsTest, AllSystemCallsHaveARow) {
    calls.add(shipped_calls, "shipped", wrong, true);
    std::vector<std::string> without;
    for (const char *name : {
#include "support/syscall_names.inc"
         })
        if (!calls.rows(std::string("s:ia32:") + name) && !calls.rows(std::string("s:") + name))
            without.push_back(name);
    EXPECT_THAT(without, IsEmpty());
}

} // namespace
} // namespace argtrace
