// SPDX-License-Identifier: GPL-2.0-only
#include "spec/resolve.h"

#include <gmock/gmock.h>

#include "btf_builder.h"
#include "thrown.h"

namespace argtrace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char *SYMBOLS = "ffffffff81000000 T vfs_read\n"
                                "ffffffff81000040 T vfs_write\n"
                                "ffffffff81000080 T native_nmi\n"
                                "ffffffff810000c0 t align_show\n"
                                "ffffffff81000100 t align_show\n"
                                "ffffffff81000140 t split.isra.0\n"
                                "ffffffff81000150 t split.cold\n"
                                "ffffffff81000180 T memcpy_asm\n"
                                "ffffffff810001c0 t differs\n"
                                "ffffffff81000200 T alias_one\n"
                                "ffffffff81000200 T alias_two\n"
                                "ffffffff83000000 T _sinittext\n"
                                "ffffffff83000040 t start_kernel\n"
                                "ffffffff83001000 T _einittext\n"
                                "ffffffffc0000000 t init_once\t[ext4]\n"
                                "ffffffffc0000040 t ext4_open\t[ext4]\n"
                                "ffffffffc0001000 t init_once\t[xfs]\n"
                                "ffffffffc0002000 t foreign_open\t[foreign]\n";

constexpr const char *TRACEABLE = "vfs_read\n"
                                  "vfs_write\n"
                                  "align_show\n"
                                  "align_show\n"
                                  "split.isra.0\n"
                                  "memcpy_asm\n"
                                  "differs\n"
                                  "alias_one\n"
                                  "init_once [ext4]\n"
                                  "ext4_open [ext4]\n"
                                  "init_once [xfs]\n"
                                  "foreign_open [foreign]\n";

KernelTypes make_types() {
    BtfBuilder b;
    const int int_ = b.integer("int", 4, BTF_INT_SIGNED);
    const int size = b.name("size_t", b.integer("long unsigned int", 8));
    const int file = b.pointer(b.structure("file", 16));
    b.function("vfs_read", int_, {{"file", file}, {"count", size}});
    for (const char *name : {"vfs_write", "native_nmi", "align_show", "split", "inlined",
                             "alias_one", "alias_two", "start_kernel"})
        b.function(name, 0, {{"file", file}});
    b.function("differs", 0, {{"a", int_}});
    b.function("differs", 0, {{"a", file}});

    std::map<std::string, BtfPtr> modules;
    for (const char *module : {"ext4", "xfs"}) {
        BtfBuilder m(b.get());
        const int object = m.pointer(m.structure(module, 8));
        m.function("init_once", 0, {{"object", object}});
        m.function("ext4_open", 0, {{"object", object}});
        modules[module] = m.take();
    }
    KernelTypes types(b.take());
    for (auto &[name, module] : modules)
        types.add_module(name, std::move(module));
    return types;
}

Kernel make_kernel() {
    return Kernel({
        [] { return Kallsyms::parse(SYMBOLS); },
        make_types,
        [] { return Traceable::parse(TRACEABLE); },
    });
}

// One in which nobody may ask tracefs, which is slow and may be missing.
Kernel make_kernel_without_tracefs() {
    return Kernel({
        [] { return Kallsyms::parse(SYMBOLS); },
        make_types,
        []() -> Traceable { throw Error("tracefs is not mounted"); },
    });
}

std::vector<Probe> resolved(Kernel &kernel, const std::vector<std::string> &specs) {
    return resolve(kernel, specs);
}

std::vector<std::string> names(const std::vector<Probe> &probes) {
    std::vector<std::string> found;
    for (const Probe &probe : probes)
        found.push_back(probe.function);
    return found;
}

std::string refused(const std::string &spec) {
    Kernel kernel = make_kernel();
    return thrown([&] { resolved(kernel, {spec}); });
}

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
    EXPECT_TRUE(resolved(kernel, {}).empty());
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

