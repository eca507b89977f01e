// SPDX-License-Identifier: GPL-2.0-only
#include "spec/resolve.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/btf_builder.h"
#include "support/resolve_kernel.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

using testing::ElementsAre;

TEST(Resolve, MakesAProbeOfAName) {
    Kernel kernel = make_kernel_without_tracefs();
    const std::vector<Probe> probes = resolved(kernel, {"vfs_read"});
    ASSERT_EQ(probes.size(), 1u);
    EXPECT_EQ(probes[0], (Probe{.addr = 0xffffffff81000000,
                                .function = "vfs_read",
                                .args = {{.loc = ARGTRACE_LOC_REG,
                                          .index = 0,
                                          .type = ARGTRACE_TYPE_PTR,
                                          .size = 8,
                                          .name = "file",
                                          .type_name = "struct file *"},
                                         {.loc = ARGTRACE_LOC_REG,
                                          .index = 1,
                                          .type = ARGTRACE_TYPE_U64,
                                          .size = 8,
                                          .name = "count",
                                          .type_name = "size_t"}},
                                .types = {}}));
}

TEST(Resolve, PlacesArgumentsAsTheKernelsMachineDoes) {
    const auto place_of_seventh = [](const std::string &machine) {
        Kernel kernel({
            [] { return Kallsyms::parse("ffffffff81000000 T f\n"); },
            [] {
                BtfBuilder b;
                const int number = b.integer("int", 4, BTF_INT_SIGNED);
                b.function("f", 0,
                           {{"a", number},
                            {"b", number},
                            {"c", number},
                            {"d", number},
                            {"e", number},
                            {"f", number},
                            {"g", number}});
                return KernelTypes(b.take());
            },
            [] { return Traceable::parse(""); },
            machine,
        });
        return kernel.architecture().functions->location(resolved(kernel, {"f"}).at(0).args.at(6));
    };
    EXPECT_EQ(place_of_seventh("x86_64"), "sp+8");
    EXPECT_EQ(place_of_seventh("aarch64"), "x6");
    EXPECT_EQ(thrown([&] { place_of_seventh("riscv64"); }),
              "riscv64: argtrace does not know how this machine passes arguments; it knows x86_64 "
              "and aarch64");
}

TEST(Resolve, ProbesCarryTheTypesTheyNeed) {
    BtfBuilder b;
    const int mode = b.enumeration("mode", 4, 1);
    b.function("needs", 0, {{"mode", mode}});
    b.function("does_not", 0, {{"mode", b.pointer(mode)}});
    KernelTypes types(b.take());
    EXPECT_FALSE(make_probe({{}, types.prototypes("needs").at(0)}).types.empty());
    EXPECT_TRUE(make_probe({{}, types.prototypes("does_not").at(0)}).types.empty());
}

TEST(Resolve, KeepsTheOrderAndTakesEachOnce) {
    Kernel kernel = make_kernel();
    EXPECT_THAT(names(resolved(kernel, {"vfs_write", "vfs_read", "vfs_*", "vfs_write"})),
                ElementsAre("vfs_write", "vfs_read"));
    EXPECT_THAT(names(resolved(kernel, {"alias_one", "alias_two"})), ElementsAre("alias_one"));
}

TEST(Resolve, RefusesToTraceNothing) {
    for (const std::vector<std::string> &words :
         {std::vector<std::string>{}, {"!vfs_*"}, {"vfs_read", "!vfs_*"}}) {
        Kernel kernel = make_kernel();
        EXPECT_THROW(resolved(kernel, words), Error);
    }
}

TEST(Resolve, TakesANameFromEveryModule) {
    Kernel kernel = make_kernel();
    const std::vector<Probe> probes = resolved(kernel, {"init_once"});
    ASSERT_EQ(probes.size(), 2u);
    EXPECT_EQ(probes[0].addr, 0xffffffffc0000000);
    EXPECT_EQ(probes[0].args.at(0).type_name, "struct ext4 *");
    EXPECT_EQ(probes[1].addr, 0xffffffffc0001000);
    EXPECT_EQ(probes[1].args.at(0).type_name, "struct xfs *");
}

