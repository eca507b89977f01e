// SPDX-License-Identifier: GPL-2.0-only
// The ioctls and the life of user stacks: what is refused, and sessions that come and go while processes do.
#include <gtest/gtest.h>

#include <cerrno>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/raw_map.h"
#include "support/user_stacks.h"

namespace vmtest {
namespace {

const std::string program = "/root/user_stacks_o2";

class UserStackIoctls : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        if (!(RawDevice().info().features & ARGTRACE_FEATURE_USER_STACK))
            GTEST_SKIP() << "this kernel has no user stacks";
    }

    static argtrace_objects list() {
        argtrace_objects list{};
        list.size = sizeof(list);
        return list;
    }
    static argtrace_object_open open_of(std::uint32_t object) {
        argtrace_object_open open{};
        open.size = sizeof(open);
        open.object = object;
        return open;
    }
    static argtrace_unwind table_of(std::uint32_t object) {
        argtrace_unwind unwind{};
        unwind.size = sizeof(unwind);
        unwind.object = object;
        return unwind;
    }

    static void add_probe(const RawDevice &device, const RawMap &map) {
        SinkProgram sink(ARGTRACE_SINK_MAP, map.description().id);
        sink.source(ARGTRACE_SOURCE_USER_STACK_ID);
        ASSERT_EQ(device.add(sink.probe(address_of("vfs_read")).bytes(), 1), 0);
    }
};

TEST_F(UserStackIoctls, need_tables_of_user_stacks) {
    RawDevice device;
    argtrace_objects objects = list();
    argtrace_object_open open = open_of(ARGTRACE_OBJECT_FIRST);
    argtrace_unwind unwind = table_of(ARGTRACE_OBJECT_FIRST);
    EXPECT_EQ(device.call(ARGTRACE_IOC_OBJECTS, &objects), EBADFD);
    ASSERT_EQ(device.session(), 0);
    EXPECT_EQ(device.call(ARGTRACE_IOC_OBJECTS, &objects), ENOENT);
    EXPECT_EQ(device.call(ARGTRACE_IOC_OBJECT_OPEN, &open), ENOENT);
    EXPECT_EQ(device.call(ARGTRACE_IOC_UNWIND, &unwind), ENOENT);
    const RawMap map(device, RawMap::counts(64, 1));
    SinkProgram sink(ARGTRACE_SINK_MAP, map.description().id);
    sink.source(ARGTRACE_SOURCE_USER_STACK_ID);
    EXPECT_EQ(device.add(sink.probe(address_of("vfs_read")).bytes(), 1), EINVAL);
    // Those of kernel stacks do not do.
    argtrace_stacks kernel{};
    kernel.size = sizeof(kernel);
    ASSERT_EQ(device.call(ARGTRACE_IOC_STACKS, &kernel), 0);
    EXPECT_EQ(device.add(sink.probe(address_of("vfs_read")).bytes(), 1), EINVAL);
    EXPECT_EQ(device.call(ARGTRACE_IOC_OBJECTS, &objects), ENOENT);
}

TEST_F(UserStackIoctls, refuse_what_they_do_not_know) {
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    const UserStacks stacks(device);
    const std::vector<std::pair<const char *, std::function<void(argtrace_objects &)>>> lists = {
        {"short", [](auto &it) { it.size = ARGTRACE_OBJECTS_SIZE_V1 - 8; }},
        {"flags", [](auto &it) { it.flags = 2; }},
    };
    for (const auto &[name, spoil] : lists) {
        argtrace_objects objects = list();
        spoil(objects);
        EXPECT_EQ(device.call(ARGTRACE_IOC_OBJECTS, &objects), EINVAL) << name;
    }
    argtrace_objects nowhere = list();
    nowhere.buffer = 16;
    nowhere.length = 1 << 16;
    EXPECT_EQ(device.call(ARGTRACE_IOC_OBJECTS, &nowhere), EFAULT);
    argtrace_objects none = list();
    EXPECT_EQ(device.call(ARGTRACE_IOC_OBJECTS, &none), 0);
    EXPECT_EQ(none.count, 0u);
    EXPECT_NE(none.next, 0u) << "there is no room, and there are objects";
    argtrace_objects behind = list();
    behind.first = ~0u;
    EXPECT_EQ(device.call(ARGTRACE_IOC_OBJECTS, &behind), 0);
    EXPECT_EQ(behind.next, 0u);
    for (const std::uint32_t object : {std::uint32_t{ARGTRACE_OBJECT_END}, std::uint32_t{ARGTRACE_OBJECT_MEMORY}, std::uint32_t{ARGTRACE_OBJECT_VDSO},
                                       std::uint32_t{ARGTRACE_OBJECTS_MAX}, ~0u}) {
        argtrace_object_open open = open_of(object);
        EXPECT_EQ(device.call(ARGTRACE_IOC_OBJECT_OPEN, &open), ENOENT) << object;
    }
    argtrace_unwind unwind = table_of(ARGTRACE_OBJECT_MEMORY);
    EXPECT_EQ(device.call(ARGTRACE_IOC_UNWIND, &unwind), ENOENT);
    unwind = table_of(ARGTRACE_OBJECT_VDSO);
    unwind.nr_rows = ARGTRACE_UNWIND_ROWS_MAX + 1;
    EXPECT_EQ(device.call(ARGTRACE_IOC_UNWIND, &unwind), E2BIG);
    unwind = table_of(ARGTRACE_OBJECT_VDSO);
    unwind.nr_rows = 1;
    unwind.rows = 16;
    EXPECT_EQ(device.call(ARGTRACE_IOC_UNWIND, &unwind), EFAULT);
    unwind = table_of(ARGTRACE_OBJECT_VDSO);
    EXPECT_EQ(device.call(ARGTRACE_IOC_UNWIND, &unwind), 0);
    EXPECT_EQ(device.call(ARGTRACE_IOC_UNWIND, &unwind), EEXIST);
    RawDevice reading(O_RDONLY);
    EXPECT_EQ(reading.call(ARGTRACE_IOC_UNWIND, &unwind), EBADF);
}

