// SPDX-License-Identifier: GPL-2.0-only
// Functions of Go with what they are called with and what they return, against what the traced program (programs/go_functions.go) says itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/architecture.h"
#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"

namespace vmtest {
namespace {

const std::string go_log = "/tmp/go_functions.log";

class GoFunctions : public testing::TestWithParam<const char *> {
protected:
    void SetUp() override {
        need_argtrace();
        need_uprobes();
    }

    static std::string program() { return std::string("/root/go_functions") + GetParam(); }
    static std::string spec(const std::string &function) { return "u:" + program() + ":main." + function; }
    static bool is_optimised() { return std::string(GetParam()) != "_plain"; }

    static Outcome trace(const std::vector<std::string> &specs, const std::string &mode, const std::vector<std::string> &options = {"-r"}) {
        std::vector<std::string> words = {"argtrace", "trace", "--json"};
        words.insert(words.end(), options.begin(), options.end());
        for (const std::string &one : specs)
            words.push_back(spec(one));
        words.insert(words.end(), {"--", program(), mode, go_log});
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return outcome;
    }

    static std::string name_of(const nlohmann::ordered_json &event) {
        const std::string function = event.at("func");
        return function.substr(function.rfind('.') + 1);
    }

    /// An event as the program has it in its log.
    static std::string as_logged(const nlohmann::ordered_json &event) {
        auto line = nlohmann::ordered_json::array({name_of(event)});
        // Go's newer versions describe parameters that are called _, which nobody is sure to pass.
        const bool has_blanks = line.front() == "blank";
        for (const auto &[name, value] : event.at("args").items())
            if (!has_blanks || (name != "arg0" && name != "arg2"))
                line.push_back(value);
        if (event.contains("ret") && !event.at("ret").is_null())
            line.push_back(event.at("ret"));
        return line.dump();
    }

    static std::vector<std::string> calls(const Outcome &outcome) {
        std::vector<std::string> lines;
        for (const auto &event : json_lines(outcome.out))
            if (!event.contains("left_within"))
                lines.push_back(as_logged(event));
        std::ranges::sort(lines);
        return lines;
    }

    static std::vector<std::string> logged(const std::set<std::string> &names) {
        std::vector<std::string> lines;
        std::istringstream log(read_file(go_log));
        for (std::string text; std::getline(log, text);) {
            const auto line = nlohmann::ordered_json::parse(text);
            if (names.contains(line.at(0)))
                lines.push_back(line.dump());
        }
        std::ranges::sort(lines);
        return lines;
    }

    /// Both are sorted. What only one of them has is printed.
    static void expect_same(const std::vector<std::string> &found, const std::vector<std::string> &expected) {
        std::vector<std::string> more, less;
        std::ranges::set_difference(found, expected, std::back_inserter(more));
        std::ranges::set_difference(expected, found, std::back_inserter(less));
        EXPECT_EQ(more, std::vector<std::string>());
        EXPECT_EQ(less, std::vector<std::string>());
    }

    static std::uint64_t unfollowed(const Outcome &outcome, const char *why) {
        const auto summary = json_summary(outcome.out);
        const auto returns = summary.find("unfollowed");
        return returns == summary.end() || !returns->contains(why) ? 0 : returns->at(why).get<std::uint64_t>();
    }

    /// Each part that the program has in its log is one that was recorded.
    static void expect_parts(const Outcome &outcome, const std::map<std::string, std::size_t> &expected);

