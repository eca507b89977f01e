// SPDX-License-Identifier: GPL-2.0-only
// A mixed load, some hundred functions that it calls, and two tracers: argtrace must see the same
// calls with the same values as the other tracer, thread by thread and in the same order.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "references/reference.h"
#include "support/command.h"
#include "support/machine.h"
#include "support/mixed_load.h"
#include "support/prototypes.h"
#include "support/shown.h"
#include "support/tracefs.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

/// How many functions to trace, some of which the other tracer refuses, and how much must have been
/// compared at the end.
struct Extent {
    std::size_t functions, least_functions, least_calls;
};
constexpr Extent whole_size{320, 250, 10000};
constexpr Extent small_size{40, 30, 1200};
constexpr Extent smallest_size{16, 10, 300};

// Calls of a function in a round. One that is called less often may not be called in the next round.
constexpr std::uint64_t least_hits = 3;
constexpr std::uint64_t most_hits = 1000;
constexpr int nr_rounds = 3;
const std::string list_file = "/tmp/differential.functions";

double seconds() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// The functions called in a round whose arguments can be compared, without the busiest ones.
std::map<std::string, KernelFunction> find_comparable(const Symbols &symbols) {
    // Only a quarter of all functions, which takes a quarter of the time.
    std::vector<std::string> add{"argtrace", "add", "--buffer", "64K"};
    for (const char *begin : is_long_run() ? std::vector{""} : std::vector{"a", "b", "c", "d", "e"})
        add.push_back(std::string("vmlinux:") + begin + "*");
    EXPECT_EQ(run(add).status, 0);
    do_mixed_load_rounds("/tmp/differential", 1);
    const Outcome status = run({"argtrace", "status", "--json"});
    EXPECT_EQ(run({"argtrace", "clear"}).status, 0);

    const KernelBtf btf;
    std::map<std::string, KernelFunction> found;
    std::size_t called = 0, rare = 0, busy = 0, incomparable = 0;
    for (const json &line : json_lines(status.out)) {
        const std::uint64_t hits = line["hits"];
        if (hits == 0 || !line.contains("func"))
            continue;
        called++;
        const std::string name = line["func"];
        auto function = btf.function(name);
        if (hits < least_hits)
            rare++;
        else if (hits > most_hits)
            busy++;
        else if (symbols.count(name) != 1 || !function || function->parameters.empty())
            incomparable++;
        else
            found.emplace(name, std::move(*function));
    }
    std::printf("of %zu functions called, %zu too rare, %zu too busy, %zu without arguments to "
                "compare\n",
                called, rare, busy, incomparable);
    return found;
}

/// Picks functions spread evenly over their names.
std::vector<KernelFunction> choose(const std::map<std::string, KernelFunction> &from,
                                   std::size_t wanted) {
    std::vector<KernelFunction> chosen;
    std::size_t step = 0;
    for (const auto &[name, function] : from) {
        if (++step * std::min(wanted, from.size()) / from.size() > chosen.size())
            chosen.push_back(function);
    }
    return chosen;
}

struct OurCall {
    std::string function;
    json args;
    std::string line;
};

// An interrupt with calls of its own may come between the moments at which two tracers record one
// call: only calls that cannot interrupt each other have the same order in both.
using Sequence = std::tuple<pid_t, char, char>; // thread, irqs, interrupt

std::map<Sequence, std::vector<OurCall>> by_sequence(std::istream &events,
                                                     const std::set<pid_t> &threads) {
    std::map<Sequence, std::vector<OurCall>> calls;
    for (std::string line; std::getline(events, line);) {
        json event = json::parse(line, nullptr, false);
        EXPECT_FALSE(event.is_discarded()) << line;
        if (event.contains("shown")) // the totals, at the end
            continue;
        const pid_t tid = event["tid"];
        if (!threads.count(tid))
            continue;
        const std::string flags = event["flags"];
        calls[{tid, flags.at(0), flags.at(2)}].push_back(
            {event["func"], std::move(event["args"]), line});
    }
    return calls;
}

struct Tally {
    std::set<std::string> functions;
    std::size_t calls = 0, arguments = 0;
};

