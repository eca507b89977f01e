// SPDX-License-Identifier: GPL-2.0-only
// stress-ng's stressors, while a flight recorder follows the calls of all functions. tests/stressors/run brings stress-ng and the list of
// its stressors, by class. Once the functions are disarmed, every call is in one of the counts; those that are counted as in flight are on
// the stacks of tasks. scripts/vm checks that the kernel log is clean.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"
#include "support/shown.h"

namespace vmtest {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::uint64_t calls_at_once = 50;
constexpr char list_path[] = "/root/stressors.list";
constexpr char work_folder[] = "/tmp/stressors";

/// What stress-ng's exit status says of its only stressor.
constexpr int has_no_resource = 3;
constexpr int is_not_implemented = 4;

/// From a stressor that was told to stop after a second until it is asked to, and from then until it is killed.
constexpr char patience[] = "90";
constexpr char grace[] = "15";
constexpr int ran_too_long = 124;
constexpr int was_killed = 137;

/// A row of the list: the class, the name, and who runs it.
struct Stressor {
    std::string name;
    unsigned uid = 0;
};

std::vector<Stressor> stressors_of(const std::string &wanted) {
    std::vector<Stressor> stressors;
    std::ifstream list(list_path);
    for (std::string line; std::getline(list, line);) {
        std::istringstream words(line);
        std::string group;
        Stressor stressor;
        words >> group >> stressor.name >> stressor.uid;
        if (group == wanted)
            stressors.push_back(stressor);
    }
    return stressors;
}

/// The session `default`, a flight recorder that the tool has made.
class Recorder {
public:
    Recorder() {
        argtrace_session_attr attr{};
        attr.size = sizeof(attr);
        strcpy(attr.name, "default");
        EXPECT_EQ(device_.call(ARGTRACE_IOC_SESSION, &attr), 0);
        EXPECT_EQ(attr.flags, ARGTRACE_SESSION_FLIGHT);
        for (unsigned cpu = 0; cpu < attr.nr_cpus; cpu++)
            rings_.push_back(std::make_unique<RawRing>(device_, cpu, attr.packet_size, attr.nr_packets, RawRing::Mode::flight));
    }

    const RawDevice &device() const { return device_; }

    std::uint64_t overwritten() const {
        return sum_over_rings([](const RawRing &ring) { return ring.control()->overwritten; });
    }
    std::uint64_t lost() const {
        return sum_over_rings([](const RawRing &ring) { return ring.control()->lost; });
    }
    std::uint64_t there() const {
        return sum_over_rings([](const RawRing &ring) {
            std::uint64_t missed = 0;
            const std::uint64_t records = ring.snapshot(missed).size();
            EXPECT_EQ(missed, 0u) << "nobody writes any more";
            return records;
        });
    }

private:
    template <typename Number>
    std::uint64_t sum_over_rings(Number number) const {
        return std::accumulate(rings_.begin(), rings_.end(), std::uint64_t{0},
                               [&](std::uint64_t sum, const auto &ring) { return sum + number(*ring); });
    }

    RawDevice device_;
    std::vector<std::unique_ptr<RawRing>> rings_;
};

/// Probe -> calls in flight, as they are counted.
std::map<std::uint32_t, std::uint64_t> counted_in_flight(const RawDevice &device) {
    std::map<std::uint32_t, std::uint64_t> calls;
    for (const argtrace_return_counts &one : device.return_counts(ARGTRACE_LIST_REMOVED)) {
        if (one.in_flight)
            calls[one.counts.id] = one.in_flight;
    }
    return calls;
}

/// The same as they are found on the stacks of all tasks.
std::map<std::uint32_t, std::uint64_t> found_in_flight(const RawDevice &device) {
    std::vector<argtrace_in_flight_call> found(10000);
    argtrace_in_flight request{};
    request.size = sizeof(request);
    request.buffer = reinterpret_cast<std::uintptr_t>(found.data());
    request.length = found.size() * sizeof(found[0]);
    EXPECT_EQ(device.call(ARGTRACE_IOC_IN_FLIGHT, &request), 0);
    EXPECT_EQ(request.count, request.found);
    std::map<std::uint32_t, std::uint64_t> calls;
    for (std::size_t i = 0; i < request.count; i++)
        calls[found[i].id]++;
    return calls;
}

std::string differences(const std::map<std::uint32_t, std::uint64_t> &counted, const std::map<std::uint32_t, std::uint64_t> &found) {
    std::ostringstream text;
    std::set<std::uint32_t> ids;
    for (const auto *calls : {&counted, &found})
        std::transform(calls->begin(), calls->end(), std::inserter(ids, ids.end()), [](const auto &call) { return call.first; });
    const auto number = [](const auto &calls, std::uint32_t id) {
        const auto at = calls.find(id);
        return at == calls.end() ? 0 : static_cast<long long>(at->second);
    };
    for (const std::uint32_t id : ids) {
        if (number(counted, id) != number(found, id))
            text << "probe " << id << ": " << number(counted, id) << " counted, " << number(found, id) << " found\n";
    }
    return text.str();
}

/// What became of a stressor.
struct End {
    int status = -1;
    std::string said; ///< by stress-ng, beside the usual, indented
    double seconds = 0;

