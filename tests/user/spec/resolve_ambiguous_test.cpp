// SPDX-License-Identifier: GPL-2.0-only
// Functions that share a name or that the compiler has changed: which are taken with --force, and which are left out.
#include "spec/resolve.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/btf_builder.h"
#include "support/resolve_kernel.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Resolve, ForceTakesClonesAndMarksThem) {
    for (const char *name : {"split", "split.isra.0", "split*"}) {
        const std::vector<Probe> probes = resolved_with({name}, true, false).probes;
        ASSERT_EQ(probes.size(), 1u) << name;
        EXPECT_EQ(probes[0].function, "split.isra.0");
        EXPECT_TRUE(probes[0].forced);
        EXPECT_EQ(probes[0].args.at(0).name, "file");
    }
    EXPECT_FALSE(resolved_with({"vfs_read"}, true, false).probes.at(0).forced);
    EXPECT_THAT(thrown([] { resolved_with({"split.cold"}, true, true); }),
                HasSubstr("jumped to, not called"));
}

TEST(Resolve, ForceTakesAllThatShareAName) {
    const std::vector<Probe> probes = resolved_with({"align_show"}, true, false).probes;
    ASSERT_EQ(probes.size(), 2u);
    EXPECT_EQ(probes[0].addr, 0xffffffff810000c0);
    EXPECT_EQ(probes[1].addr, 0xffffffff81000100);
    EXPECT_TRUE(probes[0].forced && probes[1].forced);
    EXPECT_TRUE(resolved_with({"differs"}, true, false).probes.at(0).forced);
}

TEST(Resolve, SaysWhatIsLeftOut) {
    EXPECT_THAT(resolved_with({"vfs_*"}, false, false).left, ElementsAre());
    EXPECT_THAT(resolved_with({"*"}, false, false).left,
                ElementsAre("*: 6 functions are left out: 1 that the compiler made of others "
                            "(split.isra.0; --force takes them), 3 that share their names with "
                            "others (align_show, differs; --force takes them), 1 that BTF does "
                            "not describe (memcpy_asm; --raw shows registers), 1 of modules that "
                            "have no BTF (foreign_open; --btf gives it, --raw shows registers)"));
    EXPECT_THAT(resolved_with({"*s*r*a*"}, false, false).left,
                ElementsAre("*s*r*a*: 1 function is left out: 1 that the compiler made of others "
                            "(split.isra.0; --force takes them)"));
    EXPECT_THAT(resolved_with({"*"}, true, true).left, ElementsAre());
}

TEST(Resolve, TakesWhatIsSureOfAName) {
    constexpr const char *symbols = "ffffffff81000000 t f\n"
                                    "ffffffff81000040 t f.part.0\n"
                                    "ffffffffc0000000 t f\t[a]\n"
                                    "ffffffffc0000040 t f\t[a]\n";
    Kernel kernel({
        [] { return Kallsyms::parse(symbols); },
        [] {
            BtfBuilder b;
            b.function("f", 0, {});
            BtfBuilder m(b.get());
            m.function("f", 0, {});
            BtfPtr module = m.take();
            KernelTypes types(b.take());
            types.add_module("a", std::move(module));
            return types;
        },
        []() -> Traceable { throw Error("tracefs is not mounted"); },
    });
    const Resolved taken = resolve(kernel, request({"f"}));
    EXPECT_THAT(names(taken.probes), ElementsAre("f"));
    EXPECT_THAT(taken.left,
                ElementsAre("f: f of the module a is left out: its arguments are not known for "
                            "sure: 2 functions of the module a have that name, and BTF does not "
                            "tell them apart: add --force to trace them all anyway",
                            "f: f.part.0 is left out: BTF describes f, whose arguments the "
                            "compiler may have changed: add --force to trace it anyway"));
}

TEST(Resolve, LeavesNamesThatTheKernelTracesOnlySometimes) {
    Kernel kernel({
        [] {
            return Kallsyms::parse("ffffffff81000000 t f\nffffffff81000040 t f\n"
                                   "ffffffff81000080 t g\n");
        },
        [] {
            BtfBuilder b;
            b.function("f", 0, {});
            b.function("g", 0, {});
            return KernelTypes(b.take());
        },
        [] { return Traceable::parse("f\ng\n"); },
    });
    const Resolved taken =
        resolve(kernel, {parse_specs(std::vector<std::string>{"*"}, PatternSyntax::glob), true});
    EXPECT_THAT(names(taken.probes), ElementsAre("g"));
    EXPECT_THAT(taken.left, ElementsAre("*: 2 functions are left out: 2 that share their names "
                                        "with some that the kernel does not trace (f)"));
    // With --force, and without it, which is not recommended.
    for (const bool force : {true, false}) {
        EXPECT_EQ(thrown([&] {
                      resolve(kernel, {parse_specs(std::vector<std::string>{"f"}, PatternSyntax::glob), force});
                  }),
                  "f: cannot be traced: 2 functions of the kernel have that name, some of which the kernel does not trace");
    }
}

