// SPDX-License-Identifier: GPL-2.0-only
// Timers, without the tool: what ticks, where, and how it ends. scripts/vm checks that the kernel log is clean.
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"
#include "support/mixed_load.h"
#include "support/raw_map.h"

namespace vmtest {
namespace {

constexpr std::uint32_t packet_size = 4096, nr_packets = 4, frequency = 500;
constexpr char ticking_session[] = "ticking";

constexpr std::uint64_t timer(std::uint64_t of = frequency, std::uint64_t flags = 0) {
    return ARGTRACE_TIMER(ARGTRACE_TIMER_CPU_CLOCK, of, flags);
}

RawProbe timer_probe(const SinkProgram &program, std::uint64_t addr = timer()) {
    RawProbe probe = program.probe(addr);
    probe.header.kind = ARGTRACE_KIND_TIMER;
    return probe;
}

void make_stacks(const RawDevice &device) {
    argtrace_stacks stacks{};
    stacks.size = sizeof(stacks);
    ASSERT_EQ(device.call(ARGTRACE_IOC_STACKS, &stacks), 0);
}

void pause(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

class Timers : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        remove_session(ticking_session);
    }
    void TearDown() override {
        if (module_is_loaded("argtrace"))
            remove_session(ticking_session);
    }

    static void bind(const RawDevice &device, const std::string &name = "") {
        ASSERT_EQ(device.session(name, packet_size, nr_packets), 0);
    }

    /// The module takes none of these, and the session is as it was.
    static void refuse(const RawDevice &device, const RawProbe &probe, int error) {
        const std::string before = device.fingerprint();
        std::uint32_t failed = 99;
        EXPECT_EQ(device.add(probe.bytes(), 1, &failed), error) << std::hex << probe.header.addr;
        EXPECT_EQ(device.fingerprint(), before);
        if (error == EINVAL) {
            EXPECT_EQ(failed, 0u);
        }
    }
};

TEST_F(Timers, frequencies_and_events_that_there_are_not) {
    RawDevice device;
    bind(device);
    const SinkProgram counting;
    for (const std::uint64_t wrong : {0ull, 10001ull, 0x7fffffffull, 0x80000000ull, 0xffffffffull})
        refuse(device, timer_probe(counting, timer(wrong)), EINVAL);
    for (const std::uint64_t event : {0, 3, 4, 0xff})
        refuse(device, timer_probe(counting, ARGTRACE_TIMER(event, frequency, 0)), EINVAL);
    for (const std::uint64_t flags : {2, 0x100, 0x800000})
        refuse(device, timer_probe(counting, timer(frequency, flags)), EINVAL);
    refuse(device, timer_probe(counting, 0), EINVAL);
    refuse(device, timer_probe(counting, ~0ull), EINVAL);
}

TEST_F(Timers, what_a_tick_has_not) {
    RawDevice device;
    bind(device);
    const RawMap map(device, RawMap::counts(256, 1));
    const std::uint32_t id = map.description().id;
    refuse(device, timer_probe(SinkProgram(ARGTRACE_SINK_MAP, id).reg(0)), EINVAL);
    refuse(device, timer_probe(SinkProgram(ARGTRACE_SINK_MAP, id).behind(0, 8, 8)), EINVAL);
    refuse(device, timer_probe(SinkProgram(ARGTRACE_SINK_MAP, id).source(ARGTRACE_SOURCE_STACK)), EINVAL);
    refuse(device, timer_probe(SinkProgram().only(0, 1, 1)), EINVAL);
    refuse(device, timer_probe(SinkProgram(ARGTRACE_SINK_MAP, id).source(ARGTRACE_SOURCE_STACK_ID)), EINVAL); // no tables

    RawProbe with_register = RawProbe::words(timer(), 1);
    with_register.header.kind = ARGTRACE_KIND_TIMER;
    refuse(device, with_register, EINVAL);
    RawProbe on_stack = with_register;
    on_stack.args[0].loc = ARGTRACE_LOC_STACK;
    on_stack.args[0].offset = 8;
    refuse(device, on_stack, EINVAL);
    RawProbe returning = timer_probe(SinkProgram());
    returning.header.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0);
    refuse(device, returning, EINVAL);
}

TEST_F(Timers, a_session_has_one) {
    RawDevice device;
    bind(device);
    const RawProbe one = timer_probe(SinkProgram()), other = timer_probe(SinkProgram(), timer(frequency + 1));
    EXPECT_EQ(device.add(one.bytes() + other.bytes(), 2), E2BIG);
    ASSERT_EQ(device.add(one.bytes(), 1), 0);
    refuse(device, other, E2BIG);
    refuse(device, one, EEXIST);
    ASSERT_EQ(device.remove_all(), 0);
    ASSERT_EQ(device.add(other.bytes(), 1), 0);
}

