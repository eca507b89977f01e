// SPDX-License-Identifier: GPL-2.0-only
// IoctlFuzzer on /dev/argtrace: every answer is one that the ABI header documents, and nothing is left
// behind. scripts/vm checks that the kernel log is clean.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include "hostile/ioctl_fuzzer.h"
#include "support/machine.h"

namespace vmtest {
namespace {

constexpr char limit[] = "/sys/module/argtrace/parameters/memory_limit_mb";

void limit_memory(const char *mb) {
    std::ofstream(limit) << mb << std::flush;
}

class IoctlFuzz : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_test_module();
        need_load_module();
        seed_ = test_seed();
        std::cout << "seed " << seed_ << ", " << steps_ << " steps" << std::endl;
        // A limit that is reached, and rings that are created quickly.
        limit_memory("24");
        targets_ = std::make_unique<FuzzTargets>();
    }

    void TearDown() override {
        files_.close_all();
        unload_module("argtrace_onload");
        if (names_are_known_)
            nothing_is_left_without_the_names();
        limit_memory("0");
        // A file that was sent over a socket and left there is closed some time later.
        unload_argtrace();
        EXPECT_EQ(read_file("/sys/kernel/tracing/enabled_functions"), "");
        need_argtrace();
    }

    static void nothing_is_left_without_the_names() {
        for (const char *name : {"fuzz0", "fuzz1", "fuzz2", "fuzz3"})
            remove_session(name);
        // A session is counted no more before its memory is given back.
        argtrace_info info{};
        EXPECT_TRUE(eventually([&] {
            info = RawDevice().info();
            return info.nr_sessions == 0 && info.memory_used == 0;
        })) << info.nr_sessions << " sessions, " << info.memory_used << " bytes";
    }

    /// What the fuzzers have found.
    static void conclude(const std::vector<const IoctlFuzzer *> &fuzzers) {
        std::uint64_t calls = 0, successes = 0;
        for (const IoctlFuzzer *fuzzer : fuzzers) {
            EXPECT_EQ(fuzzer->fault(), "");
            calls += fuzzer->calls();
            successes += fuzzer->successes();
        }
        std::cout << calls << " calls, " << successes << " of them granted\n";
        EXPECT_GT(successes, calls / 50) << "hardly a call gets far enough to matter";
    }

    // A step here is short compared with one of Stress, which runs in the same boot.
    const std::uint64_t steps_ = 10 * stress_steps(400);
    std::uint64_t seed_ = 0;
    bool names_are_known_ = true;
    FuzzFiles files_;
    std::unique_ptr<FuzzTargets> targets_;
};

TEST_F(IoctlFuzz, by_one) {
    FuzzMemory memory;
    IoctlFuzzer fuzzer(seed_, files_, *targets_, memory, true);
    for (std::uint64_t step = 0; step < steps_ && fuzzer.fault().empty(); step++)
        fuzzer.step();
    conclude({&fuzzer});
}

TEST_F(IoctlFuzz, by_many_on_the_same_files_and_memory) {
    constexpr unsigned nr_threads = 4;
    FuzzMemory memory;
    names_are_known_ = false; // they change like everything else
    std::atomic<bool> stop = false;
    // Arguments that change while the kernel reads them twice.
    std::thread scribbler([&] {
        std::mt19937_64 random(seed_);
        while (!stop) {
            auto *words = reinterpret_cast<volatile std::uint32_t *>(memory.begin());
            for (int i = 0; i < 64; i++)
                words[random() % (FuzzMemory::size / 4)] =
                    static_cast<std::uint32_t>(random() % 64);
            usleep(200);
        }
    });
    std::vector<std::unique_ptr<IoctlFuzzer>> fuzzers;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < nr_threads; i++)
        fuzzers.push_back(
            std::make_unique<IoctlFuzzer>(seed_ + 1 + i, files_, *targets_, memory, false));
    for (const auto &fuzzer : fuzzers)
        threads.emplace_back([&, fuzzer = fuzzer.get()] {
            for (std::uint64_t step = 0; step < steps_ / nr_threads && fuzzer->fault().empty();
                 step++)
                fuzzer->step();
        });
    for (std::thread &thread : threads)
        thread.join();
    stop = true;
    scribbler.join();
    std::vector<const IoctlFuzzer *> all;
    for (const auto &fuzzer : fuzzers)
        all.push_back(fuzzer.get());
    conclude(all);
}

} // namespace
} // namespace vmtest
