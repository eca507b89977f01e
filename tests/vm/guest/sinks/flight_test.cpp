// SPDX-License-Identifier: GPL-2.0-only
// Flight recorders as hostile or hapless programs meet them, without the tool's code in between.
#include <algorithm>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

class Flight : public testing::Test {
protected:
    static constexpr std::uint32_t packet_size = 4096;
    static constexpr std::uint32_t nr_packets = 2;
    static constexpr char session_name[] = "flight";

    void SetUp() override {
        need_argtrace();
        need_test_module();
        remove_session(session_name);
        void *const page =
            mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(page, MAP_FAILED);
        snapshots_ = new (page) std::atomic<std::uint64_t>(0);
    }
    void TearDown() override {
        remove_session(session_name);
        munmap(snapshots_, 4096);
    }

    static void attach(const RawDevice &device) {
        ASSERT_EQ(device.session(session_name, packet_size, nr_packets, 0, ARGTRACE_SESSION_FLIGHT),
                  0);
    }

    static void add(const RawDevice &device, const std::string &function) {
        ASSERT_EQ(device.add(RawProbe::words(address_of(function), 4, function).bytes(), 1), 0);
    }

    using Rings = std::vector<std::unique_ptr<RawRing>>;
    static Rings map_rings(const RawDevice &device) {
        Rings rings;
        for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
            rings.push_back(std::make_unique<RawRing>(device, cpu, packet_size, nr_packets,
                                                      RawRing::Mode::flight));
        return rings;
    }

    struct Totals {
        std::uint64_t there = 0, overwritten = 0, missed = 0;
    };
    static Totals totals(const Rings &rings) {
        Totals sum;
        for (const auto &ring : rings) {
            sum.there += ring->snapshot(sum.missed).size();
            sum.overwritten += ring->control()->overwritten;
        }
        return sum;
    }

    /// Starts a child that takes one snapshot after another, and returns when it has taken the
    /// first.
    std::unique_ptr<Child> snapshots_for_ever() {
        const std::uint64_t before = *snapshots_;
        auto child = std::make_unique<Child>([this] {
            RawDevice own;
            attach(own);
            for (const Rings rings = map_rings(own);; ++*snapshots_)
                totals(rings);
        });
        EXPECT_TRUE(eventually([&] { return *snapshots_ > before; }));
        return child;
    }

    std::atomic<std::uint64_t> *snapshots_ = nullptr; // shared with the children
};

TEST_F(Flight, the_newest_calls_are_there_and_the_others_counted) {
    RawDevice device;
    attach(device);
    add(device, "at_four");
    pin_to_cpu(0);
    call_functions("burst", 20000);
    unpin();
    const argtrace_counts counts = device.counts().at(0);
    EXPECT_EQ(hits(counts), 20000u);
    EXPECT_EQ(counts.lost[ARGTRACE_LOST_FULL], 0u) << "nothing nests deeply enough here";

    std::uint64_t missed = 0;
    const RawRing ring(device, 0, packet_size, nr_packets, RawRing::Mode::flight);
    const std::vector<RawRecord> records = ring.snapshot(missed);
    EXPECT_EQ(missed, 0u);
    EXPECT_GT(records.size(), packet_size / 80);
    EXPECT_EQ(records.size() + ring.control()->overwritten, counts.records);
    EXPECT_EQ(ring.control()->lost, 0u);
}

TEST_F(Flight, the_session_says_what_it_is) {
    RawDevice device;
    attach(device);
    argtrace_session_attr attr{};
    attr.size = sizeof(attr);
    strcpy(attr.name, session_name);
    ASSERT_EQ(RawDevice().call(ARGTRACE_IOC_SESSION, &attr), 0);
    EXPECT_EQ(attr.flags, ARGTRACE_SESSION_FLIGHT);

    // The first to create the session has chosen: a stream is not turned into a flight recorder.
    RawDevice stream;
    ASSERT_EQ(stream.session("stream", packet_size, nr_packets), 0);
    attr = {};
    attr.size = sizeof(attr);
    attr.flags = ARGTRACE_SESSION_CREATE | ARGTRACE_SESSION_FLIGHT;
    strcpy(attr.name, "stream");
    ASSERT_EQ(RawDevice().call(ARGTRACE_IOC_SESSION, &attr), 0);
    EXPECT_EQ(attr.flags, ARGTRACE_SESSION_CREATE);
    EXPECT_EQ(remove_session("stream"), 0);
}

