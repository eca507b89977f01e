// SPDX-License-Identifier: GPL-2.0-only
// What else sees calls when they return.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "references/tracefs_reference.h"
#include "support/tracefs.h"

namespace vmtest {
namespace {

class ReturnEventReference : public EventReference {
public:
    /// `what` is for each function as the kernel takes it in dynamic_events, with %e for the event and %s for the function.
    explicit ReturnEventReference(const char *what) : EventReference("at_returns"), what_(what) {}

    std::vector<KernelFunction> arm(const std::vector<KernelFunction> &functions) override {
        EXPECT_EQ(write_tracefs("trace_clock", "mono"), 0);
        return EventReference::arm(functions);
    }
    void disarm() override {
        EventReference::disarm();
        EXPECT_EQ(write_tracefs("trace_clock", "local"), 0);
    }

protected:
    std::string definition(const std::string &event, const std::string &function) const override {
        return std::regex_replace(std::regex_replace(what_, std::regex("%e"), event), std::regex("%s"), function);
    }

    // FUNCTION: (CALLER <- FUNCTION) ret=VALUE
    bool parse_call(std::string_view text, const Find &functions, ReferenceCall &call) override {
        call.function = take(text, ": ");
        take(text, ") ret=");
        call.values.resize(1);
        return functions.contains(call.function) && parse_value(text, call.values[0]);
    }

private:
    std::string what_;
};

class FunctionGraphReference : public TracefsReference {
public:
    std::vector<KernelFunction> arm(const std::vector<KernelFunction> &functions) override {
        begin();
        std::string names;
        for (const KernelFunction &function : functions)
            names += function.name + " ";
        EXPECT_EQ(write_tracefs("set_ftrace_filter", names), 0);
        EXPECT_EQ(write_tracefs("current_tracer", "function_graph"), 0);
        for (const char *option : {"options/funcgraph-tail", "options/funcgraph-proc"})
            EXPECT_EQ(write_tracefs(option, "1"), 0);
        resume();
        return functions;
    }
    void disarm() override {
        for (const char *option : {"options/funcgraph-tail", "options/funcgraph-proc"})
            EXPECT_EQ(write_tracefs(option, "0"), 0);
        EXPECT_EQ(write_tracefs("current_tracer", "nop"), 0);
        std::ofstream(tracing_directory + "set_ftrace_filter", std::ios::trunc) << '\n';
        end();
    }

    /// Its lines of returns; there are others.
    std::vector<ReferenceCall> calls(const std::vector<KernelFunction> &functions) override {
        std::vector<ReferenceCall> returns;
        for (ReferenceCall &call : TracefsReference::calls(functions)) {
            if (!call.function.empty())
                returns.push_back(std::move(call));
        }
        return returns;
    }

private:
    // CPU) COMM-TID | MARK DURATION us | FUNCTION();
    // CPU) COMM-TID | MARK DURATION us | } /* FUNCTION */
    bool parse(std::string_view text, const Find &, ReferenceCall &call) override {
        static const std::regex returned(R"(^\s*\d+\).*-(\d+)\s*\|\s*[+!#$@*]?\s*([0-9]+)[0-9.]* us\s*\|\s*(?:\} /\* (\w+)|(\w+)\(.*\);))");
        std::match_results<std::string_view::const_iterator> match;
        if (std::regex_search(text.begin(), text.end(), match, returned)) {
            call.tid = std::stoi(match[1].str());
            call.us = std::stoull(match[2].str());
            call.function = match[3].matched ? match[3].str() : match[4].str();
        }
        return true;
    }
    bool parse_call(std::string_view, const Find &, ReferenceCall &) override { return true; }
};

} // namespace

std::unique_ptr<Reference> fprobe_return_reference() {
    return std::make_unique<ReturnEventReference>("f:%e %s%return ret=$retval:x64");
}

std::unique_ptr<Reference> kretprobe_reference() {
    return std::make_unique<ReturnEventReference>("r200:%e %s ret=$retval:x64");
}

std::unique_ptr<Reference> function_graph_reference() {
    return std::make_unique<FunctionGraphReference>();
}

} // namespace vmtest
