// SPDX-License-Identifier: GPL-2.0-only
// What report needs does not grow with the file: marks tell it what it can let go.
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "render/text.h"
#include "report/block_writer.h"
#include "support/trace_builder.h"

namespace argtrace {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool counts_own_memory = false;
#elif defined(__has_feature)
constexpr bool counts_own_memory = !__has_feature(address_sanitizer);
#else
constexpr bool counts_own_memory = true;
#endif

constexpr unsigned nr_cpus = 2;
constexpr unsigned calls_of_a_packet = 70;

/// Writes so many packets of each CPU into the pipe.
void write_trace(Fd pipe, unsigned packets, bool marks) {
    constexpr std::uint64_t step = 1000;
    TraceWriter writer(std::move(pipe), "a pipe");
    writer.info(test::some_info());
    writer.probes(std::vector{test::vfs_read()});
    writer.symbols(test::some_symbols);
    std::uint64_t clock = 1000;
    for (unsigned seq = 0; seq < packets; ++seq, clock += calls_of_a_packet * step) {
        for (unsigned cpu = 0; cpu < nr_cpus; ++cpu) {
            const test::FileBytes bytes =
                test::packet_of(cpu, seq, clock + cpu, step, seq, calls_of_a_packet);
            writer.packet(test::packet_bytes(bytes));
            writer.flush();
        }
        if (marks)
            writer.mark(clock + calls_of_a_packet * step);
    }
    writer.end();
    writer.flush();
}

/// As `argtrace report` does it, from one end of a pipe to the other. How many events were shown.
unsigned report(unsigned packets, bool marks) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return 0;
    const Fd from(ends[0]);
    std::thread writer([to = Fd(ends[1]), packets, marks]() mutable {
        write_trace(std::move(to), packets, marks);
    });

    const Fd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    WorkerPool workers(2);
    const EventFilter filter;
    DecodeJob job;
    job.filter = &filter;
    TraceReader reader(from.get(), "a pipe", workers, job);
    Output output(null.get());
    BlockWriter text(
        workers, reader.symbols(),
        [](CallerNames &callers) { return std::make_unique<TextRenderer>(callers, true); }, output);
    unsigned events = 0;
    const auto take = [&](const TimeOrder::Packet &packet, const Event &event) {
        ++events;
        return text.event(packet, event);
    };
    read_in_time_order(reader, take);
    const bool written = text.flush();
    writer.join();
    return written && reader.fault_count() == 0 ? events : 0;
}

/// The most memory, in KiB, that this program has needed since it began. getrusage() would say no
/// less than what the process needed before, when it was a copy of another test's.
long own_peak() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:"))
            return std::stol(line.substr(6));
    }
    return 0;
}

constexpr const char *reporter = "ARGTRACE_TEST_REPORTER"; // "PACKETS MARKS", for the child

/// The most memory, in KiB, that a program of its own needed for it: this one, with that test
/// alone.
long peak_of(unsigned packets, bool marks) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, 0), 0);
    const Fd from(ends[0]);
    Fd to(ends[1]);
    const std::string what = fmt::format("{} {} {}", packets, int{marks}, to.get());
    const pid_t child = ::fork();
    if (child == 0) {
        ::setenv(reporter, what.c_str(), 1);
        ::execl("/proc/self/exe", "argtrace_tests", "--gtest_filter=ReportMemory.*",
                "--gtest_brief=1", nullptr);
        ::_exit(1);
    }
    to = Fd();
    long peak = 0;
    EXPECT_EQ(::read(from.get(), &peak, sizeof(peak)), static_cast<ssize_t>(sizeof(peak)));
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "the report failed";
    return peak;
}

/// The child's part.
void report_and_tell(const char *what) {
    unsigned packets = 0;
    int marks = 0;
    int to = -1;
    ASSERT_EQ(std::sscanf(what, "%u %d %d", &packets, &marks, &to), 3);
    ASSERT_EQ(report(packets, marks), packets * nr_cpus * calls_of_a_packet);
    const long peak = own_peak();
    ASSERT_EQ(::write(to, &peak, sizeof(peak)), static_cast<ssize_t>(sizeof(peak)));
}

TEST(ReportMemory, DoesNotGrowWithTheFile) {
    if (const char *what = std::getenv(reporter))
        return report_and_tell(what);
    if (!counts_own_memory)
        GTEST_SKIP() << "a sanitizer keeps what was freed";
    constexpr unsigned some = 250;
    constexpr unsigned many = 8 * some;
    const long of_some = peak_of(some, true);
    const long of_many = peak_of(many, true);
    const long kept = peak_of(many, false);
    fmt::print("at most {} KiB, {} KiB for eight times as much, {} KiB without marks\n", of_some,
               of_many, kept);
    EXPECT_LT(of_many, of_some * 2);
    EXPECT_GT(kept, of_many * 2) << "the scales work: without marks all is kept until the end";
}

} // namespace
} // namespace argtrace