TEST_F(Flight, has_no_reader_and_no_page_that_could_be_written) {
    RawDevice device;
    attach(device);
    EXPECT_EQ(device.reader(), EINVAL);
    EXPECT_EQ(device.reader(ARGTRACE_READER_EXCLUDE_SELF), EINVAL);
    const auto map = [&](unsigned region, int protection) {
        return mmap(nullptr, 4096, protection, MAP_SHARED, device.fd(),
                    static_cast<off_t>(ARGTRACE_MMAP_OFFSET(0, region)));
    };
    EXPECT_EQ(map(ARGTRACE_MMAP_READER, PROT_READ), MAP_FAILED);
    EXPECT_EQ(errno, EPERM);
    EXPECT_EQ(map(ARGTRACE_MMAP_PACKETS, PROT_READ | PROT_WRITE), MAP_FAILED);
    EXPECT_EQ(errno, EPERM);
    void *const packets = map(ARGTRACE_MMAP_PACKETS, PROT_READ);
    ASSERT_NE(packets, MAP_FAILED);
    EXPECT_EQ(mprotect(packets, 4096, PROT_READ | PROT_WRITE), -1);
    EXPECT_EQ(errno, EACCES);
    munmap(packets, 4096);
}

TEST_F(Flight, one_who_looks_is_left_out_meanwhile) {
    constexpr std::uint32_t look = ARGTRACE_READER_EXCLUDE_SELF | ARGTRACE_READER_LOOK;
    RawDevice device;
    attach(device);
    add(device, "at_four");
    call_functions("burst", 2);
    EXPECT_EQ(device.counts().at(0).records, 2u);
    {
        RawDevice looking;
        attach(looking);
        ASSERT_EQ(looking.reader(look), 0);
        EXPECT_EQ(device.reader(look), EBUSY);
        call_functions("burst", 3);
        EXPECT_EQ(device.counts().at(0).records, 2u);
        EXPECT_EQ(device.counts().at(0).filtered, 3u);
    }
    call_functions("burst", 4);
    EXPECT_EQ(device.counts().at(0).records, 6u);
    EXPECT_EQ(device.counts().at(0).filtered, 3u);
    EXPECT_EQ(device.reader(ARGTRACE_READER_LOOK), EINVAL) << "whose process is left out, then?";
}

// They would be calls of what may be traced.
TEST_F(Flight, listing_counts_calls_no_function_for_each_probe) {
    constexpr std::uint64_t listings = 200;
    if (kallsyms_text().find(" __rcu_read_lock\n") == std::string::npos)
        GTEST_SKIP() << "built without CONFIG_PREEMPT_RCU: who reads calls no function";
    RawDevice device;
    attach(device);
    const std::vector<std::string> functions{
        "__rcu_read_lock", "__rcu_read_unlock", "at_none", "at_u8", "at_s8", "at_u16", "at_s16", "at_u32",
        "at_s32", "at_u64", "at_s64", "at_bool", "at_char", "at_pointer", "at_string", "at_enum", "at_two",
        "at_three", "at_four", "at_five", "at_six"};
    for (const std::string &function : functions)
        add(device, function);
    // The kernel calls them by itself, too: the more, the longer a busy machine takes.
    std::uint64_t least[2] = {~std::uint64_t{0}, ~std::uint64_t{0}};
    for (int round = 0; round < 5; round++) {
        const std::vector<argtrace_counts> before = device.counts();
        for (std::uint64_t i = 0; i < listings; i++)
            EXPECT_EQ(device.counts().size(), functions.size());
        const std::vector<argtrace_counts> after = device.counts();
        ASSERT_EQ(after.size(), functions.size());
        for (std::size_t i = 0; i < 2; i++)
            least[i] = std::min(least[i], hits(after[i]) - hits(before[i]));
    }
    for (std::size_t i = 0; i < 2; i++)
        EXPECT_LT(least[i], listings * functions.size() / 2) << functions[i];
}