TEST_F(Timers, cycles_are_counted_or_refused) {
    RawDevice device;
    bind(device);
    const int result =
        device.add(timer_probe(SinkProgram(), ARGTRACE_TIMER(ARGTRACE_TIMER_CYCLES, frequency, 0)).bytes(), 1);
    EXPECT_TRUE(result == 0 || result == EOPNOTSUPP) << result;
    if (result == EOPNOTSUPP) {
        ASSERT_EQ(device.add(timer_probe(SinkProgram()).bytes(), 1), 0);
    }
}

TEST_F(Timers, every_tick_has_one_outcome) {
    need_load_module();
    RawDevice device;
    bind(device);
    make_stacks(device);
    const RawMap map(device, RawMap::counts(4096, 2));
    SinkProgram program(ARGTRACE_SINK_MAP, map.description().id);
    program.source(ARGTRACE_SOURCE_CPU).source(ARGTRACE_SOURCE_STACK_ID);
    ASSERT_EQ(device.add(timer_probe(program, timer(2000)).bytes(), 1), 0);
    {
        MixedLoad load(2);
        for (int round = 0; round < 3; ++round)
            run_load({2000, 100000, 3, 20, 3});
        // A fast machine is done before there are many of them, and a slow one has several come as one.
        EXPECT_TRUE(eventually([&] { return device.counts().at(0).records > 2000; }));
        load.stop();
    }
    ASSERT_EQ(device.remove_all(), 0);
    const argtrace_counts counts = device.counts(ARGTRACE_LIST_REMOVED).at(0);
    EXPECT_GT(counts.records, 500u);
    EXPECT_EQ(map.count(), counts.records);
    EXPECT_EQ(counts.lost[ARGTRACE_LOST_RECURSION], 0u);
    EXPECT_LE(counts.faults, counts.records / 100) << "nearly each has a stack";
    std::uint64_t user = 0, stacks = 0;
    for (const auto &[key, slot] : map.read()) {
        EXPECT_LT(key.at(0), cpu_count());
        (key.at(1) == ARGTRACE_STACK_ID_USER ? user : stacks) += slot.count;
    }
    EXPECT_GT(user, 0u);
    EXPECT_GT(stacks, 0u);
    // Nothing ticks any more.
    pause(100);
    EXPECT_EQ(hits(device.counts(ARGTRACE_LIST_REMOVED).at(0)), hits(counts));
}

TEST_F(Timers, ticks_come_as_often_as_they_are_to) {
    bool often = false;
    // A machine that is busy itself has several come late, as one, and is not always that busy.
    for (int round = 0; round < 5 && !often; ++round) {
        RawDevice device;
        bind(device);
        const auto begin = std::chrono::steady_clock::now();
        ASSERT_EQ(device.add(timer_probe(SinkProgram(), timer(100)).bytes(), 1), 0);
        pause(2000);
        ASSERT_EQ(device.remove_all(), 0);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        const double expected = 100.0 * seconds * cpu_count();
        const double ticks = static_cast<double>(hits(device.counts(ARGTRACE_LIST_REMOVED).at(0)));
        EXPECT_LT(ticks, expected * 1.1 + 2 * cpu_count());
        often = ticks > expected / 10;
    }
    EXPECT_TRUE(often);
}

/// The kernel's own samples of each CPU, by the same clock. On a busy machine they are late, or missing, when ours are.
class PerfSamples {
public:
    explicit PerfSamples(std::uint64_t of) {
        for (unsigned cpu = 0; cpu < cpu_count(); ++cpu) {
            perf_event_attr attr{};
            attr.size = sizeof(attr);
            attr.type = PERF_TYPE_SOFTWARE;
            attr.config = PERF_COUNT_SW_CPU_CLOCK;
            attr.sample_freq = of;
            attr.freq = 1;
            const auto fd = static_cast<int>(syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0));
            EXPECT_GE(fd, 0);
            void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            EXPECT_NE(at, MAP_FAILED);
            cpus_.push_back({fd, static_cast<perf_event_mmap_page *>(at)});
        }
    }
    ~PerfSamples() {
        for (const Cpu &cpu : cpus_) {
            munmap(cpu.page, bytes);
            close(cpu.fd);
        }
    }
    PerfSamples(const PerfSamples &) = delete;
    PerfSamples &operator=(const PerfSamples &) = delete;

    /// Those so far. Each is a header alone.
    std::uint64_t count() const {
        std::uint64_t samples = 0;
        for (const Cpu &cpu : cpus_)
            samples += __atomic_load_n(&cpu.page->data_head, __ATOMIC_ACQUIRE) / sizeof(perf_event_header);
        return samples;
    }