TEST(Resolve, GlobTakesWhatIsTraceableAndDescribed) {
    Kernel kernel = make_kernel();
    EXPECT_THAT(names(resolved(kernel, {"*"})), ElementsAre("alias_one", "ext4_open", "init_once",
                                                            "init_once", "vfs_read", "vfs_write"));
    EXPECT_THAT(names(resolved(kernel, {"vfs_rea?"})), ElementsAre("vfs_read"));
}

TEST(Resolve, GlobNeedsTracefs) {
    Kernel kernel = make_kernel_without_tracefs();
    EXPECT_EQ(thrown([&] { resolved(kernel, {"vfs_*"}); }), "tracefs is not mounted");
}

TEST(Resolve, ModulesOfASpec) {
    Kernel kernel = make_kernel();
    EXPECT_THAT(names(resolved(kernel, {"ext4:*"})), ElementsAre("ext4_open", "init_once"));
    EXPECT_THAT(names(resolved(kernel, {"vmlinux:vfs_*"})), ElementsAre("vfs_read", "vfs_write"));
    const std::vector<Probe> probes = resolved(kernel, {"xfs:init_once"});
    ASSERT_EQ(probes.size(), 1u);
    EXPECT_EQ(probes[0].args.at(0).type_name, "struct xfs *");
    EXPECT_EQ(refused_function("ext3:*"), "ext3: no such module is loaded; did you mean ext4?\n"
                                          "  ext3:*\n"
                                          "  ^");
    EXPECT_EQ(refused_function("btr*:*"), "btr*: no module that is loaded matches\n  btr*:*\n  ^");
    EXPECT_EQ(refused_function("ext4:vfs_read"),
              "ext4:vfs_read: no such function there; it is in the kernel itself\n"
              "  ext4:vfs_read\n"
              "       ^");
    EXPECT_EQ(refused_function("vmlinux:ext4_open"),
              "vmlinux:ext4_open: no such function there; it is in ext4\n"
              "  vmlinux:ext4_open\n"
              "          ^");
}

TEST(Resolve, ExclusionWinsWhateverTheOrder) {
    Kernel kernel = make_kernel();
    EXPECT_THAT(names(resolved(kernel, {"!vfs_write", "vfs_*"})), ElementsAre("vfs_read"));
    EXPECT_THAT(names(resolved(kernel, {"vfs_read", "vfs_write", "!*_write"})),
                ElementsAre("vfs_read"));
    EXPECT_THAT(names(resolved(kernel, {"init_once", "!ext4:*"})), ElementsAre("init_once"));
    EXPECT_EQ(thrown([&] {
                  resolved(kernel, {"vfs_read", "!vfs_*"});
              }),
              "no function is left: all that are named are excluded with '!'");
    EXPECT_EQ(refused_function("!vfs_*"),
              "only exclusions are given; add '*'\n"
              "  !vfs_*\n"
              "  ^");
}

TEST(Resolve, AGlobOfWhichAllIsExcludedSaysSo) {
    EXPECT_EQ(thrown([] {
                  Kernel kernel = make_kernel();
                  resolved(kernel, {"vfs_*", "!vfs_*"});
              }),
              "no function is left: all that are named are excluded with '!'");
}

TEST(Resolve, RawTakesRegisters) {
    const std::vector<Probe> probes = resolved_with({"memcpy_asm(arg0, arg5)"}, true, true).probes;
    ASSERT_EQ(probes.size(), 1u);
    EXPECT_FALSE(probes[0].forced) << "registers are what they are";
    ASSERT_EQ(probes[0].args.size(), 2u);
    EXPECT_EQ(probes[0].args[1].index, 5);
    EXPECT_EQ(probes[0].args[1].type, ARGTRACE_TYPE_PTR) << "shown in hexadecimal";
    EXPECT_EQ(probes[0].args[1].type_name, "unsigned long");
    EXPECT_EQ(resolved_with({"foreign_open"}, false, true).probes.at(0).args.size(), 6u);
    EXPECT_EQ(resolved_with({"vfs_read"}, false, true).probes.at(0).args.size(), 2u);
    EXPECT_EQ(resolved_with({"split"}, false, true).probes.at(0).args.size(), 6u);
}

} // namespace
} // namespace argtrace
