// SPDX-License-Identifier: GPL-2.0-only
// Arguments that are chosen, expressions, conditions and meanings in a SPEC.
#include "spec/resolve.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "btf/declaration.h"
#include "support/btf_builder.h"
#include "support/resolve_kernel.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

TEST(Resolve, StacksStandBehindAllOtherValues) {
    Kernel kernel = make_kernel();
    const auto arguments = [&](const char *spec, StackChoice stack) {
        Request wanted = request({spec});
        wanted.stack = stack;
        const Probe probe = resolve(kernel, wanted).probes.at(0);
        std::vector<std::string> found;
        for (const Argument &argument : probe.args)
            found.push_back(argument.name + ':' + argument.type_name);
        return found;
    };
    EXPECT_THAT(arguments("vfs_read(count)", {}), ElementsAre("count:size_t"));
    EXPECT_THAT(arguments("vfs_read(count)", kernel_stack), ElementsAre("count:size_t", "stack:stack"));
    EXPECT_THAT(arguments("vfs_read(count)", user_stack), ElementsAre("count:size_t", "user_stack:user_stack"));
    EXPECT_THAT(arguments("vfs_read(count)", both_stacks), ElementsAre("count:size_t", "stack:stack", "user_stack:user_stack"));
    EXPECT_THAT(arguments("vfs_read(ustack, count, stack)", {}), ElementsAre("count:size_t", "stack:stack", "user_stack:user_stack"));
    EXPECT_THAT(arguments("vfs_read(ustack, count)", kernel_stack), ElementsAre("count:size_t", "stack:stack", "user_stack:user_stack"));
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
    EXPECT_EQ(names.size(), std::size_t{ARGTRACE_VALUES_MAX}); // as many as a record has
    EXPECT_EQ(names.back(), "count.v21");
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

} // namespace
} // namespace argtrace