    bool is_done() const { return status == 0 && !is_excuse(said); }
    /// It did run, and something went wrong.
    bool is_failure() const {
        return !is_excuse(said) && status != 0 && status != has_no_resource && status != is_not_implemented && status != ran_too_long &&
               status != was_killed;
    }
    std::string in_words() const {
        if (is_excuse(said))
            return "not possible here";
        switch (status) {
        case 0:
            return "done";
        case has_no_resource:
            return "no room for it";
        case is_not_implemented:
            return "not implemented here";
        case ran_too_long:
        case was_killed:
            return std::string("has not ended within ") + patience + " s";
        default:
            return "ended with status " + std::to_string(status);
        }
    }

    /// With any status.
    static bool is_excuse(const std::string &text) {
        const char *const excuses[] = {"skipping stressor", "skipping the stressor", "skipping stress test", "will be skipped",
                                       "No stress workers invoked"};
        return std::any_of(std::begin(excuses), std::end(excuses), [&](const char *excuse) { return text.find(excuse) != text.npos; });
    }
};

/// What stress-ng has said that is not said of each stressor.
std::string unusual_lines(const std::string &text) {
    std::string unusual;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.find(": info:") == line.npos || End::is_excuse(line))
            unusual += "    " + line + '\n';
    }
    return unusual;
}

/// Calls `meanwhile` again and again until it has ended.
template <typename Function>
End run_stressor(const Stressor &stressor, Function meanwhile) {
    const std::string uid = std::to_string(stressor.uid);
    std::string command = "cd " + std::string(work_folder) + " && exec timeout -k " + grace + ' ' + patience;
    if (stressor.uid != 0)
        command += " setpriv --reuid " + uid + " --regid " + uid + " --clear-groups";
    command += " ./stress-ng --" + stressor.name + " 1 --timeout 1 --minimize --temp-path .";
    const auto start = SteadyClock::now();
    Background stress_ng({"sh", "-c", command});
    while (stress_ng.is_running())
        meanwhile();
    const Outcome outcome = stress_ng.wait();
    return {outcome.status, unusual_lines(outcome.out + outcome.err), std::chrono::duration<double>(SteadyClock::now() - start).count()};
}

/// The sums over all probes.
struct Totals {
    std::size_t functions = 0;
    std::uint64_t records = 0, filtered = 0, lost = 0, full = 0, in_flight = 0, unfollowed = 0, hits = 0;
};

class Stressors : public testing::TestWithParam<const char *> {
protected:
    void SetUp() override {
        ASSERT_EQ(access(list_path, R_OK), 0) << "tests/stressors/run brings it";
        need_argtrace();
        need_test_module();
        ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
        // /root is not for everybody.
        ASSERT_EQ(run({"install", "-d", "-m", "1777", work_folder}).status, 0);
        ASSERT_EQ(run({"cp", "/root/stress-ng", work_folder}).status, 0);
    }
    void TearDown() override {
        EXPECT_EQ(run({"argtrace", "clear"}).status, 0);
        run({"rm", "-rf", work_folder});
    }

    End stress(const Stressor &stressor, const Recorder &recorder) {
        const std::uint64_t before = recorder.overwritten();
        std::printf("%-16s", stressor.name.c_str());
        std::fflush(stdout);
        End end = run_stressor(stressor, [&] {
            call_functions("burst", calls_at_once);
            calls_ += calls_at_once;
            usleep(100000);
        });
        std::printf(" %5.1f s %10llu records, %s\n%s", end.seconds, static_cast<unsigned long long>(recorder.overwritten() - before),
                    end.in_words().c_str(), end.said.c_str());
        return end;
    }

