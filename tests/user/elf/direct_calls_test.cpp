// SPDX-License-Identifier: GPL-2.0-only
// Which functions an object calls other than through pointers.
#include "elf/direct_calls.h"

#include <cstdlib>
#include <fcntl.h>
#include <gmock/gmock.h>

#include "elf/function_list.h"
#include "support/described_program.h"

namespace argtrace::elf {
namespace {

constexpr const char *calls_source = R"(
#define KEPT __attribute__((noinline, used))
volatile long sink;
KEPT long called(long n) { sink = n; return n + 1; }
KEPT static long called_near(long n) { sink = n; return n + 2; }
KEPT long passed_to(long n) { sink = n; return n + 3; }
KEPT long passes(long n) { sink = 4; return passed_to(n); }
KEPT long by_pointer(long n) { sink = n; return n + 5; }
KEPT static long by_pointer_near(long n) { sink = n; return n + 6; }
KEPT long never_called(long n) { sink = n; return n; }
long (*volatile pointer)(long);
int main(int argc, char **argv) {
    pointer = argc > 1 ? by_pointer_near : by_pointer;
    sink = called(argc) + called_near(argc) + pointer(argc);
    sink = passes(argc) + 1;
    return 0;
}
)";

std::vector<std::string> called_of(const std::string &command) {
    const DescribedProgram program(calls_source, ".c", command);
    const auto object = Object::open(Fd(::open(program.path().c_str(), O_RDONLY | O_CLOEXEC)), program.path());
    EXPECT_TRUE(object);
    DirectCalls calls(*object);
    std::vector<std::string> called;
    for (const NamedFunction &function : list_functions(*object))
        if (calls.is_called(function.address))
            called.push_back(function.symbol);
    // What startup code calls is its own affair, and the address of main() is passed to it.
    std::erase_if(called, [](const std::string &name) {
        return name.starts_with('_') || name.find("_tm_clones") != name.npos || name == "main" || name == "call_weak_fn" || name == "frame_dummy";
    });
    return called;
}

TEST(DirectCalls, AreCallsAndJumps) {
    for (const char *command : {"gcc -O1", "gcc -O2", "clang -O2"})
        EXPECT_THAT(called_of(command), testing::UnorderedElementsAre("called", "called_near", "passes", "passed_to")) << command;
}

TEST(DirectCalls, OfArm64AreThoseWithLinkAndWithout) {
    if (std::system("command -v aarch64-linux-gnu-gcc >/dev/null 2>&1") != 0)
        GTEST_SKIP() << "aarch64-linux-gnu-gcc is not installed";
    for (const char *command : {"aarch64-linux-gnu-gcc -O1", "aarch64-linux-gnu-gcc -O2"})
        EXPECT_THAT(called_of(command), testing::UnorderedElementsAre("called", "called_near", "passes", "passed_to")) << command;
}

// Whatever has an address of which the dynamic linker may make another function's counts as called.
TEST(DirectCalls, OfALibraryMayBeThroughItsLinkageTable) {
    EXPECT_THAT(called_of("gcc -O2 -shared -fPIC"), testing::UnorderedElementsAre("called", "called_near", "passes", "passed_to", "by_pointer"));
}

} // namespace
} // namespace argtrace::elf
