// SPDX-License-Identifier: GPL-2.0-only
// CPUs that go offline and come online while a session traces, and CPUs that come only then.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

constexpr std::uint32_t packet_size = 4096, nr_packets = 4;

std::vector<std::byte> probe_at(std::uint64_t addr) { return RawProbe::words(addr, 0).bytes(); }

/// The names of the functions that ftrace can trace.
std::set<std::string, std::less<>> traceable_function_names() {
    std::set<std::string, std::less<>> names;
    std::istringstream lines(read_file("/sys/kernel/tracing/available_filter_functions"));
    for (std::string line; std::getline(lines, line);)
        names.insert(line.substr(0, line.find(' ')));
    return names;
}

class Hotplug : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
        cpu_ = cpu_count() - 1;
        ASSERT_GT(cpu_, 0u);
        ASSERT_TRUE(set_online(false)) << "this kernel does not take CPU " << cpu_ << " offline";
    }
    void TearDown() override {
        unpin();
        EXPECT_TRUE(set_online(true));
    }

    bool set_online(bool online) const {
        std::ofstream out("/sys/devices/system/cpu/cpu" + std::to_string(cpu_) + "/online");
        out << online << std::flush;
        return out.good();
    }

    unsigned cpu_ = 0;
};

TEST_F(Hotplug, a_cpu_that_goes_and_comes_keeps_its_ring) {
    RawDevice device;
    ASSERT_EQ(device.session("", packet_size, nr_packets), 0);
    ASSERT_EQ(device.reader(), 0);
    ASSERT_EQ(device.add(RawProbe::words(address_of("at_four"), 4, "at_four").bytes(), 1), 0);
    RawRing ring(device, cpu_, packet_size, nr_packets);
    const std::uint64_t used = device.info().memory_used;
    for (std::uint64_t round = 1; round <= 3; ++round) {
        ASSERT_TRUE(set_online(true));
        pin_to_cpu(cpu_);
        call_functions("burst", 20);
        unpin();
        ASSERT_TRUE(set_online(false));
        EXPECT_EQ(ring.drain(), 20u);
        EXPECT_EQ(device.counts().at(0).records, round * 20);
        EXPECT_EQ(hits(device.counts().at(0)), round * 20);
        EXPECT_EQ(device.info().memory_used, used);
    }
}

// Counters of probes have a page for each CPU that has been online since the module was loaded. While the mapping that
// holds these pages is replaced by one with another page, calls go on, and not one of them is counted elsewhere.
TEST_F(Hotplug, a_cpu_that_comes_for_the_first_time_gets_counters) {
    ASSERT_EQ(unload_module("argtrace"), 0);
    need_argtrace();
    // The probe under test is the last one, so that it is not in the first block.
    std::vector<std::byte> probes;
    std::uint32_t count = 0;
    const auto traceable = traceable_function_names();
    for (const KernelSymbol &symbol : kernel_symbols()) {
        if (symbol.name.starts_with(SYSCALL_PREFIX) && traceable.contains(symbol.name) && count < 150)
            probes = probes + probe_at(symbol.addr), ++count;
    }
    ASSERT_GT(count, 110u) << "more than one block of counters is wanted";
    RawDevice device;
    ASSERT_EQ(device.session("", packet_size, nr_packets), 0);
    ASSERT_EQ(device.add(probes, count), 0);
    ASSERT_EQ(device.add(probe_at(address_of("at_four")), 1), 0);
    const std::uint64_t used = device.info().memory_used;

    constexpr std::uint64_t nr_bursts = 300, nr_calls = 1000;
    std::thread caller([] {
        pin_to_cpu(0);
        for (std::uint64_t burst = 0; burst < nr_bursts; ++burst)
            call_functions("burst", nr_calls);
    });
    EXPECT_TRUE(set_online(true));
    pin_to_cpu(cpu_);
    call_functions("burst", 20);
    caller.join();
    unpin();
    EXPECT_EQ(hits(device.counts().back()), nr_bursts * nr_calls + 20);
    // A page for each block of 64 counters: of the first call of PROBE_ADD three, of the second one.
    EXPECT_EQ(device.info().memory_used, used + 4 * 4096);

    // It has its counters for good.
    ASSERT_TRUE(set_online(false));
    const std::uint64_t with_it = device.info().memory_used;
    ASSERT_TRUE(set_online(true));
    EXPECT_EQ(device.info().memory_used, with_it);
    EXPECT_EQ(hits(device.counts().back()), nr_bursts * nr_calls + 20);
}

