// SPDX-License-Identifier: GPL-2.0-only
// ARGTRACE_IOC_STACKS and the mapping of tables of stacks, by the ABI alone: what is refused, and what it leaves as it was.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/raw_map.h"

namespace vmtest {
namespace {

constexpr std::size_t page = 4096;

class StackTables : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
        ASSERT_EQ(device_.session(), 0);
    }

    static argtrace_stacks wanted(std::uint32_t entries = 64) {
        argtrace_stacks stacks{};
        stacks.size = sizeof(stacks);
        stacks.entries = entries;
        return stacks;
    }

    static void *map(int fd, std::size_t size, int protection, unsigned cpu = 0) {
        return mmap(nullptr, size, protection, MAP_SHARED, fd,
                    static_cast<off_t>(ARGTRACE_MMAP_OFFSET(cpu, ARGTRACE_MMAP_STACKS)));
    }

    RawDevice device_;
};

TEST_F(StackTables, that_are_refused_take_no_memory) {
    const std::vector<std::pair<const char *, std::function<void(argtrace_stacks &)>>> refused = {
        {"a short struct", [](auto &stacks) { stacks.size = ARGTRACE_STACKS_SIZE_V1 - 4; }},
        {"few entries", [](auto &stacks) { stacks.entries = ARGTRACE_STACK_ENTRIES_MIN / 2; }},
        {"no power of two", [](auto &stacks) { stacks.entries = 96; }},
        {"many entries", [](auto &stacks) { stacks.entries = 2 * ARGTRACE_STACK_ENTRIES_MAX; }},
        {"many words", [](auto &stacks) { stacks.words = ARGTRACE_STACK_WORDS_MAX + 1; }},
        {"words that overflow", [](auto &stacks) { stacks.words = ~0u; }},
        {"deep stacks", [](auto &stacks) { stacks.depth = ARGTRACE_STACK_DEPTH_MAX + 1; }},
        {"a depth that is cut to 8 bits", [](auto &stacks) { stacks.depth = 256; }},
        {"an unknown flag", [](auto &stacks) { stacks.flags = 4; }},
        {"a reserved field", [](auto &stacks) { stacks.reserved = 1; }},
        {"existing ones of a size", [](auto &stacks) { stacks.flags = ARGTRACE_STACKS_EXISTING; }},
    };
    const std::uint64_t used = device_.info().memory_used;
    for (const auto &[name, spoil] : refused) {
        argtrace_stacks stacks = wanted();
        spoil(stacks);
        EXPECT_EQ(device_.call(ARGTRACE_IOC_STACKS, &stacks), EINVAL) << name;
    }
    argtrace_stacks existing = wanted(0);
    existing.flags = ARGTRACE_STACKS_EXISTING;
    EXPECT_EQ(device_.call(ARGTRACE_IOC_STACKS, &existing), ENOENT);
    EXPECT_EQ(device_.info().memory_used, used);
}

TEST_F(StackTables, stay_as_they_were_made_first) {
    argtrace_stacks first = wanted(128), second = wanted(4096);
    first.depth = 9;
    ASSERT_EQ(device_.call(ARGTRACE_IOC_STACKS, &first), 0);
    const std::uint64_t used = device_.info().memory_used;
    ASSERT_EQ(device_.call(ARGTRACE_IOC_STACKS, &second), 0);
    EXPECT_EQ(device_.info().memory_used, used);
    EXPECT_EQ(second.entries, 128u);
    EXPECT_EQ(second.words, 128u * 16);
    EXPECT_EQ(second.depth, 9u);
    argtrace_stacks existing = wanted(0);
    existing.flags = ARGTRACE_STACKS_EXISTING;
    ASSERT_EQ(device_.call(ARGTRACE_IOC_STACKS, &existing), 0);
    EXPECT_EQ(existing.entries, 128u);
}

TEST_F(StackTables, take_a_file_that_is_open_for_writing_and_a_session_that_is_there) {
    RawDevice named;
    ASSERT_EQ(named.session("tables"), 0);
    const RawDevice reading(O_RDONLY);
    argtrace_stacks stacks = wanted();
    EXPECT_EQ(reading.call(ARGTRACE_IOC_STACKS, &stacks), EBADFD) << "it has no session";
    argtrace_session_attr attr{};
    attr.size = sizeof(attr);
    attr.clock = ARGTRACE_CLOCK_BEST;
    strcpy(attr.name, "tables");
    ASSERT_EQ(reading.call(ARGTRACE_IOC_SESSION, &attr), 0);
    EXPECT_EQ(reading.call(ARGTRACE_IOC_STACKS, &stacks), EBADF);
    EXPECT_EQ(remove_session("tables"), 0);
    EXPECT_EQ(named.call(ARGTRACE_IOC_STACKS, &stacks), ENOENT);
}

