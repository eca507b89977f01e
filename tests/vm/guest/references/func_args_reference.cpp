// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "references/tracefs_reference.h"
#include "support/machine.h"
#include "support/tracefs.h"

namespace vmtest {
namespace {

// FTRACE_REGS_MAX_ARGS on x86-64 (arch/x86/include/asm/ftrace.h): what follows is shown as "...".
constexpr std::size_t most_arguments = 6;

/// The position in ftrace's list of each function that it can trace, for names that only one function
/// has.
std::map<std::string, std::size_t> numbered_functions() {
    std::map<std::string, std::size_t> numbers;
    std::istringstream lines(read_file(tracing_directory + "available_filter_functions"));
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        const auto [at, is_new] = numbers.emplace(line, ++number);
        if (!is_new)
            at->second = 0;
    }
    return numbers;
}

class FuncArgsReference : public TracefsReference {
public:
    std::vector<KernelFunction> arm(const std::vector<KernelFunction> &functions) override {
        begin();
        const auto numbers = numbered_functions();
        std::vector<KernelFunction> taken;
        std::string refused, filter;
        for (const KernelFunction &function : functions) {
            const auto number = numbers.find(function.name);
            if (function.parameters.size() > most_arguments) {
                refused += " " + function.name + " (too many arguments)";
            } else if (number == numbers.end() || number->second == 0) {
                refused += " " + function.name + " (not once in the list)";
            } else {
                // By number: ftrace searches all symbols for a name, which takes seconds for each.
                filter += std::to_string(number->second) + " ";
                taken.push_back(function);
            }
        }
        std::printf("func-args refused %zu functions:%s\n", functions.size() - taken.size(),
                    refused.empty() ? " none" : refused.c_str());
        EXPECT_EQ(write_tracefs("set_ftrace_filter", filter), 0);
        // First, so that no call is recorded without arguments.
        EXPECT_EQ(write_tracefs("options/func-args", "1"), 0);
        EXPECT_EQ(write_tracefs("current_tracer", "function"), 0);
        resume();
        return taken;
    }

    void disarm() override {
        EXPECT_EQ(write_tracefs("current_tracer", "nop"), 0);
        EXPECT_EQ(write_tracefs("options/func-args", "0"), 0);
        EXPECT_EQ(write_tracefs("set_ftrace_filter", "!*"), 0);
        end();
    }

protected:
    // FUNCTION(NAME=VALUE, ...) <-CALLER, as print_function_args() of kernel/trace/trace_output.c
    // writes it; an enum as "VALUE [ENUMERATOR]", one of 64 bits as "(enum64)[VALUE]".
    bool parse_call(std::string_view text, const Find &functions, ReferenceCall &call) override {
        call.function = take(text, "(");
        const auto function = functions.find(call.function);
        if (function == functions.end())
            return false;
        const auto &parameters = function->second->parameters;
        for (std::size_t i = 0; i < parameters.size(); i++) {
            if (take(text, "=") != parameters[i].name)
                return false;
            std::string_view word = take(text, i + 1 < parameters.size() ? ", " : ") <-");
            if (word.substr(0, 1) == "(") {
                take(word, "[");
                word = take(word, "]");
            }
            word = word.substr(0, word.find(' '));
            std::uint64_t value = 0;
            if (!parse_value(word, value))
                return false;
            call.values.push_back(value);
        }
        return true;
    }
};

} // namespace

std::unique_ptr<Reference> func_args_reference() {
    return std::make_unique<FuncArgsReference>();
}

} // namespace vmtest
