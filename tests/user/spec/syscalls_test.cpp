// SPDX-License-Identifier: GPL-2.0-only
#include "spec/syscalls.h"

#include <cstring>

#include <gmock/gmock.h>

#include "btf/format.h"
#include "spec/resolve.h"
#include "support/btf_builder.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

KernelTypes syscall_types() {
    BtfBuilder b;
    const int int_ = b.integer("int", 4, BTF_INT_SIGNED);
    const int long_ = b.integer("long int", 8, BTF_INT_SIGNED);
    const int ulong_ = b.integer("long unsigned int", 8);
    b.integer("char", 1);
    b.name("umode_t", b.integer("short unsigned int", 2));
    b.name("size_t", ulong_);
    b.structure("open_how", 16, {{"flags", ulong_, 0}, {"mode", ulong_, 64}});
    const int regs = b.pointer(b.structure("pt_regs", 168));
    b.function("__do_sys_getpid", long_, {{"__unused", regs}});
    b.function("__do_sys_old_nice", long_, {{"increment", int_}});
    b.function("__do_compat_sys_wait4", long_, {{"pid", int_}, {"options", int_}});
    b.function("vfs_read", int_, {{"file", regs}});
    return KernelTypes(b.take());
}

// What tracefs writes of an event whose fields are these.
std::string format_of(const std::vector<std::string> &fields) {
    std::string text = "name: sys_enter\nID: 1\nformat:\n"
                       "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
                       "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n";
    for (const std::string &field : fields)
        text += "\tfield:" + field + ";\toffset:16;\tsize:8;\tsigned:0;\n";
    return text + "\nprint fmt: \"\"\n";
}

SyscallFormats formats() {
    return SyscallFormats(
        {{"openat", format_of({"int dfd", "const char * filename", "int flags", "umode_t mode",
                               "__data_loc char[] __filename_val"})},
         {"openat2", format_of({"int dfd", "const char *const * filename", "struct open_how * how", "size_t usize"})},
         {"mmap", format_of({"unsigned long addr", "unsigned long len", "unsigned long prot",
                             "unsigned long flags", "unsigned long fd", "unsigned long off"})},
         {"newfstat", format_of({"unsigned int fd", "struct stat * statbuf"})},
         {"ptrace", format_of({"long request", "unsigned long addr"})},
         {"wait4", format_of({"int upid", "int * stat_addr"})},
         {"strange", format_of({"strange_t it", "union of_none * u", "const enum which w"})},
         {"getpid", format_of({})}});
}

Kernel kernel_with_syscalls(std::function<SyscallFormats()> described = formats) {
    Kernel::Sources sources{
        [] {
            return Kallsyms::parse("ffffffff81000000 T vfs_read\n"
                                   "ffffffff81000100 T __x64_sys_openat\n"
                                   "ffffffff81000110 T __ia32_sys_openat\n"
                                   "ffffffff81000120 T __ia32_compat_sys_openat\n"
                                   "ffffffff81000200 T __x64_sys_openat2\n"
                                   "ffffffff81000210 T __ia32_sys_openat2\n"
                                   "ffffffff81000300 T __x64_sys_mmap\n"
                                   "ffffffff81000400 t __do_sys_getpid\n"
                                   "ffffffff81000400 T __ia32_sys_getpid\n"
                                   "ffffffff81000400 T __x64_sys_getpid\n"
                                   "ffffffff81000500 T __x64_sys_newfstat\n"
                                   "ffffffff81000600 T __x64_sys_old_nice\n"
                                   "ffffffff81000610 T __ia32_sys_old_nice\n"
                                   "ffffffff81000700 T __x64_sys_ptrace\n"
                                   "ffffffff81000710 T __ia32_sys_ptrace\n"
                                   "ffffffff81000800 T __x64_sys_wait4\n"
                                   "ffffffff81000810 T __ia32_compat_sys_wait4\n"
                                   "ffffffff81000900 T __x64_sys_strange\n"
                                   "ffffffff81000a00 W __x64_sys_time32\n"
                                   "ffffffff81000a10 W __ia32_sys_time32\n");
        },
        syscall_types,
        [] { return Traceable::parse("vfs_read\n"); },
        "x86_64",
    };
    sources.syscalls = std::move(described);
    return Kernel(std::move(sources));
}

Request request_of(const std::vector<std::string> &specs) {
    return {parse_specs(specs, PatternSyntax::glob)};
}

