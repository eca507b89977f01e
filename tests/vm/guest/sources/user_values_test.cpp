// SPDX-License-Identifier: GPL-2.0-only
// Objects of C++'s library, as libstdc++ and libc++ have them, against what the traced program (programs/user_values.cpp) prints.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using nlohmann::ordered_json;

const std::string values_log = "/tmp/user_values.log";

class UserValues : public testing::TestWithParam<const char *> {
protected:
    void SetUp() override {
        need_argtrace();
        need_uprobes();
    }

    static std::string program() { return std::string("/root/user_values_") + GetParam(); }
    static std::string spec(const std::string &function) { return "u:" + program() + ':' + function; }

    static std::vector<ordered_json> trace(const std::vector<std::string> &words, const std::vector<std::string> &arguments, ordered_json *summary = nullptr) {
        std::vector<std::string> all = {"argtrace", "trace", "--json"};
        all.insert(all.end(), words.begin(), words.end());
        all.insert(all.end(), {"--", program()});
        all.insert(all.end(), arguments.begin(), arguments.end());
        const Outcome outcome = run(all);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        if (summary)
            *summary = json_summary(outcome.out);
        return json_lines(outcome.out);
    }

    /// "uv_view" of "u:NAME:uv_view(...)".
    static std::string name_of(const ordered_json &event) {
        const std::string function = event.at("func").get<std::string>();
        return function.substr(function.find("uv_"), function.find('(') - function.find("uv_"));
    }

    static std::vector<std::string> logged(const std::string &function) {
        std::vector<std::string> lines;
        std::istringstream log(read_file(values_log));
        for (std::string line; std::getline(log, line);)
            if (line.starts_with(function + ' '))
                lines.push_back(line);
        return lines;
    }
};

TEST_P(UserValues, str_takes_strings_and_views) {
    const auto events = trace({spec("uv_string(str(reference) as reference, str(pointer) as pointer, str(value) as value, last)"),
                               spec("uv_view(str(view) as view, str(other) as other)")},
                              {"100", values_log});
    std::map<std::string, std::vector<std::string>> calls;
    for (const auto &event : events)
        calls[name_of(event)].push_back(name_of(event) + ' ' + event.at("args").dump());
    EXPECT_EQ(calls["uv_string"].size(), 100u);
    for (const char *function : {"uv_string", "uv_view"})
        EXPECT_EQ(calls[function], logged(function));
}

TEST_P(UserValues, are_shown_as_what_they_mean) {
    const auto events = trace({"-d", spec("uv_string"), spec("uv_view"), spec("uv_vector"), spec("uv_containers"), spec("uv_item_of"), spec("uv_pointers")}, {"60", values_log});
    std::map<std::string, std::vector<std::string>> calls;
    for (const auto &event : events) {
        // What stands beside the arguments; of texts without ".value".
        const bool is_text = name_of(event) == "uv_string" || name_of(event) == "uv_view";
        ordered_json meanings = ordered_json::object();
        for (const auto &[name, value] : event.at("args").items())
            if (name.find('.') != std::string::npos && !value.is_null()) // what an optional has that has nothing
                meanings[is_text ? name.substr(0, name.find('.')) : name] = value;
            else if (name == "last")
                meanings[name] = value;
        calls[name_of(event)].push_back(name_of(event) + ' ' + meanings.dump());
    }
    for (const char *function : {"uv_string", "uv_view", "uv_vector", "uv_containers", "uv_item_of", "uv_pointers"}) {
        EXPECT_EQ(calls[function].size(), 60u) << function;
        EXPECT_EQ(calls[function], logged(function));
    }
}

// By breakpoints where they return, and the program gets what it would get alone. Of a class with a destructor it is the address.
TEST_P(UserValues, that_are_returned_in_memory_are_shown) {
    const auto events = trace({"-r", spec("uv_makes(number, first)"), spec("uv_owns(number)"), spec("uv_many(a, b)")}, {"results", "60", values_log});
    std::map<std::string, std::vector<std::string>> calls;
    for (const auto &event : events) {
        ordered_json values = event.at("args");
        values["ret"] = event.at("ret");
        calls[name_of(event)].push_back(name_of(event) + ' ' + values.dump());
    }
    for (const char *function : {"uv_makes", "uv_owns", "uv_many"}) {
        EXPECT_EQ(calls[function].size(), 60u) << function;
        EXPECT_EQ(calls[function], logged(function));
    }
}

