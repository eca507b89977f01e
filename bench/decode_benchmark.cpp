// SPDX-License-Identifier: GPL-2.0-only
//
// How many events per second are read from rings: decoded, merged by time, written as text or JSON.
//
//     decode_benchmark [--benchmark_...]   Google Benchmark
//     decode_benchmark STEP ROUNDS         does it so often and prints how many events that were,
//                                          for tools that count instructions (bench/instructions)

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iterator>
#include <string_view>
#include <utility>

#include <benchmark/benchmark.h>

#include "reading.h"
#include "util/fd.h"

namespace argtrace::bench {
namespace {

constexpr std::pair<std::string_view, Step> steps[] = {
    {"decode", Step::decode},
    {"merge", Step::merge},
    {"text", Step::text},
    {"json", Step::json},
};

void measure(benchmark::State &state, Step step) {
    Workload workload;
    const Fd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    std::int64_t events = 0;
    for (auto _ : state)
        events += static_cast<std::int64_t>(read_all(workload, step, null.get()));
    state.SetItemsProcessed(events);
}

int run_rounds(std::string_view name, int rounds) {
    for (const auto &[known, step] : steps) {
        if (known != name)
            continue;
        Workload workload;
        const Fd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
        std::uint64_t events = 0;
        for (int i = 0; i < rounds; ++i)
            events += read_all(workload, step, null.get());
        std::printf("%llu\n", static_cast<unsigned long long>(events));
        return 0;
    }
    std::fprintf(stderr, "decode_benchmark: there is no step of that name\n");
    return 2;
}

} // namespace
} // namespace argtrace::bench

int main(int argc, char **argv) {
    using namespace argtrace::bench;
    if (argc == 3 && argv[1][0] != '-')
        return run_rounds(argv[1], std::atoi(argv[2]));
    for (const auto &[name, step] : steps)
        benchmark::RegisterBenchmark(std::string(name).c_str(), measure, step)
            ->Unit(benchmark::kMillisecond);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