private:
    struct Cpu {
        int fd;
        perf_event_mmap_page *page;
    };

    static constexpr std::size_t bytes = 4096 * (1 + 16); // of which those that are not taken away fit
    std::vector<Cpu> cpus_;
};

TEST_F(Timers, ticks_come_as_often_as_samples_of_perf) {
    RawDevice device;
    bind(device);
    const PerfSamples samples(200);
    const std::uint64_t before = samples.count();
    ASSERT_EQ(device.add(timer_probe(SinkProgram(), timer(200)).bytes(), 1), 0);
    EXPECT_TRUE(eventually([&] { return samples.count() - before > 400; }));
    ASSERT_EQ(device.remove_all(), 0);
    const auto theirs = static_cast<double>(samples.count() - before);
    const auto ours = static_cast<double>(hits(device.counts(ARGTRACE_LIST_REMOVED).at(0)));
    EXPECT_LT(ours, theirs * 1.3 + cpu_count());
    EXPECT_GT(ours, theirs / 1.3 - cpu_count());
}

TEST_F(Timers, idle_cpus_have_a_number_of_their_own) {
    for (const std::uint64_t flags : {0u, ARGTRACE_TIMER_IDLE}) {
        RawDevice device;
        bind(device);
        make_stacks(device);
        const RawMap map(device, RawMap::counts(1024, 1));
        const SinkProgram program =
            SinkProgram(ARGTRACE_SINK_MAP, map.description().id).source(ARGTRACE_SOURCE_STACK_ID);
        ASSERT_EQ(device.add(timer_probe(program, timer(frequency, flags)).bytes(), 1), 0);
        EXPECT_TRUE(eventually([&] { return map.count() > 300; }));
        ASSERT_EQ(device.remove_all(), 0);
        std::uint64_t idle = 0, all = 0;
        for (const auto &[key, slot] : map.read()) {
            idle += key.at(0) == ARGTRACE_STACK_ID_IDLE ? slot.count : 0;
            all += slot.count;
        }
        EXPECT_EQ(idle > 0, flags == 0);
        EXPECT_LE(idle, all);
    }
}

TEST_F(Timers, filters_count_what_they_reject) {
    RawDevice device;
    bind(device);
    std::uint32_t pid = static_cast<std::uint32_t>(getpid());
    argtrace_process_filter filter{};
    filter.size = sizeof(filter);
    filter.pids = reinterpret_cast<std::uintptr_t>(&pid);
    filter.count = 1;
    ASSERT_EQ(device.call(ARGTRACE_IOC_PROCESSES, &filter), 0);
    ASSERT_EQ(device.add(timer_probe(SinkProgram()).bytes(), 1), 0);
    std::atomic<bool> stop = false;
    std::thread busy([&stop] {
        while (!stop)
            ;
    });
    EXPECT_TRUE(eventually([&] { return device.counts().at(0).records > 200; }));
    stop = true;
    busy.join();
    // One CPU at least has not been ours all the time.
    EXPECT_TRUE(eventually([&, before = device.counts().at(0).filtered] {
        return device.counts().at(0).filtered > before + 50;
    }));
}

TEST_F(Timers, records_are_what_was_counted) {
    RawDevice device;
    ASSERT_EQ(device.session("", 65536, 16), 0);
    ASSERT_EQ(device.reader(), 0);
    RawProbe probe = RawProbe::words(timer(), 0);
    probe.header.kind = ARGTRACE_KIND_TIMER;
    ASSERT_EQ(device.add(probe.bytes(), 1), 0);
    std::vector<std::unique_ptr<RawRing>> rings;
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
        rings.push_back(std::make_unique<RawRing>(device, cpu, 65536, 16));
    EXPECT_TRUE(eventually([&] { return device.counts().at(0).records > 300; }));
    ASSERT_EQ(device.remove_all(), 0);
    std::uint64_t read = 0;
    for (const auto &ring : rings)
        read += ring->drain();
    const argtrace_counts counts = device.counts(ARGTRACE_LIST_REMOVED).at(0);
    EXPECT_EQ(read, counts.records);
    EXPECT_EQ(counts.lost[ARGTRACE_LOST_FULL], 0u);
}

