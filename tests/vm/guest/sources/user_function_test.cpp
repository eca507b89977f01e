// SPDX-License-Identifier: GPL-2.0-only
// User functions as the tool records them, against what the traced program (programs/user_functions.c) says itself.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/answering_program.h"
#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"

namespace vmtest {
namespace {

const std::string program = "/root/user_functions", log_path = "/tmp/user_functions.log";

const std::vector<std::string> prototypes = {
    "--proto", "void uf_none(void)",
    "--proto", "void uf_numbers(signed char a, unsigned short b, int c, unsigned int d, long e, void *f)",
    "--proto", "size_t uf_text(const char *text, size_t size)",
    "--proto", "void uf_mixed(double x, int a, float y, unsigned char b)",
    "--proto", "void uf_absent(const char *text)",
    "--proto", "void uf_storm(unsigned long number)",
};

std::vector<std::string> words(std::vector<std::string> first, const std::vector<std::string> &rest) {
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
}

std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

std::string text_of(const nlohmann::ordered_json &value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

/// An event as the program's log has it: "NAME VALUE ...".
std::string line_of(const nlohmann::ordered_json &event) {
    const std::string function = event.at("func");
    const std::string prefix = "u:user_functions:";
    EXPECT_TRUE(function.starts_with(prefix)) << function;
    std::string line = function.substr(prefix.size());
    for (const auto &[name, value] : event.at("args").items())
        line += ' ' + text_of(value);
    return line;
}

class UserFunctions : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_uprobes();
    }

