// SPDX-License-Identifier: GPL-2.0-only

// What -d shows of what the pointers and descriptors of system calls lead to, by the shipped table of calls.

#include "render/call_value.h"

#include <map>

#include <gtest/gtest.h>

#include "support/btf_builder.h"
#include "support/described_calls.h"

namespace argtrace {
namespace {

/// The same with what has been read of the arguments.
class CallValueTest : public DescribedCallFixture {
protected:
    /// Bytes of that type, or of none.
    Value &read(const char *name, const char *type_name, std::string_view data, int type = 0, std::uint8_t code = ARGTRACE_TYPE_BYTES) {
        add(name, code, ARGTRACE_LOC_PROGRAM, {bytes.size(), data.size(), code, true});
        probe.args.back().type_name = type_name;
        probe.args.back().size = 1024;
        for (const char character : data)
            bytes.push_back(static_cast<std::byte>(character));
        types[probe.args.size() - 1] = type;
        return values.back();
    }

    Value &path(const char *name, std::string_view text) { return read(name, "path", text, 0, ARGTRACE_TYPE_PATH); }

    EventView view() override {
        std::vector<ShownValue> shown(probe.args.size());
        for (const auto &[argument, type] : types) {
            shown[argument].type = static_cast<std::uint32_t>(type);
            shown[argument].as_bytes = true;
        }
        probe.types = display_types(b.get(), shown, {.is_described = true});
        return DescribedCallFixture::view();
    }

    template<typename... Words>
    static std::string words(Words... values) {
        std::string data;
        for (const std::uint64_t word : {static_cast<std::uint64_t>(values)...})
            data.append(reinterpret_cast<const char *>(&word), sizeof(word));
        return data;
    }

    void read_call(std::string_view data, std::int64_t result) {
        call("s:read");
        argument("fd", ARGTRACE_TYPE_U32, 3);
        path("fd.path", "/etc/passwd");
        argument("buf", ARGTRACE_TYPE_PTR, 0x7f0000001000);
        read("buf.value", "char[]", data);
        argument("count", ARGTRACE_TYPE_U64, 4096);
        returns(result);
    }

