// SPDX-License-Identifier: GPL-2.0-only
#include "spec/aggregate.h"

#include <cstring>

#include <gmock/gmock.h>

#include "btf/format.h"
#include "support/btf_builder.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

KernelTypes counted_types() {
    BtfBuilder b;
    const int int_ = b.integer("int", 4, BTF_INT_SIGNED);
    const int long_ = b.name("ssize_t", b.integer("long int", 8, BTF_INT_SIGNED));
    const int size = b.name("size_t", b.integer("long unsigned int", 8));
    const int text = b.pointer(b.integer("char", 1, BTF_INT_SIGNED));
    const int file = b.pointer(b.structure("file", 16));
    b.function("vfs_read", long_, {{"file", file}, {"count", size}, {"name", text}});
    b.function("vfs_write", long_, {{"file", file}, {"count", size}, {"name", text}});
    b.function("vfs_fsync", int_, {{"file", file}, {"datasync", int_}});
    b.function("vfs_put", 0, {{"file", file}, {"name", int_}});
    return KernelTypes(b.take());
}

Kernel counted_kernel() {
    return Kernel({
        [] {
            return Kallsyms::parse("ffffffff81000000 T vfs_read\n"
                                   "ffffffff81000040 T vfs_write\n"
                                   "ffffffff81000080 T vfs_fsync\n"
                                   "ffffffff810000c0 T vfs_put\n");
        },
        counted_types,
        [] { return Traceable::parse("vfs_read\nvfs_write\nvfs_fsync\nvfs_put\n"); },
        "x86_64",
    });
}

AggregatedFunctions aggregated(const std::vector<std::string> &specs, const std::string &by,
                               Aggregate::Value value = Aggregate::Value::none) {
    static Kernel kernel = counted_kernel(); // which owns the names of what is found
    Request request{parse_specs(specs, PatternSyntax::glob)};
    request.aggregate =
        std::make_shared<const Aggregate>(Aggregate{lang::parse_values(by), value});
    return resolve_aggregate(kernel, request);
}

std::vector<Probe> probes_of(const AggregatedFunctions &functions) {
    return functions.probes(3);
}

argtrace_program header_of(const Probe &probe) {
    argtrace_program header{};
    EXPECT_GE(probe.program.size(), sizeof(header));
    std::memcpy(&header, probe.program.data(), sizeof(header));
    return header;
}

argtrace_insn insn_of(const Probe &probe, std::size_t at) {
    argtrace_insn insn{};
    std::memcpy(&insn, probe.program.data() + sizeof(argtrace_program) + at * sizeof(insn),
                sizeof(insn));
    return insn;
}

TEST(AggregateKeys, OfBothStacksAreToldByTheirTypes) {
    const AggregatedFunctions functions = aggregated({"vfs_read"}, "count,stack,ustack");
    ASSERT_EQ(functions.keys.size(), 3u);
    EXPECT_FALSE(functions.keys[1].is_user_stack);
    EXPECT_TRUE(functions.keys[2].is_user_stack);
    EXPECT_EQ(functions.keys[2].type, ARGTRACE_TYPE_STACK);
    const Probe probe = probes_of(functions).at(0);
    EXPECT_EQ(named_stacks(probe), both_stacks);
    EXPECT_FALSE(is_user_stack(probe.args[1]));
    EXPECT_TRUE(is_user_stack(probe.args[2]));
}

TEST(Aggregate, CallsOfFunctionsTakeNoMap) {
    const AggregatedFunctions functions = aggregated({"vfs_read", "vfs_write"}, "func");
    EXPECT_TRUE(functions.counts_only);
    const std::vector<Probe> probes = probes_of(functions);
    ASSERT_EQ(probes.size(), 2u);
    EXPECT_TRUE(probes[0].args.empty());
    EXPECT_EQ(probes[0].flags, 0u);
    EXPECT_EQ(header_of(probes[0]).sink, ARGTRACE_SINK_COUNT);
    EXPECT_EQ(header_of(probes[0]).map, 0u);
    EXPECT_EQ(header_of(probes[0]).nr_insns, 0u);
}

TEST(Aggregate, KeysAreWordsAndText) {
    const AggregatedFunctions functions =
        aggregated({"vfs_read", "vfs_write"}, "func, count, str(name), cpu");
    EXPECT_FALSE(functions.counts_only);
    EXPECT_THAT(functions.names, ElementsAre("vfs_read", "vfs_write"));
    ASSERT_EQ(functions.keys.size(), 4u);
    EXPECT_TRUE(functions.keys[0].is_function);
    EXPECT_EQ(functions.keys[1].room, 0u);
    EXPECT_EQ(functions.keys[2].room, 40u) << "what the numbers leave";
    EXPECT_EQ(functions.keys[2].type, ARGTRACE_TYPE_STR);
    EXPECT_EQ(functions.key_words(), 8u);

    const std::vector<Probe> probes = probes_of(functions);
    ASSERT_EQ(probes[1].args.size(), 4u);
    EXPECT_EQ(probes[1].args[2].size, 40u);
    EXPECT_EQ(header_of(probes[1]).sink, ARGTRACE_SINK_MAP);
    EXPECT_EQ(header_of(probes[1]).map, 3u);
    const argtrace_insn function = insn_of(probes[1], 0);
    EXPECT_EQ(function.action, ARGTRACE_DO_OUT);
    EXPECT_EQ(function.arg, 8u);
    EXPECT_EQ(function.span, 1u) << "the number of vfs_write";
    EXPECT_EQ(insn_of(probes[1], 2).action, ARGTRACE_DO_STR);
    EXPECT_EQ(insn_of(probes[1], 2).arg, 40u);
}

