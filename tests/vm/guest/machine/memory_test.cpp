// SPDX-License-Identifier: GPL-2.0-only
// Where the module's memory is, who is charged for it, and what happens where there is none left.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20;
constexpr char limit_file[] = "/sys/module/argtrace/parameters/memory_limit_mb";

void write_to(const std::string &path, const std::string &text) {
    std::ofstream out(path);
    out << text << std::flush;
    ASSERT_TRUE(out.good()) << path << ": " << text;
}

/// The node that a CPU belongs to, or -1 where the kernel does not say.
int node_of_cpu(unsigned cpu) {
    for (int node = 0; node < 8; ++node) {
        if (std::filesystem::exists("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/node" +
                                    std::to_string(node)))
            return node;
    }
    return -1;
}

/// How many of the mapped pages are in the memory of another node.
std::size_t pages_elsewhere(const volatile void *start, std::size_t bytes, int node) {
    std::vector<void *> pages;
    for (std::size_t at = 0; at < bytes; at += 4096)
        pages.push_back(const_cast<char *>(static_cast<const volatile char *>(start)) + at);
    std::vector<int> nodes(pages.size(), -1);
    EXPECT_EQ(syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, nodes.data(), 0), 0);
    std::size_t elsewhere = 0;
    for (const int found : nodes)
        elsewhere += found != node;
    return elsewhere;
}

class Memory : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
    }
    void TearDown() override {
        write_to(limit_file, "0");
        unpin();
    }
};

TEST_F(Memory, rings_are_on_the_node_of_their_cpu) {
    if (!std::filesystem::exists("/sys/devices/system/node/node1"))
        GTEST_SKIP() << "this kernel sees one node";
    constexpr std::uint32_t packet_size = 64 << 10, packets = 16;
    pin_to_cpu(0);
    RawDevice device;
    ASSERT_EQ(device.session("", packet_size, packets), 0);
    ASSERT_EQ(device.reader(), 0);
    int last = 0;
    for (unsigned cpu = 0; cpu < cpu_count(); ++cpu) {
        const int node = node_of_cpu(cpu);
        const RawRing ring(device, cpu, packet_size, packets);
        EXPECT_EQ(pages_elsewhere(ring.control(), 4096 + packet_size * packets, node), 0u) << "CPU " << cpu;
        EXPECT_EQ(pages_elsewhere(ring.reader(), 4096, node), 0u) << "CPU " << cpu;
        last = node;
    }
    EXPECT_EQ(last, 1) << "no CPU is on the other node";
}

TEST_F(Memory, probes_are_removed_at_the_limit) {
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    const std::uint64_t four = address_of("at_four"), target = address_of("at_bool");
    ASSERT_EQ(device.add(RawProbe::words(four, 4, "at_four").bytes(), 1), 0);
    ASSERT_EQ(device.add(RawProbe::words(target, 1, "at_bool").bytes(), 1), 0);
    ASSERT_GT(device.info().memory_used, mebibyte);
    write_to(limit_file, "1");
    EXPECT_EQ(device.remove({four}), 0);
    EXPECT_FALSE(is_armed("at_four"));
    EXPECT_TRUE(is_armed("at_bool"));
    EXPECT_EQ(device.remove({target}), 0);
    EXPECT_FALSE(is_armed("at_bool"));
}

class MemoryCgroup : public Memory {
protected:
    static constexpr char root_directory[] = "/sys/fs/cgroup";
    const std::string group_ = std::string(root_directory) + "/argtrace";

    void SetUp() override {
        Memory::SetUp();
        if (!std::filesystem::exists(std::string(root_directory) + "/cgroup.controllers") &&
            mount("cgroup2", root_directory, "cgroup2", 0, nullptr) != 0)
            GTEST_SKIP() << "this kernel has no cgroups";
        if (read_file(std::string(root_directory) + "/cgroup.controllers").find("memory") == std::string::npos)
            GTEST_SKIP() << "this kernel has no memory cgroups";
        write_to(std::string(root_directory) + "/cgroup.subtree_control", "+memory");
        std::filesystem::create_directory(group_);
    }
    void TearDown() override {
        rmdir(group_.c_str());
        Memory::TearDown();
    }

    /// What a child in the group, which may take so much, gets for a session with rings of `packets` MiB for each CPU;
    /// what the group had been charged then is in `charged`.
    int session_in_group(std::uint64_t most, std::uint32_t packets, std::uint64_t &charged) {
        write_to(group_ + "/memory.max", std::to_string(most));
        int ends[2];
        EXPECT_EQ(pipe(ends), 0);
        const pid_t child = fork();
        if (child == 0) {
            write_to(group_ + "/cgroup.procs", "0");
            RawDevice device;
            const int result = device.session("", mebibyte, packets);
            std::ifstream in(group_ + "/memory.current");
            std::uint64_t current = 0;
            in >> current;
            (void)!write(ends[1], &current, sizeof(current));
            _exit(result);
        }
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
        close(ends[1]);
        EXPECT_EQ(read(ends[0], &charged, sizeof(charged)), static_cast<ssize_t>(sizeof(charged)));
        close(ends[0]);
        return WEXITSTATUS(status);
    }
};

TEST_F(MemoryCgroup, is_charged_for_the_rings) {
    std::uint64_t charged = 0;
    EXPECT_EQ(session_in_group(200 * mebibyte, 8, charged), 0);
    EXPECT_GE(charged, cpu_count() * 8 * mebibyte);
}

TEST_F(MemoryCgroup, that_is_full_refuses_and_kills_nobody) {
    std::uint64_t charged = 0;
    EXPECT_EQ(session_in_group(24 * mebibyte, 8, charged), ENOMEM);
    std::istringstream events(read_file(group_ + "/memory.events"));
    std::string what;
    std::uint64_t count = 0;
    while (events >> what >> count) {
        if (what == "oom_kill") {
            EXPECT_EQ(count, 0u);
        }
    }
}

} // namespace
} // namespace vmtest