std::vector<std::string> syscalls_of(const std::vector<std::string> &specs, bool force = false, bool raw = false) {
    Kernel kernel = kernel_with_syscalls();
    Request request = request_of(specs);
    request.force = force;
    request.raw = raw;
    std::vector<std::string> found;
    for (const Probe &probe : resolve(kernel, request).probes)
        found.push_back(probe.function);
    return found;
}

std::string syscall_refusal(const std::string &spec) {
    Kernel kernel = kernel_with_syscalls();
    return thrown([&] { resolve(kernel, request_of({spec})); });
}

std::string listed_syscall(const std::string &spec, bool raw = false) {
    Kernel kernel = kernel_with_syscalls();
    Request request = request_of({spec});
    request.raw = raw;
    const Found found = list_functions(kernel, request);
    return found.functions.at(0).prototype.text + (found.functions[0].forced ? " ~" : "");
}

TEST(Syscalls, ArgumentsAreWhereThoseOfAFunctionAre) {
    Kernel kernel = kernel_with_syscalls();
    const std::vector<Probe> probes = resolve(kernel, request_of({"s:openat", "s:mmap"})).probes;
    ASSERT_EQ(probes.size(), 2u);
    EXPECT_EQ(probes[0].addr, 0xffffffff81000100);
    EXPECT_EQ(probes[0].kind, ARGTRACE_KIND_SYSCALL);
    EXPECT_EQ(probes[0].function, "s:openat");
    ASSERT_EQ(probes[0].args.size(), 4u) << "without what the kernel has copied of them";
    EXPECT_EQ(probes[0].args[0].name, "dfd");
    EXPECT_EQ(probes[0].args[0].type, ARGTRACE_TYPE_S32);
    EXPECT_EQ(probes[0].args[1].type, ARGTRACE_TYPE_PTR);
    EXPECT_EQ(probes[0].args[1].type_name, "const char __user *");
    EXPECT_EQ(probes[0].args[3].type, ARGTRACE_TYPE_U16);
    EXPECT_EQ(probes[0].args[3].index, 3);
    ASSERT_EQ(probes[1].args.size(), 6u);
    EXPECT_EQ(probes[1].args[5].loc, ARGTRACE_LOC_REG);
    EXPECT_EQ(probes[1].args[5].index, 5);
}

TEST(Syscalls, ReturnALong) {
    Kernel kernel = kernel_with_syscalls();
    Request request = request_of({"s:openat", "s:getpid"});
    request.returns = true;
    const std::vector<Probe> probes = resolve(kernel, request).probes;
    for (const Probe &probe : probes) {
        EXPECT_EQ(probe.flags, ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0));
        EXPECT_EQ(probe.args.back().loc, ARGTRACE_LOC_RETURN);
        EXPECT_EQ(probe.args.back().type, ARGTRACE_TYPE_S64);
    }
    EXPECT_EQ(probes.at(1).args.size(), 1u);
}

TEST(Syscalls, NamesAndGlobs) {
    EXPECT_THAT(syscalls_of({"s:openat"}), ElementsAre("s:openat"));
    EXPECT_THAT(syscalls_of({"syscall:open*"}), ElementsAre("s:openat", "s:openat2"));
    EXPECT_THAT(syscalls_of({"s:*", "!s:*at*", "!s:strange"}),
                ElementsAre("s:getpid", "s:mmap", "s:ptrace", "s:wait4"))
        << "each once, and none that this kernel does not describe";
    EXPECT_THAT(syscalls_of({"s:*:openat2"}), ElementsAre("s:ia32:openat2", "s:openat2"));
    EXPECT_THAT(syscalls_of({"s:openat", "s:o*at"}), ElementsAre("s:openat"));
}

TEST(Syscalls, ClassesAreThoseOfTheTable) {
    EXPECT_THAT(syscalls_of({"s:%file"}), ElementsAre("s:openat", "s:openat2"));
    EXPECT_THAT(syscalls_of({"s:%memory", "s:%process"}), ElementsAre("s:mmap", "s:wait4"));
    EXPECT_THAT(syscalls_of({"s:%desc", "!s:%file", "!s:mmap"}), ElementsAre("s:newfstat"));
    EXPECT_THAT(syscalls_of({"s:ia32:%file"}), ElementsAre("s:ia32:openat2"));
    EXPECT_EQ(syscall_refusal("s:%network"), "s:%network: this kernel has no system call of that class");
    EXPECT_EQ(syscall_refusal("s:%netwrok"), "%netwrok is no class of system calls; did you mean %network?\n"
                                             "  s:%netwrok\n"
                                             "    ^");
    EXPECT_THAT(syscall_refusal("s:%q"), HasSubstr("%q is no class of system calls; there are %desc, %file, %ipc"));
    EXPECT_EQ(syscall_refusal("%file"), "classes are those of system calls, as in s:%network\n"
                                        "  %file\n"
                                        "  ^");
}