TEST(Aggregate, NarrowNumbersAreExtendedAsTheirTypesAre) {
    const AggregatedFunctions functions = aggregated({"vfs_fsync"}, "datasync");
    const argtrace_insn insn = insn_of(probes_of(functions)[0], 0);
    EXPECT_EQ(insn.arg, 8u);
    EXPECT_EQ(insn.shl, 32u);
    EXPECT_EQ(insn.shr, 32u);
    EXPECT_EQ(insn.flags, ARGTRACE_INSN_SIGNED);
    EXPECT_EQ(functions.keys[0].type, ARGTRACE_TYPE_S32);
    EXPECT_EQ(functions.shown.args[0].type_name, "int");
}

TEST(Aggregate, FollowsReturnsWhereTheyAreMentioned) {
    EXPECT_TRUE(probes_of(aggregated({"vfs_read"}, "ret"))[0].flags & ARGTRACE_PROBE_RETURN);
    EXPECT_TRUE(probes_of(aggregated({"vfs_read if ret < 0"}, "func"))[0].flags &
                ARGTRACE_PROBE_RETURN);
    EXPECT_TRUE(probes_of(aggregated({"vfs_read(-ret)"}, "func", Aggregate::Value::of_spec))[0]
                    .flags &
                ARGTRACE_PROBE_RETURN);
    EXPECT_TRUE(probes_of(aggregated({"vfs_read"}, "func", Aggregate::Value::duration))[0].flags &
                ARGTRACE_PROBE_RETURN);
    EXPECT_FALSE(probes_of(aggregated({"vfs_read if count > 1"}, "cpu"))[0].flags &
                 ARGTRACE_PROBE_RETURN);
}

TEST(Aggregate, TheValueComesLast) {
    const AggregatedFunctions functions =
        aggregated({"vfs_read(count)"}, "cpu", Aggregate::Value::of_spec);
    EXPECT_EQ(functions.key_words(), 1u);
    EXPECT_FALSE(functions.is_signed);
    const Probe probe = probes_of(functions)[0];
    ASSERT_EQ(probe.args.size(), 2u);
    EXPECT_EQ(probe.args[1].type, ARGTRACE_TYPE_U64);
    EXPECT_TRUE(aggregated({"vfs_read(ret)"}, "cpu", Aggregate::Value::of_spec).is_signed);
    EXPECT_FALSE(aggregated({"vfs_read"}, "cpu", Aggregate::Value::duration).is_signed);
}

TEST(Aggregate, TypesThatDifferAreNumbers) {
    const AggregatedFunctions functions = aggregated({"vfs_read", "vfs_fsync"}, "ret");
    EXPECT_EQ(functions.keys[0].type, ARGTRACE_TYPE_S64);
    EXPECT_TRUE(functions.keys[0].is_result);
    EXPECT_EQ(aggregated({"vfs_read", "vfs_write"}, "ret").shown.args[0].type_name, "ssize_t");
}

TEST(Aggregate, FunctionsWithoutAKeyAreLeftOut) {
    const AggregatedFunctions functions = aggregated({"vfs_*"}, "count");
    EXPECT_EQ(functions.functions.size(), 2u);
    EXPECT_THAT(functions.left,
                ElementsAre(HasSubstr("vfs_*: 2 functions are left out, where --by cannot be "
                                      "resolved (vfs_fsync, vfs_put): ")));
    EXPECT_THAT(thrown([] { aggregated({"vfs_fsync"}, "cnt"); }),
                testing::StartsWith("--by: vfs_fsync has no argument cnt"));
}

TEST(Aggregate, WhatIsNoKeyIsSaid) {
    EXPECT_THAT(thrown([] { aggregated({"vfs_read"}, "*file"); }),
                HasSubstr("a key is a number, an address or text: name a member of this"));
    EXPECT_THAT(thrown([] {
                    aggregated({"vfs_read(str(name))"}, "func", Aggregate::Value::of_spec);
                }),
                HasSubstr("a value to add up is a number"));
    EXPECT_THAT(thrown([] {
                    aggregated({"vfs_read(count)", "vfs_*(file)"}, "func",
                               Aggregate::Value::of_spec);
                }),
                HasSubstr("one value can be added up"));
}

} // namespace
} // namespace argtrace
