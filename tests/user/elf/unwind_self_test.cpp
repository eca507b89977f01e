// SPDX-License-Identifier: GPL-2.0-only
// Stacks of this process by the tables, compared with what glibc's backtrace() says in the same place.
#include <array>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "support/self_unwinder.h"

namespace argtrace::elf {
namespace {

using test::SelfUnwinder;

constexpr std::size_t walk_max = 300;
using Places = std::array<void *, walk_max>;

/// libc's, not the one that a sanitizer puts in its place.
int (*glibc_backtrace)(void **places, int max);

// What signal handlers can reach, which allocate nothing.
const SelfUnwinder *unwinder;
std::size_t compared, differing, frames_compared;
Places ours, theirs; // where they have differed first
std::size_t ours_count, theirs_count;

[[gnu::noinline]] void compare_stacks() {
    static Places by_rules, by_glibc;
    ucontext_t context;
    ::getcontext(&context);
    const std::size_t walked = unwinder->walk(context, by_rules.data(), walk_max);
    const auto expected = static_cast<std::size_t>(glibc_backtrace(by_glibc.data(), walk_max));
    compared++;
    frames_compared += walked;
    // The first is here, at two instructions.
    if (walked == expected && std::equal(by_rules.begin() + 1, by_rules.begin() + static_cast<std::ptrdiff_t>(walked), by_glibc.begin() + 1))
        return;
    if (differing++ > 0)
        return;
    ours = by_rules;
    ours_count = walked;
    theirs = by_glibc;
    theirs_count = expected;
}

/// Reads the tables of what is mapped now.
void begin() {
    static std::optional<SelfUnwinder> tables;
    void *unused[4];
    void *const libc = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    glibc_backtrace = reinterpret_cast<int (*)(void **, int)>(::dlsym(libc, "backtrace"));
    glibc_backtrace(unused, 4); // loads libgcc
    unwinder = &tables.emplace();
    compared = differing = frames_compared = 0;
}

std::string described(const Places &places, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; i++) {
        Dl_info info = {};
        ::dladdr(places[i], &info);
        text += fmt::format("{} {} {}+{:#x}\n", places[i], info.dli_sname ? info.dli_sname : "?", info.dli_fname ? info.dli_fname : "?",
                            reinterpret_cast<std::uintptr_t>(places[i]) - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
    }
    return text;
}

void expect_no_difference(std::size_t at_least) {
    EXPECT_GE(compared, at_least);
    EXPECT_GT(frames_compared, 3 * compared) << "stacks that end at once";
    EXPECT_EQ(differing, 0u) << "of " << compared << ", ours:\n" << described(ours, ours_count) << "glibc's:\n" << described(theirs, theirs_count);
}

volatile bool stepping;

/// Whether it is one of so many instructions in the vdso in a row that all of it has been seen. It reads the clock again and again while
/// the kernel updates it, and on a slow machine that does so more often than a read takes whose every instruction compares stacks.
bool has_seen_vdso(const ucontext_t &interrupted) {
    constexpr std::size_t vdso_bytes = 16384, enough = 400;
    static std::size_t in_a_row;
    const auto pc = static_cast<std::uint64_t>(interrupted.uc_mcontext.gregs[REG_RIP]);
    in_a_row = pc - ::getauxval(AT_SYSINFO_EHDR) < vdso_bytes ? in_a_row + 1 : 0;
    return in_a_row > enough;
}

/// With the trap flag an instruction is followed by SIGTRAP, whose handler is called without it.
void on_trap(int, siginfo_t *, void *interrupted) {
    constexpr greg_t trap_flag = 0x100;
    greg_t &flags = static_cast<ucontext_t *>(interrupted)->uc_mcontext.gregs[REG_EFL];
    flags = stepping ? flags | trap_flag : flags & ~trap_flag;
    if (!has_seen_vdso(*static_cast<ucontext_t *>(interrupted)))
        compare_stacks();
}

struct Shapes {
    std::string compiled; ///< how
    std::string path;
};

void PrintTo(const Shapes &shapes, std::ostream *out) {
    *out << shapes.compiled;
}

std::vector<Shapes> all_shapes() {
    std::vector<Shapes> all;
    std::stringstream list(ARGTRACE_TEST_SHAPES); // NAME=PATH ...
    for (std::string word; list >> word;)
        all.push_back({word.substr(0, word.find('=')), word.substr(word.find('=') + 1)});
    return all;
}

class UnwindOfShapes : public testing::TestWithParam<Shapes> {
protected:
    void SetUp() override {
        // To find thousands of instructions of the dynamic linker correct once is enough.
        const bool lazily = GetParam().compiled == "gcc_branch_protection";
        library_.reset(::dlopen(GetParam().path.c_str(), (lazily ? RTLD_LAZY : RTLD_NOW) | RTLD_LOCAL));
        ASSERT_TRUE(library_) << ::dlerror();
        begin();
    }