TEST(Syscalls, AreMarkedWhereTheyAreDescribed) {
    Kernel kernel = kernel_with_syscalls();
    Request request = request_of({"s:mmap", "s:strange"});
    request.meanings = std::make_shared<Meanings>();
    const std::vector<Probe> probes = resolve(kernel, request).probes;
    ASSERT_EQ(probes.size(), 2u);
    EXPECT_TRUE(ProbeFormats(probes[0]).are_described());
    EXPECT_TRUE(probes[0].program.empty()) << "nothing is computed for that";
    EXPECT_FALSE(ProbeFormats(probes[1]).are_described()) << "of which the table knows nothing";
    request.meanings = nullptr;
    EXPECT_FALSE(ProbeFormats(resolve(kernel, request).probes[0]).are_described());
}

TEST(Syscalls, Of32BitProgramsAreOthers) {
    Kernel kernel = kernel_with_syscalls();
    const std::vector<Probe> probes = resolve(kernel, request_of({"s:ia32:openat2", "s:ia32:ptrace", "s:ia32:wait4"})).probes;
    ASSERT_EQ(probes.size(), 3u);
    EXPECT_EQ(probes[0].addr, 0xffffffff81000210);
    EXPECT_EQ(probes[1].args.at(0).type, ARGTRACE_TYPE_S32) << "a long of theirs";
    EXPECT_EQ(probes[2].addr, 0xffffffff81000810);
    EXPECT_EQ(probes[2].args.at(1).name, "options") << "as BTF has it, of the call for them";
    EXPECT_EQ(listed_syscall("s:ia32:old_nice"), "long int s:ia32:old_nice(int increment)");
    EXPECT_THAT(syscalls_of({"s:ia32:*"}), ElementsAre("s:ia32:old_nice", "s:ia32:openat2", "s:ia32:ptrace", "s:ia32:wait4"))
        << "getpid has no function of its own";
}

TEST(Syscalls, WhatIsGuessedOrUnknownIsAskedFor) {
    EXPECT_EQ(syscall_refusal("s:ia32:openat"),
              "s:ia32:openat: 1 system call is left out, as only the arguments of the 64-bit calls of their names are "
              "known (s:ia32:openat); --force takes these for theirs, --raw shows registers");
    EXPECT_EQ(syscall_refusal("s:ia32:time32"),
              "s:ia32:time32: 1 system call is left out, as neither tracefs nor BTF describes their arguments "
              "(s:ia32:time32); --raw shows registers");
    EXPECT_THAT(syscalls_of({"s:ia32:openat"}, true), ElementsAre("s:ia32:openat"));
    EXPECT_EQ(listed_syscall("s:ia32:openat"), "long int s:ia32:openat(int dfd, const char *filename, int flags, umode_t mode) ~");
    EXPECT_EQ(listed_syscall("s:ia32:time32", true),
              "long int s:ia32:time32(void *arg0, void *arg1, void *arg2, void *arg3, void *arg4, void *arg5)");
    Kernel kernel = kernel_with_syscalls();
    EXPECT_THAT(resolve(kernel, request_of({"s:ia32:*"})).left,
                ElementsAre(HasSubstr("(s:ia32:openat)"), HasSubstr("(s:ia32:time32)")));
    EXPECT_THAT(resolve(kernel, request_of({"s:*"})).left, IsEmpty());
    // Types that are built for one do not disturb what is known of others.
    EXPECT_EQ(kernel.types().prototypes("vfs_read").at(0).function, "vfs_read");
    EXPECT_EQ(list_functions(kernel, request_of({"s:ia32:old_nice", "s:openat", "vfs_read"})).functions.at(2).prototype.text,
              "int vfs_read(struct pt_regs *file)");
}