TEST(Resolve, SuggestsANearName) {
    EXPECT_EQ(refused("vfs_raed"), "vfs_raed: no such function; did you mean vfs_read?");
    EXPECT_EQ(refused("ext4_opne"), "ext4_opne: no such function; did you mean ext4_open?");
    EXPECT_EQ(refused("nothing_like_it_at_all"), "nothing_like_it_at_all: no such function");
    EXPECT_EQ(refused(""), ": no such function");
}

TEST(Resolve, SuggestsFromBtfWithoutTracefs) {
    Kernel kernel = make_kernel_without_tracefs();
    EXPECT_EQ(thrown([&] { resolved(kernel, {"vfs_raed"}); }),
              "vfs_raed: no such function; did you mean vfs_read?");
}

TEST(Resolve, RefusesWhatTheCompilerMade) {
    EXPECT_EQ(refused("split.isra.0"), "split.isra.0: cannot be traced: the compiler made it of "
                                       "split and may have changed its arguments");
    EXPECT_EQ(refused("split"), "split: cannot be traced: the kernel has it only as split.isra.0, "
                                "whose arguments the compiler may have changed");
}

TEST(Resolve, RefusesWhatWasInlined) {
    EXPECT_THAT(refused("inlined"),
                AllOf(StartsWith("inlined: cannot be traced"), HasSubstr("inlined it everywhere")));
}

TEST(Resolve, RefusesWhatBtfDoesNotDescribe) {
    EXPECT_EQ(refused("memcpy_asm"), "memcpy_asm: its arguments are unknown: the BTF of the kernel "
                                     "does not describe it");
    EXPECT_THAT(refused("foreign_open"), HasSubstr("the module foreign has no BTF"));
}

TEST(Resolve, RefusesNamesThatSeveralFunctionsShare) {
    EXPECT_THAT(refused("align_show"), HasSubstr("2 functions of the kernel have that name"));
    EXPECT_THAT(refused("differs"), HasSubstr("BTF describes 2 functions of that name"));
}

TEST(Resolve, RefusesGlobsThatTakeNothing) {
    EXPECT_EQ(refused("zzz*"), "zzz*: matches no function that can be traced");
    EXPECT_EQ(refused("vfs_raed*"),
              "vfs_raed*: matches no function that can be traced; did you mean vfs_read?");
    EXPECT_THAT(refused("memcpy_*"),
                AllOf(StartsWith("memcpy_*: "), HasSubstr("functions that can be traced: 1")));
    EXPECT_THAT(refused("native_*"), HasSubstr("matches no function that can be traced"));
}

TEST(Resolve, GlobNeedsTracefs) {
    Kernel kernel = make_kernel_without_tracefs();
    EXPECT_EQ(thrown([&] { resolved(kernel, {"vfs_*"}); }), "tracefs is not mounted");
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

TEST(Kernel, ReadsEachPartOnce) {
    int reads = 0;
    Kernel kernel({
        [&] {
            reads++;
            return Kallsyms::parse(SYMBOLS);
        },
        make_types,
        [] { return Traceable::parse(TRACEABLE); },
    });
    EXPECT_EQ(reads, 0);
    EXPECT_EQ(&kernel.symbols(), &kernel.symbols());
    EXPECT_EQ(reads, 1);
}

TEST(TraceableFunctions, AreListedByNameEachOnce) {
    Kernel kernel = make_kernel();
    const std::string specs[] = {"vfs_write", "vfs_*", "alias_one"};
    std::vector<std::string> found;
    for (const Function &function : traceable_functions(kernel, specs))
        found.emplace_back(function.symbol.name);
    EXPECT_THAT(found, ElementsAre("alias_one", "vfs_read", "vfs_write"));
}

TEST(TraceableFunctions, RefusesANameThatCannotBeTraced) {
    Kernel kernel = make_kernel();
    const std::string specs[] = {"native_nmi"};
    EXPECT_THAT(thrown([&] { traceable_functions(kernel, specs); }), HasSubstr("marked notrace"));
}

} // namespace
} // namespace argtrace
