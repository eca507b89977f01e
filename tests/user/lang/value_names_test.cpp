// SPDX-License-Identifier: GPL-2.0-only

// Values by the names of constants, and masks of CPUs.

#include <cstring>

#include <bpf/btf.h>
#include <gmock/gmock.h>

#include "lang/check.h"
#include "lang/compile.h"
#include "lang/flag_names.h"
#include "lang/scope.h"
#include "support/btf_builder.h"
#include "support/program_interpreter.h"
#include "support/thrown.h"
#include "util/cpus.h"

namespace argtrace::lang {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Expressions of `it`, which is of one type.
class ValueNames : public testing::Test {
protected:
    void enumeration(const char *name, std::initializer_list<std::pair<const char *, int>> values) {
        btf__add_enum(b_.get(), name, 4);
        for (const auto &[value_name, value] : values)
            btf__add_enum_value(b_.get(), value_name, value);
    }

    Program compiled(int type, const std::string &text) {
        const Types types(b_.get());
        const Scope scope(types, "it", Type::btf(static_cast<std::uint32_t>(type)));
        return compile(scope, {}, parse_values(text));
    }

    std::vector<FlagName> names(const std::string &text) { return compiled(int_, text).values.at(0).flags; }

    std::string refusal(int type, const std::string &text) {
        const std::string whole = thrown([&] { compiled(type, text); });
        return whole.substr(0, whole.find('\n'));
    }

