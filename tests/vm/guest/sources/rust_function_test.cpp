// SPDX-License-Identifier: GPL-2.0-only
// Functions of Rust, with what the program is known to call them with: programs/user_rust.rs.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/architecture.h"
#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using RustJson = nlohmann::ordered_json;

/// A call, with the arguments that are no addresses.
struct RustCall {
    std::string function;
    RustJson args, ret;
};

class RustFunctions : public testing::TestWithParam<const char *> {
protected:
    void SetUp() override {
        if (is_arm64)
            GTEST_SKIP() << "Debian's compiler of Rust makes programs for x86-64 alone";
        need_argtrace();
        need_uprobes();
    }

    bool is_optimised() const { return std::string(GetParam()) == "o2"; }
    std::string program() const { return std::string("/root/user_rust_") + GetParam(); }
    std::string spec(const std::string &function) const { return "u:" + program() + ":user_rust::" + function; }

    std::vector<RustCall> expected() const {
        std::vector<RustCall> calls;
        for (int round = 0; round < 2; round++) {
            const bool first = round == 0;
            const std::string number = std::to_string(round);
            calls.push_back({"with_str", {{"text.value", first ? "first" : ""}, {"number", round}}, first ? 552 : 1});
            calls.push_back({"with_string", {{"text.value", "owned " + number}}, 7});
            calls.push_back({"with_string_reference", {{"text.value", "borrowed " + number}}, 10});
            calls.push_back({"with_slice", {{"numbers.value", {1, -2, 3 + round}}, {"numbers.len", 3}}, 2 + round});
            calls.push_back({"with_vector", {{"numbers.value", {4, 5, 6 + round}}, {"numbers.len", 3}}, 15 + round});
            calls.push_back({"with_color", {{"color", first ? "Green" : "Red"}}, first ? "Green" : "Red"});
            calls.push_back({"with_shape", RustJson::object(), first ? 1.5 : 12.0});
            calls.push_back({"with_result", {{"result.variant", first ? "Ok" : "Err"}}, first ? 5 : 3});
            calls.push_back({"with_scalars", {{"a", -1}, {"b", 2}, {"c", -3}, {"d", true}, {"e", 1.5}, {"f", -2.25}, {"g", round}}, first ? -1.75 : -0.75});
            calls.push_back({"with_tuple", {{"pair", {{"__0", round}, {"__1", 20}}}, {"behind", 30}}, 50 + round});
            calls.push_back({"with_numbers", {{"pair", {{"__0", 0.5}, {"__1", 20}}}, {"behind", 2.5}}, 23.0});
            calls.push_back({"with_small_pair", {{"pair", {{"__0", 7}, {"__1", -8}}}, {"behind", 9}}, 8});
            calls.push_back({"generic", {{"value.value", "text"}, {"number", round}}, 16 + round});
            calls.push_back({"generic", {{"number", round}}, 8 + round});
            calls.push_back({"Server::handle", {{"path.value", "/index.html"}, {"size", 100}}, nullptr}); // an address decides about the last bit
            calls.push_back({"returns_str", {{"length", 5}}, {{"length", 5}}});
        }
        calls.push_back({"with_shape", RustJson::object(), 0.0});
        calls.push_back({"with_shape", RustJson::object(), 6.0});
        calls.push_back({"with_color", {{"color", "Blue"}}, "Blue"});
        return calls;
    }

    /// Nothing, or what it is. A struct has other members, too.
    static bool is_that_or_unknown(const RustJson &found, const RustJson &wanted, std::size_t &unknown) {
        if (found.is_null() || wanted.is_null()) {
            unknown += found.is_null();
            return true;
        }
        if (!wanted.is_object())
            return found == wanted;
        for (const auto &[name, value] : wanted.items())
            if (!found.contains(name) || !is_that_or_unknown(found.at(name), value, unknown))
                return false;
        return true;
    }

    /// How many values are not known.
    std::size_t compare(const RustCall &wanted, const RustJson &event) const {
        std::size_t unknown = 0;
        EXPECT_TRUE(is_that_or_unknown(event.at("ret"), wanted.ret, unknown)) << event.dump();
        for (const auto &[name, value] : wanted.args.items()) {
            if (event.at("args").contains(name)) {
                EXPECT_TRUE(is_that_or_unknown(event.at("args").at(name), value, unknown)) << name << " of " << event.dump();
                continue;
            }
            // What it means is known where it is.
            const std::string argument = name.substr(0, name.find('.'));
            const bool is_unknown = event.at("args").contains(argument) && event.at("args").at(argument).is_null();
            EXPECT_TRUE(is_unknown || is_optimised()) << name << " of " << event.dump();
            unknown++;
        }
        return unknown;
    }
};

