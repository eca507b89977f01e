// SPDX-License-Identifier: GPL-2.0-only
#include "spec/resolve.h"

#include <gmock/gmock.h>

#include "btf/declaration.h"
#include "support/btf_builder.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char *kallsyms_text = "ffffffff81000000 T vfs_read\n"
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

constexpr const char *traceable_text = "vfs_read\n"
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
        [] { return Kallsyms::parse(kallsyms_text); },
        make_types,
        [] { return Traceable::parse(traceable_text); },
    });
}

// One in which nobody may ask tracefs, which is slow and may be missing.
Kernel make_kernel_without_tracefs() {
    return Kernel({
        [] { return Kallsyms::parse(kallsyms_text); },
        make_types,
        []() -> Traceable { throw Error("tracefs is not mounted"); },
    });
}

Request request(const std::vector<std::string> &specs) {
    return {parse_specs(specs, PatternSyntax::glob)};
}

std::vector<Probe> resolved(Kernel &kernel, const std::vector<std::string> &specs) {
    return resolve(kernel, request(specs)).probes;
}

std::vector<std::string> names(const std::vector<Probe> &probes) {
    std::vector<std::string> found;
    for (const Probe &probe : probes)
        found.push_back(probe.function);
    return found;
}

std::string refused_function(const std::string &spec) {
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

Resolved resolved_with(const std::vector<std::string> &specs, bool force, bool raw) {
    Kernel kernel = make_kernel();
    return resolve(kernel, {parse_specs(specs, PatternSyntax::glob), force, raw});
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

TEST(Resolve, ChosenArgumentsKeepTheirOwnTypes) {
    Kernel kernel({
        [] { return Kallsyms::parse("ffffffff81000000 t f\n"); },
        [] {
            BtfBuilder b;
            const int int_ = b.integer("int", 4, BTF_INT_SIGNED);
            b.function("f", 0, {{"first", int_}, {"second", b.enumeration("colour", 4, 1)}});
            return KernelTypes(b.take());
        },
        []() -> Traceable { throw Error("tracefs is not mounted"); },
    });
    const std::vector<Probe> probes = resolved(kernel, {"f(second)"});
    const std::vector<std::byte> &bytes = probes.at(0).types;
    const BtfPtr types(btf__new(bytes.data(), static_cast<std::uint32_t>(bytes.size())));
    ASSERT_TRUE(types);
    EXPECT_EQ(declare_parameters(types.get(), btf__type_cnt(types.get()) - 1),
              "(enum colour second)");
}

TEST(Resolve, ChosenArgumentsAloneAreTaken) {
    Kernel kernel = make_kernel();
    const auto arguments = [&](const std::vector<std::string> &specs) {
        const std::vector<Probe> probes = resolved(kernel, specs);
        std::vector<std::string> found;
        for (const Argument &argument : probes.at(0).args)
            found.push_back(argument.name);
        return found;
    };
    EXPECT_THAT(arguments({"vfs_read(count)"}), ElementsAre("count"));
    EXPECT_EQ(resolved(kernel, {"vfs_read(count)"})[0].args[0].index, 1) << "it lies where it lay";
    EXPECT_THAT(arguments({"vfs_read(count, file)"}), ElementsAre("count", "file"))
        << "in the order in which they are named";
    EXPECT_THAT(arguments({"vfs_read(count as n)"}), ElementsAre("n"));
    EXPECT_THAT(arguments({"vfs_read(file, file)"}), ElementsAre("file"));
    EXPECT_THAT(arguments({"vfs_read()"}), ElementsAre());
    EXPECT_THAT(arguments({"vfs_read", "vfs_read(count)"}), ElementsAre("count"));
    EXPECT_THAT(arguments({"vfs_read(file)", "vfs_*"}), ElementsAre("file"));
    EXPECT_THAT(arguments({"vfs_read(file)", "vfs_read(count)"}), ElementsAre("file", "count"));
    EXPECT_THAT(names(resolved(kernel, {"vfs_*(count)"})), ElementsAre("vfs_read"));
}

TEST(Resolve, UnknownArgumentsAreErrorsAtTheirPlace) {
    EXPECT_EQ(refused_function("vfs_read(file, coutn)"),
              "vfs_read has no argument coutn, and it is no builtin or constant either; did you "
              "mean count?\n"
              "  vfs_read(file, coutn)\n"
              "                 ^");
    EXPECT_EQ(refused_function("vfs_*(nothing)"),
              "vfs_*: this can be resolved in none of the 2 functions that it matches: vfs_read has "
              "no argument nothing, and it is no builtin or constant either\n"
              "  vfs_*(nothing)\n"
              "        ^");
}

const argtrace_program &program_of(const Probe &probe) {
    EXPECT_GE(probe.program.size(), sizeof(argtrace_program));
    return *reinterpret_cast<const argtrace_program *>(probe.program.data());
}

Resolved resolved_if(const std::vector<std::string> &specs, const std::string &condition) {
    Kernel kernel = make_kernel();
    Request wanted = request(specs);
    wanted.conditions.push_back(lang::parse_condition(condition));
    return resolve(kernel, wanted);
}

TEST(Resolve, ExpressionsMakeAProgram) {
    Kernel kernel = make_kernel();
    const std::vector<Probe> probes =
        resolved(kernel, {"vfs_read(count / 2 as half, file, $cpu) if count > 64K"});
    ASSERT_EQ(probes.size(), 1u);
    const Probe &probe = probes.front();
    ASSERT_EQ(probe.args.size(), 3u);
    EXPECT_EQ(probe.args[0], (Argument{.loc = ARGTRACE_LOC_PROGRAM,
                                       .type = ARGTRACE_TYPE_U64,
                                       .size = 8,
                                       .name = "half",
                                       .type_name = "unsigned long"}));
    EXPECT_EQ(probe.args[1].loc, ARGTRACE_LOC_REG) << "an argument needs no program";
    EXPECT_EQ(probe.args[2].name, "$cpu");
    EXPECT_GT(program_of(probe).nr_filter, 0);
    EXPECT_GT(program_of(probe).nr_insns, program_of(probe).nr_filter);
    EXPECT_TRUE(resolved(kernel, {"vfs_read(count)"}).at(0).program.empty());
}

TEST(Resolve, LimitsMakeAProgramWithoutExpressions) {
    Kernel kernel = make_kernel();
    Request wanted = request({"vfs_read"});
    wanted.limits = {100, 1000};
    const Resolved found = resolve(kernel, wanted);
    const argtrace_program &program = program_of(found.probes.at(0));
    EXPECT_EQ(program.nr_insns, 0);
    EXPECT_EQ(program.sample, 100u);
    EXPECT_EQ(program.max_rate, 1000u);
}

TEST(Resolve, ConditionsOfTheCommandLeaveFunctionsOut) {
    const Resolved found = resolved_if({"vfs_*", "alias_one"}, "count > 3");
    EXPECT_THAT(names(found.probes), ElementsAre("vfs_read"));
    EXPECT_THAT(found.left,
                ElementsAre("vfs_*: 1 function is left out, where --if cannot be resolved "
                            "(vfs_write): vfs_write has no argument count, and it is no builtin or "
                            "constant either",
                            "alias_one: 1 function is left out, where --if cannot be resolved "
                            "(alias_one): alias_one has no argument count, and it is no builtin or "
                            "constant either"));
    EXPECT_EQ(thrown([] { resolved_if({"vfs_write", "alias_one"}, "count > 3"); }),
              "--if: vfs_write has no argument count, and it is no builtin or constant either\n"
              "  count > 3\n"
              "  ^");
}

TEST(Resolve, WhatNoFunctionHasIsToldOfTheOneThatHasMost) {
    EXPECT_EQ(refused_function("*e*(count + nothing)"),
              "*e*: this can be resolved in none of the 6 functions that it matches: vfs_read has "
              "no argument nothing, and it is no builtin or constant either\n"
              "  *e*(count + nothing)\n"
              "              ^");
    EXPECT_EQ(thrown([] { resolved_if({"*e*"}, "count + nothing"); }),
              "--if: this can be resolved in none of the 6 functions that *e* matches: vfs_read has "
              "no argument nothing, and it is no builtin or constant either\n"
              "  count + nothing\n"
              "          ^");
}

TEST(Resolve, ConditionsOfCommandAndSpecHoldBoth) {
    const Resolved both = resolved_if({"vfs_read if count < 9"}, "count > 3");
    const Resolved one = resolved_if({"vfs_read"}, "count > 3");
    EXPECT_GT(program_of(both.probes.at(0)).nr_filter, program_of(one.probes.at(0)).nr_filter);
    // Once for each SPEC, and no contradiction.
    EXPECT_EQ(program_of(resolved_if({"vfs_*", "vfs_read if count < 9"}, "count > 3").probes.at(0))
                  .nr_filter,
              program_of(both.probes.at(0)).nr_filter);
}

std::vector<std::string> described(const std::vector<std::string> &specs,
                                   const std::string &table) {
    Kernel kernel = make_kernel();
    Request wanted = request(specs);
    std::vector<std::string> wrong;
    wanted.meanings = std::make_shared<Meanings>();
    wanted.meanings->add(table, "table", wrong);
    EXPECT_THAT(wrong, testing::IsEmpty());
    const Resolved found = resolve(kernel, wanted);
    std::vector<std::string> names;
    for (const Argument &argument : found.probes.at(0).args)
        names.push_back(argument.name);
    return names;
}

TEST(Resolve, MeaningsFollowTheirArguments) {
    const std::string table = "struct file *: it as a, *(long *)it as b\nsize_t: it / 2 as half\n";
    EXPECT_THAT(described({"vfs_read"}, table),
                ElementsAre("file", "file.a", "file.b", "count", "count.half"));
    EXPECT_THAT(described({"vfs_read(count as n, $cpu, count + 1)"}, table),
                ElementsAre("n", "n.half", "$cpu", "count + 1"));
    EXPECT_THAT(described({"vfs_read", "vfs_read(count)"}, table),
                ElementsAre("count", "count.half"));
    EXPECT_THAT(described({"vfs_read()"}, table), ElementsAre());
    EXPECT_THAT(described({"vfs_read"}, "loff_t *: *it\n"), ElementsAre("file", "count"));
}

TEST(Resolve, MeaningsThatDoNotFitAreLeftOut) {
    std::string table;
    for (const char *type : {"struct file *", "size_t"}) {
        table += std::string(type) + ": (long)it";
        for (int i = 1; i < 40; ++i)
            table += ", (long)it + " + std::to_string(i) + " as v" + std::to_string(i);
        table += '\n';
    }
    const std::vector<std::string> names = described({"vfs_read"}, table);
    EXPECT_EQ(names.size(), 2u + ARGTRACE_VALUES_MAX);
    EXPECT_EQ(names.back(), "count.v23");
}

TEST(Resolve, SpecsOfOneFunctionMayNotContradictEachOther) {
    Kernel kernel = make_kernel();
    EXPECT_EQ(thrown([&] { resolved(kernel, {"vfs_read if count > 3", "vfs_read if count > 4"}); }),
              "another SPEC names this function with the condition 'count > 3': write one condition "
              "for it, joined by || or &&\n"
              "  vfs_read if count > 4\n"
              "              ^");
    EXPECT_EQ(thrown([&] { resolved(kernel, {"vfs_read(count, count + 1 as count)"}); }),
              "two values have the name count: give this one another with 'as NAME'\n"
              "  vfs_read(count, count + 1 as count)\n"
              "                  ^");
    EXPECT_EQ(resolved(kernel, {"vfs_read if count > 3", "vfs_*"}).size(), 2u);
}

TEST(Resolve, NamesTheErrorOfTheSpecBeforeThatOfTheCommand) {
    EXPECT_THAT(thrown([] { resolved_if({"*(nothing)"}, "count > 3"); }),
                HasSubstr("vfs_read has no argument nothing"));
}

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

TEST(Kernel, ReadsTheTypesOfAModuleFromAFile) {
    Kernel kernel = make_kernel();
    kernel.use_btf({"foreign", "/nonexistent/foreign.ko"});
    EXPECT_EQ(&kernel.symbols(), &kernel.symbols()) << "it is not read before it is needed";
    EXPECT_THAT(thrown([&] { kernel.types(); }), StartsWith("/nonexistent/foreign.ko: "));
}

TEST(Kernel, ReadsEachPartOnce) {
    int reads = 0;
    Kernel kernel({
        [&] {
            reads++;
            return Kallsyms::parse(kallsyms_text);
        },
        make_types,
        [] { return Traceable::parse(traceable_text); },
    });
    EXPECT_EQ(reads, 0);
    EXPECT_EQ(&kernel.symbols(), &kernel.symbols());
    EXPECT_EQ(reads, 1);
}

TEST(ListFunctions, AreListedByNameEachOnce) {
    Kernel kernel = make_kernel();
    std::vector<std::string> found;
    for (const Function &function :
         list_functions(kernel, request({"vfs_write", "vfs_*", "alias_one"})).functions)
        found.emplace_back(function.symbol.name);
    EXPECT_THAT(found, ElementsAre("alias_one", "vfs_read", "vfs_write"));
}

TEST(ListFunctions, HasAllThatShareAName) {
    Kernel kernel = make_kernel();
    const std::vector<Function> found =
        list_functions(kernel, request({"align_show", "init_once", "vfs_read"})).functions;
    ASSERT_EQ(found.size(), 5u);
    EXPECT_TRUE(found[0].forced && found[0].namesakes);
    EXPECT_EQ(found[1].symbol.addr, 0xffffffff81000100);
    EXPECT_EQ(found[2].symbol.module, "ext4");
    EXPECT_TRUE(!found[2].forced && found[2].namesakes);
    EXPECT_FALSE(found[4].forced || found[4].namesakes);
}

TEST(ListFunctions, NamesClonesAsTheKernelDoes) {
    Kernel kernel = make_kernel();
    const std::vector<Function> found =
        list_functions(kernel,
                       {parse_specs(std::vector<std::string>{"split"}, PatternSyntax::glob), true})
            .functions;
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].prototype.text, "void split.isra.0(struct file *file)");
}

