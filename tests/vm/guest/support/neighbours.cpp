// SPDX-License-Identifier: GPL-2.0-only
#include "support/neighbours.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "support/architecture.h"
#include "support/machine.h"
#include "support/neighbours_bpf.h"
#include "support/tracefs.h"

namespace vmtest {

namespace {

const std::string neighbours_directory = "/sys/kernel/debug/argtrace_neighbours/";

/// Lines of the trace in which the function is named so, since this was last asked.
long lines_with(const std::string &what) {
    std::istringstream lines(read_file(tracing_directory + "trace"));
    long count = 0;
    for (std::string line; std::getline(lines, line);)
        count += line.starts_with('#') ? 0 : line.find(what) != line.npos;
    return count;
}

/// Whether the trace lacks some, for want of room in the buffer of a CPU, since it was last cleared.
bool trace_is_overrun() {
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
        std::istringstream lines(read_file(tracing_directory + "per_cpu/cpu" + std::to_string(cpu) + "/stats"));
        std::string what;
        for (std::uint64_t number = 0; lines >> what; lines.ignore(1000, '\n'))
            if (what == "overrun:" && lines >> number && number > 0)
                return true;
    }
    return false;
}

void clear_trace() {
    std::ofstream(tracing_directory + "trace", std::ios::trunc) << '\n';
}

/// What the trace has, which both functions share, is counted once and cleared when the last has been asked for.
class TraceCounts {
public:
    long take(const std::string &function, const std::string &what, const std::vector<std::string> &functions) {
        const long count = trace_is_overrun() ? -1 : lines_with(what);
        asked_.push_back(function);
        if (asked_.size() == functions.size()) {
            asked_.clear();
            clear_trace();
        }
        return count;
    }

private:
    std::vector<std::string> asked_;
};

const std::vector<std::string> neighbour_functions = {"an_value", "an_many"};

class NeighbourTracer : public Neighbour {
public:
    explicit NeighbourTracer(const char *name) : name_(name) {}

    void begin() override {
        // For all calls of both, whatever size each CPU's has had until now.
        EXPECT_EQ(write_tracefs("buffer_size_kb", "1408"), 0);
        EXPECT_EQ(write_tracefs("set_ftrace_filter", "an_value an_many"), 0);
        EXPECT_EQ(write_tracefs("current_tracer", name_), 0);
        clear_trace();
    }
    void end() override {
        EXPECT_EQ(write_tracefs("current_tracer", "nop"), 0);
        std::ofstream(tracing_directory + "set_ftrace_filter", std::ios::trunc) << '\n';
        clear_trace();
    }
    long seen(const std::string &function) override { return counts_.take(function, function, neighbour_functions); }

private:
    std::string name_;
    TraceCounts counts_;
};

class NeighbourEvent : public Neighbour {
public:
    /// `what` is for each function as the kernel takes it in dynamic_events, with %s for its name.
    explicit NeighbourEvent(const char *what) : what_(what) {}

    void begin() override {
        for (const std::string &function : neighbour_functions) {
            EXPECT_EQ(write_tracefs("dynamic_events", definition(function)), 0) << what_;
            EXPECT_EQ(write_tracefs("events/an/e_" + function + "/enable", "1"), 0);
        }
        clear_trace();
    }
    void end() override {
        for (const std::string &function : neighbour_functions) {
            EXPECT_EQ(write_tracefs("events/an/e_" + function + "/enable", "0"), 0);
            EXPECT_EQ(write_tracefs("dynamic_events", "-:an/e_" + function + "\n"), 0);
        }
        clear_trace();
    }
    long seen(const std::string &function) override { return counts_.take(function, "e_" + function + ":", neighbour_functions); }
    bool is_of_ftrace() const override { return !is_arm64 || what_.starts_with('f'); }

private:
    std::string definition(const std::string &function) const {
        std::string text = what_;
        for (std::size_t at; (at = text.find("%s")) != text.npos;)
            text.replace(at, 2, function);
        return text + "\n";
    }

    std::string what_;
    TraceCounts counts_;
};

/// As a live patch: calls of an_value() go on in another function.
class Diversion : public Neighbour {
public:
    explicit Diversion(std::uint64_t how) : how_(how) {}

    void begin() override { EXPECT_EQ(write_number_of_neighbours("divert", how_), 0); }
    void end() override { EXPECT_EQ(write_number_of_neighbours("divert", 0), 0); }
    // That it has had them go elsewhere is what call_neighbours() checks.
    long seen(const std::string &) override { return -1; }
    bool diverts() const override { return true; }
    bool has_many() const override { return false; }

private:
    std::uint64_t how_;
};

std::unique_ptr<Neighbour> fprobe_event(const char *what, std::string &why) {
    if (has_fprobe())
        return std::make_unique<NeighbourEvent>(what);
    why = "this kernel is built without CONFIG_FPROBE: it has no fprobe events";
    return nullptr;
}

std::unique_ptr<Neighbour> diversion_with_registers(std::string &why) {
    if (!is_arm64)
        return std::make_unique<Diversion>(2);
    why = "ftrace saves no more than the registers of arguments on arm64";
    return nullptr;
}

} // namespace

int write_number_of_neighbours(const std::string &file, std::uint64_t number) {
    std::ofstream out(neighbours_directory + file);
    out << number << std::flush;
    return out.good() ? 0 : EIO;
}

bool Neighbour::lets_us_share() const {
    return follows_beside_others || !is_of_ftrace();
}

void need_neighbours() { need_module("argtrace_neighbours"); }

void call_neighbours(std::uint64_t count) {
    const auto wrong = [] { return std::stoull(read_file(neighbours_directory + "wrong")); };
    const auto before = wrong();
    ASSERT_EQ(write_number_of_neighbours("call", count), 0);
    EXPECT_EQ(wrong(), before);
}

const std::vector<NeighbourKind> &neighbour_kinds() {
    static const std::vector<NeighbourKind> kinds = {
        {"function", [](std::string &) -> std::unique_ptr<Neighbour> { return std::make_unique<NeighbourTracer>("function"); }},
        {"function_graph", [](std::string &) -> std::unique_ptr<Neighbour> { return std::make_unique<NeighbourTracer>("function_graph"); }},
        {"kprobe", [](std::string &) -> std::unique_ptr<Neighbour> { return std::make_unique<NeighbourEvent>("p:an/e_%s %s"); }},
        {"kretprobe", [](std::string &) -> std::unique_ptr<Neighbour> { return std::make_unique<NeighbourEvent>("r200:an/e_%s %s $retval"); }},
        {"fprobe", [](std::string &why) { return fprobe_event("f:an/e_%s %s", why); }},
        {"fprobe_return", [](std::string &why) { return fprobe_event("f:an/e_%s %s%return $retval", why); }},
        {"bpf_fentry", [](std::string &why) { return make_bpf_neighbour(false, why); }},
        {"bpf_fexit", [](std::string &why) { return make_bpf_neighbour(true, why); }},
        {"diversion", [](std::string &) -> std::unique_ptr<Neighbour> { return std::make_unique<Diversion>(1); }},
        {"diversion_with_registers", diversion_with_registers},
    };
    return kinds;
}

} // namespace vmtest