    BtfBuilder b_;
    int int_ = b_.integer("int", 4, BTF_INT_SIGNED);
    int u64_ = b_.integer("unsigned long", 8);
};

TEST_F(ValueNames, AreFoundForEachGlobOfTheSameTypes) {
    enumeration(nullptr, {{"SOME_NOTHING", 0}, {"SOME_A", 1}, {"SOME_B", 2}, {"OTHER_A", 3}});
    const Types types(b_.get());
    const auto found = [&types](const char *glob, bool zero) {
        std::vector<std::string> names;
        for (const FlagName &flag : flag_names(types, glob, zero))
            names.push_back(flag.name);
        return names;
    };
    for (int i = 0; i < 2; i++) { // at first, and when they are known
        EXPECT_THAT(found("SOME_*", false), ElementsAre("SOME_A", "SOME_B"));
        EXPECT_THAT(found("SOME_*", true), ElementsAre("SOME_A", "SOME_B", "SOME_NOTHING"));
        EXPECT_THAT(found("OTHER_*", false), ElementsAre("OTHER_A"));
        EXPECT_THAT(found("SOME_A*|OTHER_*", false), ElementsAre("OTHER_A", "SOME_A"));
    }
    BtfBuilder nothing;
    const Types none(nothing.get());
    EXPECT_THAT(flag_names(none, "SOME_*", true), testing::IsEmpty()) << "of other types they are other ones";
}

TEST_F(ValueNames, AreNotChosenAmongSeveralOfOneValue) {
    enumeration(nullptr, {{"TCP_ESTABLISHED", 1}, {"TCP_SYN_SENT", 2}, {"TCP_CLOSE", 7}});
    enumeration(nullptr, {{"TCP_BPF_IPV4", 0}, {"TCP_BPF_IPV6", 1}, {"TCP_BPF_NUM_PROTS", 2}});
    EXPECT_EQ(refusal(int_, "name(it, \"TCP_*\")"),
              "several of these constants have one value: TCP_BPF_IPV6 and TCP_ESTABLISHED are both 1; write globs of fewer, as in "
              "\"A_*|B_*\", or one constant of the enum that is meant, as in name(it, TCP_ESTABLISHED)");
    EXPECT_THAT(refusal(int_, "flags(it, \"TCP_*\")"), HasSubstr("have one value"));
    EXPECT_THAT(refusal(int_, "name(it, \"TCP_E*|TCP_BPF_*\")"), HasSubstr("TCP_BPF_IPV6 and TCP_ESTABLISHED are both 1"));
    // The ways out.
    EXPECT_THAT(names("name(it, TCP_CLOSE)"),
                ElementsAre(FlagName{"TCP_ESTABLISHED", 1}, FlagName{"TCP_SYN_SENT", 2}, FlagName{"TCP_CLOSE", 7}));
    EXPECT_THAT(names("flags(it, TCP_CLOSE)"), testing::SizeIs(3));
    EXPECT_THAT(names("name(it, \"TCP_BPF_*\")"), testing::SizeIs(3));
    EXPECT_THAT(names("name(it, \"TCP_SYN_*|TCP_C*\")"), ElementsAre(FlagName{"TCP_CLOSE", 7}, FlagName{"TCP_SYN_SENT", 2}));
}

TEST_F(ValueNames, OfOneEnumOrFamilyAreOfOneThing) {
    enumeration("with_last", {{"KIND_A", 1}, {"KIND_B", 2}, {"KIND_LAST", 2}});
    EXPECT_THAT(names("name(it, \"KIND_*\")"), testing::SizeIs(3));
    EXPECT_THAT(names("name(it, \"SIG*\")"), testing::Contains(FlagName{"SIGKILL", 9}));
    // A macro and an enumerator, and macros of different families, are not.
    enumeration("formats", {{"MSG_FORMAT_SYSLOG", 1}});
    EXPECT_THAT(refusal(int_, "flags(it, \"MSG_*\")"), HasSubstr("MSG_FORMAT_SYSLOG and MSG_OOB are both 1"));
    EXPECT_THAT(refusal(int_, "name(it, \"SIGHUP|SEEK_CUR\")"), testing::EndsWith("write globs of fewer, as in \"A_*|B_*\""));
    EXPECT_THAT(refusal(int_, "name(it, SIGHUP)"), HasSubstr("this is a glob in quotes"));
}

TEST_F(ValueNames, FitTheValue) {
    enumeration("large", {{"LARGE_A", 1}, {"LARGE_B", 0x101}, {"LARGE_C", -1}, {"LARGE_D", 0xff}});
    const int byte = b_.integer("unsigned char", 1);
    EXPECT_THAT(compiled(byte, "name(it, \"LARGE_A|LARGE_B|LARGE_D\")").values.at(0).flags,
                ElementsAre(FlagName{"LARGE_A", 1}, FlagName{"LARGE_D", 0xff}));
    EXPECT_THAT(names("name(it, \"LARGE_*\")"), testing::SizeIs(4));
    EXPECT_EQ(refusal(byte, "name(it, \"LARGE_B\")"), "none of these constants fits in it, which has 8 bits");
}

TEST_F(ValueNames, AMaskOfCpusIsAValue) {
    const int mask = b_.structure("cpumask", 1024, {{"bits", b_.array(int_, u64_, 128), 0}});
    const int task = b_.pointer(b_.structure("task_struct", 2048, {{"pid", int_, 0}, {"cpus_mask", b_.name("cpumask_t", mask), 64}}));
    for (const char *text : {"it->cpus_mask", "cpus(&it->cpus_mask)"}) {
        const Program program = compiled(task, text);
        ASSERT_EQ(program.values.size(), 1u);
        EXPECT_NE(program.values[0].btf_id, 0u);
        if (possible_cpus() > 64) {
            EXPECT_EQ(program.values[0].type, ARGTRACE_TYPE_BYTES);
            EXPECT_EQ(program.values[0].size, (possible_cpus() + 7) / 8);
            continue;
        }
        EXPECT_EQ(program.values[0].type, ARGTRACE_TYPE_U64);
        EXPECT_EQ(program.values[0].size, 8u);
        FakeMemory memory;
        const std::uint64_t all = ~std::uint64_t{0};
        memory.put(0x1008, &all, sizeof(all));
        FakeCall call;
        call.registers[0] = 0x1000;
        ProgramInterpreter interpreter(program, memory);
        EXPECT_EQ(interpreter.verify(), "");
        const auto values = interpreter.values(call);
        ASSERT_EQ(values.size(), 1u);
        std::uint64_t shown = 0;
        ASSERT_EQ(values[0].bytes.size(), sizeof(shown));
        std::memcpy(&shown, values[0].bytes.data(), sizeof(shown));
        EXPECT_EQ(shown, all >> (64 - possible_cpus())) << "bits of CPUs that there cannot be";
    }
    EXPECT_EQ(refusal(task, "cpus(&it->cpus_mask) + 1"), "cpus() can be recorded, and nothing else");
    EXPECT_EQ(refusal(task, "it->cpus_mask + 1"), "this is a cpumask_t: name one of its members");
    EXPECT_EQ(refusal(task, "it->cpus_mask.bits[0] & 1"), "");
}

TEST_F(ValueNames, AMaskOfCpusIsAKeyAndNoNumber) {
    if (possible_cpus() > 64)
        GTEST_SKIP() << "a key is a word, and this machine may have more CPUs";
    const int mask = b_.pointer(b_.structure("cpumask", 1024, {{"bits", b_.array(int_, u64_, 128), 0}}));
    const Types types(b_.get());
    const Scope scope(types, "it", Type::btf(static_cast<std::uint32_t>(mask)));
    const std::vector<ArgumentExpression> values = parse_values("*it");
    MapPart part{.expression = &values.front()};
    const Program program = compile_for_map(scope, {}, std::span(&part, 1));
    ASSERT_EQ(program.values.size(), 1u);
    EXPECT_EQ(program.values[0].type, ARGTRACE_TYPE_U64);
    EXPECT_NE(program.values[0].btf_id, 0u);
    part.is_value = true;
    EXPECT_THAT(thrown([&] { compile_for_map(scope, {}, std::span(&part, 1)); }), HasSubstr("a value to add up is a number"));
}

} // namespace
} // namespace argtrace::lang