TEST(ListFunctions, RefusesANameThatCannotBeTraced) {
    Kernel kernel = make_kernel();
    EXPECT_THAT(thrown([&] { list_functions(kernel, request({"native_nmi"})); }),
                HasSubstr("marked notrace"));
}

TEST(Resolve, ReturnsAreTheLastValue) {
    Kernel kernel = make_kernel();
    const Probe probe = resolved(kernel, {"vfs_read="}).at(0);
    EXPECT_EQ(probe.flags, ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0));
    ASSERT_EQ(probe.args.size(), 3u);
    EXPECT_EQ(probe.args[2].loc, ARGTRACE_LOC_RETURN);
    EXPECT_EQ(probe.args[2].type_name, "int");
    EXPECT_TRUE(has_result(probe));
    EXPECT_EQ(resolved(kernel, {"vfs_write()="}).at(0).args.size(), 0u) << "it returns nothing";
    EXPECT_EQ(resolved(kernel, {"vfs_read", "vfs_read()="}).at(0).args.size(), 1u);

    Request all = request({"vfs_*"});
    all.returns = true;
    for (const Probe &one : resolve(kernel, all).probes)
        EXPECT_TRUE(records_returns(one));
}

Probe resolved_return(const std::string &spec, ReturnBy by, const char *enabled = "") {
    Kernel kernel = make_kernel();
    Request wanted = request({spec.c_str()});
    wanted.force = true;
    wanted.return_by = by;
    wanted.enabled = [enabled] { return EnabledFunctions::parse(enabled); };
    return resolve(kernel, wanted).probes.at(0);
}