    /// Whether they also fail without us.
    static void expect_to_fail_anyway(const std::vector<Stressor> &failed) {
        for (const Stressor &stressor : failed) {
            const End end = run_stressor(stressor, [] { usleep(100000); });
            std::printf("%-16s while nothing is traced: %s\n", stressor.name.c_str(), end.in_words().c_str());
            EXPECT_TRUE(end.is_failure()) << stressor.name << " has failed twice, and only while it was traced";
        }
    }

    static Totals totals(const RawDevice &device) {
        Totals sum;
        for (const argtrace_return_counts &one : device.return_counts(ARGTRACE_LIST_REMOVED)) {
            sum.functions++;
            sum.records += one.counts.records;
            sum.filtered += one.counts.filtered;
            sum.full += one.counts.lost[ARGTRACE_LOST_FULL];
            sum.lost = std::accumulate(std::begin(one.counts.lost), std::end(one.counts.lost), sum.lost);
            sum.in_flight += one.in_flight;
            sum.unfollowed = std::accumulate(std::begin(one.unfollowed), std::end(one.unfollowed), sum.unfollowed);
            sum.hits += hits(one);
        }
        return sum;
    }

    /// Called when all functions are disarmed.
    static void expect_that_it_adds_up(const Recorder &recorder) {
        std::map<std::uint32_t, std::uint64_t> counted, found;
        // Calls return meanwhile, and are on their way out of a function for a moment.
        const auto start = SteadyClock::now();
        do {
            counted = counted_in_flight(recorder.device());
            found = found_in_flight(recorder.device());
        } while (counted != found && SteadyClock::now() - start < std::chrono::seconds(60));
        EXPECT_EQ(differences(counted, found), "");
        const Totals sum = totals(recorder.device());
        EXPECT_EQ(sum.records, recorder.there() + recorder.overwritten());
        EXPECT_EQ(sum.full, recorder.lost());
        std::printf("%zu functions, %llu calls: %llu records, %llu lost, %llu filtered, %llu in flight, %llu unfollowed\n", sum.functions,
                    static_cast<unsigned long long>(sum.hits), static_cast<unsigned long long>(sum.records),
                    static_cast<unsigned long long>(sum.lost), static_cast<unsigned long long>(sum.filtered),
                    static_cast<unsigned long long>(sum.in_flight), static_cast<unsigned long long>(sum.unfollowed));
    }

    std::uint64_t calls_ = 0; // of at_four()
};

TEST_P(Stressors, every_call_is_in_a_count) {
    const std::vector<Stressor> stressors = stressors_of(GetParam());
    ASSERT_FALSE(stressors.empty());
    const Outcome added = run({"argtrace", "add", "--flight", "-r", "--buffer", "256K", "*"});
    ASSERT_EQ(added.status, 0) << added.err;
    std::size_t done = 0;
    std::vector<Stressor> failed;
    {
        const Recorder recorder;
        for (const Stressor &stressor : stressors) {
            const End end = stress(stressor, recorder);
            done += end.is_done();
            // Some fail now and then, on a machine that is slow.
            if (end.is_failure() && stress(stressor, recorder).is_failure())
                failed.push_back(stressor);
        }
        EXPECT_EQ(hits_of("at_four"), calls_);
        ASSERT_EQ(run({"argtrace", "rm", "*"}).status, 0);
        EXPECT_EQ(read_file("/sys/kernel/tracing/enabled_functions"), "");
        expect_that_it_adds_up(recorder);
    }
    expect_to_fail_anyway(failed);
    std::printf("%zu of %zu stressors have done what they are for\n", done, stressors.size());
    EXPECT_GT(done, 0u);
}

INSTANTIATE_TEST_SUITE_P(Classes, Stressors,
                         testing::Values("device", "io", "network", "pipe", "interrupt", "scheduler", "vm", "memory", "filesystem", "cpu-cache",
                                         "cpu", "os"),
                         [](const auto &info) {
                             std::string name = info.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

} // namespace
} // namespace vmtest
