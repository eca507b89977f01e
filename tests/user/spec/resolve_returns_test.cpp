// SPDX-License-Identifier: GPL-2.0-only
// Which returns are followed, and whether by argtrace or by the kernel.
#include "spec/resolve.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>

#include "support/resolve_kernel.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

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
            wanted.stack = kernel_stack;
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