TEST(Resolve, ReturnsOfGuessedPrototypesTheKernelFollows) {
    EXPECT_EQ(thrown([] { resolved_return("split=", ReturnBy::trampoline); }),
              "split: its return cannot be followed: split.isra.0: its arguments are not known "
              "for sure");
    EXPECT_EQ(resolved_return("split=", ReturnBy::automatic).flags,
              ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) | ARGTRACE_PROBE_BY_FPROBE |
                  ARGTRACE_PROBE_BY_REASON(ARGTRACE_BY_STACK));
    EXPECT_EQ(resolved_return("split", ReturnBy::automatic).flags, 0u) << "nobody has asked for returns";
}

TEST(Resolve, ReturnsTheKernelFollowsWhereOthersComeFirst) {
    const std::uint32_t ours = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0);
    const std::uint32_t by_kernel = ours | ARGTRACE_PROBE_BY_FPROBE;
    const auto flags = [](const char *enabled, ReturnBy by = ReturnBy::automatic) {
        return resolved_return("vfs_read=", by, enabled).flags;
    };
    EXPECT_EQ(flags("vfs_write (1) R I D\n"), ours);
    EXPECT_EQ(flags("vfs_read [ext4] (1) R I D\n"), ours);
    EXPECT_EQ(flags("vfs_read (2) R\n"), ours);
    EXPECT_EQ(flags("vfs_read (2) R I\n"), by_kernel | ARGTRACE_PROBE_BY_REASON(ARGTRACE_BY_PATCH));
    EXPECT_EQ(flags("vfs_read (2) R I D\n"), by_kernel | ARGTRACE_PROBE_BY_REASON(ARGTRACE_BY_BPF));
    EXPECT_EQ(flags("vfs_read (2) R I D\n", ReturnBy::trampoline), ours);
    EXPECT_EQ(flags("vfs_read (2) R I D\n", ReturnBy::fprobe), by_kernel);
    EXPECT_EQ(flags("", ReturnBy::kretprobe), ours | ARGTRACE_PROBE_BY_KRETPROBE);
}

