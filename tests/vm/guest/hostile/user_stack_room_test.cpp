// SPDX-License-Identifier: GPL-2.0-only
// Tables of unwinding that make room for others, while processes run and have their stacks walked.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/raw_map.h"
#include "support/user_stacks.h"

namespace vmtest {
namespace {

const std::string limit_path = "/sys/module/argtrace/parameters/memory_limit_mb", copies = "/tmp/room";
constexpr unsigned programs = 40;

class UserStackRoom : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        if (!(RawDevice().info().features & ARGTRACE_FEATURE_USER_STACK))
            GTEST_SKIP() << "this kernel has no user stacks";
        run({"rm", "-rf", copies});
        ASSERT_EQ(mkdir(copies.c_str(), 0700), 0);
        for (unsigned i = 0; i < programs; i++)
            ASSERT_EQ(run({"cp", "/root/user_stacks_alpha", path_of(i)}).status, 0);
    }
    void TearDown() override {
        std::ofstream(limit_path) << 0;
        run({"rm", "-rf", copies});
    }

    static std::string path_of(unsigned i) { return fmt::format("{}/{}", copies, i); }

    static ino_t inode_of(unsigned i) {
        struct stat status {};
        stat(path_of(i).c_str(), &status);
        return status.st_ino;
    }

    /// The file's first page, as code of this process.
    static std::shared_ptr<void> map_code(const std::string &path) {
        const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        void *at = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
        close(fd);
        return {at, [](void *mapped) { munmap(mapped, 4096); }};
    }

    /// The program's object, by number 0 if there is none.
    static argtrace_object object_of(const UserStacks &stacks, unsigned i) {
        argtrace_object found{};
        for (const argtrace_object &object : stacks.objects())
            if (object.object != ARGTRACE_OBJECT_VDSO && object.inode == inode_of(i))
                found = object;
        return found;
    }

    /// A table of so many rows, whatever the object is.
    static int hand_over(const RawDevice &device, std::uint32_t object, std::uint32_t count) {
        argtrace_unwind_rule rule{};
        rule.cfa = ARGTRACE_CFA_REGISTER;
        rule.reg = 7;
        rule.ra = ARGTRACE_RA_MEMORY;
        rule.offset = 8;
        rule.ra_at = -1;
        std::vector<argtrace_unwind_row> rows;
        for (std::uint32_t i = 0; i < count; i++)
            rows.push_back({64 * i, 0});
        argtrace_unwind unwind{};
        unwind.size = sizeof(unwind);
        unwind.object = object;
        unwind.nr_rows = count;
        unwind.nr_rules = 1;
        unwind.rows = reinterpret_cast<std::uintptr_t>(rows.data());
        unwind.rules = reinterpret_cast<std::uintptr_t>(&rule);
        return device.call(ARGTRACE_IOC_UNWIND, &unwind);
    }

    /// What is in use, and so many MiB or up to one more.
    static void limit_to(const RawDevice &device, std::uint64_t more) {
        std::ofstream(limit_path) << (device.info().memory_used >> 20) + 1 + more;
    }

    static argtrace_objects counts_of(const RawDevice &device) {
        argtrace_objects list{};
        list.size = sizeof(list);
        EXPECT_EQ(device.call(ARGTRACE_IOC_OBJECTS, &list), 0);
        return list;
    }
};

/// Each table takes a megabyte or so. Those of programs that ran first are gone in the end, and are wanted when these run again.
TEST_F(UserStackRoom, is_made_by_tables_of_what_is_not_mapped) {
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    const UserStacks stacks(device, 256);
    for (unsigned i = 0; i < programs; i++)
        ASSERT_EQ(run({path_of(i)}).status, 0);
    limit_to(device, 10);
    std::vector<std::unique_ptr<Background>> load;
    const RawMap map(device, RawMap::counts(64, 1));
    SinkProgram sink(ARGTRACE_SINK_MAP, map.description().id);
    sink.source(ARGTRACE_SOURCE_USER_STACK_ID);
    ASSERT_EQ(device.add(sink.probe(address_of("vfs_read")).bytes(), 1), 0);
    for (unsigned i = 0; i < 3; i++)
        load.push_back(std::make_unique<Background>(std::vector<std::string>{"sh", "-c", fmt::format("while :; do for i in 0 1 2 3 4 5 6 7; do {}/$i; done; done", copies)}));
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < programs; i++) {
            const argtrace_object object = object_of(stacks, i);
            if (!(object.flags & ARGTRACE_OBJECT_HAS_TABLE)) {
                const int error = hand_over(device, object.object, 100000);
                EXPECT_TRUE(error == 0 || error == ENOSPC || error == EEXIST) << error;
            }
        }
    load.clear();
    unsigned there = 0;
    for (unsigned i = 0; i < programs; i++)
        there += (object_of(stacks, i).flags & ARGTRACE_OBJECT_HAS_TABLE) != 0;
    EXPECT_GT(there, 0u);
    EXPECT_LE(there, 12u);
    EXPECT_EQ(hand_over(device, object_of(stacks, 20).object, 100000) % EEXIST, 0);
    for (unsigned i = 21; i < programs; i++)
        if (!(object_of(stacks, i).flags & ARGTRACE_OBJECT_HAS_TABLE)) {
            ASSERT_EQ(run({path_of(i)}).status, 0);
            EXPECT_TRUE(object_of(stacks, i).flags & ARGTRACE_OBJECT_WANTED);
            EXPECT_GT(counts_of(device).wanted, 0u);
            break;
        }
}

/// What nothing makes room for is refused, which is counted, and nobody waits for it.
TEST_F(UserStackRoom, may_be_refused) {
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    const UserStacks stacks(device, 256);
    ASSERT_EQ(run({path_of(0)}).status, 0);
    const std::uint32_t object = object_of(stacks, 0).object;
    limit_to(device, 0);
    EXPECT_EQ(hand_over(device, object, 1000000), ENOSPC);
    EXPECT_EQ(counts_of(device).refused, 1u);
    EXPECT_EQ(hand_over(device, object, 1000000), ENOSPC);
    EXPECT_EQ(counts_of(device).refused, 1u);
    std::ofstream(limit_path) << 0;
    EXPECT_EQ(hand_over(device, object, 1000000), 0);
    EXPECT_EQ(hand_over(device, object, 1000000), EEXIST);
}

/// Tables take what they may of the limit, to the last byte; what processes map from then on is known all the same.
TEST_F(UserStackRoom, is_left_for_what_processes_map) {
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    const UserStacks stacks(device, 256);
    // Mapped by ourselves, so that none makes room for another.
    std::vector<std::shared_ptr<void>> mapped;
    for (unsigned i = 0; i < programs; i++) {
        mapped.push_back(map_code(path_of(i)));
        ASSERT_NE(mapped.back().get(), MAP_FAILED);
    }
    limit_to(device, 10);
    std::uint32_t rows = 1 << 20;
    for (unsigned i = 0; i < programs && rows > 0; i++) {
        const std::uint32_t object = object_of(stacks, i).object;
        int error = ENOSPC;
        while (rows > 0 && (error = hand_over(device, object, rows)) == ENOSPC)
            rows /= 2;
        EXPECT_TRUE(error == 0 || rows == 0) << error;
    }
    ASSERT_EQ(rows, 0u) << "there is room for more tables";
    for (unsigned i = 0; i < 20; i++)
        ASSERT_EQ(run({"/root/user_stacks_alpha"}).status, 0);
    EXPECT_FALSE(stacks.objects().empty());
}

} // namespace
} // namespace vmtest
