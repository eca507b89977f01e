// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include "session/authority.h"

namespace argtrace {
namespace {

argtrace_info with_authority(std::uint32_t authority) {
    argtrace_info info{};
    info.authority = authority;
    return info;
}

Argument in_register() {
    return {ARGTRACE_LOC_REG, 0, ARGTRACE_TYPE_U64, 8, 0, "a", "u64"};
}

Argument on_stack() {
    return {ARGTRACE_LOC_STACK, 0, ARGTRACE_TYPE_U32, 4, 8, "g", "u32"};
}

Probe probe(const std::string &function, std::vector<Argument> args) {
    Probe probe;
    probe.function = function;
    probe.args = std::move(args);
    return probe;
}

TEST(Authority, ToReadMemoryLeavesAllAsItIs) {
    std::vector<Probe> probes{probe("f", {in_register(), on_stack()})};
    const std::vector<Probe> before = probes;
    EXPECT_FALSE(leave_out_memory(
        probes, with_authority(ARGTRACE_MAY_TRACE | ARGTRACE_MAY_READ_MEMORY)));
    EXPECT_EQ(probes, before);
}

TEST(Authority, WithoutItArgumentsInMemoryKeepTheirNamesAlone) {
    std::vector<Probe> probes{probe("f", {in_register(), on_stack()})};
    EXPECT_EQ(leave_out_memory(probes, with_authority(ARGTRACE_MAY_TRACE)),
              "f: arguments on the stack are shown as ?: reading memory takes CAP_BPF beside "
              "CAP_PERFMON, or CAP_SYS_ADMIN");
    const Argument left{ARGTRACE_LOC_NONE, 0, ARGTRACE_TYPE_END, 0, 0, "g", "u32"};
    EXPECT_EQ(probes[0], probe("f", {in_register(), left}));
}

TEST(Authority, OneSentenceForAll) {
    std::vector<Probe> probes{probe("none", {in_register()}), probe("f", {on_stack()}),
                              probe("g", {on_stack(), on_stack()}), probe("h", {on_stack()})};
    const auto sentence = leave_out_memory(probes, with_authority(ARGTRACE_MAY_TRACE));
    ASSERT_TRUE(sentence);
    EXPECT_TRUE(sentence->starts_with("f and 2 more: arguments")) << *sentence;
}

TEST(Authority, NothingInMemoryIsNothingToSay) {
    std::vector<Probe> probes{probe("f", {in_register()})};
    EXPECT_FALSE(leave_out_memory(probes, with_authority(ARGTRACE_MAY_TRACE)));
}

} // namespace
} // namespace argtrace
