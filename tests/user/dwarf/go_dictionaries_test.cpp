// SPDX-License-Identifier: GPL-2.0-only
// Which types the dictionaries of generic functions are of, against the source of the program (tests/vm/guest/programs/go_functions.go).
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "dwarf/go_dictionaries.h"

namespace argtrace::dwarf {
namespace {

GoDictionaries dictionaries_of(const std::string &program) {
    const auto object = elf::Object::open(std::string(ARGTRACE_TEST_PROGRAMS "/") + program);
    if (!object)
        throw std::runtime_error("cannot read " + program);
    return GoDictionaries(*object);
}

std::set<std::string> types_of(const GoDictionaries &dictionaries, const std::string &function) {
    std::set<std::string> types;
    std::set<std::uint64_t> addresses;
    for (const MadeType::Enumerator &one : dictionaries.of(function)) {
        types.insert(one.name);
        addresses.insert(one.value);
    }
    EXPECT_EQ(types.size(), addresses.size());
    return types;
}

TEST(GoDictionaries, HaveTheTypesOfEachInstance) {
    const GoDictionaries dictionaries = dictionaries_of("go_functions");
    EXPECT_EQ(types_of(dictionaries, "main.choose[go.shape.int_0]"), (std::set<std::string>{"[int]", "[main.direction]", "[main.pair]", "[string]"}));
    EXPECT_EQ(types_of(dictionaries, "main.(*box[go.shape.string_0]).put"), (std::set<std::string>{"[main.pair]", "[string]"}));
    EXPECT_EQ(types_of(dictionaries, "main.choose[go.shape.int_0].func1"), std::set<std::string>());
    EXPECT_EQ(types_of(dictionaries, "main.(*box[go.shape.int_0]).put.func1"), std::set<std::string>());
    EXPECT_EQ(types_of(dictionaries, "main.numbers"), std::set<std::string>());
    EXPECT_EQ(types_of(dictionaries, "main.broken["), std::set<std::string>());
}

// An address says nothing where it may be any.
TEST(GoDictionaries, OfAProgramThatIsLoadedAnywhereAreNotKnown) {
    EXPECT_EQ(types_of(dictionaries_of("go_functions_pie"), "main.choose[go.shape.int_0]"), std::set<std::string>());
}

} // namespace
} // namespace argtrace::dwarf
