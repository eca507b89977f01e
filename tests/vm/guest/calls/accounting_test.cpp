// SPDX-License-Identifier: GPL-2.0-only
// Every call of a function with conditions, sampling or a cap is recorded, or counted as lost,
// filtered, sampled or capped; exactly so many as there were calls, on all CPUs and in all
// contexts.
#include <gtest/gtest.h>
#include <time.h>

#include <cmath>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/command.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

class Accounting : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_load_module();
        run({"argtrace", "clear"});
        before_ = load_calls();
    }
    void TearDown() override { run({"argtrace", "clear"}); }

    static void add(const std::vector<std::string> &words) {
        std::vector<std::string> command{"argtrace", "add"};
        command.insert(command.end(), words.begin(), words.end());
        const Outcome outcome = run(command);
        ASSERT_EQ(outcome.status, 0) << outcome.err;
    }

    /// Reads the counts of the functions, which must add up to the calls that the module counts.
    void read_counts() {
        for (const json &line : json_lines(run({"argtrace", "status", "--all", "--json"}).out))
            if (line.contains("func"))
                counts_[line["func"]] = line;
        const LoadCalls after = load_calls();
        const std::map<std::string, std::uint64_t> calls = {
            {"al_process", after.process - before_.process},
            {"al_interrupt", after.interrupt - before_.interrupt},
            {"al_nmi", after.nmi - before_.nmi},
            {"al_writer", after.writer - before_.writer},
        };
        for (const auto &[name, one] : counts_) {
            EXPECT_EQ(one["hits"], calls.at(name)) << one.dump();
            EXPECT_EQ(one["hits"].get<std::uint64_t>(),
                      count(name, "records") + count(name, "filtered") + count(name, "sampled") +
                          count(name, "capped") + lost(name))
                << one.dump();
        }
    }

    std::uint64_t count(const std::string &function, const char *what) const {
        return counts_.at(function)[what];
    }
    std::uint64_t lost(const std::string &function) const {
        std::uint64_t all = 0;
        for (const json &cause : counts_.at(function)["lost"])
            all += cause.get<std::uint64_t>();
        return all;
    }

    /// al_writer() so often, on that CPU.
    static void call_on(unsigned cpu, std::uint64_t calls) {
        std::thread([&] {
            pin_to_cpu(cpu);
            call_from_here(calls);
        }).join();
    }

    static std::vector<json> recorded() {
        const Outcome outcome = run({"argtrace", "trace", "--json", "--duration", "300ms"});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return json_lines(outcome.out);
    }

    LoadCalls before_;
    std::map<std::string, json> counts_;
};

constexpr unsigned load_size = 2000; // calls of al_process() on each CPU

Load some_load() {
    Load load;
    load.calls = load_size;
    load.burst = 5;
    load.period_ns = 200000;
    load.nmis = 20;
    load.nmi_burst = 3;
    return load;
}

TEST_F(Accounting, conditions_and_faults_under_load) {
    add({"--buffer", "4M", "al_process(number, *(int *)8 as bad) if number % 3 == 0 || *(char *)16",
         "al_interrupt(number, cpu) if number & 1",
         "al_nmi(number) if number % 5 && *(char *)number != 1", "al_writer"});
    run_load(some_load());
    read_counts();
    for (const auto &[name, one] : counts_)
        EXPECT_EQ(lost(name), 0u) << one.dump();
    // In a process: a fault rejects what is no multiple of 3, and of the others each has one.
    EXPECT_EQ(count("al_process", "faults"), count("al_process", "hits"));
    EXPECT_EQ(count("al_interrupt", "faults"), 0u);
    EXPECT_EQ(count("al_nmi", "records"), 0u) << "the numbers are no addresses";
    if (has_nmis) {
        EXPECT_GT(count("al_nmi", "faults"), 0u);
        EXPECT_LT(count("al_nmi", "faults"), count("al_nmi", "filtered"));
    }

    std::map<std::string, std::uint64_t> seen;
    for (const json &event : recorded()) {
        const json &args = event["args"];
        const std::uint64_t number = args["number"];
        seen[event["func"]]++;
        if (event["func"] == "al_process") {
            ASSERT_EQ(number % 3, 0u) << event.dump();
            ASSERT_TRUE(args["bad"].is_null()) << event.dump();
        } else {
            ASSERT_EQ(event["func"], "al_interrupt");
            ASSERT_EQ(number % 2, 1u) << event.dump();
            ASSERT_EQ(args["cpu"], event["cpu"]) << event.dump();
        }
    }
    for (const char *name : {"al_process", "al_interrupt"}) {
        EXPECT_EQ(seen[name], count(name, "records"));
        EXPECT_GT(seen[name], 0u);
    }
}

