// SPDX-License-Identifier: GPL-2.0-only
// A system call that something like a live patch has go on in a function of its own, before it is followed and after: each call is recorded,
// or counted with the reason, and returns what the patch has it return.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "modules/neighbours.h"
#include "support/architecture.h"
#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"
#include "support/neighbours.h"

namespace vmtest {
namespace {

constexpr std::uint64_t patched_calls = 100;

/// The patch, with or without all registers; gone at the end.
class Patch {
public:
    explicit Patch(int how) { EXPECT_EQ(write_number_of_neighbours("patch", how), 0); }
    ~Patch() { EXPECT_EQ(write_number_of_neighbours("patch", 0), 0); }
    Patch(const Patch &) = delete;
    Patch &operator=(const Patch &) = delete;
};

void make_calls(long expected) {
    for (std::uint64_t i = 0; i < patched_calls; i++)
        ASSERT_EQ(syscall(SYS_getpgid, getpid()), expected);
}

/// The counts of the one function that is followed.
argtrace_return_counts default_counts() {
    RawDevice device;
    EXPECT_EQ(device.session("default"), 0);
    const auto counts = device.return_counts();
    EXPECT_EQ(counts.size(), 1u);
    return counts.empty() ? argtrace_return_counts{} : counts[0];
}

/// As others may have called it meanwhile, there is no more than a least number.
void expect_all_recorded(const argtrace_return_counts &counts, std::uint64_t least) {
    EXPECT_GE(counts.counts.records, least);
    EXPECT_EQ(hits(counts), counts.counts.records);
}

/// What the default session has recorded of this process's calls.
void expect_own_returns(long expected, std::uint64_t calls) {
    const Outcome shown = run({"argtrace", "trace", "--json", "--duration", "1"});
    std::uint64_t own = 0;
    for (const auto &event : json_lines(shown.out)) {
        if (event["pid"] != getpid())
            continue;
        own++;
        EXPECT_EQ(event["ret"], expected) << event;
    }
    EXPECT_EQ(own, calls) << shown.err;
}

class SyscallBesidePatch : public testing::TestWithParam<int> {
protected:
    void SetUp() override {
        if (is_arm64 && GetParam() == 2)
            GTEST_SKIP() << "ftrace saves no more than the registers of arguments on arm64";
        need_argtrace();
        need_module("argtrace_neighbours");
        ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    }
    void TearDown() override { EXPECT_EQ(run({"argtrace", "clear"}).status, 0); }

    const long group_ = getpgid(0);
    const long patched_ = AN_GETPGID + getpid();
};

TEST_P(SyscallBesidePatch, that_comes_first_is_refused_with_the_reason) {
    const Patch patch(GetParam());
    const Outcome refused = run({"argtrace", "add", "-r", "s:getpgid"});
    EXPECT_EQ(refused.status, 1);
    EXPECT_NE(refused.err.find("it is live patched, and system calls are followed by the trampoline alone"), std::string::npos)
        << refused.err;
    make_calls(patched_);
}

TEST_P(SyscallBesidePatch, that_comes_first_has_the_calls_of_who_insists) {
    const Patch patch(GetParam());
    const Outcome added = run({"argtrace", "add", "-r", "--return-by", "trampoline", "s:getpgid"});
    ASSERT_EQ(added.status, 0) << added.err;
    make_calls(patched_);
    const auto counts = default_counts();
    const std::uint64_t taken = counts.unfollowed[ARGTRACE_UNFOLLOWED_TAKEN];
    EXPECT_GE(counts.counts.records + taken, patched_calls);
    EXPECT_EQ(hits(counts), counts.counts.records + taken);
    // A patch that asks for all registers leaves us the call, which then goes on in the patch.
    expect_own_returns(patched_, taken ? 0 : patched_calls);
}

TEST_P(SyscallBesidePatch, that_comes_first_is_followed_by_the_kernel_as_a_function) {
    const Patch patch(GetParam());
    const Outcome added = run({"argtrace", "add", "-r", SYSCALL_PREFIX "getpgid"});
    ASSERT_EQ(added.status, 0) << added.err;
    EXPECT_NE(added.err.find("of the kernel"), std::string::npos) << added.err;
    make_calls(patched_);
    expect_all_recorded(default_counts(), patched_calls);
    expect_own_returns(patched_, patched_calls);
}

TEST_P(SyscallBesidePatch, that_comes_later_has_the_calls_until_it_goes) {
    for (const char *spec : {"s:getpgid", SYSCALL_PREFIX "getpgid"}) {
        SCOPED_TRACE(spec);
        const Outcome added = run({"argtrace", "add", "-r", spec});
        ASSERT_EQ(added.status, 0) << added.err;
        make_calls(group_);
        expect_all_recorded(default_counts(), patched_calls);
        {
            const Patch patch(GetParam());
            make_calls(patched_);
        }
        make_calls(group_);
        const auto counts = default_counts();
        const std::uint64_t taken = counts.unfollowed[ARGTRACE_UNFOLLOWED_TAKEN];
        EXPECT_GE(taken, patched_calls);
        EXPECT_GE(counts.counts.records, 2 * patched_calls);
        EXPECT_EQ(hits(counts), counts.counts.records + taken);
        EXPECT_EQ(run({"argtrace", "clear"}).status, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(ReturnWays, SyscallBesidePatch, testing::Values(1, 2),
                         [](const auto &info) { return info.param == 1 ? "with_few_registers" : "with_all_registers"; });

} // namespace
} // namespace vmtest
