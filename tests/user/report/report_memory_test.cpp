// SPDX-License-Identifier: GPL-2.0-only
// What report needs does not grow with the file: marks tell it what it can let go.
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "render/text.h"
#include "report/block_writer.h"
#include "support/peak_memory.h"
#include "support/trace_builder.h"

namespace argtrace {
namespace {

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

constexpr const char *reporter = "ARGTRACE_TEST_REPORTER"; // "PACKETS MARKS"

long peak_of(unsigned packets, bool marks) {
    return test::peak_of_child("ReportMemory.*", reporter, fmt::format("{} {}", packets, int{marks}));
}

/// The child's part.
void report_and_tell(const std::string &what) {
    unsigned packets = 0;
    int marks = 0;
    ASSERT_EQ(std::sscanf(what.c_str(), "%u %d", &packets, &marks), 2);
    ASSERT_EQ(report(packets, marks), packets * nr_cpus * calls_of_a_packet);
    test::tell_peak();
}

TEST(ReportMemory, DoesNotGrowWithTheFile) {
    if (const char *what = std::getenv(reporter))
        return report_and_tell(what);
    if (!test::counts_own_memory)
        GTEST_SKIP() << "a sanitizer keeps what was freed";
    constexpr unsigned some = 250;
    constexpr unsigned many = 8 * some;
    const long of_some = peak_of(some, true);
    const long of_many = test::least_peak(of_some * 2, [] { return peak_of(many, true); });
    const long kept = peak_of(many, false);
    fmt::print("at most {} KiB, {} KiB for eight times as much, {} KiB without marks\n", of_some,
               of_many, kept);
    EXPECT_LT(of_many, of_some * 2);
    EXPECT_GT(kept, of_many * 2) << "the scales work: without marks all is kept until the end";
}

} // namespace
} // namespace argtrace
