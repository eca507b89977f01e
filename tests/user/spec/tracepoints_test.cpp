// SPDX-License-Identifier: GPL-2.0-only
#include "spec/tracepoints.h"

#include <gmock/gmock.h>

#include <cstring>
#include <memory>

#include "spec/aggregate.h"
#include "spec/resolve.h"
#include "support/btf_builder.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

using testing::ElementsAre;

KernelTypes tracepoint_types() {
    BtfBuilder b;
    const int int_ = b.integer("int", 4, BTF_INT_SIGNED);
    const int bool_ = b.integer("bool", 1, BTF_INT_BOOL);
    const int data = b.pointer(0);
    const int task = b.pointer(b.structure("task_struct", 16));
    b.function("__traceiter_sched_switch", int_,
               {{"__data", data}, {"preempt", bool_}, {"prev", task}, {"next", task}});
    b.function("__traceiter_sched_wakeup", int_, {{"__data", data}, {"p", task}});
    b.function("__traceiter_pelt_cfs_tp", int_, {{"__data", data}});
    b.function("__traceiter_many", int_,
               {{"__data", data},
                {"a", int_},
                {"b", int_},
                {"c", int_},
                {"d", int_},
                {"e", int_},
                {"f", int_},
                {"g", task}});
    b.function("vfs_read", int_, {{"file", task}});
    return KernelTypes(b.take());
}

Kernel kernel_with_tracepoints(std::function<TracepointGroups()> groups = [] {
    return TracepointGroups(
        {{"sched_switch", "sched"}, {"sched_wakeup", "sched"}, {"many", "test"}, {"odd", "test"}});
}) {
    return Kernel({
        [] {
            return Kallsyms::parse("ffffffff81000000 T vfs_read\n"
                                   "ffffffff81000100 T __traceiter_sched_switch\n"
                                   "ffffffff81000200 T __traceiter_sched_wakeup\n"
                                   "ffffffff81000300 T __traceiter_pelt_cfs_tp\n"
                                   "ffffffff81000400 T __traceiter_many\n"
                                   "ffffffff81000500 T __traceiter_odd\n");
        },
        tracepoint_types,
        [] { return Traceable::parse("vfs_read\n__traceiter_many\n"); },
        "x86_64",
        std::move(groups),
    });
}

std::vector<Probe> probes_of(Kernel &kernel, const std::vector<std::string> &specs,
                            bool returns = false) {
    Request request{parse_specs(specs, PatternSyntax::glob)};
    request.returns = returns;
    return resolve(kernel, request).probes;
}

std::vector<std::string> titles_of(const std::vector<std::string> &specs) {
    Kernel kernel = kernel_with_tracepoints();
    std::vector<std::string> found;
    for (const Probe &probe : probes_of(kernel, specs))
        found.push_back(probe.function);
    return found;
}

std::string tracepoint_refusal(const std::string &spec) {
    Kernel kernel = kernel_with_tracepoints();
    return thrown([&] { probes_of(kernel, {spec}); });
}

// The data that the kernel passes first is nothing of the tracepoint's, but takes a register.
TEST(Tracepoints, ArgumentsAreWhereTheIteratorHasThem) {
    Kernel kernel = kernel_with_tracepoints();
    const std::vector<Probe> probes = probes_of(kernel, {"t:sched:sched_switch"});
    ASSERT_EQ(probes.size(), 1u);
    EXPECT_EQ(probes[0].addr, 0xffffffff81000100);
    EXPECT_EQ(probes[0].kind, ARGTRACE_KIND_TRACEPOINT);
    EXPECT_EQ(probes[0].function, "t:sched:sched_switch");
    ASSERT_EQ(probes[0].args.size(), 3u);
    EXPECT_EQ(probes[0].args[0].name, "preempt");
    EXPECT_EQ(probes[0].args[0].type, ARGTRACE_TYPE_BOOL);
    EXPECT_EQ(probes[0].args[0].index, 1);
    EXPECT_EQ(probes[0].args[2].name, "next");
    EXPECT_EQ(probes[0].args[2].index, 3);

    const std::vector<Probe> many = probes_of(kernel, {"t:many"});
    ASSERT_EQ(many.at(0).args.size(), 7u);
    EXPECT_EQ(many[0].args[4].index, 5);
    EXPECT_EQ(many[0].args[5].loc, ARGTRACE_LOC_STACK);
    EXPECT_EQ(many[0].args[5].offset, 8u);
    EXPECT_EQ(many[0].args[6].type_name, "struct task_struct *");
    EXPECT_EQ(many[0].args[6].offset, 16u);
}

TEST(Tracepoints, NamesGroupsAndGlobs) {
    EXPECT_THAT(titles_of({"t:sched_switch"}), ElementsAre("t:sched:sched_switch"));
    EXPECT_THAT(titles_of({"tracepoint:sched:sched_switch"}), ElementsAre("t:sched:sched_switch"));
    EXPECT_THAT(titles_of({"t:sched:*"}), ElementsAre("t:sched:sched_switch", "t:sched:sched_wakeup"));
    EXPECT_THAT(titles_of({"t:s*:*up"}), ElementsAre("t:sched:sched_wakeup"));
    EXPECT_THAT(titles_of({"t:*", "!t:sched:*"}), ElementsAre("t:pelt_cfs_tp", "t:test:many"))
        << "one that BTF does not describe is left out";
    EXPECT_THAT(titles_of({"*", "t:sched_switch"}),
                ElementsAre("__traceiter_many", "vfs_read", "t:sched:sched_switch"));
    EXPECT_THAT(titles_of({"__traceiter_many", "t:many"}),
                ElementsAre("__traceiter_many", "t:test:many"))
        << "a function and a tracepoint, at one address";
}