    BtfBuilder b;
    int int_ = b.integer("int", 4, BTF_INT_SIGNED);
    int short_ = b.integer("short", 2);
    int long_ = b.integer("unsigned long", 8);
    int pointer_ = b.pointer(0);
    std::map<std::size_t, int> types; // of what has been read, by argument
};

TEST_F(CallValueTest, ADescriptorAndTheDataOfACall) {
    read_call("root:x:0\n", 9);
    EXPECT_EQ(text(), "(fd=3</etc/passwd>, buf=\"root:x:0\\n\", count=4096) = 9");
    EXPECT_EQ(json(), "{\"fd\":3,\"fd.path\":\"/etc/passwd\",\"buf\":\"0x7f0000001000\",\"buf.value\":\"root:x:0\\n\",\"count\":4096},\"ret\":9");
}

TEST_F(CallValueTest, DataIsCutEmptyOrNotThere) {
    read_call(std::string_view("a\0b", 3), 100);
    values[3].cut = true;
    EXPECT_EQ(text(), "(fd=3</etc/passwd>, buf=\"a\\0b\"..., count=4096) = 100");
    values[3] = {0, 0, ARGTRACE_TYPE_BYTES, true};
    values.back().low = 0;
    EXPECT_EQ(text(), "(fd=3</etc/passwd>, buf=\"\", count=4096) = 0") << "the end of the file";
    values.back().low = static_cast<std::uint64_t>(-EBADF);
    values[1].high = 0;
    EXPECT_EQ(text(), "(fd=3, buf=0x7f0000001000, count=4096) = -EBADF") << "a call that failed has written nothing";
    EXPECT_EQ(json(), "{\"fd\":3,\"buf\":\"0x7f0000001000\",\"count\":4096},\"ret\":\"-EBADF\"");
    values[3].captured = false;
    values.back().low = 9;
    EXPECT_EQ(text(), "(fd=3, buf=0x7f0000001000, count=4096) = 9") << "it could not be read";
}

TEST_F(CallValueTest, NullIsNull) {
    read_call("", 9);
    values[2].low = 0;
    EXPECT_EQ(text(), "(fd=3</etc/passwd>, buf=NULL, count=4096) = 9");
}

TEST_F(CallValueTest, WhatACallReturnsHasAPath) {
    call("s:dup");
    argument("fildes", ARGTRACE_TYPE_U32, 1);
    path("fildes.path", "pipe:[77]");
    path("ret.path", "pipe:[77]");
    returns(5);
    EXPECT_EQ(shown_arguments(probe), 2u);
    EXPECT_EQ(text(), "(fildes=1<pipe:[77]>) = 5<pipe:[77]>");
    EXPECT_EQ(json(), "{\"fildes\":1,\"fildes.path\":\"pipe:[77]\"},\"ret\":5,\"ret.path\":\"pipe:[77]\"");
    values.back().low = static_cast<std::uint64_t>(-EMFILE);
    values[2].high = 0;
    EXPECT_EQ(text(), "(fildes=1<pipe:[77]>) = -EMFILE");
}

TEST_F(CallValueTest, StructsHaveTheMembersOfTheTable) {
    const int mask = b.structure("sigset_t", 8, {{"sig", long_, 0}});
    const int action = b.structure("sigaction", 32, {{"sa_handler", pointer_, 0}, {"sa_flags", long_, 64}, {"sa_restorer", pointer_, 128}, {"sa_mask", mask, 192}});
    call("s:rt_sigaction");
    argument("sig", ARGTRACE_TYPE_S32, 2);
    argument("act", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    read("act.value", "struct sigaction", words(1, 0x14000000, 0x401000, 5), action);
    argument("oact", ARGTRACE_TYPE_PTR, 0);
    read("oact.value", "struct sigaction", "", action);
    argument("sigsetsize", ARGTRACE_TYPE_U64, 8);
    returns(0);
    EXPECT_EQ(text(), "(sig=SIGINT, act={sa_handler=SIG_IGN, sa_mask=[HUP QUIT], sa_flags=SA_RESTORER|SA_RESTART, sa_restorer=0x401000}, oact=NULL, "
                      "sigsetsize=8) = 0");
}

TEST_F(CallValueTest, AnArgumentBetweenOthersIsLeftOut) {
    call("s:clone");
    argument("clone_flags", ARGTRACE_TYPE_U64, 0x1200011);
    argument("newsp", ARGTRACE_TYPE_U64, 0);
    argument("parent_tidptr", ARGTRACE_TYPE_PTR, 0x1000);
    argument("child_tidptr", ARGTRACE_TYPE_PTR, 0x2000);
    argument("tls", ARGTRACE_TYPE_U64, 7);
    returns(77);
    EXPECT_EQ(text(), "(clone_flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, newsp=NULL, child_tidptr=0x2000) = 77");
    values[0].low |= 0x100000;
    EXPECT_EQ(text(), "(clone_flags=CLONE_PARENT_SETTID|CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, newsp=NULL, parent_tidptr=0x1000, "
                      "child_tidptr=0x2000) = 77");
}

TEST_F(CallValueTest, NumbersInAStructAreItsOwn) {
    const int three = b.array(long_, int_, 3);
    const int info = b.structure("sysinfo", 40, {{"uptime", long_, 0}, {"loads", three, 64}, {"totalram", long_, 256}});
    call("s:sysinfo");
    argument("info", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    read("info.value", "struct sysinfo", words(7, 65536, 1, 0, 4096), info);
    returns(0);
    EXPECT_EQ(text(), "(info={uptime=7, loads=[65536, 0, 1], totalram=4096}) = 0");
}

TEST_F(CallValueTest, ElementsOfWhichSomeHavePartsOfTheirOwn) {
    const int vector = b.structure("iovec", 16, {{"iov_base", pointer_, 0}, {"iov_len", long_, 64}});
    call("s:writev");
    argument("fd", ARGTRACE_TYPE_U64, 1);
    path("fd.path", "/dev/null");
    argument("vec", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    read("vec.value", "struct iovec[]", words(0x1000, 3, 0x2000, 2, 0x3000, 1), vector);
    read("vec.[0].iov_base", "char[]", "abc");
    read("vec.[1].iov_base", "char[]", "de").captured = false;
    argument("vlen", ARGTRACE_TYPE_U64, 3);
    EXPECT_EQ(text(), "(fd=1</dev/null>, vec=[{iov_base=\"abc\", iov_len=3}, {iov_base=0x2000, iov_len=2}, {iov_base=0x3000, iov_len=1}], vlen=3)");
    values[3].cut = true;
    EXPECT_EQ(text().substr(text().find("iov_len=1")), "iov_len=1}, ...], vlen=3)");
}

TEST_F(CallValueTest, NumbersBehindPointersAreShownAsTheTableSays) {
    call("s:wait4");
    argument("upid", ARGTRACE_TYPE_S32, static_cast<std::uint64_t>(-1));
    argument("stat_addr", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    read("stat_addr.value", "int", std::string("\0\3\0\0", 4), int_);
    argument("options", ARGTRACE_TYPE_S32, 0);
    argument("ru", ARGTRACE_TYPE_PTR, 0);
    returns(77);
    EXPECT_EQ(text(), "(upid=-1, stat_addr=[{WIFEXITED(s) && WEXITSTATUS(s) == 3}], options=0, ru=NULL) = 77");
    EXPECT_EQ(json(), "{\"upid\":-1,\"stat_addr\":\"0x7f0000001000\",\"stat_addr.value\":768,\"options\":0,\"ru\":\"0x0\"},\"ret\":77");
}

TEST_F(CallValueTest, ArraysOfNumbers) {
    call("s:pipe");
    argument("fildes", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    read("fildes.value", "int[]", std::string("\3\0\0\0\4\0\0\0", 8), int_);
    returns(0);
    EXPECT_EQ(text(), "(fildes=[3, 4]) = 0");
    EXPECT_EQ(json(), "{\"fildes\":\"0x7f0000001000\",\"fildes.value\":[3,4]},\"ret\":0");
}

TEST_F(CallValueTest, TextsThatPointersLeadTo) {
    call("s:execve");
    argument("filename", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    argument("argv", ARGTRACE_TYPE_PTR, 0x7f0000002000);
    read("argv.value", "char *[]", std::string_view("ls\0\0-l a\0", 9));
    argument("envp", ARGTRACE_TYPE_PTR, 0x7f0000003000);
    EXPECT_EQ(text(), "(filename=0x7f0000001000, argv=[\"ls\", \"\", \"-l a\"], envp=0x7f0000003000)");
    values[2].cut = true;
    EXPECT_EQ(text(), "(filename=0x7f0000001000, argv=[\"ls\", \"\", \"-l a\", ...], envp=0x7f0000003000)");
    values[2].high = 7;
    EXPECT_EQ(text(), "(filename=0x7f0000001000, argv=[\"ls\", \"\", \"-l \"...], envp=0x7f0000003000)");
    EXPECT_EQ(json().substr(0, json().find(",\"envp")), "{\"filename\":\"0x7f0000001000\",\"argv\":\"0x7f0000002000\",\"argv.value\":[\"ls\",\"\",\"-l \"]");
}

TEST_F(CallValueTest, ArgumentsOfAProgramMayBeNone) {
    call("s:execve");
    argument("filename", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    argument("argv", ARGTRACE_TYPE_PTR, 0x7f0000002000);
    read("argv.value", "char *[]", "");
    EXPECT_EQ(text(), "(filename=0x7f0000001000, argv=[])");
}

TEST_F(CallValueTest, WhatWasThereBeforeAndIsThereAfterTheCall) {
    call("s:getsockname");
    argument("fd", ARGTRACE_TYPE_U32, 3);
    argument("usockaddr", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    argument("usockaddr_len", ARGTRACE_TYPE_PTR, 0x7f0000002000);
    read("usockaddr_len.value", "int", std::string("\x15\0\0\0", 4), int_);
    read("usockaddr_len.before", "int", std::string("\x6e\0\0\0", 4), int_);
    returns(0);
    EXPECT_EQ(text(), "(fd=3, usockaddr=0x7f0000001000, usockaddr_len=[110 => 21]) = 0");
    bytes[bytes.size() - 4] = std::byte{21};
    EXPECT_EQ(text(), "(fd=3, usockaddr=0x7f0000001000, usockaddr_len=[21]) = 0");
    values[3].high = 0;
    values.back().low = static_cast<std::uint64_t>(-EBADF);
    EXPECT_EQ(text(), "(fd=3, usockaddr=0x7f0000001000, usockaddr_len=[21]) = -EBADF") << "what it was is known of one that fails";
}

TEST_F(CallValueTest, WhatIsLeftOfASleepThatWasInterrupted) {
    const int time = b.structure("__kernel_timespec", 16, {{"tv_sec", long_, 0}, {"tv_nsec", long_, 64}});
    call("s:nanosleep");
    argument("rqtp", ARGTRACE_TYPE_PTR, 0);
    argument("rmtp", ARGTRACE_TYPE_PTR, 0x7f0000002000);
    read("rmtp.value", "struct __kernel_timespec", words(1, 2), time);
    returns(-516);
    EXPECT_EQ(text(), "(rqtp=NULL, rmtp={tv_sec=1, tv_nsec=2}) = -ERESTART_RESTARTBLOCK");
    values.back().low = 0;
    EXPECT_EQ(text(), "(rqtp=NULL, rmtp=0x7f0000002000) = 0");
}

TEST_F(CallValueTest, NamesOfSocketsAreAsLongAsTheCallSays) {
    const int address = b.structure("sockaddr_un", 110, {{"sun_family", short_, 0}, {"sun_path", b.array(long_, b.integer("char", 1, BTF_INT_CHAR), 108), 16}});
    call("s:connect");
    argument("fd", ARGTRACE_TYPE_S32, 3);
    argument("uservaddr", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    read("uservaddr.value", "struct sockaddr_un", std::string("\1\0\0abc", 6), address);
    argument("addrlen", ARGTRACE_TYPE_S32, 6);
    EXPECT_EQ(text(), "(fd=3, uservaddr={\"@abc\"}, addrlen=6)");
    bytes[2] = std::byte{'/'};
    EXPECT_EQ(text(), "(fd=3, uservaddr={\"/abc\"}, addrlen=6)");
    values[2].high = 2;
    EXPECT_EQ(text(), "(fd=3, uservaddr={\"\"}, addrlen=6)");
    values[2].high = 0;
    EXPECT_EQ(text(), "(fd=3, uservaddr=0x7f0000001000, addrlen=6)");
}

TEST_F(CallValueTest, SetsOfDescriptors) {
    call("s:select");
    argument("n", ARGTRACE_TYPE_S32, 12);
    argument("inp", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    read("inp.value", "u8[]", std::string("\x18\x08", 2));
    argument("outp", ARGTRACE_TYPE_PTR, 0x7f0000002000);
    read("outp.value", "u8[]", std::string("\0\0", 2));
    argument("exp", ARGTRACE_TYPE_PTR, 0);
    read("exp.value", "u8[]", "");
    argument("tvp", ARGTRACE_TYPE_PTR, 0);
    EXPECT_EQ(text(), "(n=12, inp=[3 4 11], outp=[], exp=NULL, tvp=NULL)");
    values[0].low = 0xffffffff;
    values[2].high = values[4].high = 0;
    EXPECT_EQ(text(), "(n=-1, inp=0x7f0000001000, outp=0x7f0000002000, exp=NULL, tvp=NULL)") << "the call does not look at them";
}

TEST_F(CallValueTest, OfAStructThatGrowsWhatTheProgramKnows) {
    const int how = b.structure("clone_args", 88, {{"flags", long_, 0}, {"pidfd", long_, 64}, {"exit_signal", long_, 256}, {"stack", long_, 320}, {"stack_size", long_, 384}, {"cgroup", long_, 640}});
    call("s:clone3");
    argument("uargs", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    read("uargs.value", "struct clone_args", words(0x100, 0, 0, 0, 17), how);
    argument("size", ARGTRACE_TYPE_U64, 40);
    EXPECT_EQ(text(), "(uargs={flags=CLONE_VM, exit_signal=SIGCHLD, ...}, size=40)");
}

TEST_F(CallValueTest, MembersThatOthersDecideOn) {
    const int thread = b.structure("", 16, {{"_function", pointer_, 0}, {"_attribute", pointer_, 64}});
    const int un = b.structure("", 48, {{"_tid", int_, 0}, {"_sigev_thread", thread, 0}});
    const int event = b.structure("sigevent", 64, {{"sigev_value", long_, 0}, {"sigev_signo", int_, 64}, {"sigev_notify", int_, 96}, {"_sigev_un", un, 128}});
    call("s:timer_create");
    argument("which_clock", ARGTRACE_TYPE_S32, 0);
    argument("timer_event_spec", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    read("timer_event_spec.value", "struct sigevent", words(0, 0x40000000e, 77, 0), event);
    argument("created_timer_id", ARGTRACE_TYPE_PTR, 0);
    EXPECT_EQ(text(), "(which_clock=CLOCK_REALTIME, timer_event_spec={sigev_signo=SIGALRM, sigev_notify=SIGEV_THREAD_ID, sigev_notify_thread_id=77}, "
                      "created_timer_id=NULL)");
    bytes[0] = std::byte{5};
    bytes[12] = std::byte{0};
    EXPECT_EQ(text(), "(which_clock=CLOCK_REALTIME, timer_event_spec={sigev_value=5, sigev_signo=SIGALRM, sigev_notify=SIGEV_SIGNAL}, "
                      "created_timer_id=NULL)");
}

TEST_F(CallValueTest, TheMembersMayBeThoseOfTheRow) {
    const int lock = b.structure("flock", 32, {{"l_type", short_, 0}, {"l_whence", short_, 16}, {"l_start", long_, 64}, {"l_len", long_, 128}, {"l_pid", int_, 192}});
    call("s:fcntl");
    argument("fd", ARGTRACE_TYPE_U32, 3);
    argument("cmd", ARGTRACE_TYPE_U32, 5);
    argument("arg", ARGTRACE_TYPE_U64, 0x7f0000001000);
    path("arg.path", "/x").high = 0;
    read("arg.value", "struct flock", "", lock);
    read("arg.value.2", "struct flock", words(1, 0, 10, 4), lock);
    returns(0);
    EXPECT_EQ(text(), "(fd=3, cmd=F_GETLK, arg={l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=10, l_pid=4}) = 0");
}

TEST_F(CallValueTest, OfAnotherRowNothingIsShown) {
    call("s:sethostname");
    argument("name", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    read("name.value", "char[]", "");
    argument("len", ARGTRACE_TYPE_S32, 65);
    EXPECT_EQ(text(), "(name=0x7f0000001000, len=65)") << "too long for the call, which does not read it";
    values[2].low = 0;
    EXPECT_EQ(text(), "(name=\"\", len=0)");
}

TEST_F(CallValueTest, OfSeveralRowsTheOneThatTheCallHasIsShown) {
    const int lock = b.structure("flock", 32, {{"l_type", short_, 0}, {"l_whence", short_, 16}, {"l_start", long_, 64}, {"l_len", long_, 128}, {"l_pid", int_, 192}});
    call("s:fcntl");
    argument("fd", ARGTRACE_TYPE_U32, 3);
    argument("cmd", ARGTRACE_TYPE_U32, 6);
    argument("arg", ARGTRACE_TYPE_U64, 0x7f0000001000);
    path("arg.path", "/x").high = 0;
    read("arg.value", "struct flock", words(1, 0, 10, 0), lock);
    read("arg.value.2", "struct flock", "", lock);
    returns(0);
    EXPECT_EQ(text(), "(fd=3, cmd=F_SETLK, arg={l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=10}) = 0");
    values[1].low = 0;
    values[2].low = 5;
    values[3].high = 2;
    values[4].high = 0;
    EXPECT_EQ(text(), "(fd=3, cmd=F_DUPFD, arg=5</x>) = 0");
}

} // namespace
} // namespace argtrace