    using Function = void (*)(void (*visit)());
    Function function(const char *name) { return reinterpret_cast<Function>(::dlsym(library_.get(), name)); }

private:
    std::unique_ptr<void, int (*)(void *)> library_{nullptr, ::dlclose};
};

TEST_P(UnwindOfShapes, IsGlibcsInTheirCallees) {
    function("unwind_shapes")(compare_stacks);
    expect_no_difference(12);
}

TEST_P(UnwindOfShapes, IsGlibcsInDeepRecursion) {
    function("unwind_deep")(compare_stacks);
    expect_no_difference(1);
    EXPECT_GT(frames_compared, 100u);
}

TEST_P(UnwindOfShapes, IsGlibcsAtEachInstruction) {
    struct sigaction action = {}, before;
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGTRAP, &action, &before);
    const Function shapes = function("unwind_shapes");
    stepping = true;
    ::kill(::getpid(), SIGTRAP);
    shapes([] {});
    stepping = false;
    ::sigaction(SIGTRAP, &before, nullptr);
    expect_no_difference(1000);
}

INSTANTIATE_TEST_SUITE_P(Compiled, UnwindOfShapes, testing::ValuesIn(all_shapes()),
                         [](const auto &info) { return info.param.compiled; });

struct ComparesWhenLeft {
    ~ComparesWhenLeft() { compare_stacks(); }
};

[[gnu::noinline]] void throw_through(int depth) {
    const ComparesWhenLeft left;
    if (depth == 0)
        throw std::runtime_error("thrown");
    throw_through(depth - 1);
}

TEST(UnwindSelf, IsGlibcsWhileAnExceptionPasses) {
    begin();
    try {
        throw_through(3);
    } catch (const std::runtime_error &) {
        compare_stacks();
    }
    expect_no_difference(5);
}

TEST(UnwindSelf, IsGlibcsInAThreadWhichHasAnEnd) {
    begin();
    std::thread(compare_stacks).join();
    expect_no_difference(1);
}

/// What libc has for the instructions of one of its functions.
std::vector<argtrace_unwind_rule> rules_of(const char *function, std::size_t bytes) {
    begin();
    const auto start = reinterpret_cast<std::uint64_t>(::dlsym(::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), function));
    std::vector<argtrace_unwind_rule> rules;
    for (std::uint64_t at = start; at < start + bytes; at++)
        if (const argtrace_unwind_rule *rule = unwinder->rule_at(at))
            rules.push_back(*rule);
    return rules;
}

TEST(UnwindSelf, VforkKeepsItsReturnAddressInARegister) {
    // The child returns and overwrites it on the stack, so that the parent has it in rdi meanwhile.
    const auto rules = rules_of("vfork", 32);
    const auto in_rdi = [](const argtrace_unwind_rule &rule) { return rule.ra == ARGTRACE_RA_REGISTER && rule.ra_at == 5 && rule.reg == 7; };
    EXPECT_GT(std::count_if(rules.begin(), rules.end(), in_rdi), 5);
    EXPECT_FALSE(rules.empty() || in_rdi(rules.front())) << "at the first instruction it is on the stack";
}

} // namespace
} // namespace argtrace::elf