TEST_F(Accounting, a_full_buffer_is_told_apart) {
    add({"--buffer", "64K", "al_process(number, *(int *)8 as bad) if number & 3"});
    add({"--sample", "3", "al_interrupt(number, str(number) as none) if number % 7 < 5"});
    add({"--max-rate", "40", "al_nmi(number, comm)"});
    run_load(some_load());
    // On a busy machine a load has fewer interrupts.
    for (int loads = 1; loads == 1 || (loads < 10 && (lost("al_process") == 0 || lost("al_interrupt") == 0)); loads++) {
        run_load(some_load());
        read_counts();
    }
    for (const char *name : {"al_process", "al_interrupt"}) {
        EXPECT_GT(lost(name), 0u) << "64K are not full";
        EXPECT_GT(count(name, "filtered"), 0u);
        EXPECT_GE(count(name, "faults"), count(name, "records"));
    }
    EXPECT_GT(count("al_interrupt", "sampled"), 0u);
    EXPECT_EQ(count("al_nmi", "capped") > 0, has_nmis);
}

TEST_F(Accounting, one_call_in_so_many_on_each_cpu) {
    constexpr std::uint64_t one_in = 7, calls = 100 * one_in + 1, cpus = 2;
    add({"--sample", std::to_string(one_in), "al_writer"});
    add({"--sample", "16", "al_process"});
    for (unsigned cpu = 0; cpu < cpus; cpu++)
        call_on(cpu, calls);
    run_load(some_load());
    read_counts();
    // The first call is one.
    EXPECT_EQ(count("al_writer", "records"), cpus * 101);
    EXPECT_EQ(count("al_writer", "sampled"), cpus * (calls - 101));
    EXPECT_EQ(count("al_process", "records"), cpu_count() * load_size / 16);
    EXPECT_EQ(count("al_process", "hits"), cpu_count() * load_size);

    std::map<std::string, std::uint64_t> last;
    for (const json &event : recorded()) {
        const std::string place = event["func"].get<std::string>() + event["cpu"].dump();
        const std::uint64_t number = event["args"]["number"];
        if (last.count(place)) {
            EXPECT_EQ(number - last[place], event["func"] == "al_writer" ? one_in : 16)
                << event.dump();
        }
        last[place] = number;
    }
    EXPECT_EQ(last.size(), cpus + cpu_count());
}

TEST_F(Accounting, samples_are_taken_before_conditions_are_looked_at) {
    add({"--sample", "4", "al_writer(number) if number & 1"});
    constexpr std::uint64_t calls = 400;
    call_on(0, calls);
    read_counts();
    EXPECT_EQ(count("al_writer", "sampled"), calls - calls / 4);
    // All numbers of the sample are odd, or none is.
    const std::uint64_t records = count("al_writer", "records");
    EXPECT_TRUE(records == 0 || records == calls / 4) << records;
    EXPECT_EQ(count("al_writer", "filtered"), calls / 4 - records);
}

double now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST_F(Accounting, no_more_than_so_many_in_a_second) {
    constexpr std::uint64_t rate = 50, calls = 3000;
    add({"--max-rate", std::to_string(rate), "al_writer(number) if number % 2"});
    const double begin = now();
    std::thread other([] { call_on(1, calls); });
    call_on(0, calls);
    other.join();
    // A second begins with a record, and is one by the kernel's ticks, of which there are 100 or
    // more.
    const auto seconds = static_cast<std::uint64_t>(std::floor((now() - begin) * 100 / 99)) + 1;
    read_counts();
    EXPECT_EQ(count("al_writer", "filtered"), calls);
    EXPECT_GE(count("al_writer", "records"), rate);
    EXPECT_LE(count("al_writer", "records"), rate * seconds);
    EXPECT_EQ(count("al_writer", "faults"), 0u);
    EXPECT_EQ(lost("al_writer"), 0u);
}

TEST_F(Accounting, a_cap_that_is_not_reached_leaves_nothing_out) {
    add({"--max-rate", "1000000", "--sample", "1", "al_writer(number, caller)"});
    call_on(0, 500);
    read_counts();
    EXPECT_EQ(count("al_writer", "records"), 500u);
}

} // namespace
} // namespace vmtest