    static Outcome trace(const std::vector<std::string> &specs, const std::vector<std::string> &command) {
        std::vector<std::string> all = {"argtrace", "trace", "--json"};
        all = words(all, prototypes);
        all = words(all, specs);
        all.push_back("--");
        return run(words(all, command));
    }
};

const std::vector<std::string> all_functions = {
    "u:" + program + ":uf_none", "u:" + program + ":uf_numbers", "u:" + program + ":uf_text(str(text) as text)",
    "u:" + program + ":uf_mixed(a, b)", "u:" + program + ":uf_absent(str(text) as text)",
};

void expect_calls_as_logged(const Outcome &outcome) {
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::string> calls;
    for (const auto &event : json_lines(outcome.out))
        calls.push_back(line_of(event));
    EXPECT_EQ(calls, lines_of(read_file(log_path)));
    const auto summary = json_summary(outcome.out);
    EXPECT_EQ(summary.at("hits"), calls.size()) << summary.dump();
    EXPECT_EQ(summary.at("records"), calls.size()) << summary.dump();
    EXPECT_EQ(summary.at("faults"), 0) << summary.dump();
}

TEST_F(UserFunctions, have_the_arguments_that_the_program_has_passed) {
    expect_calls_as_logged(trace(all_functions, {program, "300", log_path}));
    EXPECT_EQ(lines_of(read_file(log_path)).size(), 300 * 5);
}

TEST_F(UserFunctions, of_the_commands_children_are_recorded) {
    expect_calls_as_logged(trace(all_functions, {program, "100", log_path, "fork"}));
}

TEST_F(UserFunctions, are_recorded_of_a_program_that_comes_later) {
    Background tool(words(words({"argtrace", "trace", "--json"}, prototypes), {"u:" + program + ":uf_numbers"}));
    ASSERT_TRUE(eventually([&] { return tool.err_so_far().find("until Ctrl-C") != std::string::npos; })) << tool.err_so_far();
    ASSERT_EQ(run({program, "50", log_path}).status, 0);
    const Outcome outcome = tool.end(SIGINT);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::string> calls, logged;
    for (const auto &event : json_lines(outcome.out))
        calls.push_back(line_of(event));
    for (const std::string &line : lines_of(read_file(log_path)))
        if (line.starts_with("uf_numbers"))
            logged.push_back(line);
    EXPECT_EQ(calls, logged);
}

TEST_F(UserFunctions, conditions_decide_by_what_is_passed) {
    const Outcome outcome = trace({"u:" + program + ":uf_numbers if c == -7 || b == 60003", "u:" + program + ":uf_text if str(text) == \"text of round 5\"",
                                   "u:" + program + ":uf_absent(str(text) as text) if str(text) ~ \"round 4 *\""},
                                  {program, "20", log_path});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::string> functions;
    for (const auto &event : json_lines(outcome.out))
        functions.push_back(event.at("func"));
    const std::vector<std::string> expected = {"u:user_functions:uf_numbers", "u:user_functions:uf_absent", "u:user_functions:uf_text",
                                               "u:user_functions:uf_numbers"};
    EXPECT_EQ(functions, expected) << outcome.out;
    EXPECT_EQ(json_summary(outcome.out).at("filtered"), 60 - 4) << outcome.out;
}

/// A process that calls uf_storm() once for each line that it is sent.
class Caller : public AnsweringProgram {
public:
    Caller() : AnsweringProgram(program, "wait") {
        call(); // it has begun
    }
    void call(const std::string &how = "") { ask(how); }
};

// But a child inherits the breakpoints of its parent, and loses each where it comes to it.
TEST_F(UserFunctions, other_processes_have_no_breakpoint) {
    Caller one, other;
    ASSERT_EQ(run(words(words({"argtrace", "add", "-p", std::to_string(one.pid())}, prototypes), {"u:" + program + ":uf_storm"})).status, 0);
    for (int i = 0; i < 5; i++) {
        one.call();
        other.call();
    }
    for (int i = 0; i < 3; i++) {
        one.call("fork");
        other.call("fork");
    }
    const auto status = run({"argtrace", "status", "--json"});
    ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    const auto line = json_lines(status.out);
    std::map<std::string, std::uint64_t> counts;
    for (const auto &object : line)
        if (object.contains("func"))
            counts = {{"hits", object.at("hits")}, {"filtered", object.at("filtered")}};
    EXPECT_EQ(counts["hits"], 5 + 3) << status.out;
    EXPECT_EQ(counts["filtered"], 3) << status.out;
}

TEST_F(UserFunctions, are_counted_by_what_they_are_passed) {
    const Outcome outcome = run(words(words({"argtrace", "count", "--json", "--by", "str(text)"}, prototypes),
                                      {"u:" + program + ":uf_absent", "--", program, "30", log_path}));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::map<std::string, std::uint64_t> expected, counted;
    for (unsigned i = 0; i < 30; i++)
        expected["round " + std::to_string(i) + " across the end of a page"] = 1;
    for (const auto &row : json_lines(outcome.out))
        if (row.contains("key"))
            counted[text_of(row.at("key").is_array() ? row.at("key")[0] : row.at("key").is_object() ? row.at("key").begin().value() : row.at("key"))] =
                row.at("count");
    EXPECT_EQ(counted, expected) << outcome.out;
}

// A call that waits for its memory is looked at again, and all the same is sampled, capped, filtered and counted once.
TEST_F(UserFunctions, have_one_outcome_however_often_they_wait_for_memory) {
    constexpr unsigned rounds = 40;
    const std::vector<std::string> command = {"taskset", "-c", "0", program, std::to_string(rounds), log_path};
    const auto absent = [](const std::vector<std::string> &options, const std::string &condition) {
        return words(options, {"u:" + program + ":uf_absent(str(text) as text)" + condition});
    };
    const auto texts = [](const Outcome &outcome) {
        std::vector<std::string> all;
        for (const auto &event : json_lines(outcome.out))
            all.push_back(text_of(event.at("args").at("text")));
        return all;
    };
    const auto text_of_round = [](unsigned round) { return "round " + std::to_string(round) + " across the end of a page"; };

    const Outcome sampled = trace(absent({"--sample", "4"}, ""), command);
    ASSERT_EQ(sampled.status, 0) << sampled.err;
    std::vector<std::string> expected;
    for (unsigned i = 0; i < rounds; i += 4)
        expected.push_back(text_of_round(i));
    EXPECT_EQ(texts(sampled), expected);
    EXPECT_EQ(json_summary(sampled.out).at("hits"), rounds) << sampled.out;
    EXPECT_EQ(json_summary(sampled.out).at("sampled"), rounds - rounds / 4) << sampled.out;

    const Outcome capped = trace(absent({"--max-rate", "3"}, " if str(text) ~ \"round 1*\""), command);
    ASSERT_EQ(capped.status, 0) << capped.err;
    const auto summary = json_summary(capped.out);
    EXPECT_GE(texts(capped).size(), 3u);
    EXPECT_EQ(texts(capped).front(), text_of_round(1));
    EXPECT_EQ(summary.at("records"), texts(capped).size()) << capped.out;
    EXPECT_EQ(summary.at("filtered"), rounds - 11) << capped.out;
    EXPECT_EQ(summary.at("records").get<unsigned>() + summary.at("capped").get<unsigned>(), 11u) << capped.out;
    EXPECT_EQ(summary.at("faults"), 0) << capped.out;
}

TEST_F(UserFunctions, have_the_stacks_of_the_program) {
    const Outcome outcome = run(words(words({"argtrace", "trace", "--json", "--stack"}, prototypes), {"u:" + program + ":uf_text", "--", program, "3", log_path}));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto events = json_lines(outcome.out);
    ASSERT_EQ(events.size(), 3u) << outcome.out;
    for (const auto &event : events) {
        const std::string stack = event.at("user_stack").dump();
        EXPECT_NE(stack.find("uf_text"), std::string::npos) << stack;
        EXPECT_NE(stack.find("main"), std::string::npos) << stack;
        EXPECT_NE(stack.find("libc"), std::string::npos) << stack;
    }
}

// What a program passes never makes the module read the kernel's memory.
TEST_F(UserFunctions, do_not_lead_to_memory_of_the_kernel) {
    const Outcome outcome = trace({"u:" + program + ":uf_text(str(text) as text, size)"}, {program, "kernel"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto events = json_lines(outcome.out);
    ASSERT_EQ(events.size(), 16u);
    for (const auto &event : events) {
        EXPECT_TRUE(event.at("args").at("text").is_null()) << event.dump();
        EXPECT_EQ(event.at("args").at("size"), 8);
    }
    EXPECT_EQ(json_summary(outcome.out).at("faults"), 16) << outcome.out;
}

TEST_F(UserFunctions, of_libraries_are_known_by_name_and_prototype) {
    const Outcome outcome = run({"argtrace", "trace", "--json", "u:libc:fopen(str(pathname), str(mode))", "u:libc:strtoul(str(nptr) as text, base)", "--", program,
                                 "2", log_path});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::string> calls;
    for (const auto &event : json_lines(outcome.out))
        calls.push_back(event.at("func").get<std::string>() + event.at("args").dump());
    EXPECT_NE(std::ranges::find_if(calls, [](const std::string &call) { return call.find(log_path) != std::string::npos; }), calls.end())
        << outcome.out;
    EXPECT_NE(std::ranges::find(calls, R"(u:libc.so.6:strtoul{"text":"2","base":10})"), calls.end()) << outcome.out;
}

// Every function of the C library at once: what the program does is as before, and each of its calls is accounted for.
TEST_F(UserFunctions, of_a_whole_library_leave_the_program_as_it_is) {
    // Not sh, which may be a program without libraries.
    const std::vector<std::string> command = {"bash", "-c", "ls -l /root /bin | sort | head -n 200; echo $((6*7)); expr 6 '*' 7"};
    const Outcome before = run(command);
    const Outcome traced = run(words({"argtrace", "count", "-F", "-o", "/tmp/counts", "u:libc:*", "--"}, command));
    ASSERT_EQ(traced.status, 0) << traced.err;
    EXPECT_EQ(traced.out, before.out);
    const std::string counts = read_file("/tmp/counts");
    EXPECT_NE(counts.find("u:libc.so.6:malloc"), std::string::npos) << counts.substr(0, 2000);
}

} // namespace
} // namespace vmtest
