// SPDX-License-Identifier: GPL-2.0-only
// A mixed load, some hundred functions that it calls, and two tracers: argtrace must see the same
// calls with the same values as the other tracer, thread by thread and in the same order.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>
#include <tuple>

#include "command.h"
#include "kallsyms.h"
#include "machine.h"
#include "mixed_load.h"
#include "prototypes.h"
#include "reference.h"
#include "tracefs.h"

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

/// Addresses by the names of the kernel's symbols, and how many symbols share a name.
class Symbols {
public:
    Symbols() {
        for (const KernelSymbol &symbol : kernel_symbols()) {
            std::string words(symbol.name);
            if (!symbol.module.empty())
                words += " [" + std::string(symbol.module) + "]";
            addresses_.emplace(std::move(words), symbol.addr);
        }
    }

    std::size_t count(const std::string &name) const { return addresses_.count(name); }

    /// Whether "name", "name+0x10" or "name [module]" stands for the address.
    bool stands_for(const std::string &text, std::uint64_t address) const {
        std::string name = text;
        std::uint64_t offset = 0;
        if (const std::size_t plus = text.find('+'); plus != text.npos) {
            std::size_t digits = 0;
            offset = std::stoull(text.substr(plus + 1), &digits, 16);
            name = text.substr(0, plus) + text.substr(plus + 1 + digits);
        }
        const auto [first, last] = addresses_.equal_range(name);
        return std::any_of(first, last,
                           [&](const auto &symbol) { return symbol.second + offset == address; });
    }

private:
    std::multimap<std::string, std::uint64_t> addresses_;
};

/// A load in a process of its own, and its threads.
std::set<pid_t> do_rounds(int rounds) {
    ThreadList threads;
    const pid_t pid = fork();
    EXPECT_GE(pid, 0);
    if (pid == 0) {
        threads.enter();
        while (rounds-- > 0)
            mixed_load_round("/tmp/differential", threads);
        _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
    // A process that has been waited for may still be finishing.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const std::vector<pid_t> tids = threads.all();
    return {tids.begin(), tids.end()};
}

/// The functions called in a round whose arguments can be compared, without the busiest ones.
std::map<std::string, KernelFunction> find_comparable(const Symbols &symbols) {
    // Only a quarter of all functions, which takes a quarter of the time.
    std::vector<std::string> add{"argtrace", "add", "--buffer", "64K"};
    for (const char *begin : is_long_run() ? std::vector{""} : std::vector{"a", "b", "c", "d", "e"})
        add.push_back(std::string("vmlinux:") + begin + "*");
    EXPECT_EQ(run(add).status, 0);
    do_rounds(1);
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

/// Whether argtrace shows the same value of that argument as the reference.
bool shows(const json &shown, const KernelParameter &parameter, std::uint64_t value,
           const Symbols &symbols) {
    value = parameter.cut(value); // the rest of its register may hold anything
    if (shown.is_boolean())
        return value == shown.get<bool>();
    // Not cut: a number that is shown is the whole number, with its sign.
    const std::uint64_t number = parameter.extend(value);
    const bool is_negative = parameter.is_signed && static_cast<std::int64_t>(number) < 0;
    if (shown.is_number_unsigned())
        return !is_negative && shown.get<std::uint64_t>() == number;
    if (shown.is_number_integer())
        return is_negative && static_cast<std::uint64_t>(shown.get<std::int64_t>()) == number;
    if (!shown.is_string())
        return false;
    const std::string text = shown;
    if (parameter.is_enum) {
        const auto known = parameter.enum_values.find(text);
        return known != parameter.enum_values.end() && known->second == value;
    }
    if (text.rfind("0x", 0) == 0)
        return std::stoull(text, nullptr, 16) == value;
    if (text.rfind("-E", 0) == 0) {
        const char *name = strerrorname_np(static_cast<int>(-value));
        return name && text.substr(1) == name;
    }
    return symbols.stands_for(text, value);
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
    const std::set<pid_t> threads = do_rounds(nr_rounds);
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