/// The file that is opened is the one that is mapped, also when another one has its name, or none.
TEST_F(UserStackIoctls, open_the_file_that_is_mapped) {
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    const UserStacks stacks(device);
    ASSERT_EQ(run({"cp", program, "/tmp/copied"}).status, 0);
    struct stat first{}, opened{};
    ASSERT_EQ(stat("/tmp/copied", &first), 0);
    ASSERT_EQ(run({"/tmp/copied", "short"}).status, 0);
    ASSERT_EQ(run({"sh", "-c", "rm /tmp/copied; cp /root/user_stacks_o0 /tmp/copied"}).status, 0);
    std::optional<argtrace_object> found;
    for (const argtrace_object &object : stacks.objects()) {
        if (object.inode == first.st_ino && object.object != ARGTRACE_OBJECT_VDSO)
            found = object;
    }
    ASSERT_TRUE(found);
    EXPECT_EQ(found->mapped, 0u);
    EXPECT_TRUE(found->flags & ARGTRACE_OBJECT_OPENABLE);
    argtrace_object_open open = open_of(found->object);
    const int fd = ioctl(device.fd(), ARGTRACE_IOC_OBJECT_OPEN, &open);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    ASSERT_EQ(fstat(fd, &opened), 0);
    EXPECT_EQ(opened.st_ino, first.st_ino);
    EXPECT_EQ(opened.st_nlink, 0u);
    close(fd);
    // It was held for whoever would open it, which has been done.
    EXPECT_EQ(device.call(ARGTRACE_IOC_OBJECT_OPEN, &open), ESTALE);
}

/// The file system of a program that nobody wants to know any more can be unmounted, if not at once.
TEST_F(UserStackIoctls, nobody_opens_a_file) {
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    const UserStacks stacks(device);
    ASSERT_EQ(run({"sh", "-c", "mkdir /tmp/mounted && mount -t tmpfs none /tmp/mounted && cp " + program + " /tmp/mounted/copied"}).status, 0);
    ASSERT_EQ(run({"/tmp/mounted/copied", "short"}).status, 0);
    EXPECT_NE(umount("/tmp/mounted"), 0);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(eventually([] { return umount("/tmp/mounted") == 0; }));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
    EXPECT_EQ(run({"rmdir", "/tmp/mounted"}).status, 0);
}

/// Sessions are made, used and dropped while processes begin, map, unmap and end.
TEST_F(UserStackIoctls, sessions_come_and_go_under_load) {
    std::vector<std::unique_ptr<Background>> load;
    for (const char *what : {"children 1000000", "remap 100000000", "hostile 1000000000"})
        load.push_back(std::make_unique<Background>(std::vector<std::string>{"sh", "-c", "exec " + program + ' ' + what + " >/dev/null"}));
    const std::uint64_t rounds = rounds_until_they_meet(2, 3, 6);
    for (std::uint64_t round = 0; round < rounds; round++) {
        RawDevice device, other;
        ASSERT_EQ(device.session(), 0);
        ASSERT_EQ(other.session(), 0);
        const UserStacks stacks(device, 256), others(other, 256);
        const RawMap map(device, RawMap::counts(64, 1)), other_map(other, RawMap::counts(64, 1));
        add_probe(device, map);
        if (round % 3)
            add_probe(other, other_map);
        // Processes wait for tables, which come or do not, and the file that they wait for is closed.
        if (round % 2)
            others.objects(ARGTRACE_OBJECTS_AWAIT);
        if (round % 3)
            stacks.objects(ARGTRACE_OBJECTS_AWAIT);
        if (round % 4)
            stacks.provide_tables();
        usleep(1000 * (round % 50));
        if (round % 2)
            other.close();
    }
    load.clear();
    expect_nothing_left();
}