TEST(Tracepoints, ExpressionsKnowTheArguments) {
    Kernel kernel = kernel_with_tracepoints();
    const std::vector<Probe> probes =
        probes_of(kernel, {"t:sched_switch(next, preempt as p) if preempt"});
    ASSERT_EQ(probes.at(0).args.size(), 2u);
    EXPECT_EQ(probes[0].args[0].index, 3);
    EXPECT_EQ(probes[0].args[1].name, "p");
    EXPECT_EQ(probes[0].args[1].index, 1);
    argtrace_insn insn;
    ASSERT_GE(probes[0].program.size(), sizeof(argtrace_program) + sizeof(insn));
    std::memcpy(&insn, probes[0].program.data() + sizeof(argtrace_program), sizeof(insn));
    EXPECT_EQ(insn.index, 1);
    EXPECT_EQ(thrown([&] { probes_of(kernel, {"t:sched_switch(__data)"}); }),
              "t:sched:sched_switch has no argument __data, and it is no builtin or constant either\n"
              "  t:sched_switch(__data)\n"
              "                 ^")
        << "which is the kernel's";
}

TEST(Tracepoints, ReturnsAreOfFunctionsAlone) {
    Kernel kernel = kernel_with_tracepoints();
    const std::vector<Probe> probes = probes_of(kernel, {"vfs_read", "t:sched_switch"}, true);
    EXPECT_TRUE(records_returns(probes.at(0)));
    EXPECT_FALSE(records_returns(probes.at(1)));
    EXPECT_EQ(thrown([] { parse_spec("t:sched_switch=", PatternSyntax::glob); }),
              "a tracepoint returns nothing\n"
              "  t:sched_switch=\n"
              "                ^");
}

TEST(Tracepoints, TheyHaveNoDuration) {
    Kernel kernel = kernel_with_tracepoints();
    Request request{parse_specs(std::vector<std::string>{"vfs_read", "t:sched_switch"}, PatternSyntax::glob)};
    request.aggregate = std::make_shared<const Aggregate>(Aggregate{lang::parse_values("func"), Aggregate::Value::duration});
    EXPECT_EQ(thrown([&] { resolve_aggregate(kernel, request); }),
              "t:sched_switch: a tracepoint returns nothing, so it has no duration: `argtrace latency --from A --to B` shows the time "
              "from one to another");
    EXPECT_EQ(thrown([&] { probes_of(kernel, {"t:sched_switch if duration > 5"}); }),
              "duration is known when a call returns, and a tracepoint returns nothing\n"
              "  t:sched_switch if duration > 5\n"
              "                    ^");
}

TEST(Tracepoints, WhatIsNotThereIsExplained) {
    EXPECT_EQ(tracepoint_refusal("t:sched:sched_swich"),
              "t:sched:sched_swich: there is no such tracepoint; did you mean t:sched:sched_switch?");
    EXPECT_EQ(tracepoint_refusal("t:irq:sched_switch"),
              "t:irq:sched_switch: there is no such tracepoint; did you mean t:sched:sched_switch?");
    EXPECT_EQ(tracepoint_refusal("t:sched"),
              "t:sched: there is no such tracepoint; those of that group are 't:sched:*'");
    EXPECT_EQ(tracepoint_refusal("t:qqq"),
              "t:qqq: there is no such tracepoint; `argtrace list 't:*'` shows all of them");
    EXPECT_EQ(tracepoint_refusal("t:irq:*"),
              "t:irq:*: matches no tracepoint; `argtrace list 't:*'` shows all of them");
    EXPECT_EQ(tracepoint_refusal("t:odd"), "t:test:odd: BTF does not describe its arguments");
    EXPECT_EQ(tracepoint_refusal("t:sched:"), "a tracepoint's name is missing; all of them are 't:sched:*'\n"
                                   "  t:sched:\n"
                                   "          ^");
    EXPECT_EQ(tracepoint_refusal("t:sched:a:b"),
              "a tracepoint is t:GROUP:NAME, and there is no ':' behind its name\n"
              "  t:sched:a:b\n"
              "           ^");
}

// Groups are tracefs's business, and asked for only where one is named.
TEST(Tracepoints, WithoutTracefs) {
    Kernel kernel =
        kernel_with_tracepoints([]() -> TracepointGroups { throw Error("tracefs is not mounted"); });
    EXPECT_EQ(probes_of(kernel, {"t:sched_switch"}).at(0).function, "t:sched_switch");
    EXPECT_EQ(thrown([&] { probes_of(kernel, {"t:sched:sched_switch"}); }),
              "tracefs is not mounted");
}

TEST(Tracepoints, AreListedByTheirNames) {
    Kernel kernel = kernel_with_tracepoints();
    const Found found =
        list_functions(kernel, {parse_specs(std::vector<std::string>{"t:s*", "vfs_read"},
                                            PatternSyntax::glob)});
    ASSERT_EQ(found.functions.size(), 3u);
    EXPECT_EQ(found.functions[0].prototype.text,
              "t:sched:sched_switch(bool preempt, struct task_struct *prev, "
              "struct task_struct *next)");
    EXPECT_EQ(found.functions[2].name(), "vfs_read");
    EXPECT_EQ(list_functions(kernel, {parse_specs(std::vector<std::string>{"t:pelt*"},
                                                  PatternSyntax::glob)})
                  .functions.at(0)
                  .prototype.text,
              "t:pelt_cfs_tp()");
}

} // namespace
} // namespace argtrace