// Functions of one name at 0x81000000, 0x81000040 and 0x81000080, another one that begins 8 bytes behind the third, and a module's.
Kernel make_kernel_of_namesakes(std::string traceable) {
    return Kernel({
        [] {
            return Kallsyms::parse("ffffffff81000000 t f\nffffffff81000040 t f\n"
                                   "ffffffff81000080 t f\nffffffff81000088 t g\n"
                                   "ffffffffc0000000 t f\t[a]\nffffffffc0000040 t f\t[a]\n");
        },
        [] {
            BtfBuilder b;
            b.function("f", 0, {});
            b.function("g", 0, {});
            BtfBuilder m(b.get());
            m.function("f", 0, {});
            BtfPtr module = m.take();
            KernelTypes types(b.take());
            types.add_module("a", std::move(module));
            return types;
        },
        [traceable = std::move(traceable)] { return Traceable::parse(traceable); },
    });
}

Request forced(const std::string &spec) {
    return {parse_specs(std::vector<std::string>{spec}, PatternSyntax::glob), true};
}

std::vector<std::uint64_t> addresses(const std::vector<Probe> &probes) {
    std::vector<std::uint64_t> found;
    for (const Probe &probe : probes)
        found.push_back(probe.addr);
    return found;
}

// The first has its call behind an ENDBR; the third has none, but g, which begins where its call might be, has.
constexpr const char *some_traceable = "ffffffff81000004 f\nffffffff81000040 f\nffffffff81000088 g\n";

TEST(Resolve, TakesThoseOfAnAmbiguousNameThatTheKernelTraces) {
    Kernel kernel = make_kernel_of_namesakes(some_traceable);
    const Resolved taken = resolve(kernel, forced("vmlinux:f"));
    EXPECT_THAT(addresses(taken.probes), ElementsAre(0xffffffff81000000, 0xffffffff81000040));
    EXPECT_TRUE(taken.probes[0].forced && taken.probes[1].forced) << "which of them BTF describes is not known";
    EXPECT_THAT(taken.left, ElementsAre("vmlinux:f: 1 of 3 functions of the kernel that are called f is left out: the kernel does "
                                        "not trace it"));
}

TEST(Resolve, RecommendsForceWhereSomeOfAnAmbiguousNameAreTraced) {
    const auto refused = [](const char *traceable, const Request &wanted) {
        Kernel kernel = make_kernel_of_namesakes(traceable);
        return thrown([&] { resolve(kernel, wanted); });
    };
    EXPECT_EQ(refused(some_traceable, request({"vmlinux:f"})),
              "vmlinux:f: its arguments are not known for sure: 3 functions of the kernel have that name, and BTF does not tell them "
              "apart: add --force to trace the 2 that the kernel can trace anyway");
    EXPECT_EQ(refused("ffffffff81000044 f\n", request({"vmlinux:f"})),
              "vmlinux:f: its arguments are not known for sure: 3 functions of the kernel have that name, and BTF does not tell them "
              "apart: add --force to trace the one that the kernel can trace anyway");
    EXPECT_EQ(refused("ffffffff81000088 g\n", forced("vmlinux:f")),
              "vmlinux:f: cannot be traced: 3 functions of the kernel have that name, and the kernel traces none of them");
}

TEST(Resolve, LooksAtTheNamesakesOfEachModuleAlone) {
    Kernel kernel = make_kernel_of_namesakes("ffffffff81000044 f\nffffffffc0000004 f [a]\nffffffffc0000044 f [a]\n");
    const Resolved taken = resolve(kernel, forced("f"));
    EXPECT_THAT(addresses(taken.probes), ElementsAre(0xffffffff81000040, 0xffffffffc0000000, 0xffffffffc0000040));
    EXPECT_THAT(taken.left, ElementsAre("f: 2 of 3 functions of the kernel that are called f are left out: the kernel does not trace them"));
}

TEST(Resolve, PatternsMatchThoseOfAnAmbiguousNameThatTheKernelTraces) {
    Kernel kernel = make_kernel_of_namesakes(some_traceable);
    const Resolved all = resolve(kernel, forced("*"));
    EXPECT_THAT(addresses(all.probes), ElementsAre(0xffffffff81000000, 0xffffffff81000040, 0xffffffff81000088));
    EXPECT_THAT(all.left, ElementsAre());
    EXPECT_THAT(resolve(kernel, request({"*"})).left,
                ElementsAre("*: 2 functions are left out: 2 that share their names with others (f; --force takes them)"));
}

} // namespace
} // namespace argtrace