TEST_F(Timers, whoever_dies_leaves_none) {
    for (int round = 0; round < 5; ++round) {
        Child child([] {
            RawDevice own;
            bind(own);
            own.add(timer_probe(SinkProgram(), timer(10000)).bytes(), 1);
            for (;;)
                ::pause();
        });
        pause(50);
        child.kill_and_wait();
    }
    EXPECT_TRUE(eventually([] { return RawDevice().info().nr_sessions == 0; }));
    expect_nothing_left();
}

TEST_F(Timers, the_module_goes_under_load_while_it_ticks) {
    MixedLoad load(2);
    for (int round = 0; round < 8; ++round) {
        need_argtrace();
        {
            RawDevice device;
            bind(device, ticking_session);
            make_stacks(device);
            const RawMap map(device, RawMap::counts(1024, 1));
            const SinkProgram program =
                SinkProgram(ARGTRACE_SINK_MAP, map.description().id).source(ARGTRACE_SOURCE_STACK_ID);
            ASSERT_EQ(device.add(timer_probe(program, timer(10000)).bytes(), 1), 0);
            EXPECT_EQ(unload_module("argtrace"), EAGAIN) << "somebody has it open";
            EXPECT_TRUE(eventually([&] { return device.counts().at(0).records > 100; }));
        }
        unload_argtrace();
    }
    load.stop();
}

TEST_F(Timers, added_and_removed_from_all_sides) {
    std::vector<std::thread> threads;
    std::atomic<std::uint64_t> added = 0;
    std::atomic<bool> stop = false;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            while (!stop) {
                RawDevice device;
                bind(device, ticking_session);
                if (device.add(timer_probe(SinkProgram(), timer(5000)).bytes(), 1) == 0)
                    ++added;
                device.remove_all();
            }
        });
    EXPECT_TRUE(eventually([&added] { return added > 20; }));
    stop = true;
    for (std::thread &thread : threads)
        thread.join();
    remove_session(ticking_session);
    expect_nothing_left();
}

/// The last CPU goes and comes.
class TimerHotplug : public Timers {
protected:
    void SetUp() override {
        Timers::SetUp();
        cpu_ = cpu_count() - 1;
        ASSERT_GT(cpu_, 0u);
    }
    void TearDown() override {
        EXPECT_TRUE(set_online(true));
        Timers::TearDown();
    }

    bool set_online(bool online) const {
        std::ofstream out("/sys/devices/system/cpu/cpu" + std::to_string(cpu_) + "/online");
        out << online << std::flush;
        return out.good();
    }

    std::uint64_t ticks_there(const RawMap &map) const {
        const auto slots = map.read();
        const auto own = slots.find({cpu_});
        return own == slots.end() ? 0 : own->second.count;
    }

    unsigned cpu_ = 0;
};

TEST_F(TimerHotplug, a_cpu_that_goes_and_comes_ticks_while_it_is_there) {
    RawDevice device;
    bind(device);
    const RawMap map(device, RawMap::counts(64, 1));
    const SinkProgram program = SinkProgram(ARGTRACE_SINK_MAP, map.description().id).source(ARGTRACE_SOURCE_CPU);
    ASSERT_EQ(device.add(timer_probe(program).bytes(), 1), 0);
    for (int round = 0; round < 3; ++round) {
        const std::uint64_t before = ticks_there(map);
        EXPECT_TRUE(eventually([&] { return ticks_there(map) > before + 50; })) << round;
        ASSERT_TRUE(set_online(false));
        const std::uint64_t gone = ticks_there(map);
        pause(100);
        EXPECT_EQ(ticks_there(map), gone);
        ASSERT_TRUE(set_online(true));
    }
    ASSERT_EQ(device.remove_all(), 0);
    EXPECT_EQ(map.count(), device.counts(ARGTRACE_LIST_REMOVED).at(0).records);
}

TEST_F(TimerHotplug, a_cpu_that_comes_later_ticks) {
    RawDevice device;
    bind(device);
    const RawMap map(device, RawMap::counts(64, 1));
    const SinkProgram program = SinkProgram(ARGTRACE_SINK_MAP, map.description().id).source(ARGTRACE_SOURCE_CPU);
    ASSERT_TRUE(set_online(false));
    ASSERT_EQ(device.add(timer_probe(program).bytes(), 1), 0);
    pause(50);
    EXPECT_EQ(ticks_there(map), 0u);
    ASSERT_TRUE(set_online(true));
    EXPECT_TRUE(eventually([&] { return ticks_there(map) > 50; }));
    // It goes while the timer does.
    ASSERT_TRUE(set_online(false));
    ASSERT_EQ(device.remove_all(), 0);
    ASSERT_TRUE(set_online(true));
    const std::uint64_t then = ticks_there(map);
    pause(100);
    EXPECT_EQ(ticks_there(map), then);
}

