// SPDX-License-Identifier: GPL-2.0-only
// What cannot be traced, and what the error suggests instead.
#include "spec/resolve.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/resolve_kernel.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Resolve, SuggestsANearName) {
    EXPECT_EQ(refused_function("vfs_raed"), "vfs_raed: no such function; did you mean vfs_read?");
    EXPECT_EQ(refused_function("ext4_opne"),
              "ext4_opne: no such function; did you mean ext4_open?");
    EXPECT_EQ(refused_function("nothing_like_it_at_all"),
              "nothing_like_it_at_all: no such function in this kernel: if its source has one, the "
              "compiler inlined it or left it out");
    EXPECT_EQ(refused_function("VFS_READ"), "VFS_READ: no such function; did you mean vfs_read?");
    EXPECT_EQ(refused_function("write"), "write: no such function; did you mean vfs_write?");
}

TEST(Resolve, NamesEachThatIsWrong) {
    Kernel kernel = make_kernel();
    EXPECT_EQ(thrown([&] {
                  resolved(kernel, {"vfs_raed", "vfs_read", "ext4_opne", "vfs_raed", "zz*"});
              }),
              "vfs_raed: no such function; did you mean vfs_read?\n"
              "ext4_opne: no such function; did you mean ext4_open?\n"
              "zz*: matches no function that can be traced");
    std::vector<std::string> names;
    for (int i = 0; i < 50; i++)
        names.push_back("nothing_like_it_" + std::to_string(i));
    const std::string all = thrown([&] { resolved(kernel, names); });
    EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 10);
    EXPECT_THAT(all, testing::EndsWith("\nthere may be more like these"));
}

TEST(Resolve, SaysHowWhatOtherToolsTraceIsNamed) {
    EXPECT_EQ(refused_function("kprobe:vfs_read"),
              "'kprobe:' is not needed: the entry of a function is named by the function alone: "
              "vfs_read\n"
              "  kprobe:vfs_read\n"
              "  ^");
    EXPECT_THAT(refused_function("k:vfs_*"), HasSubstr("by the function alone: 'vfs_*'\n"));
    EXPECT_THAT(refused_function("kretprobe:vfs_read"), HasSubstr("a call is recorded with what it returned: 'vfs_read='"));
    EXPECT_THAT(refused_function("kernel:vfs_*"),
                StartsWith("kernel: the kernel itself is vmlinux: 'vmlinux:vfs_*'\n"));
    EXPECT_THAT(refused_function("p:/bin/bash:readline"),
                StartsWith("'p:' is not needed: a function of a program or library is u:OBJECT:FUNCTION: u:/bin/bash:readline\n"));
    EXPECT_THAT(refused_function("r:/bin/bash:readline"), HasSubstr("a call is recorded with what it returned: 'u:/bin/bash:readline='\n"));
    EXPECT_THAT(refused_function("c:strlen"),
                StartsWith("c: no such module is loaded; functions of the library are u:libc:FUNCTION: 'u:libc:strlen'\n"));
    EXPECT_THAT(refused_function("env:main"), HasSubstr("functions of the program are u:env:FUNCTION: 'u:env:main'\n"));
}

TEST(Resolve, SaysThatBuiltInCodeHasNoModule) {
    EXPECT_EQ(refused_function("vfs:*"),
              "vfs: no such module is loaded; where vfs is built into the kernel, its functions go "
              "by their names alone (2 begin with vfs_): 'vfs_*'\n"
              "  vfs:*\n"
              "  ^");
    EXPECT_THAT(refused_function("vfs:vfs_read"), HasSubstr(" begin with vfs_): 'vfs_read'\n"));
}

TEST(Resolve, SuggestsFromBtfWithoutTracefs) {
    Kernel kernel = make_kernel_without_tracefs();
    EXPECT_EQ(thrown([&] { resolved(kernel, {"vfs_raed"}); }),
              "vfs_raed: no such function; did you mean vfs_read?");
}

TEST(Resolve, RefusesWhatTheCompilerMade) {
    EXPECT_EQ(refused_function("split.isra.0"),
              "split.isra.0: BTF describes split, whose arguments the compiler may have changed: "
              "add --force to trace it anyway");
    EXPECT_EQ(refused_function("split"),
              "split: the kernel has it only as split.isra.0: BTF describes split, whose arguments "
              "the compiler may have changed: add --force to trace it anyway");
    EXPECT_EQ(refused_function("split.cold"),
              "split.cold: cannot be traced: it is a part of split that is jumped to, not called");
}

TEST(Resolve, RefusesWhatWasInlined) {
    EXPECT_THAT(refused_function("inlined"),
                AllOf(StartsWith("inlined: cannot be traced"), HasSubstr("inlined it everywhere")));
}

TEST(Resolve, RefusesWhatBtfDoesNotDescribe) {
    EXPECT_EQ(refused_function("memcpy_asm"),
              "memcpy_asm: its arguments are unknown: the BTF of the kernel "
              "does not describe it: add --raw to see the six argument "
              "registers");
    EXPECT_THAT(refused_function("foreign_open"), HasSubstr("the module foreign has no BTF"));
}

TEST(Resolve, RefusesNamesThatSeveralFunctionsShare) {
    EXPECT_THAT(refused_function("align_show"),
                HasSubstr("2 functions of the kernel have that name"));
    EXPECT_THAT(refused_function("differs"), HasSubstr("BTF describes 2 functions of that name"));
}

TEST(Resolve, RefusesGlobsThatTakeNothing) {
    EXPECT_EQ(refused_function("zzz*"), "zzz*: matches no function that can be traced");
    EXPECT_EQ(refused_function("vfs_raed*"),
              "vfs_raed*: matches no function that can be traced; did you mean vfs_read?");
    EXPECT_THAT(
        refused_function("memcpy_*"),
        AllOf(StartsWith("memcpy_*: "),
              HasSubstr("1 that BTF does not describe (memcpy_asm; --raw shows registers)")));
    EXPECT_THAT(refused_function("native_*"), HasSubstr("matches no function that can be traced"));
}

TEST(ExplainRefusal, SaysWhy) {
    Kernel kernel = make_kernel();
    const auto explained = [&](const char *name) {
        return std::string(explain_refusal(kernel, resolved(kernel, {name}).at(0)).what());
    };
    EXPECT_EQ(explained("native_nmi"),
              "native_nmi: cannot be traced: it is marked notrace or written "
              "in assembly (it is not in available_filter_functions)");
    EXPECT_THAT(explained("start_kernel"), HasSubstr("it ran while the kernel booted"));
    EXPECT_THAT(explained("vfs_read"),
                AllOf(StartsWith("vfs_read: the kernel refused"), HasSubstr("0xffffffff81000000")));
}

TEST(ExplainRefusal, SaysThatItCannotTell) {
    Kernel kernel = make_kernel_without_tracefs();
    const Probe probe = resolved(kernel, {"native_nmi"}).at(0);
    EXPECT_THAT(explain_refusal(kernel, probe).what(),
                AllOf(StartsWith("native_nmi: "), HasSubstr("tracefs is not mounted")));
}

} // namespace
} // namespace argtrace
