// SPDX-License-Identifier: GPL-2.0-only
// Whether callers look at results, by functions of which it is known, as two compilers have them.
#include "elf/result_use.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include "elf/function_list.h"
#include "support/described_program.h"

namespace argtrace::elf {
namespace {

constexpr const char *source = R"(
#include <stdio.h>
#include <stdlib.h>
#define KEPT __attribute__((noinline, used))
volatile long sink; volatile double floating;
KEPT long ignored(long n) { sink = n; return n + 1; }
KEPT long added_up(long n) { sink = n; return n + 2; }
KEPT int tested(int n) { sink = n; return n > 3; }
KEPT long in_one_place(long n) { sink = n; return n + 3; }
KEPT double ignored_double(double n) { floating = n; return n + 1; }
KEPT double added_up_double(double n) { floating = n; return n + 2; }
KEPT long passed_on(long n) { sink = n; return n + 4; }
KEPT long passes_on(long n) { sink = 1; return passed_on(n); }
KEPT static long passed_on_near(long n) { sink = n; return n + 6; }
KEPT static long passes_on_near(long n) { if (n > 4) return passed_on_near(n); sink = 5; return 3; }
KEPT long seldom_used(long n) { sink = n; return n + 7; }
KEPT long by_pointer(long n) { sink = n; return n + 5; }
KEPT long never_called(long n) { return n; }
int main(int argc, char **argv) {
    long (*volatile pointer)(long) = by_pointer;
    ignored(argc); sink = 4;
    for (long i = 0; i < argc; i++) { ignored(i); if (argv[i][0] == 'x') puts("x"); }
    sink = added_up(argc) + 7;
    if (tested(argc)) puts("more");
    in_one_place(1); sink = 2;
    sink = in_one_place(3) * 2;
    ignored_double(1.5); floating = 2;
    floating = added_up_double(2.5) * 3;
    pointer(6);
    const long seldom = seldom_used(argc);
    if (__builtin_expect(argc > 5, 0)) {
        sink = seldom;
        puts("seldom");
    }
    sink = 8;
    passes_on(3); sink = 9;
    passed_on_near(4); sink = 10;
    sink = passes_on_near(argc) + 1;
    return 0;
}
)";

class ResultsOf : public testing::TestWithParam<const char *> {};

TEST_P(ResultsOf, AreReadByThoseThatUseThem) {
    const DescribedProgram program(source, ".c", GetParam());
    const auto object = Object::open(Fd(::open(program.path().c_str(), O_RDONLY | O_CLOEXEC)), program.path());
    ASSERT_TRUE(object);
    DirectCalls calls(*object);
    ResultUse use(*object, calls);
    std::vector<std::string> unread;
    for (const NamedFunction &function : list_functions(*object))
        if (use.is_never_read(function.address, function.symbol.ends_with("double")))
            unread.push_back(function.symbol);
    // What startup code does with results is its own affair.
    std::erase_if(unread, [](const std::string &name) { return name.starts_with('_') || name.find("_tm_clones") != name.npos; });
    EXPECT_THAT(unread, testing::UnorderedElementsAre("ignored", "ignored_double", "passes_on"));
}

INSTANTIATE_TEST_SUITE_P(Compiled, ResultsOf, testing::Values("gcc -O1", "gcc -O2", "clang -O1", "clang -O2", "clang -Os"));

} // namespace
} // namespace argtrace::elf