TEST(Resolve, StacksOfReturnsThatTheKernelWouldHaveToFollow) {
    const auto refusal = [](const char *spec, const char *enabled, ReturnBy by) {
        return thrown([&] {
            Kernel kernel = make_kernel();
            Request wanted = request({spec});
            wanted.force = true;
            wanted.stack = true;
            wanted.return_by = by;
            wanted.enabled = [enabled] { return EnabledFunctions::parse(enabled); };
            resolve(kernel, wanted);
        });
    };
    const std::string cannot = ": its return cannot be followed: ";
    EXPECT_EQ(refusal("vfs_read=", "vfs_read (2) R I D\n", ReturnBy::automatic),
              "vfs_read" + cannot + "vfs_read: a BPF program has come to it first, and with its stack it must be us who follow it");
    EXPECT_EQ(refusal("vfs_read=", "vfs_read (2) R I\n", ReturnBy::automatic),
              "vfs_read" + cannot + "vfs_read: it is live patched, and with its stack it must be us who follow it");
    EXPECT_EQ(refusal("split=", "", ReturnBy::automatic),
              "split" + cannot + "split.isra.0: its arguments are not known for sure, and with its stack it must be us who follow it");
    EXPECT_EQ(refusal("vfs_read=", "", ReturnBy::fprobe), "vfs_read" + cannot + "vfs_read: an fprobe or a kretprobe takes no stacks");
}

} // namespace
} // namespace argtrace