    /// Each call is a record.
    static void expect_all(const Outcome &outcome, std::uint64_t records) {
        const auto summary = json_summary(outcome.out);
        EXPECT_EQ(summary.at("records"), records) << summary.dump();
        EXPECT_EQ(summary.at("hits"), records) << summary.dump();
        EXPECT_EQ(unfollowed(outcome, "left") + unfollowed(outcome, "exited"), 0u) << summary.dump();
        EXPECT_EQ(summary.at("in_flight"), 0) << summary.dump();
        EXPECT_EQ(summary.at("faults"), 0) << summary.dump();
    }
};

/// Where values are differs with how a program was compiled; what calls and stacks do does not.
class GoBuilds : public GoFunctions {};

TEST_P(GoBuilds, return_what_the_program_gets) {
    const std::set<std::string> names = {"numbers", "tenth", "text", "two", "structs", "blank", "none", "leaf"};
    const Outcome outcome = trace({"numbers", "tenth", "text", "two", "structs", "blank", "none", "leaf"}, "values");
    expect_same(calls(outcome), logged(names));
    expect_all(outcome, 1 + 7 * 300);
}

TEST_P(GoBuilds, return_floating_point_numbers) {
    const Outcome outcome = trace({"real"}, "values");
    expect_same(calls(outcome), logged({"real"}));
    expect_all(outcome, 300);
}

// Whatever consists of several values, against what the program says of each.
TEST_P(GoFunctions, have_values_that_consist_of_others) {
    expect_parts(trace({"lists", "holds", "keeps"}, "composites"), {{"holds", 200}, {"keeps", 200}, {"lists", 200}});
}

TEST_P(GoFunctions, have_complex_numbers_and_what_their_pointers_lead_to) {
    expect_parts(trace({"shows"}, "shown", {"-r", "-d"}), {{"shows", 20}});
}

void GoFunctions::expect_parts(const Outcome &outcome, const std::map<std::string, std::size_t> &expected) {
    std::map<std::string, std::vector<nlohmann::ordered_json>> found;
    for (const auto &event : json_lines(outcome.out)) {
        nlohmann::ordered_json values = event.at("args");
        for (const auto &[name, value] : event.items())
            if (name.starts_with("ret"))
                values[name] = value;
        found[name_of(event)].push_back(std::move(values));
    }
    std::map<std::string, std::size_t> seen;
    std::istringstream log(read_file(go_log));
    for (std::string text; std::getline(log, text);) {
        const auto line = nlohmann::ordered_json::parse(text);
        if (!line.at(1).is_object())
            continue;
        const std::string name = line.at(0);
        const std::size_t number = seen[name]++;
        ASSERT_LT(number, found[name].size()) << name;
        for (const auto &[part, value] : line.at(1).items())
            EXPECT_EQ(found[name][number].value(part, nlohmann::ordered_json("absent")), value) << name << ' ' << number << ' ' << part << ' ' << found[name][number].dump();
    }
    EXPECT_EQ(seen, expected);
    std::size_t calls = 0;
    for (const auto &[function, count] : expected)
        calls += count;
    expect_all(outcome, calls);
}

// With a name that leads through what is embedded.
TEST_P(GoBuilds, have_members_of_what_is_embedded_in_their_structs) {
    const Outcome outcome = trace({"embeds(o.N, f.N, f.name, f.depth, c.N, c.near.N)"}, "wrappers");
    expect_same(calls(outcome), logged({"embeds"}));
    expect_all(outcome, 200);
}

// Those of one shape are one function, whose hidden argument moves all others.
TEST_P(GoBuilds, that_are_generic_have_the_arguments_of_their_source) {
    const Outcome outcome = trace({"choose[...]", "(*box[...]).put"}, "generics");
    std::vector<std::string> found;
    std::map<std::string, unsigned> instances;
    for (const auto &event : json_lines(outcome.out)) {
        const std::string function = event.at("func");
        nlohmann::ordered_json named = event;
        named["func"] = function.find("choose") != std::string::npos ? "choose" : "put";
        auto &args = named["args"];
        args.erase("b");
        if (args.contains("types")) {
            instances[std::string(named["func"]) + std::string(args["types"])]++;
            args.erase("types");
        }
        found.push_back(as_logged(named));
    }
    std::ranges::sort(found);
    expect_same(found, logged({"choose", "put"}));
    expect_all(outcome, 600);
    // A symbol says which types a dictionary is of, where it is.
    std::map<std::string, unsigned> expected;
    if (std::string(GetParam()) != "_pie")
        for (const char *instance : {"choose[int]", "choose[main.direction]", "choose[main.pair]", "choose[string]", "put[main.pair]", "put[string]"})
            expected[instance] = 100;
    EXPECT_EQ(instances, expected);
}

// A result goes by its place, or by its own name.
TEST_P(GoFunctions, decide_by_several_results) {
    for (const char *condition : {"fails if n == 4 || ret0 == 8", "fails if text(err) == \"even\" && (ret0 == 4 || n == 8)"}) {
        const Outcome outcome = trace({condition}, "values");
        std::vector<int> numbers;
        for (const auto &event : json_lines(outcome.out)) {
            numbers.push_back(event.at("args").at("ret0"));
            EXPECT_EQ(event.at("args").at("ret1.text"), "even") << event.dump();
        }
        EXPECT_EQ(numbers, (std::vector<int>{4, 8})) << condition;
    }
    const Outcome counted = run({"argtrace", "count", "--json", "--by", "n > 0 as positive, ret0 % 4 as rest", spec("fails"), "--", program(), "values", go_log});
    ASSERT_EQ(counted.status, 0) << counted.err;
    std::map<std::pair<int, int>, int> found, expected;
    for (const auto &row : json_lines(counted.out))
        if (row.contains("key"))
            found[{row.at("key").at("positive"), row.at("key").at("rest")}] = row.at("count");
    for (int argument = 0; argument < 300; argument++) {
        const int number = argument % 2 == 0 ? argument : -argument;
        expected[{number > 0, number % 4}]++;
    }
    EXPECT_EQ(found, expected);
}

// A method that is called through what the compiler makes for interfaces, method values and goroutines is one call, and has the name that it is written with. One that has
// become a part of such a function has that function's.
TEST_P(GoBuilds, are_one_call_where_they_are_called_through_others) {
    const Outcome outcome = trace({"*", "embeds"}, "wrappers");
    std::map<std::string, int> found;
    for (const auto &event : json_lines(outcome.out)) {
        const std::string function = event.at("func");
        found[function.substr(function.find(":main.") + 6)]++;
    }
    for (const char *name : {"said", "wrappers", "main", "wrappers.func1", "wrappers.func2"})
        found.erase(name);
    const std::string small = !is_optimised() ? "inner.small" : "(*outer).small";
    EXPECT_EQ(found, (std::map<std::string, int>{{"inner.value", 600}, {"(*inner).pointer", 400}, {small, 200}, {"bound", 400}, {"embeds", 200}, {"through", 200}}));
    const Outcome named = trace({"(*outer).value", "(*inner).pointer-fm"}, "wrappers", {});
    EXPECT_EQ(json_lines(named.out).size(), 400u);
}

TEST_P(GoFunctions, know_the_number_of_their_goroutine) {
    const Outcome outcome = trace({"own(n, goid) if goid > 1"}, "composites");
    std::set<int> goroutines;
    for (const auto &event : json_lines(outcome.out)) {
        EXPECT_EQ(event.at("args").at("goid"), event.at("ret")) << event.dump();
        goroutines.insert(event.at("ret").get<int>());
    }
    EXPECT_EQ(goroutines.size(), 200u);
}

// The program says so by the stack that the runtime prints.
TEST_P(GoBuilds, know_where_their_goroutine_was_begun) {
    if (std::string(GetParam()) == "_pie") {
        const Outcome refused = run({"argtrace", "trace", spec("begun(n, created_by)"), "--", "true"});
        EXPECT_NE(refused.status, 0);
        EXPECT_NE(refused.err.find("the program may be loaded at any address"), std::string::npos) << refused.err;
        return;
    }
    const Outcome outcome = trace({"begun(n, created_by)"}, "beginnings", {});
    std::vector<std::string> found;
    for (const auto &event : json_lines(outcome.out))
        found.push_back(as_logged(event));
    std::ranges::sort(found);
    expect_same(found, logged({"begun"}));
    EXPECT_EQ(found.size(), 200u);
}

// A key is the number of a goroutine, or a string with the length that it has.
TEST_P(GoFunctions, are_counted_by_their_goroutine_and_by_strings) {
    const auto keys = [](const std::string &key, const std::string &function, const std::string &mode) {
        const Outcome outcome = run({"argtrace", "count", "--json", "--by", key, spec(function), "--", program(), mode, go_log});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        std::multiset<std::string> found;
        for (const auto &row : json_lines(outcome.out)) {
            if (!row.contains("key"))
                continue;
            EXPECT_EQ(row.at("count"), 1) << row.dump();
            const auto &value = row.at("key").begin().value();
            found.insert(value.is_string() ? value.get<std::string>() : value.dump());
        }
        return found;
    };
    const auto said = [](const std::string &name, std::size_t which) {
        std::multiset<std::string> values;
        std::istringstream log(read_file(go_log));
        for (std::string text; std::getline(log, text);) {
            const auto line = nlohmann::ordered_json::parse(text);
            if (line.at(0) == name)
                values.insert(line.at(which).is_string() ? line.at(which).get<std::string>() : line.at(which).dump());
        }
        return values;
    };
    const auto goroutines = keys("goid", "own", "composites");
    EXPECT_EQ(goroutines.size(), 200u);
    EXPECT_EQ(goroutines, said("own", 2));
    const auto counts = [](const std::string &key, const std::string &function, const std::string &mode) {
        std::map<std::string, int> found;
        for (const auto &row : json_lines(run({"argtrace", "count", "--json", "--by", key, spec(function), "--", program(), mode, go_log}).out))
            if (row.contains("key"))
                found[row.at("key").begin().value().get<std::string>()] = row.at("count");
        return found;
    };
    // An error that is nil has no text, nor has one whose type says it by a method.
    EXPECT_EQ(counts("text(err)", "fails", "values"), (std::map<std::string, int>{{"", 150}, {"even", 150}}));
    const auto words = keys("s", "text", "values");
    EXPECT_EQ(words.size(), 300u);
    EXPECT_EQ(words, said("text", 1));
}

// Wherever a program is loaded, its instruction says where its types are.
TEST_P(GoBuilds, have_interfaces_with_their_types) {
    std::map<std::string, int> found;
    for (const auto &row : json_lines(run({"argtrace", "count", "--json", "--by", "type(e)", spec("holds"), "--", program(), "composites", go_log}).out))
        if (row.contains("key"))
            found[row.at("key").begin().value().get<std::string>()] = row.at("count");
    EXPECT_EQ(found, (std::map<std::string, int>{{"", 50}, {"*errors.errorString", 50}, {"*fmt.wrapError", 50}, {"*fs.PathError", 50}}));
}

// Where the stacks grow a function begins twice, and is one call.
TEST_P(GoBuilds, are_one_call_where_their_stack_grows) {
    const Outcome outcome = trace({"deep(n)", "huge(n)", "middle(n)"}, "stacks", {});
    std::map<std::string, std::map<int, int>> found, expected;
    for (const auto &event : json_lines(outcome.out))
        found[name_of(event)][event.at("args").at("n").get<int>()]++;
    for (int i = 0; i < 600; i++) {
        for (int n = 0; n <= i % 150; n++)
            expected["deep"][n]++;
        expected["huge"][i % 150]++;
        expected["middle"][i % 150]++;
    }
    EXPECT_EQ(found, expected);
}

TEST_P(GoFunctions, return_on_stacks_that_were_moved) {
    const Outcome outcome = trace({"deep(n)", "huge(n)", "middle(n)"}, "stacks");
    std::uint64_t count = 0;
    for (const auto &event : json_lines(outcome.out)) {
        const int n = event.at("args").at("n");
        const std::string name = name_of(event);
        EXPECT_EQ(event.at("ret"), name == "huge" ? (n == 0 ? 1 : 2 * n) : n) << event.dump();
        count++;
    }
    std::uint64_t expected = 2 * 600;
    for (int i = 0; i < 600; i++)
        expected += static_cast<std::uint64_t>(i % 150) + 1;
    EXPECT_EQ(count, expected);
    expect_all(outcome, expected);
}

TEST_P(GoFunctions, return_in_whatever_thread_their_goroutine_goes_on) {
    const Outcome outcome = trace({"blocks(n)"}, "goroutines");
    std::vector<std::string> found = calls(outcome);
    expect_same(found, logged({"blocks"}));
    EXPECT_EQ(found.size(), 2000u);
    expect_all(outcome, 2000);
}

// All of them are in the call at once.
TEST_P(GoFunctions, return_to_whom_they_were_called_by_among_ten_thousand) {
    const Outcome outcome = trace({"blocks(n)"}, "crowd", {"-r", "--buffer", "8M"});
    std::vector<std::string> found = calls(outcome);
    expect_same(found, logged({"blocks"}));
    EXPECT_EQ(found.size(), 10000u);
    expect_all(outcome, 10000);
}

// A line of `--tree`, with what is in it.
struct GoTree {
    std::string call;
    std::vector<GoTree> inner = {};
};

std::vector<GoTree> go_trees(const std::string &text) {
    std::vector<GoTree> trees;
    std::vector<std::string> open;
    const auto place = [&]() -> std::vector<GoTree> & {
        std::vector<GoTree> *at = &trees;
        for (std::size_t i = 0; i < open.size(); i++)
            at = &at->back().inner;
        return *at;
    };
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t call = std::min(line.find("u:go_functions"), line.find("s:"));
        if (call != line.npos) {
            place().push_back({line.substr(call)});
            if (line.ends_with(" {"))
                open.push_back(line);
        } else if (line.find(" }") != line.npos && !open.empty()) {
            open.pop_back();
        }
    }
    EXPECT_TRUE(open.empty());
    return trees;
}

/// "18" of "f(n=1, goid=18) = 2"
std::string value_in(const std::string &call, const std::string &name) {
    const std::size_t at = call.find(name + '=');
    return at == call.npos ? "" : call.substr(at + name.size() + 1, call.find_first_of(",)", at) - at - name.size() - 1);
}

// Goroutines take turns in a thread, and go on in others. What the scheduler does is in none of their calls.
TEST_P(GoFunctions, are_nested_in_those_of_their_goroutine) {
    const Outcome outcome = run({"argtrace", "trace", "--tree", "-F", spec("waits"), spec("writes"), "s:write(fd, count)", "s:futex(op)", "--", program(), "trees", go_log});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::set<int> numbers;
    std::size_t inside = 0;
    for (const GoTree &tree : go_trees(outcome.out)) {
        if (tree.call.find("main.waits(") == std::string::npos) {
            EXPECT_EQ(tree.call.find("main.writes("), std::string::npos) << tree.call;
            continue;
        }
        const int number = std::stoi(value_in(tree.call, "n"));
        numbers.insert(number);
        std::vector<int> steps;
        for (const GoTree &inner : tree.inner) {
            EXPECT_EQ(value_in(inner.call, "goid"), value_in(tree.call, "goid")) << inner.call << " in " << tree.call;
            if (inner.call.find("main.writes(") == std::string::npos)
                continue; // it wakes a thread for another
            EXPECT_EQ(value_in(inner.call, "n"), value_in(tree.call, "n")) << inner.call;
            steps.push_back(std::stoi(value_in(inner.call, "step")));
            std::size_t calls = 0;
            for (const GoTree &call : inner.inner) {
                if (!call.call.starts_with("s:write"))
                    continue;
                EXPECT_EQ(std::stoi(value_in(call.call, "count")), number * 10 + steps.back()) << call.call;
                calls++;
            }
            EXPECT_EQ(calls, 1u) << inner.call;
            inside += calls;
        }
        EXPECT_EQ(steps, (std::vector<int>{1, 2})) << tree.call;
    }
    EXPECT_EQ(numbers.size(), 100u) << outcome.err;
    EXPECT_EQ(inside, 200u);
}

// The collector moves and shrinks stacks all the time.
TEST_P(GoFunctions, return_while_stacks_are_collected) {
    const Outcome outcome = trace({"blocks(n)", "huge(n)"}, "collected");
    expect_same(calls(outcome), logged({"blocks", "huge"}));
    expect_all(outcome, 600);
}

TEST_P(GoFunctions, that_panic_or_end_their_goroutine_are_left) {
    const Outcome outcome = trace({"recovers", "panics", "alwaysPanics", "leaves"}, "panics");
    expect_same(calls(outcome), logged({"recovers", "panics", "leaves"}));
    expect_all(outcome, 1200);
    std::map<std::string, std::vector<long>> left;
    for (const auto &event : json_lines(outcome.out)) {
        if (!event.contains("left_within"))
            continue;
        EXPECT_TRUE(event.at("ret").is_null() && event.at("duration").is_null()) << event.dump();
        const std::string function = event.at("func");
        left[function.substr(function.rfind('.') + 1)].push_back(event.at("args").at("n"));
    }
    ASSERT_EQ(left.size(), 3u) << outcome.out;
    const auto expect_multiples = [&](const std::string &name, long of) {
        std::ranges::sort(left[name]);
        for (long i = 0; const long number : left[name])
            EXPECT_EQ(number, of * i++) << name;
        EXPECT_EQ(left[name].size(), 300u / static_cast<std::size_t>(of)) << name;
    };
    expect_multiples("panics", 3);
    expect_multiples("alwaysPanics", 1);
    expect_multiples("leaves", 2);
}

TEST_P(GoFunctions, decide_by_what_they_return) {
    const Outcome outcome = trace({"tenth(a, i) if ret > 500 && a % 2 == 0"}, "values");
    std::uint64_t count = 0;
    for (const auto &event : json_lines(outcome.out)) {
        const int a = event.at("args").at("a");
        EXPECT_EQ(a % 2, 0);
        EXPECT_EQ(event.at("ret"), 3 * a + 36);
        count++;
    }
    EXPECT_EQ(count, 72u); // 156, 158 ... 298
}

// Each session follows the call for itself.
TEST_P(GoFunctions, are_followed_by_two_sessions_at_once) {
    Background other({"argtrace", "trace", "--json", "-r", spec("blocks(n)")});
    ASSERT_TRUE(eventually([&] { return other.err_so_far().find("until Ctrl-C") != std::string::npos; })) << other.err_so_far();
    const Outcome outcome = trace({"blocks(n)"}, "goroutines");
    expect_same(calls(outcome), logged({"blocks"}));
    const Outcome beside = other.end(SIGINT);
    expect_same(calls(beside), logged({"blocks"}));
    expect_all(outcome, 2000);
    expect_all(beside, 2000);
}

TEST_P(GoFunctions, of_a_server_answer_all_its_clients) {
    std::vector<std::string> words = {"argtrace", "trace", "--json", "-r", spec("*"), "!" + spec("said"), "u:" + program() + ":net/http.(*conn).serve",
                                      "u:" + program() + ":net/http.*Request*", "--", program(), "server", go_log};
    const Outcome outcome = run(words);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::string> found;
    std::size_t served = 0;
    for (const auto &event : json_lines(outcome.out)) {
        const std::string function = event.at("func");
        served += function.ends_with(".ServeHTTP");
        if (!function.ends_with(".path"))
            continue;
        found.push_back(nlohmann::ordered_json::array({"path", event.at("args").at("path"), event.at("args").at("n"), event.at("ret")}).dump());
    }
    std::ranges::sort(found);
    expect_same(found, logged({"path"}));
    EXPECT_EQ(found.size(), 400u);
    EXPECT_EQ(served, 400u);
    const auto summary = json_summary(outcome.out);
    EXPECT_EQ(unfollowed(outcome, "no_goroutine"), 0u) << summary.dump();
}

// They go on where they were called from C, on the stack of their goroutine.
TEST(GoFunctionsWithC, return_what_the_program_gets) {
    need_argtrace();
    need_uprobes();
    const std::string program = "/root/go_functions_cgo", object = "u:" + program;
    const Outcome outcome = run({"argtrace", "trace", "--json", "-r", object + ":main.outside", object + ":main.inside", object + ":in_c", "--", program, go_log});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::string> found, expected;
    std::size_t of_c = 0;
    for (const auto &event : json_lines(outcome.out)) {
        const std::string function = event.at("func");
        if (function.ends_with(":in_c")) {
            of_c++;
            continue;
        }
        found.push_back(nlohmann::ordered_json::array({function.substr(function.rfind('.') + 1), event.at("args").at("n"), event.at("args").at("x"), event.at("ret")}).dump());
    }
    std::istringstream log(read_file(go_log));
    for (std::string line; std::getline(log, line);)
        expected.push_back(nlohmann::ordered_json::parse(line).dump());
    EXPECT_GE(expected.size(), 300u);
    std::ranges::sort(found);
    std::ranges::sort(expected);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(of_c, expected.size() / 2);
    const auto summary = json_summary(outcome.out);
    EXPECT_EQ(summary.at("records"), expected.size() + of_c) << summary.dump();
    EXPECT_EQ(summary.at("hits"), summary.at("records")) << summary.dump();
}

TEST_P(GoFunctions, that_have_no_goroutine_are_refused) {
    const Outcome outcome = run({"argtrace", "trace", "-r", "u:" + program() + ":runtime.memmove", "--", "true"});
    EXPECT_NE(outcome.status, 0);
    EXPECT_NE(outcome.err.find("assembly"), std::string::npos) << outcome.err;
    const Outcome uretprobe = run({"argtrace", "trace", "-r", "--return-by", "uretprobe", spec("leaf"), "--", "true"});
    EXPECT_NE(uretprobe.status, 0);
    EXPECT_NE(uretprobe.err.find("would end"), std::string::npos) << uretprobe.err;
}

std::string name_of_build(const testing::TestParamInfo<const char *> &info) {
    return *info.param ? std::string(info.param).substr(1) : std::string("usual");
}

INSTANTIATE_TEST_SUITE_P(Compiled, GoFunctions, testing::Values(""), name_of_build);
/// As usual, without optimisation, and to be loaded anywhere.
INSTANTIATE_TEST_SUITE_P(Compiled, GoBuilds, testing::Values("", "_plain", "_pie"), name_of_build);

} // namespace
} // namespace vmtest