/// Stops at the first difference.
void compare(const std::vector<OurCall> &ours, const std::vector<const ReferenceCall *> &theirs,
             const std::map<std::string, const KernelFunction *> &functions, const Symbols &symbols,
             Tally &tally) {
    for (std::size_t i = 0; i < std::max(ours.size(), theirs.size()); i++) {
        const std::string both =
            "argtrace:  " + (i < ours.size() ? ours[i].line : "no further call") +
            "\nreference: " + (i < theirs.size() ? theirs[i]->line : "no further call");
        ASSERT_LT(i, ours.size()) << both;
        ASSERT_LT(i, theirs.size()) << both;
        ASSERT_EQ(ours[i].function, theirs[i]->function) << both;
        const auto &parameters = functions.at(ours[i].function)->parameters;
        ASSERT_EQ(ours[i].args.size(), parameters.size()) << both;
        for (std::size_t p = 0; p < parameters.size(); p++) {
            ASSERT_TRUE(ours[i].args.contains(parameters[p].name)) << both;
            ASSERT_TRUE(shows(ours[i].args[parameters[p].name], parameters[p], theirs[i]->values[p],
                              symbols))
                << parameters[p].name << ":\n"
                << both;
        }
        tally.functions.insert(ours[i].function);
        tally.calls++;
        tally.arguments += parameters.size();
    }
}

void compare_with(Reference &reference, const Extent &extent) {
    double then = seconds();
    auto lap = [&then] { return seconds() - std::exchange(then, seconds()); };
    // Independent of the tracer that they are compared with.
    static const Symbols symbols;
    static const auto comparable = find_comparable(symbols);
    const std::vector<KernelFunction> chosen = choose(comparable, extent.functions);
    ASSERT_GT(chosen.size(), extent.functions / 2);
    std::printf("%zu chosen in %.1f s\n", chosen.size(), lap());

    const std::vector<KernelFunction> armed = reference.arm(chosen);
    std::map<std::string, const KernelFunction *> functions;
    {
        std::ofstream list(list_file);
        for (const KernelFunction &function : armed) {
            functions[function.name] = &function;
            list << "vmlinux:" << function.name << "\n";
        }
    }
    const Outcome added = run({"argtrace", "add", "--buffer", "8M", "@" + list_file});
    ASSERT_EQ(added.status, 0) << added.err;
    std::printf("armed in %.1f s\n", lap());

    // Both tracers see its threads from their first call to their last.
    const std::set<pid_t> threads = do_mixed_load_rounds("/tmp/differential", nr_rounds);
    reference.pause();
    std::printf("loaded in %.1f s: %zu threads\n", lap(), threads.size());

    const Outcome trace = run({"argtrace", "trace", "--json", "--duration", "0.01"});
    ASSERT_EQ(trace.status, 0) << trace.err;
    const auto lines = json_lines(run({"argtrace", "status", "--json"}).out);
    ASSERT_FALSE(lines.empty());
    for (const auto &lost : lines.back()["lost"].items())
        EXPECT_EQ(lost.value(), 0) << lost.key();
    EXPECT_EQ(run({"argtrace", "clear"}).status, 0);
    const std::vector<ReferenceCall> seen = reference.calls(armed);
    std::printf("read in %.1f s\n", lap());
    reference.disarm();
    std::printf("disarmed in %.1f s\n", lap());
    EXPECT_EQ(read_file(tracing_directory + "enabled_functions"), "");

    std::istringstream events(trace.out);
    const auto ours = by_sequence(events, threads);
    std::map<Sequence, std::vector<const ReferenceCall *>> theirs;
    for (const ReferenceCall &call : seen) {
        if (threads.count(call.tid))
            theirs[{call.tid, call.irqs, call.interrupt}].push_back(&call);
    }
    Tally tally;
    for (const auto &[sequence, calls] : ours) {
        ASSERT_NO_FATAL_FAILURE(compare(calls, theirs[sequence], functions, symbols, tally));
        theirs.erase(sequence);
    }
    for (const auto &[sequence, calls] : theirs)
        ASSERT_NO_FATAL_FAILURE(compare({}, calls, functions, symbols, tally));
    std::printf("compared in %.1f s: %zu functions, %zu calls, %zu arguments\n", lap(),
                tally.functions.size(), tally.calls, tally.arguments);
    EXPECT_GE(tally.functions.size(), extent.least_functions);
    EXPECT_GE(tally.calls, extent.least_calls);
}

TEST(Differential, the_same_calls_and_values_as_fprobe_events) {
    if (!has_fprobe())
        GTEST_SKIP() << "this kernel is built without CONFIG_FPROBE: it has no fprobe events";
    if (is_sanitizer_kernel())
        GTEST_SKIP() << "this kernel checks every access to memory, and making hundreds of fprobe "
                        "events takes too long on it";
    need_argtrace();
    ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    // Each event takes the kernel a quarter of a second; the function tracer compares them all.
    const Extent &small = has_func_args() ? smallest_size : small_size;
    compare_with(*fprobe_reference(), is_long_run() ? whole_size : small);
}

TEST(Differential, the_same_calls_and_values_as_the_function_tracer) {
    if (!has_func_args())
        GTEST_SKIP() << "this kernel's function tracer records no arguments: it has no func-args";
    need_argtrace();
    ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    compare_with(*func_args_reference(), whole_size);
}

} // namespace
} // namespace vmtest