TEST(Syscalls, ExpressionsKnowTheArguments) {
    Kernel kernel = kernel_with_syscalls();
    const std::vector<Probe> probes =
        resolve(kernel, request_of({"s:openat2(how->flags, usize) if usize == 24"})).probes;
    ASSERT_EQ(probes.at(0).args.size(), 2u);
    EXPECT_EQ(probes[0].args[0].loc, ARGTRACE_LOC_PROGRAM);
    EXPECT_EQ(probes[0].args[1].index, 3);
    EXPECT_EQ(thrown([&] { resolve(kernel, request_of({"s:openat(regs)"})); }),
              "s:openat has no argument regs, and it is no builtin or constant either\n"
              "  s:openat(regs)\n"
              "           ^");
}

TEST(Syscalls, TypesThatTheKernelHasNotAreNoObstacle) {
    EXPECT_EQ(listed_syscall("s:strange"),
              "long int s:strange(strange_t it, union of_none *u, const unsigned int w)");
    EXPECT_EQ(listed_syscall("s:newfstat"), "long int s:newfstat(unsigned int fd, struct stat *statbuf)");
}

TEST(Syscalls, WhatIsNotThereIsExplained) {
    EXPECT_EQ(syscall_refusal("s:opena"), "s:opena: there is no such system call; did you mean s:openat?");
    EXPECT_EQ(syscall_refusal("s:ia32:opena"), "s:ia32:opena: there is no such system call; did you mean s:ia32:openat?");
    EXPECT_EQ(syscall_refusal("s:qqq"), "s:qqq: there is no such system call; `argtrace list 's:*'` shows all of them");
    EXPECT_EQ(syscall_refusal("s:qq*"), "s:qq*: matches no system call; `argtrace list 's:*'` shows all of them");
    EXPECT_EQ(syscall_refusal("s:fstat"), "s:fstat: the kernel calls it s:newfstat");
    EXPECT_EQ(syscall_refusal("s:ia32:getpid"),
              "s:ia32:getpid: the kernel has one function for it and s:getpid, which shows the calls of both");
    EXPECT_EQ(syscall_refusal("s:x32:openat"), "x32: there is no such ABI; that of 32-bit programs is ia32\n"
                                          "  s:x32:openat\n"
                                          "    ^");
    EXPECT_EQ(syscall_refusal("s:"), "a system call's name is missing; all of them are 's:*'\n"
                                "  s:\n"
                                "    ^");
    EXPECT_EQ(syscall_refusal("s:ia32:a:b"),
              "a system call is s:NAME or s:ia32:NAME, and there is no ':' behind its name\n"
              "  s:ia32:a:b\n"
              "          ^");
    EXPECT_EQ(syscall_refusal("syscalls:sys_enter_openat"),
              "'syscalls:': a system call is s:NAME: `argtrace list 's:*'` shows them\n"
              "  syscalls:sys_enter_openat\n"
              "  ^");
}

Kernel kernel_without_tracefs() {
    return kernel_with_syscalls([]() -> SyscallFormats { throw Error("tracefs is not mounted"); });
}

TEST(Syscalls, WithoutTracefsAreThoseThatBtfDescribes) {
    Kernel kernel = kernel_without_tracefs();
    const Resolved all = resolve(kernel, request_of({"s:*:*"}));
    std::vector<std::string> found;
    for (const Probe &probe : all.probes)
        found.push_back(probe.function);
    EXPECT_THAT(found, ElementsAre("s:getpid", "s:ia32:old_nice", "s:ia32:wait4", "s:old_nice"));
    const Probe &nice = all.probes.back();
    ASSERT_EQ(nice.args.size(), 1u);
    EXPECT_EQ(nice.args[0].name, "increment");
    EXPECT_EQ(nice.kind, ARGTRACE_KIND_SYSCALL);
    EXPECT_EQ(resolve(kernel, request_of({"vfs_read"})).probes.size(), 1u);
}

TEST(Syscalls, WithoutTracefsTheWayOutIsTold) {
    Kernel kernel = kernel_without_tracefs();
    EXPECT_EQ(thrown([&] { resolve(kernel, request_of({"s:mmap"})); }),
              "s:mmap: 1 system call is left out, as BTF does not describe their arguments (s:mmap); --raw shows registers; tracefs is not "
              "mounted");
    EXPECT_EQ(thrown([&] { resolve(kernel, request_of({"s:fstat"})); }), "s:fstat: the kernel calls it s:newfstat");
    EXPECT_EQ(thrown([&] { resolve(kernel, request_of({"s:opena"})); }),
              "s:opena: there is no such system call; did you mean s:openat?");
    Request raw = request_of({"s:mmap"});
    raw.raw = true;
    EXPECT_EQ(resolve(kernel, raw).probes.at(0).args.size(), 6u);
}

} // namespace
} // namespace argtrace
