// SPDX-License-Identifier: GPL-2.0-only
// What the module reports about itself, its effect on the kernel that loads it, and what pins it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

std::string modinfo(const std::string &field) {
    return run({"modinfo", "-F", field, "/lib/modules/" + kernel_release() + "/updates/argtrace.ko"}).out;
}

std::string without_newline(std::string text) {
    std::erase(text, '\n');
    return text;
}

class Module : public testing::Test {
protected:
    void SetUp() override { need_argtrace(); }
};

TEST_F(Module, says_what_it_is) {
    EXPECT_EQ(modinfo("license"), "GPL\n");
    EXPECT_NE(modinfo("author"), "");
    EXPECT_NE(modinfo("description"), "");
    EXPECT_NE(modinfo("vermagic"), "");
    EXPECT_EQ(modinfo("depends"), "\n");
    // Module and tool take their version from the file VERSION.
    const std::string version = without_newline(modinfo("version"));
    EXPECT_EQ("argtrace " + version + "\n", run({"argtrace", "--version"}).out);
    EXPECT_EQ(version + "\n", read_file("/sys/module/argtrace/version"));
}

TEST_F(Module, describes_each_parameter) {
    const std::string described = modinfo("parm");
    const std::filesystem::path parameters = "/sys/module/argtrace/parameters";
    ASSERT_TRUE(std::filesystem::exists(parameters));
    for (const auto &entry : std::filesystem::directory_iterator(parameters)) {
        const std::string name = entry.path().filename();
        const std::string start = name + ":";
        EXPECT_TRUE(described.starts_with(start) ||
                    described.find("\n" + start) != std::string::npos)
            << name;
    }
}

TEST_F(Module, taints_the_kernel_as_out_of_tree_and_unsigned_only) {
    const std::string taint = without_newline(read_file("/sys/module/argtrace/taint"));
    // Without CONFIG_MODULE_SIG the kernel does not report unsigned modules.
    EXPECT_TRUE(taint == "OE" || taint == "O") << taint;
    // Debian's kernels set TAINT_AUX for whoever asks fanotify_mark() for permission events, which the random calls of
    // HostileCalls may do.
    const unsigned long out_of_tree = 1ul << 12, unsigned_module = 1ul << 13, auxiliary = 1ul << 16;
    EXPECT_EQ(std::stoul(read_file("/proc/sys/kernel/tainted")) & ~(out_of_tree | unsigned_module | auxiliary), 0u);
}

TEST_F(Module, stays_while_a_nameless_session_is_open) {
    {
        const RawDevice device;
        ASSERT_EQ(device.session(), 0);
        EXPECT_EQ(unload_module("argtrace"), EWOULDBLOCK);
        EXPECT_TRUE(module_is_loaded("argtrace"));
        ASSERT_EQ(device.add(RawProbe::words(address_of("vfs_read"), 4).seal().bytes(), 1), 0)
            << "being asked to go has done no harm";
        const Outcome rmmod = run({"rmmod", "argtrace"});
        EXPECT_NE(rmmod.status, 0);
        EXPECT_NE(rmmod.err.find("in use"), std::string::npos) << rmmod.err;
        EXPECT_TRUE(is_armed("vfs_read"));
    }
    EXPECT_EQ(unload_module("argtrace"), 0);
    EXPECT_FALSE(is_armed("vfs_read"));
    EXPECT_NE(access("/dev/argtrace", F_OK), 0);
}

/// Opens the device as root without these capabilities; 0 or the errno.
int open_without(const std::vector<int> &capabilities) {
    const pid_t child = fork();
    if (child == 0) {
        __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
        __user_cap_data_struct data[2]{};
        if (syscall(SYS_capget, &header, data))
            _exit(99);
        for (const int capability : capabilities) {
            data[capability / 32].effective &= ~(1u << capability % 32);
            data[capability / 32].permitted &= ~(1u << capability % 32);
            data[capability / 32].inheritable &= ~(1u << capability % 32);
        }
        if (syscall(SYS_capset, &header, data))
            _exit(98);
        _exit(open(ARGTRACE_DEVICE, O_RDWR | O_CLOEXEC) >= 0 ? 0 : errno);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

TEST_F(Module, opens_for_either_capability_and_for_no_root_without) {
    EXPECT_EQ(open_without({}), 0);
    EXPECT_EQ(open_without({CAP_SYS_ADMIN}), 0) << "CAP_PERFMON is enough";
    EXPECT_EQ(open_without({CAP_PERFMON}), 0) << "CAP_SYS_ADMIN is enough";
    EXPECT_EQ(open_without({CAP_SYS_ADMIN, CAP_PERFMON}), EPERM);
    const Outcome outcome =
        run({"setpriv", "--bounding-set=-sys_admin,-perfmon", "argtrace", "info"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(outcome.err.find("CAP_SYS_ADMIN or CAP_PERFMON is needed"), std::string::npos)
        << outcome.err;
}

} // namespace
} // namespace vmtest