TEST_F(Flight, a_reader_that_scribbles_is_killed_and_nobody_else_hurt) {
    RawDevice device;
    attach(device);
    add(device, "at_four");
    const pid_t scribbler = fork();
    if (scribbler == 0) {
        signal(SIGSEGV, SIG_DFL);
        RawDevice own;
        attach(own);
        const RawRing ring(own, 0, packet_size, nr_packets, RawRing::Mode::flight);
        const_cast<volatile argtrace_ring_control *>(ring.control())->head = 12345;
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(scribbler, &status, 0), scribbler);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGSEGV);
    call_functions("burst", 10);
    EXPECT_EQ(totals(map_rings(device)).there, 10u);
}

TEST_F(Flight, several_readers_at_once_that_are_killed) {
    RawDevice device;
    attach(device);
    add(device, "at_four");
    std::uint64_t calls = 0;
    for (int round = 0; round < 3; round++) {
        std::vector<std::unique_ptr<Child>> readers;
        for (int i = 0; i < 3; i++)
            readers.push_back(snapshots_for_ever());
        for (int i = 0; i < 10; i++, calls += 500)
            call_functions("burst", 500);
        readers.clear(); // kills them at any point of their work
    }
    const argtrace_counts counts = device.counts().at(0);
    EXPECT_EQ(hits(counts), calls);
    const Totals sum = totals(map_rings(device));
    EXPECT_EQ(sum.missed, 0u);
    EXPECT_EQ(sum.there + sum.overwritten, counts.records);
}

TEST_F(Flight, a_session_removed_while_it_is_copied) {
    auto device = std::make_unique<RawDevice>();
    attach(*device);
    add(*device, "at_four");
    call_functions("burst", 500);
    const Rings rings = map_rings(*device);
    const std::size_t before = totals(rings).there;
    ASSERT_GT(before, 0u);
    const auto other = snapshots_for_ever();
    ASSERT_EQ(remove_session(session_name), 0);
    EXPECT_FALSE(is_armed("at_four"));
    call_functions("burst", 500);
    EXPECT_EQ(totals(rings).there, before) << "what was there can still be read";

    pollfd poller{device->fd(), POLLIN, 0};
    EXPECT_EQ(poll(&poller, 1, 5000), 1);
    EXPECT_EQ(poller.revents & (POLLHUP | POLLIN), POLLHUP);
    device.reset(); // only the mappings keep the session alive now
    EXPECT_EQ(totals(rings).there, before);
}

TEST_F(Flight, nobody_is_woken) {
    RawDevice device;
    attach(device);
    add(device, "at_four");
    pollfd poller{device.fd(), POLLIN, 0};
    EXPECT_EQ(poll(&poller, 1, 0), 0);
    call_functions("burst", 1000);
    EXPECT_EQ(poll(&poller, 1, 0), 0);
}

TEST_F(Flight, the_module_goes_while_functions_are_called_and_copied) {
    for (int round = 0; round < 3; round++) {
        need_argtrace();
        {
            RawDevice device;
            attach(device);
            add(device, "vfs_read");
        }
        std::vector<std::unique_ptr<Child>> writers;
        for (int i = 0; i < 4; i++)
            writers.push_back(std::make_unique<Child>(hammer_vfs_read));
        auto reader = snapshots_for_ever();
        const std::uint64_t before = *snapshots_;
        ASSERT_TRUE(eventually([&] {
            RawDevice device;
            attach(device);
            return device.counts().at(0).records > 2000 && *snapshots_ > before;
        }));
        EXPECT_EQ(unload_module("argtrace"), EAGAIN) << "somebody has it open";
        reader.reset();
        ASSERT_TRUE(is_armed("vfs_read"));
        EXPECT_EQ(unload_module("argtrace"), 0);
        EXPECT_FALSE(is_armed("vfs_read"));
    }
    need_argtrace();
}

} // namespace
} // namespace vmtest