/// A CPU that is not there yet, for whoever makes a session now.
class AbsentCpu : public Hotplug {
protected:
    void SetUp() override {
        run({"argtrace", "clear"});
        unlink(trace_path);
        ASSERT_NO_FATAL_FAILURE(Hotplug::SetUp());
        call_functions("absent", cpu_);
        absent_ = true;
    }
    void TearDown() override {
        if (absent_)
            call_functions("present", cpu_);
        Hotplug::TearDown();
        unlink(trace_path);
        run({"argtrace", "clear"});
    }

    void plug_in() {
        call_functions("present", cpu_);
        absent_ = false;
        ASSERT_TRUE(set_online(true));
    }

    void call_there(std::uint64_t count) const {
        pin_to_cpu(cpu_);
        call_functions("burst", count);
        unpin();
    }

    /// How many of these events are of that CPU.
    std::size_t count_there(const std::string &text) const {
        std::size_t count = 0;
        for (const nlohmann::ordered_json &event : json_lines(text))
            count += event["cpu"] == cpu_;
        return count;
    }

    bool absent_ = false;
    static constexpr const char *trace_path = "/tmp/hotplug.dat";
};

/// What poll() reports at once.
short poll_now(const RawDevice &device, short events) {
    pollfd file{device.fd(), events, 0};
    EXPECT_GE(poll(&file, 1, 0), 0);
    return file.revents;
}

TEST_F(AbsentCpu, gets_a_ring_of_which_poll_tells_once) {
    RawDevice device;
    ASSERT_EQ(device.session("", packet_size, nr_packets), 0);
    ASSERT_EQ(device.reader(), 0);
    ASSERT_EQ(device.add(RawProbe::words(address_of("at_four"), 4, "at_four").bytes(), 1), 0);
    EXPECT_EQ(poll_now(device, POLLPRI), POLLPRI) << "of the probe";
    EXPECT_EQ(poll_now(device, POLLPRI), 0);
    plug_in();
    EXPECT_EQ(poll_now(device, POLLIN), 0) << "nobody asked for it";
    EXPECT_EQ(poll_now(device, POLLIN | POLLPRI), POLLPRI);
    EXPECT_EQ(poll_now(device, POLLIN | POLLPRI), 0);
    call_there(20);
    EXPECT_EQ(poll_now(device, POLLIN | POLLPRI), POLLIN);
    RawRing ring(device, cpu_, packet_size, nr_packets);
    EXPECT_EQ(ring.drain(), 20u);
    EXPECT_EQ(poll_now(device, POLLIN | POLLPRI), 0);
}

TEST_F(AbsentCpu, is_shown_by_a_trace_that_runs_when_it_comes) {
    Background trace({"argtrace", "trace", "--json", "at_four"});
    ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
    call_functions("burst", 3);
    ASSERT_TRUE(eventually([&] { return json_lines(trace.out_so_far()).size() == 3; }));
    plug_in();
    call_there(20);
    EXPECT_TRUE(eventually([&] { return count_there(trace.out_so_far()) == 20; }));
    const Outcome outcome = trace.end(SIGINT);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(json_lines(outcome.out).size(), 23u);
    EXPECT_NE(outcome.err.find("23 events shown; 23 calls: 23 recorded, 0 lost"), std::string::npos)
        << outcome.err;
}

TEST_F(AbsentCpu, is_shown_in_the_end_where_the_trace_had_no_time_before) {
    Background trace({"argtrace", "trace", "--json", "at_four"});
    ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
    ASSERT_EQ(kill(trace.pid(), SIGSTOP), 0);
    plug_in();
    call_there(20);
    ASSERT_EQ(kill(trace.pid(), SIGINT), 0);
    ASSERT_EQ(kill(trace.pid(), SIGCONT), 0);
    const Outcome outcome = trace.wait();
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(count_there(outcome.out), 20u);
}

TEST_F(AbsentCpu, is_in_the_file_of_a_recording_that_runs_when_it_comes) {
    Background record({"argtrace", "record", "-o", trace_path, "at_four"});
    ASSERT_TRUE(eventually([] { return is_armed("at_four"); }));
    call_functions("burst", 3);
    plug_in();
    call_there(2000); // several packets' worth
    const Outcome outcome = record.end(SIGINT);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const Outcome report = run({"argtrace", "report", "--json", trace_path});
    EXPECT_EQ(report.status, 0) << report.err;
    EXPECT_EQ(count_there(report.out), 2000u);
    EXPECT_EQ(json_lines(report.out).size(), 2003u);
}

} // namespace
} // namespace vmtest