TEST_F(TimerHotplug, under_load_at_the_highest_frequency) {
    MixedLoad load(2);
    RawDevice device;
    bind(device);
    make_stacks(device);
    const RawMap map(device, RawMap::counts(4096, 1));
    const SinkProgram program =
        SinkProgram(ARGTRACE_SINK_MAP, map.description().id).source(ARGTRACE_SOURCE_STACK_ID);
    std::uint64_t records = 0;
    for (int round = 0; round < 6; ++round) {
        ASSERT_EQ(device.add(timer_probe(program, timer(ARGTRACE_TIMER_FREQUENCY_MAX)).bytes(), 1), 0);
        ASSERT_TRUE(set_online(round % 2));
        pause(30);
        ASSERT_EQ(device.remove_all(), 0);
        records += device.counts(ARGTRACE_LIST_REMOVED).at(0).records;
    }
    load.stop();
    EXPECT_GT(records, 0u);
    EXPECT_EQ(map.count(), records);
}

/// A process spends known shares of its time in two functions.
class TimerShares : public Timers {
protected:
    void SetUp() override {
        Timers::SetUp();
        ASSERT_EQ(load_module("argtrace_spin.ko"), 0);
    }
    void TearDown() override {
        EXPECT_EQ(unload_module("argtrace_spin"), 0);
        std::remove("spin.folded");
        std::remove("spin.dat");
        Timers::TearDown();
    }

    /// Ticks of `profile` go there, in its words, while it spins.
    static Outcome spin(const std::string &output, int ms) {
        std::remove(output.c_str());
        return run({"argtrace", "profile", "-e", "cpu-clock", "-F", "499", "--follow", "-o", output, "--", "sh", "-c",
                    "echo " + std::to_string(ms) + " > /sys/kernel/debug/argtrace_spin/run"});
    }

    struct Shares {
        std::uint64_t quarter = 0, rest = 0, in_run = 0, all = 0;
    };

    static Shares shares_of(const std::string &folded) {
        Shares shares;
        std::istringstream lines(folded);
        for (std::string stack; std::getline(lines, stack);) {
            const std::uint64_t count = std::stoull(stack.substr(stack.rfind(' ')));
            shares.all += count;
            shares.in_run += stack.find(";asp_run") != stack.npos ? count : 0;
            shares.quarter += stack.find(";asp_run [argtrace_spin];asp_quarter [argtrace_spin]") != stack.npos ? count : 0;
            shares.rest += stack.find(";asp_run [argtrace_spin];asp_rest [argtrace_spin]") != stack.npos ? count : 0;
        }
        return shares;
    }

    /// `folded_of`: the stacks of ticks while it spins for so many milliseconds.
    static void check_shares(const std::function<std::string(int ms)> &folded_of) {
        int ms = is_sanitizer_kernel() ? 3000 : is_long_run() ? 20000 : 6000;
        Shares shares = shares_of(folded_of(ms));
        // A machine that is busy itself has several ticks come late, as one: the shares of few of them say little.
        for (int tries = 0; tries < 3 && shares.in_run < 1000; ++tries)
            shares = shares_of(folded_of(ms *= 2));
        const auto [quarter, rest, in_run, all] = shares;
        EXPECT_GT(in_run, 300u);
        // On the sanitizer kernel it takes its time to begin and to end, and asp_run() itself is checked access by access.
        const bool slow = is_sanitizer_kernel();
        EXPECT_GE(static_cast<double>(in_run), (slow ? 0.5 : 0.9) * static_cast<double>(all)) << "it does hardly anything else";
        EXPECT_GE(static_cast<double>(quarter + rest), (slow ? 0.8 : 0.97) * static_cast<double>(in_run));
        std::printf("%llu ticks in asp_quarter(), %llu in asp_rest()\n", static_cast<unsigned long long>(quarter),
                    static_cast<unsigned long long>(rest));
        EXPECT_NEAR(static_cast<double>(quarter) / static_cast<double>(quarter + rest), 0.25, 0.06);
    }
};

TEST_F(TimerShares, are_those_of_ticks) {
    check_shares([](int ms) {
        const Outcome outcome = spin("spin.folded", ms);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return read_file("spin.folded");
    });
}

TEST_F(TimerShares, are_those_of_ticks_that_were_recorded) {
    check_shares([](int ms) {
        const Outcome outcome = spin("spin.dat", ms);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        const Outcome shown = run({"argtrace", "profile", "--in", "spin.dat", "--fold"});
        EXPECT_EQ(shown.status, 0) << shown.err;
        return shown.out;
    });
}

} // namespace
} // namespace vmtest
