// SPDX-License-Identifier: GPL-2.0-only

// What -d shows of the numbers of system calls, by the table of calls.

#include <gtest/gtest.h>

#include "render/text.h"
#include "support/described_calls.h"

namespace argtrace {
namespace {

class DescribedCallTest : public DescribedCallFixture {
protected:
    explicit DescribedCallTest(const char *function = "s:openat") { call(function); }

    void openat(std::uint32_t flags) {
        call("s:openat");
        argument("dfd", ARGTRACE_TYPE_S32, static_cast<std::uint64_t>(-100));
        argument("filename", ARGTRACE_TYPE_PTR, 0x7f0000001000);
        argument("flags", ARGTRACE_TYPE_S32, flags);
        argument("mode", ARGTRACE_TYPE_U16, 0644);
    }

    std::string in_trace() {
        TextRenderer renderer(names, false);
        Line line;
        renderer.event(line, view());
        const std::string all(line.view());
        return all.substr(all.find(probe.function));
    }
};

TEST_F(DescribedCallTest, NumbersAreNames) {
    openat(0x80000);
    EXPECT_EQ(text(), "(dfd=AT_FDCWD, filename=0x7f0000001000, flags=O_RDONLY|O_CLOEXEC)") << "open() does not look at the mode";
    openat(0x241);
    EXPECT_EQ(text(), "(dfd=AT_FDCWD, filename=0x7f0000001000, flags=O_WRONLY|O_CREAT|O_TRUNC, mode=0644)");
    EXPECT_EQ(in_trace(), "s:openat(dfd=AT_FDCWD, filename=0x7f0000001000, flags=O_WRONLY|O_CREAT|O_TRUNC, mode=0644)\n");
}

TEST_F(DescribedCallTest, WithoutTheMarkTheyAreNumbers) {
    openat(0x80000);
    probe.types.clear();
    EXPECT_EQ(text(), "(dfd=-100, filename=0x7f0000001000, flags=524288, mode=420)");
}

TEST_F(DescribedCallTest, AllThatTheTableKnowsOrNone) {
    openat(0x80000);
    EXPECT_EQ(text(Described::none), "(dfd=-100, filename=0x7f0000001000, flags=524288, mode=420)");
    probe.types.clear();
    EXPECT_EQ(text(Described::all), "(dfd=AT_FDCWD, filename=0x7f0000001000, flags=O_RDONLY|O_CLOEXEC)");
    // The table knows nothing of this one, which has been recorded without -d.
    call("kfree");
    probe.types.clear();
    argument("flags", ARGTRACE_TYPE_U32, 1);
    EXPECT_EQ(text(Described::all), "(flags=1)");
}

TEST_F(DescribedCallTest, AnArgumentOfAFunctionMayBeKnownByItsType) {
    call("proc_mkdir_mode");
    argument("name", ARGTRACE_TYPE_PTR, 0xffff888000001000);
    argument("mode", ARGTRACE_TYPE_U16, 040755);
    EXPECT_EQ(text(), "(name=0xffff888000001000, mode=16877)");
    probe.args.back().type_name = "umode_t";
    EXPECT_EQ(text(), "(name=0xffff888000001000, mode=S_IFDIR|0755)");
    call("s:no_such_call");
    argument("mode", ARGTRACE_TYPE_U16, 040755);
    probe.args.back().type_name = "umode_t";
    EXPECT_EQ(text().find("S_IFDIR"), std::string::npos);
}

TEST_F(DescribedCallTest, RegistersAreWhatCSays) {
    call("s:mmap");
    argument("addr", ARGTRACE_TYPE_U64, 0);
    argument("len", ARGTRACE_TYPE_U64, 8192);
    argument("prot", ARGTRACE_TYPE_U64, 3);
    argument("flags", ARGTRACE_TYPE_U64, 0x22);
    argument("fd", ARGTRACE_TYPE_U64, 0xffffffff);
    argument("off", ARGTRACE_TYPE_U64, 0);
    returns(0x7ffff7fbd000);
    EXPECT_EQ(text(), "(addr=NULL, len=8192, prot=PROT_READ|PROT_WRITE, flags=MAP_PRIVATE|MAP_ANONYMOUS, fd=-1, off=0x0) = 0x7ffff7fbd000");
    values.back().low = static_cast<std::uint64_t>(-12);
    EXPECT_TRUE(text().ends_with(" = -ENOMEM"));
    values.back().low = static_cast<std::uint64_t>(-512);
    EXPECT_TRUE(text().ends_with(" = -ERESTARTSYS"));
}

TEST_F(DescribedCallTest, TheCommandSaysWhatAnArgumentIs) {
    const auto fcntl = [&](std::uint64_t command, std::uint64_t argument_, std::uint64_t result) {
        call("s:fcntl");
        argument("fd", ARGTRACE_TYPE_U32, 3);
        argument("cmd", ARGTRACE_TYPE_U32, command);
        argument("arg", ARGTRACE_TYPE_U64, argument_);
        returns(result);
    };
    fcntl(2, 1, 0);
    EXPECT_EQ(text(), "(fd=3, cmd=F_SETFD, arg=FD_CLOEXEC) = 0");
    fcntl(4, 0x802, 0);
    EXPECT_EQ(text(), "(fd=3, cmd=F_SETFL, arg=O_RDWR|O_NONBLOCK) = 0");
    fcntl(3, 99, 0x8402);
    EXPECT_EQ(text(), "(fd=3, cmd=F_GETFL) = O_RDWR|O_APPEND|O_LARGEFILE");
    fcntl(1, 99, static_cast<std::uint64_t>(-9));
    EXPECT_EQ(text(), "(fd=3, cmd=F_GETFD) = -EBADF");
    fcntl(77, 0x10, 0);
    EXPECT_EQ(text(), "(fd=3, cmd=77, arg=0x10) = 0");
}

TEST_F(DescribedCallTest, WhatWasNotCapturedDecidesNothing) {
    call("s:fcntl");
    argument("arg", ARGTRACE_TYPE_U64, 0x800);
    probe.args.back().index = 2;
    EXPECT_EQ(text(), "(arg=0x800)") << "shown, though a call may not look at it";
    openat(0);
    values[2].captured = false;
    EXPECT_EQ(text(), "(dfd=AT_FDCWD, filename=0x7f0000001000, flags=?, mode=420)") << "shown by its type";
}

TEST_F(DescribedCallTest, NumbersWithoutANameAreWrittenInFull) {
    call("s:ioctl");
    argument("fd", ARGTRACE_TYPE_U32, 1);
    argument("cmd", ARGTRACE_TYPE_U32, 0x5401);
    argument("arg", ARGTRACE_TYPE_U64, 0x7f0000001000);
    EXPECT_EQ(text(), "(fd=1, cmd=TCGETS, arg=0x7f0000001000)");
    values[1].low = 0x80017e01;
    EXPECT_EQ(text(), "(fd=1, cmd=_IOC(_IOC_READ, 0x7e, 0x1, 0x1), arg=0x7f0000001000)");
    call("s:madvise");
    argument("start", ARGTRACE_TYPE_U64, 0x1000);
    argument("len_in", ARGTRACE_TYPE_U64, 1);
    argument("behavior", ARGTRACE_TYPE_S32, 77);
    EXPECT_EQ(text(), "(start=0x1000, len_in=1, behavior=77)");
}

TEST_F(DescribedCallTest, FunctionsAreKnownByTheNamesOfTheirArguments) {
    call("do_mmap");
    argument("file", ARGTRACE_TYPE_PTR, 0xffff888000001000);
    argument("flags", ARGTRACE_TYPE_U64, 1);
    argument("prot", ARGTRACE_TYPE_U64, 4);
    argument("pgoff", ARGTRACE_TYPE_U64, 5);
    EXPECT_EQ(text(), "(file=0xffff888000001000, flags=MAP_SHARED, prot=PROT_EXEC, pgoff=5)");
}

TEST_F(DescribedCallTest, JsonHasNumbersAndNames) {
    openat(0x80000);
    returns(3);
    EXPECT_EQ(json(), R"({"dfd":-100,"dfd.text":"AT_FDCWD","filename":"0x7f0000001000","flags":524288,"flags.text":"O_RDONLY|O_CLOEXEC",)"
                      R"("mode":420},"ret":3)");
    call("s:mmap");
    argument("addr", ARGTRACE_TYPE_U64, 0x1000);
    argument("len", ARGTRACE_TYPE_U64, 1);
    argument("prot", ARGTRACE_TYPE_U64, 8192);
    argument("flags", ARGTRACE_TYPE_U64, 2);
    argument("fd", ARGTRACE_TYPE_U64, 0xffffffff);
    returns(0x2000);
    EXPECT_EQ(json(), R"({"addr":4096,"len":1,"prot":8192,"flags":2,"flags.text":"MAP_PRIVATE","fd":-1},"ret":8192)");
    call("s:fcntl");
    argument("fd", ARGTRACE_TYPE_U32, 3);
    argument("cmd", ARGTRACE_TYPE_U32, 3);
    argument("arg", ARGTRACE_TYPE_U64, 0);
    returns(2);
    EXPECT_EQ(json(), R"({"fd":3,"cmd":3,"cmd.text":"F_GETFL","arg":0},"ret":2,"ret.text":"O_RDWR")");
}

} // namespace
} // namespace argtrace
