// SPDX-License-Identifier: GPL-2.0-only
// Where programs of Go begin goroutines. That the runtime keeps these addresses of them is tested in a VM (GoBuilds).
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elf/go_statements.h"

namespace argtrace::elf {
namespace {

/// How many there are in each function of package main.
std::map<std::string, int> statements_of(const std::string &program) {
    const auto object = Object::open(std::string(ARGTRACE_TEST_PROGRAMS "/") + program);
    if (!object)
        throw std::runtime_error("cannot read " + program);
    const auto functions = GoFunctions::read(*object);
    std::map<std::string, int> found;
    for (const GoStatement &statement : go_statements(*object, *functions))
        if (statement.place.starts_with("main.")) {
            EXPECT_THAT(statement.place, testing::ContainsRegex("^main\\.[a-zA-Z]+ [a-z_]+\\.go:[0-9]+$"));
            found[statement.place.substr(0, statement.place.find(' '))]++;
        }
    return found;
}

TEST(GoStatements, AreThoseOfTheSource) {
    const auto found = statements_of("go_functions");
    EXPECT_EQ(found.at("main.beginnings"), 2);
    EXPECT_EQ(found.at("main.wrappers"), 1);
    EXPECT_EQ(found.at("main.trees"), 1);
    EXPECT_FALSE(found.contains("main.numbers"));
    EXPECT_EQ(found, statements_of("go_functions_pie"));
}

TEST(GoStatements, AreFoundWithoutSymbolsAndOnAnotherMachine) {
    const auto found = statements_of("user_stacks_go");
    EXPECT_FALSE(found.empty());
    EXPECT_EQ(found, statements_of("user_stacks_go_stripped"));
    EXPECT_EQ(found, statements_of("go_stacks_arm64"));
}

} // namespace
} // namespace argtrace::elf
