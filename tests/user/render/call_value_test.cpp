// SPDX-License-Identifier: GPL-2.0-only

// What -d shows of what the pointers and descriptors of system calls lead to, by the shipped table of calls.

#include "render/call_value.h"

#include <map>
#include <utility>

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

TEST_F(CallValueTest, EnvironmentsAreCounted) {
    call("s:execve");
    argument("filename", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    argument("argv", ARGTRACE_TYPE_PTR, 0x7f0000002000);
    argument("envp", ARGTRACE_TYPE_PTR, 0x7f0000003000);
    read("envp.value", "void *[0]", words(0x1000, 0x2000, 0, 0x3000)).captured = false;
    read("envp.value.2", "void *[0...]", words(0x1000, 0x2000)).captured = false;
    const std::string before = "(filename=0x7f0000001000, argv=0x7f0000002000, envp=0x7f0000003000";
    EXPECT_EQ(text(), before + ")");
    values[3].captured = true;
    EXPECT_EQ(text(), before + " /* 2 vars */)");
    EXPECT_EQ(json(), "{\"filename\":\"0x7f0000001000\",\"argv\":\"0x7f0000002000\",\"envp\":\"0x7f0000003000\",\"envp.value\":[\"0x1000\",\"0x2000\"]}}\n");
    values[3].high = 24; // and zero
    EXPECT_EQ(text(), before + " /* 2 vars */)");
    values[3].high = 16;
    EXPECT_EQ(text(), before + " /* 2 or more vars */)");
    values[3].captured = false;
    values[4].captured = true;
    EXPECT_EQ(text(), before + " /* 2 or more vars */)");
    EXPECT_EQ(json().substr(json().find(",\"envp.value")), ",\"envp.value\":null,\"envp.value.2\":[\"0x1000\",\"0x2000\"]}}\n");
}

TEST_F(CallValueTest, ElementsOfAnArrayThatEndsAtAPageWhichIsNotThere) {
    const int vector = b.structure("iovec", 16, {{"iov_base", pointer_, 0}, {"iov_len", long_, 64}});
    call("s:process_madvise");
    argument("pidfd", ARGTRACE_TYPE_S32, 4);
    argument("vec", ARGTRACE_TYPE_PTR, 0x7f0000000fe8);
    read("vec.value", "struct iovec[]", "", vector).captured = false;
    read("vec.value.2", "struct iovec[...]", words(0x1000, 3, 0x2000, 4), vector).high = 24;
    argument("vlen", ARGTRACE_TYPE_U64, 3);
    EXPECT_EQ(text(), "(pidfd=4, vec=[{iov_base=0x1000, iov_len=3}, ...], vlen=3)");
    EXPECT_EQ(json(), "{\"pidfd\":4,\"vec\":\"0x7f0000000fe8\",\"vec.value\":null,\"vec.value.2\":[{\"iov_base\":\"0x1000\",\"iov_len\":3}],\"vlen\":3}}\n");
    values[2] = {values[3].low, 32, ARGTRACE_TYPE_BYTES, true};
    EXPECT_EQ(json(), "{\"pidfd\":4,\"vec\":\"0x7f0000000fe8\",\"vec.value\":[{\"iov_base\":\"0x1000\",\"iov_len\":3},{\"iov_base\":\"0x2000\",\"iov_len\":4}],\"vlen\":3}}\n")
        << "what is whole is not there twice";
}

TEST_F(CallValueTest, NamesInAFolder) {
    const int characters = b.array(long_, b.integer("char", 1, BTF_INT_CHAR), 0);
    const int entry = b.structure("linux_dirent64", 24, {{"d_ino", long_, 0}, {"d_reclen", short_, 128}, {"d_name", characters, 152}});
    const auto one = [this](std::uint64_t inode, std::string name, std::size_t length) {
        std::string data = words(inode, 0) + std::string{static_cast<char>(length), '\0', '\4'} + name;
        data.resize(length, '\0');
        return data;
    };
    call("s:getdents64");
    argument("fd", ARGTRACE_TYPE_U32, 3);
    argument("dirent", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    read("dirent.value", "struct linux_dirent64[+]", one(1, ".", 24) + one(2, "a name", 32) + one(3, "cut", 24), entry);
    argument("count", ARGTRACE_TYPE_U32, 4096);
    returns(80);
    EXPECT_EQ(text(), "(fd=3, dirent=[\".\", \"a name\", \"cut\"], count=4096) = 80");
    EXPECT_EQ(json(), "{\"fd\":3,\"dirent\":\"0x7f0000001000\",\"dirent.value\":[{\"d_ino\":1,\"d_reclen\":24,\"d_name\":\".\"},"
                      "{\"d_ino\":2,\"d_reclen\":32,\"d_name\":\"a name\"},{\"d_ino\":3,\"d_reclen\":24,\"d_name\":\"cut\"}],\"count\":4096},\"ret\":80");
    values[2].high -= 1;
    values[2].cut = true;
    EXPECT_EQ(text(), "(fd=3, dirent=[\".\", \"a name\", ...], count=4096) = 80") << "the last is not there whole";
    const std::uint64_t whole = std::exchange(values[2].high, 24 + 30);
    EXPECT_EQ(text(), "(fd=3, dirent=[\".\", ...], count=4096) = 80") << "nor is the second, which says that it has 32 bytes";
    values[2].high = whole;
    values[2].cut = false;
    bytes[16] = std::byte{0};
    EXPECT_EQ(text(), "(fd=3, dirent=[...], count=4096) = 80") << "no entry is that short";
    EXPECT_EQ(json(), "{\"fd\":3,\"dirent\":\"0x7f0000001000\",\"dirent.value\":[],\"count\":4096},\"ret\":80");
    values[2].high = 0;
    values.back().low = 0;
    EXPECT_EQ(text(), "(fd=3, dirent=[], count=4096) = 0") << "the end of the folder";
}

TEST_F(CallValueTest, ControlMessages) {
    const int message = b.structure("user_msghdr", 56, {{"msg_name", pointer_, 0}, {"msg_namelen", int_, 64}, {"msg_iov", pointer_, 128}, {"msg_iovlen", long_, 192},
                                                        {"msg_control", pointer_, 256}, {"msg_controllen", long_, 320}, {"msg_flags", int_, 384}});
    const int control = b.structure("cmsghdr", 16, {{"cmsg_len", long_, 0}, {"cmsg_level", int_, 64}, {"cmsg_type", int_, 96}});
    call("s:sendmsg");
    argument("fd", ARGTRACE_TYPE_S32, 3);
    argument("msg", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    read("msg.value", "struct user_msghdr", words(0, 0, 0x2000, 0, 0x3000, 104, 0), message);
    read("msg.msg_control", "struct cmsghdr[+]",
         words(24, 0x100000001, 0x400000003) + words(28, 0x200000001, 0x3e80000002a, 0x3e8) + words(20, 0x8000000000, 7) + words(17, 0x6300000001, 'x'), control);
    argument("flags", ARGTRACE_TYPE_U32, 0);
    const std::string before = "(fd=3, msg={msg_name=NULL, msg_namelen=0, msg_iov=0x2000, msg_iovlen=0, msg_controllen=104, msg_control=";
    EXPECT_EQ(text(), before + "[{cmsg_len=24, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[3, 4]}, "
                               "{cmsg_len=28, cmsg_level=SOL_SOCKET, cmsg_type=SCM_CREDENTIALS, cmsg_data={pid=42, uid=1000, gid=1000}}, "
                               "{cmsg_len=20, cmsg_level=SOL_IP, cmsg_type=0x80}, {cmsg_len=17, cmsg_level=SOL_SOCKET, cmsg_type=99}], msg_flags=0}, flags=0)");
    const std::string all = json();
    EXPECT_NE(all.find("\"msg.msg_control\":[{\"cmsg_len\":24,\"cmsg_level\":1,\"cmsg_type\":1,\"data\":\"0300000004000000\"},"), all.npos) << all;
}

TEST_F(CallValueTest, AddressesOfOtherFamilies) {
    const int address = b.structure("sockaddr_un", 110, {{"sun_family", short_, 0}});
    call("s:bind");
    argument("fd", ARGTRACE_TYPE_S32, 3);
    argument("umyaddr", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    read("umyaddr.value", "struct sockaddr_un", words(0x4d200000010, 5).substr(0, 12), address);
    argument("addrlen", ARGTRACE_TYPE_S32, 12);
    EXPECT_EQ(text(), "(fd=3, umyaddr={sa_family=AF_NETLINK, nl_pid=1234, nl_groups=0x5}, addrlen=12)");
    EXPECT_EQ(json(), "{\"fd\":3,\"umyaddr\":\"0x7f0000001000\",\"umyaddr.value\":\"family 16\",\"addrlen\":12}}\n");
    values[2].high = 8;
    EXPECT_EQ(text(), "(fd=3, umyaddr={sa_family=AF_NETLINK, nl_pid=1234}, addrlen=12)") << "as far as the program has passed it";
    bytes[0] = std::byte{31};
    EXPECT_EQ(text(), "(fd=3, umyaddr={sa_family=AF_BLUETOOTH}, addrlen=12)");
}

TEST_F(CallValueTest, TimesThatAreNoTimes) {
    const int time = b.structure("__kernel_timespec", 16, {{"tv_sec", long_, 0}, {"tv_nsec", long_, 64}});
    call("s:utimensat");
    argument("dfd", ARGTRACE_TYPE_S32, static_cast<std::uint64_t>(-100));
    argument("filename", ARGTRACE_TYPE_PTR, 0);
    argument("utimes", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    read("utimes.value", "struct __kernel_timespec[]", words(1, 0x3fffffff, 2, 3), time);
    argument("flags", ARGTRACE_TYPE_S32, 0);
    EXPECT_EQ(text(), "(dfd=AT_FDCWD, filename=NULL, utimes=[UTIME_NOW, {tv_sec=2, tv_nsec=3}], flags=0)");
    bytes[24] = std::byte{0xfe}, bytes[25] = bytes[26] = std::byte{0xff}, bytes[27] = std::byte{0x3f};
    EXPECT_EQ(text(), "(dfd=AT_FDCWD, filename=NULL, utimes=[UTIME_NOW, UTIME_OMIT], flags=0)") << "each of them";
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
    EXPECT_EQ(text(), "(fd=3, uservaddr={sa_family=AF_UNIX}, addrlen=6)") << "a socket without a name";
    values[2].high = 0;
    EXPECT_EQ(text(), "(fd=3, uservaddr=0x7f0000001000, addrlen=6)");
}

TEST_F(CallValueTest, OfAnAddressNoMoreThanThereWasRoomFor) {
    const int address = b.structure("sockaddr_un", 110, {{"sun_family", short_, 0}});
    call("s:accept");
    argument("fd", ARGTRACE_TYPE_S32, 3);
    argument("upeer_sockaddr", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    read("upeer_sockaddr.value", "struct sockaddr_un", std::string("\1\0/run/x", 8), address);
    read("upeer_sockaddr.value.2", "struct sockaddr_un", "", address);
    read("upeer_sockaddr.room", "int", std::string("\5\0\0\0", 4), int_);
    argument("upeer_addrlen", ARGTRACE_TYPE_PTR, 0x7f0000002000);
    returns(4);
    EXPECT_EQ(text(), "(fd=3, upeer_sockaddr={\"/ru\"}, upeer_addrlen=0x7f0000002000) = 4");
    bytes[8] = std::byte{2};
    EXPECT_EQ(text(), "(fd=3, upeer_sockaddr={sa_family=AF_UNIX}, upeer_addrlen=0x7f0000002000) = 4");
    bytes[8] = std::byte{110};
    EXPECT_EQ(text(), "(fd=3, upeer_sockaddr={\"/run/x\"}, upeer_addrlen=0x7f0000002000) = 4");
    values[2].captured = false;
    EXPECT_EQ(text(), "(fd=3, upeer_sockaddr=0x7f0000001000, upeer_addrlen=0x7f0000002000) = 4");
}

TEST_F(CallValueTest, AttributesByCommand) {
    const int characters = b.array(long_, b.integer("char", 1, BTF_INT_CHAR), 16);
    const int create = b.structure("", 64, {{"map_type", int_, 0}, {"key_size", int_, 32}, {"value_size", int_, 64}, {"max_entries", int_, 96}, {"map_flags", int_, 128},
                                            {"inner_map_fd", int_, 160}, {"numa_node", int_, 192}, {"map_name", characters, 224}});
    const int element = b.structure("", 32, {{"map_fd", int_, 0}, {"key", long_, 64}, {"value", long_, 128}, {"flags", long_, 192}});
    const int attributes = b.structure("bpf_attr", 64, {{"", create, 0}, {"", element, 0}});
    call("s:bpf");
    argument("cmd", ARGTRACE_TYPE_S32, 0);
    argument("uattr", ARGTRACE_TYPE_PTR, 0x7f0000001000);
    read("uattr.value", "union bpf_attr", words(0x400000001, 0x1000000008, 0, 0x6261 * 0x100000000).substr(0, 28), attributes);
    argument("size", ARGTRACE_TYPE_U32, 28);
    EXPECT_EQ(text(), "(cmd=BPF_MAP_CREATE, uattr={map_type=BPF_MAP_TYPE_HASH, key_size=4, value_size=8, max_entries=16, map_flags=0, inner_map_fd=0}, size=28)");
    values[0].low = 3;
    EXPECT_EQ(text(), "(cmd=BPF_MAP_DELETE_ELEM, uattr={map_fd=1, key=0x1000000008}, size=28)");
    values[0].low = 1;
    EXPECT_EQ(text(), "(cmd=BPF_MAP_LOOKUP_ELEM, uattr={map_fd=1, key=0x1000000008, value=NULL}, size=28)") << "a member may be called value";
    values[0].low = 36;
    EXPECT_EQ(text(), "(cmd=BPF_TOKEN_CREATE, uattr={...}, size=28)");
}

TEST_F(CallValueTest, ControlBlocks) {
    const int block = b.structure("iocb", 64, {{"aio_data", long_, 0}, {"aio_key", int_, 64}, {"aio_lio_opcode", short_, 128}, {"aio_reqprio", short_, 144}, {"aio_fildes", int_, 160},
                                               {"aio_buf", long_, 192}, {"aio_nbytes", long_, 256}, {"aio_offset", long_, 320}, {"aio_flags", int_, 448}});
    call("s:io_submit");
    argument("ctx_id", ARGTRACE_TYPE_U64, 0x7f0000001000);
    argument("nr", ARGTRACE_TYPE_S64, 2);
    argument("iocbpp", ARGTRACE_TYPE_PTR, 0x7f0000002000);
    read("iocbpp.value", "unsigned long[]", words(0x1000, 0x2000), long_);
    read("iocbpp.[0]", "struct iocb", words(0x11, 0, 0x300000000, 0x4000, 512, 1024, 0, 0), block);
    read("iocbpp.[1]", "struct iocb", "", block).captured = false;
    EXPECT_EQ(text(), "(ctx_id=0x7f0000001000, nr=2, iocbpp=[{aio_data=0x11, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3, aio_buf=0x4000, aio_nbytes=512, aio_offset=1024}, 0x2000])");
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