TEST_F(StackTables, are_mapped_whole_and_for_reading_alone) {
    EXPECT_EQ(map(device_.fd(), page, PROT_READ), MAP_FAILED);
    EXPECT_EQ(errno, EINVAL) << "there are none";
    argtrace_stacks stacks = wanted();
    ASSERT_EQ(device_.call(ARGTRACE_IOC_STACKS, &stacks), 0);
    // The control page, the entries, 64 * 16 words of 8 bytes.
    const std::size_t size = page + page + 2 * page;
    EXPECT_EQ(map(device_.fd(), size, PROT_READ | PROT_WRITE), MAP_FAILED);
    EXPECT_EQ(map(device_.fd(), size, PROT_READ | PROT_EXEC), MAP_FAILED);
    EXPECT_EQ(map(device_.fd(), size + page, PROT_READ), MAP_FAILED) << "beyond their end";
    void *tables = map(device_.fd(), size, PROT_READ);
    ASSERT_NE(tables, MAP_FAILED);
    EXPECT_EQ(mprotect(tables, size, PROT_READ | PROT_WRITE), -1);
    EXPECT_EQ(static_cast<const argtrace_stacks_control *>(tables)->words, 0u);
    munmap(tables, size);
}

/// Each number that a key has is in the table of some CPU, also where several stacks have one home.
TEST_F(StackTables, have_every_stack_that_is_named) {
    argtrace_stacks stacks = wanted();
    ASSERT_EQ(device_.call(ARGTRACE_IOC_STACKS, &stacks), 0);
    const RawMap counts(device_, RawMap::counts(1024, 1));
    const RawProbe probe =
        SinkProgram(ARGTRACE_SINK_MAP, counts.description().id).source(ARGTRACE_SOURCE_STACK_ID).probe(address_of("mutex_lock"));
    ASSERT_EQ(device_.add(probe.bytes(), 1), 0);
    // Processes that take it in many ways.
    EXPECT_EQ(run({"bash", "-c", "cat /proc/*/stat /proc/self/maps /proc/mounts | sort | head -c 10 >/dev/null; ls -l /sys/kernel"}).status, 0);
    ASSERT_EQ(device_.remove({address_of("mutex_lock")}), 0);
    std::set<std::uint64_t> known;
    for (unsigned cpu = 0; cpu < cpu_count(); ++cpu) {
        const std::size_t size = 2 * page;
        void *table = map(device_.fd(), size, PROT_READ, cpu);
        ASSERT_NE(table, MAP_FAILED);
        const auto *entries = reinterpret_cast<const argtrace_stack_entry *>(static_cast<const std::byte *>(table) + page);
        for (unsigned i = 0; i < 64; ++i)
            known.insert(entries[i].id);
        munmap(table, size);
    }
    std::size_t named = 0;
    for (const auto &[key, sum] : counts.read()) {
        if (key[0] == 0) // there was no room
            continue;
        ++named;
        EXPECT_TRUE(known.contains(key[0])) << std::hex << key[0];
    }
    EXPECT_GT(named, 15u);
}

TEST_F(StackTables, go_while_stacks_are_taken) {
    for (int round = 0; round < 5; ++round) {
        RawDevice device;
        ASSERT_EQ(device.session(), 0);
        argtrace_stacks stacks = wanted();
        stacks.words = round % 2 ? 0 : 40; // room for hardly any
        ASSERT_EQ(device.call(ARGTRACE_IOC_STACKS, &stacks), 0);
        const RawProbe probe = SinkProgram(ARGTRACE_SINK_RECORD).source(ARGTRACE_SOURCE_STACK_ID).probe(address_of("vfs_read"));
        ASSERT_EQ(device.add(probe.bytes(), 1), 0);
        // Calls may be made on any CPU.
        std::vector<void *> controls;
        for (unsigned cpu = 0; cpu < cpu_count(); ++cpu) {
            controls.push_back(map(device.fd(), page, PROT_READ, cpu));
            ASSERT_NE(controls.back(), MAP_FAILED);
        }
        for (int i = 0; i < 200; ++i)
            read_file("/proc/self/stat");
        std::uint64_t words = 0;
        for (void *control : controls) {
            words += static_cast<const volatile argtrace_stacks_control *>(control)->words;
            munmap(control, page);
        }
        EXPECT_GT(words, 0u);
    }
}

} // namespace
} // namespace vmtest