TEST_P(UserValues, that_are_returned_in_memory_are_read) {
    const auto calls = trace({"-d", "-r", spec("uv_names")}, {"results", "60", values_log});
    std::vector<std::string> shown;
    for (const auto &event : calls) {
        ordered_json values = event.at("args");
        values["ret.value"] = event.at("ret.value");
        shown.push_back("uv_names " + values.dump());
    }
    EXPECT_EQ(shown.size(), 60u);
    EXPECT_EQ(shown, logged("uv_names"));
    EXPECT_EQ(trace({spec("uv_names= if ret == \"name 7\"")}, {"results", "20", values_log}).size(), 1u);
    const auto makes = trace({spec("uv_makes(number, ret.values[3] as negative)= if ret.values[2] > 20")}, {"results", "20", values_log});
    ASSERT_EQ(makes.size(), 9u);
    for (std::size_t i = 0; i < makes.size(); i++)
        EXPECT_EQ(makes[i].at("args").dump(), "{\"number\":" + std::to_string(i + 11) + ",\"negative\":-" + std::to_string(i + 11) + '}');
}

// An index of a reference is that of an element, and behind the last one is nothing.
TEST_P(UserValues, have_elements) {
    const auto events = trace({spec("uv_vector(numbers[0] as first, numbers[2] as third, (*points)[0].x as point)")}, {"60", values_log});
    ASSERT_EQ(events.size(), 60u);
    for (int round = 0; round < 60; round++) {
        const auto expect = [&](const char *name, bool is_there, int value) {
            const ordered_json &shown = events[static_cast<std::size_t>(round)].at("args").at(name);
            EXPECT_TRUE(is_there ? shown == value : shown.is_null()) << name << ' ' << round << ' ' << shown.dump();
        };
        expect("first", round % 40 > 0, -round);
        expect("third", round % 40 > 2, 2 - round);
        expect("point", round % 3 > 0, round);
    }
}

/// What conditions read is what is shown, of two libraries.
class UserValuesDecide : public UserValues {};

TEST_P(UserValuesDecide, which_calls_are_recorded) {
    const auto count = [](const std::string &function, const std::string &condition) {
        return trace({spec(function + " if " + condition)}, {"40", values_log}).size();
    };
    EXPECT_EQ(count("uv_string", "str(reference) == \"ref 7\""), 1u);
    EXPECT_EQ(count("uv_string", "str(reference) == \"ref\""), 0u);
    EXPECT_EQ(count("uv_string", "str(reference) ~ \"ref 1*\""), 9u); // 1, 11 to 14, 16 to 19
    EXPECT_EQ(count("uv_string", "str(reference) !~ \"ref 1*\""), 31u);
    EXPECT_EQ(count("uv_string", "str(reference) == \"\""), 8u);
    EXPECT_EQ(count("uv_string", "str(value) == \"with\""), 0u) << "there is more behind the NUL";
    EXPECT_EQ(count("uv_string", "str(value) ~ \"with*\""), 40u);
    EXPECT_EQ(count("uv_view", "str(other) == \"longer\""), 40u) << "it ends there, although there is more";
    EXPECT_EQ(count("uv_view", "str(view) != \"end of page 7\""), 39u) << "there is no memory behind it";
}

// Neither what is not there nor what is the kernel's.
TEST_P(UserValues, that_cannot_be_read_are_not_shown) {
    ordered_json summary;
    const auto events = trace({spec("uv_absent(str(reference) as reference, str(pointer) as pointer, str(view) as view)")}, {"absent"}, &summary);
    ASSERT_EQ(events.size(), 2u);
    for (const auto &event : events)
        for (const auto &[name, value] : event.at("args").items())
            EXPECT_TRUE(value.is_null()) << event.dump();
    EXPECT_EQ(summary.at("faults"), 2) << summary.dump();
    const auto described = trace({"-d", spec("uv_absent")}, {"absent"});
    ASSERT_EQ(described.size(), 2u);
    for (const auto &event : described)
        for (const char *name : {"reference.value", "pointer.value", "view.value", "numbers.value"})
            EXPECT_TRUE(event.at("args").at(name).is_null()) << name << ' ' << event.dump();
}

INSTANTIATE_TEST_SUITE_P(Compiled, UserValuesDecide, testing::Values("gcc_o2", "libcxx_o2"), [](const auto &info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Compiled, UserValues, testing::Values("gcc_o0", "gcc_o2", "gcc_old", "libcxx_o0", "libcxx_o2"),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace vmtest
