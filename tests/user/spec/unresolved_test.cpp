// SPDX-License-Identifier: GPL-2.0-only
#include "spec/unresolved.h"

#include <gmock/gmock.h>

#include "lang/parser.h"

namespace argtrace {
namespace {

using testing::ElementsAre;

class UnresolvedFunctions : public testing::Test {
protected:
    // One function, in which what is wrong is in `text`.
    Unresolved one_left_out(const std::string &text) const {
        Unresolved unresolved(spec_, conditions_, "comm, kind");
        unresolved.add("first", lang::ExpressionError(text, 0, "kind has 9000 bytes"));
        return unresolved;
    }

    const Spec spec_ = parse_spec("f*(size)", PatternSyntax::glob);
    const std::vector<lang::Expression> conditions_ = {lang::parse_condition("pid == 1"), lang::parse_condition("kind > 3")};
};

TEST_F(UnresolvedFunctions, AreSaidToBeForTheSakeOfTheOptionThatCannotBeResolved) {
    const auto described = [this](const std::string &text) { return one_left_out(text).describe(); };
    EXPECT_THAT(described("kind > 3"), ElementsAre("1 function is left out, where --if cannot be resolved (first): kind has 9000 bytes"));
    EXPECT_THAT(described("comm, kind"), ElementsAre("1 function is left out, where --by cannot be resolved (first): kind has 9000 bytes"));
    EXPECT_THAT(described("f*(size)"), ElementsAre("1 function is left out, where an expression cannot be resolved (first): kind has 9000 bytes"));
}

// All arguments of a function are recorded although nobody has written one.
TEST_F(UnresolvedFunctions, AreForTheSakeOfNoOptionWhereNobodyHasWrittenTheArgument) {
    const Unresolved unresolved = one_left_out("kind, size");
    EXPECT_THAT(unresolved.describe(),
                ElementsAre("1 function is left out, where an argument or the result cannot be recorded (first): kind has 9000 bytes"));
    EXPECT_FALSE(unresolved.by_spec());
    EXPECT_STREQ(unresolved.error().what(), "kind has 9000 bytes\n  kind, size\n  ^");
}

} // namespace
} // namespace argtrace