TEST_P(RustFunctions, have_their_arguments_and_results) {
    const Outcome outcome = run({"argtrace", "trace", "-r", "-d", "--json", "-F", spec("*"), "!" + spec("opaque"), "!" + spec("main"), "!" + spec("ignored"), "--", program()});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::vector<RustCall> calls = expected();
    std::size_t at = 0, unknown = 0;
    for (const auto &event : json_lines(outcome.out)) {
        if (!event.contains("func"))
            continue;
        const std::string function = event.at("func");
        ASSERT_LT(at, calls.size()) << event.dump();
        EXPECT_TRUE(function.ends_with("user_rust::" + calls[at].function)) << event.dump();
        unknown += compare(calls[at++], event);
        ASSERT_FALSE(HasFailure());
    }
    EXPECT_EQ(at, calls.size()) << outcome.out;
    std::cout << unknown << " values are not known\n";
    // Two in a word, which C would pass in one register, and what follows them; where they are optimised, what has been left out as well.
    if (is_optimised()) {
        EXPECT_LE(unknown, 12u) << outcome.out;
    } else {
        EXPECT_EQ(unknown, 4u) << outcome.out;
    }
}

// What nobody looks at is right or unknown: the compiler leaves it out where it optimises.
TEST_P(RustFunctions, have_no_results_that_were_left_out) {
    const Outcome outcome = run({"argtrace", "trace", "-r", "--json", "-F", spec("ignored(number)"), "--", program()});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    unsigned calls = 0, unknown = 0;
    for (const auto &event : json_lines(outcome.out)) {
        if (!event.contains("func"))
            continue;
        calls++;
        unknown += event.at("ret").is_null();
        if (!event.at("ret").is_null() && !event.at("args").at("number").is_null()) {
            EXPECT_EQ(event.at("ret").get<std::uint64_t>(), 3 * event.at("args").at("number").get<std::uint64_t>() + 1) << event.dump();
        }
    }
    EXPECT_EQ(calls, 2u) << outcome.out;
    std::cout << unknown << " results are not known\n";
    if (!is_optimised()) {
        EXPECT_EQ(unknown, 0u) << outcome.out;
    }
    if (unknown > 0) {
        EXPECT_NE(run({"argtrace", "trace", "-r", spec("ignored if ret == 1"), "--", program()}).err.find("the compiler may have left it out"), std::string::npos);
    }
}

TEST_P(RustFunctions, have_variants) {
    const Outcome outcome = run({"argtrace", "trace", "--json", "-F", spec("with_shape(shape->variant as which, shape->Circle.radius as radius, shape->Rectangle.__1 as height)"), "--", program()});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::string> found;
    for (const auto &event : json_lines(outcome.out)) {
        if (!event.contains("func"))
            continue;
        const auto &args = event.at("args");
        found.push_back(args.at("which"));
        if (found.back() == "Circle") {
            EXPECT_EQ(args.at("radius"), 1.5);
        }
        if (found.back() == "Rectangle") {
            EXPECT_EQ(args.at("height"), 4);
        }
    }
    EXPECT_EQ(found, (std::vector<std::string>{"Circle", "Rectangle", "Empty", "Named"})) << outcome.out;
}

// An index of a slice, vector or string is that of an element, whether it is passed by its address or referred to; behind the last one is nothing.
TEST_P(RustFunctions, have_elements) {
    const Outcome outcome = run({"argtrace", "trace", "--json", "-F", spec("with_slice(numbers[0] as first, numbers[2] as third, numbers[3] as none)"),
                                 spec("with_vector(numbers[2] as third, numbers[3] as none)"), spec("with_string_reference(text[9] as digit, text[10] as none)"),
                                 spec("with_color(color) if color == Color::Blue"), "--", program()});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::string> found;
    for (const auto &event : json_lines(outcome.out))
        if (event.contains("func"))
            found.push_back(event.at("args").dump());
    const auto digit = [](int number) { return "{\"digit\":" + std::to_string('0' + number) + ",\"none\":null}"; };
    EXPECT_EQ(found, (std::vector<std::string>{digit(0), R"({"first":1,"third":3,"none":null})", R"({"third":6,"none":null})", digit(1),
                                               R"({"first":1,"third":4,"none":null})", R"({"third":7,"none":null})", R"({"color":"Blue"})"}))
        << outcome.out;
}

TEST_P(RustFunctions, are_chosen_and_counted_by_their_texts) {
    const Outcome traced = run({"argtrace", "trace", "-d", "--json", "-F", spec("with_string if str(text) == \"owned 1\""), spec("with_str if text == \"first\""),
                                spec("with_string_reference if text ~ \"borrowed 1*\""), "--", program()});
    ASSERT_EQ(traced.status, 0) << traced.err;
    std::vector<std::string> texts;
    for (const auto &event : json_lines(traced.out))
        if (event.contains("func"))
            texts.push_back(event.at("args").at("text.value"));
    EXPECT_EQ(texts, (std::vector<std::string>{"first", "owned 1", "borrowed 1"})) << traced.out;
    const Outcome counted = run({"argtrace", "count", "--json", "--by", "str(path)", spec("Server::handle"), "--", program()});
    ASSERT_EQ(counted.status, 0) << counted.err;
    EXPECT_NE(counted.out.find("/index.html"), std::string::npos) << counted.out;
}

INSTANTIATE_TEST_SUITE_P(Programs, RustFunctions, testing::Values("o0", "o2"), [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace vmtest