/// A rule that leads along words to another stack.
argtrace_unwind_rule by_words(std::mt19937_64 &random) {
    argtrace_unwind_rule rule = {};
    rule.cfa = static_cast<std::uint8_t>(ARGTRACE_CFA_THREAD + random() % 3);
    rule.reg = static_cast<std::uint8_t>(random() % 2 ? stack_pointer : random() % unwind_registers);
    const bool is_beside = rule.cfa == ARGTRACE_CFA_THREAD && random() % 2;
    rule.ra = is_beside ? ARGTRACE_RA_BESIDE : ARGTRACE_RA_MEMORY;
    rule.ra_at = static_cast<std::int16_t>(is_beside ? 0 : -1);
    rule.offset = static_cast<std::int32_t>(random() % 3 ? 8 * (random() % 32) : random());
    rule.add = static_cast<std::int32_t>(random() % 3 ? 8 : random());
    const unsigned of_thread = is_arm64 ? 2 : 3;
    const unsigned offsets = rule.cfa == ARGTRACE_CFA_DEPTH ? 2 : of_thread + (rule.cfa == ARGTRACE_CFA_CALLBACK || (is_arm64 && is_beside));
    for (unsigned i = 0; i < offsets; i++)
        rule.at[i] = static_cast<std::int16_t>(random() % 3 ? 8 * (random() % 32) : random());
    return rule;
}

/// Valid tables that lie, for all objects there are.
TEST_F(UserStackIoctls, tables_may_lie) {
    std::mt19937_64 random(test_seed());
    const std::uint64_t rounds = stress_steps(is_sanitizer_kernel() ? 2 : 4);
    for (std::uint64_t round = 0; round < rounds; round++) {
        RawDevice device;
        ASSERT_EQ(device.session(), 0);
        const UserStacks stacks(device, 4096);
        const RawMap map(device, RawMap::counts(64, 1));
        ASSERT_EQ(run({program, "short"}).status, 0);
        for (const argtrace_object &object : stacks.objects()) {
            std::vector<argtrace_unwind_row> rows;
            std::vector<argtrace_unwind_rule> rules(64);
            for (argtrace_unwind_rule &rule : rules) {
                rule.cfa = static_cast<std::uint8_t>(1 + random() % 4);
                rule.reg = static_cast<std::uint8_t>(random() % 4 ? (random() % 2 ? stack_pointer : frame_pointer) : random() % unwind_registers);
                rule.ra = static_cast<std::uint8_t>(rule.cfa == ARGTRACE_CFA_SIGNAL ? 1 : 1 + (random() % 8 == 0 ? random() % 3 : 0));
                rule.offset = static_cast<std::int32_t>(random() % 3 ? random() % 256 : random());
                if (rule.cfa == ARGTRACE_CFA_MEMORY)
                    rule.add = static_cast<std::int32_t>(random());
                if (rule.cfa == ARGTRACE_CFA_PLT)
                    rule.add = static_cast<std::int32_t>(random() % 16);
                if (rule.ra != ARGTRACE_RA_END && rule.cfa != ARGTRACE_CFA_SIGNAL)
                    rule.ra_at = static_cast<std::int16_t>(rule.ra == ARGTRACE_RA_REGISTER ? random() % unwind_registers : random() % 8 ? -1 : random());
                if (rule.cfa != ARGTRACE_CFA_SIGNAL)
                    rule.saved = static_cast<std::uint16_t>(random() & ((1u << saved_registers) - 1));
                rule.by_frame = static_cast<std::uint16_t>(rule.saved & random());
                for (unsigned i = 0; i < saved_registers; i++)
                    rule.at[i] = static_cast<std::int16_t>(rule.saved >> i & 1 ? random() % 3 ? -2 : random() : 0);
                if (random() % 4 == 0)
                    rule = by_words(random);
            }
            for (std::uint32_t offset = 0; rows.size() < 20000; offset += 1 + static_cast<std::uint32_t>(random() % 200))
                rows.push_back({offset, static_cast<std::uint32_t>(random() % rules.size())});
            argtrace_unwind unwind = table_of(object.object);
            unwind.nr_rows = static_cast<std::uint32_t>(rows.size());
            unwind.nr_rules = static_cast<std::uint32_t>(rules.size());
            unwind.rows = reinterpret_cast<std::uintptr_t>(rows.data());
            unwind.rules = reinterpret_cast<std::uintptr_t>(rules.data());
            ASSERT_EQ(device.call(ARGTRACE_IOC_UNWIND, &unwind), 0);
        }
        add_probe(device, map);
        ASSERT_EQ(run({program, "10"}).status, 0);
        ASSERT_EQ(run({"sh", "-c", "for i in 1 2 3 4 5; do ls -l /proc/self/fd | cat; done"}).status, 0);
        EXPECT_GT(map.count(), 0u);
    }
    expect_nothing_left();
}

} // namespace
} // namespace vmtest
