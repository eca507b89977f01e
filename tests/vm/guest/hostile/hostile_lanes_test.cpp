// SPDX-License-Identifier: GPL-2.0-only
// Whoever holds a file of a session may ask what it has at any moment: also between the marking of a probe as removed and the end
// of the last call of it. scripts/vm checks that the kernel log is clean.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <new>

#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/raw_map.h"

namespace vmtest {
namespace {

/// A number that children count, too.
class SharedCount {
public:
    SharedCount()
        : number_(new(mmap(nullptr, sizeof(*number_), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                      std::atomic<std::uint64_t>(0)) {}
    ~SharedCount() { munmap(number_, sizeof(*number_)); }
    SharedCount(const SharedCount &) = delete;
    SharedCount &operator=(const SharedCount &) = delete;

    void operator++() const { ++*number_; }
    std::uint64_t value() const { return *number_; }

private:
    std::atomic<std::uint64_t> *number_;
};

/// Run by a child until it is killed: INFO, which anybody may ask, has probes that are leaving looked at and freed.
void look_for_ever(const RawDevice &device, const SharedCount &looks) {
    if (!become_nobody())
        _exit(1);
    for (;; ++looks) {
        argtrace_info info{};
        info.size = sizeof(info);
        device.call(ARGTRACE_IOC_INFO, &info);
        for (const unsigned long request : {ARGTRACE_IOC_PROBE_LIST, ARGTRACE_IOC_COUNTS, ARGTRACE_IOC_RETURN_COUNTS}) {
            std::byte room[8192];
            argtrace_list list{};
            list.size = sizeof(list);
            list.flags = ARGTRACE_LIST_REMOVED;
            list.buffer = reinterpret_cast<std::uintptr_t>(room);
            list.length = sizeof(room);
            device.call(request, &list);
        }
        usleep(200);
    }
}

/// The calls that are followed are short ones: most of the time none is in flight.
void call_for_ever() {
    for (;; usleep(100)) {
        call_functions("burst", 20);
        for (int i = 0; i < 20; i++)
            syscall(SYS_getppid);
    }
}

class HostileLanes : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
    }

    static RawProbe as(std::uint16_t kind, RawProbe probe) {
        probe.header.kind = kind;
        return probe;
    }
    static RawProbe by_kretprobe(RawProbe probe) {
        probe.header.flags |= ARGTRACE_PROBE_BY_KRETPROBE;
        return probe;
    }

    /// One for each lane, those whose calls are followed first.
    static std::vector<RawProbe> probes() {
        const auto at = [](const char *name) { return address_of(name); };
        return {
            RawProbe::call(at("at_four"), 4),
            as(ARGTRACE_KIND_SYSCALL, RawProbe::call(at(SYSCALL_PREFIX "getppid"), 0)),
            RawProbe::words(at("vfs_rename"), 2),
            SinkProgram(ARGTRACE_SINK_RECORD).behind(1, 0, 8).probe(at("vfs_link")),
            SinkProgram(ARGTRACE_SINK_COUNT).probe(at("vfs_truncate")),
            as(ARGTRACE_KIND_TRACEPOINT, RawProbe::words(at("__traceiter_sched_process_exit"), 1)),
            as(ARGTRACE_KIND_SYSCALL, RawProbe::words(at(SYSCALL_PREFIX "lseek"), 3)),
            by_kretprobe(RawProbe::call(at("vfs_mkdir"), 2)),
            as(ARGTRACE_KIND_TIMER, RawProbe::words(ARGTRACE_TIMER(ARGTRACE_TIMER_CPU_CLOCK, 100, 0), 0)),
        };
    }

    static int remove_as(const RawDevice &device, std::uint16_t kind, std::uint64_t addr) {
        argtrace_probe_remove request{};
        request.size = sizeof(request);
        request.kind = kind;
        request.addrs = reinterpret_cast<std::uintptr_t>(&addr);
        request.count = 1;
        return device.call(ARGTRACE_IOC_PROBE_REMOVE, &request);
    }
};

TEST_F(HostileLanes, are_looked_at_while_each_is_armed_and_disarmed) {
    const std::vector<RawProbe> all = probes();
    const SharedCount looks;
    const Child caller(call_for_ever);
    for (int round = 0; round < 3; round++) {
        RawDevice device;
        ASSERT_EQ(device.session("", 4096, 4), 0);
        const Child one([&] { look_for_ever(device, looks); }), other([&] { look_for_ever(device, looks); });
        for (const RawProbe &probe : all)
            ASSERT_EQ(device.add(probe.bytes(), 1), 0) << "round " << round << ", probe " << &probe - all.data();
        ASSERT_TRUE(eventually([&] {
            const std::vector<argtrace_return_counts> counts = device.return_counts();
            return hits(counts.at(0)) > 0 && hits(counts.at(1)) > 0;
        }));
        // Each while all other lanes are armed, and those before its own follow first.
        for (const std::size_t i : {all.size() - 1, std::size_t{1}, std::size_t{0}})
            ASSERT_EQ(remove_as(device, all[i].header.kind, all[i].header.addr), 0) << i;
        // Or all at once, or with the session.
        if (round == 1) {
            ASSERT_EQ(device.add(all[0].bytes(), 1), 0);
            ASSERT_EQ(device.remove_all(), 0);
        }
    }
    std::printf("looked at %llu times\n", static_cast<unsigned long long>(looks.value()));
    EXPECT_GT(looks.value(), 20u);
    EXPECT_TRUE(eventually([] { return RawDevice().info().memory_used == 0; })) << "the probes whose calls were followed";
    expect_nothing_left();
    unload_argtrace();
    need_argtrace();
}

} // namespace
} // namespace vmtest
