// SPDX-License-Identifier: GPL-2.0-only
// All functions of the C library are followed at once, in every program that uses it, or in a short run those whose names begin with m or s: what programs say is as before, and each
// call has ended in some way. The kernel sets the breakpoints again, thousands of them, in each program that is started.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/machine.h"

namespace vmtest {
namespace {

/// Programs whose output depends on nothing but what they compute: text, numbers, memory, processes, signals, pipes, threads and how programs end.
constexpr const char *library_work = R"(
seq 1 200 | sort -R --random-source=/bin/ls | sort -n | md5sum
./perl -e 'my %h; $h{$_ % 97} += $_ ** 2 for 1..500; printf "%s %.17g %s\n", join(",", map { "$_=$h{$_}" } sort { $a <=> $b } keys %h), exp(1.5) * sin(2), "ab" x 50'
awk 'BEGIN { for (i = 0; i < 200; i++) s = s sprintf("%d %s %.3f;", i * i, substr("abcdefgh", i % 8 + 1, 2), i / 7); print s }'
tar cf - /etc/passwd 2>/dev/null | gzip -n | gunzip | tar tf -
bash -c 'x=0; for i in {1..100}; do x=$((x * 31 + i & 0xffffff)); printf -v y %08x $x; z+=${y:2:3}; done; echo $z; (exit 3); echo $?; echo {1..5} | tr 1-5 a-e'
bash -c 'trap "echo got" USR1; kill -USR1 $$; (kill -9 $BASHPID); echo $?; read -r -t 0.01 < <(sleep 0.1); echo $((42))'
)";

Outcome work_with_library() {
    return run({"bash", "-c", library_work});
}

TEST(UserLibrary, is_followed_and_programs_do_as_before) {
    need_argtrace();
    need_uprobes();
    const Outcome before = work_with_library();
    ASSERT_EQ(before.status, 0) << before.err;
    const auto lines = std::count(before.out.begin(), before.out.end(), '\n');
    ASSERT_EQ(lines, 10) << before.out << before.err;
    const std::vector<std::string> library_parts = is_long_run() ? std::vector<std::string>{"u:libc:*"} : std::vector<std::string>{"u:libc:m*", "u:libc:s*"};

    std::vector<std::string> add = {"argtrace", "add", "-r"};
    add.insert(add.end(), library_parts.begin(), library_parts.end());
    const Outcome added = run(add);
    ASSERT_EQ(added.status, 0) << added.err;
    const auto begin = std::chrono::steady_clock::now();
    const std::chrono::seconds wanted(is_long_run() ? 60 : 1);
    do {
        const Outcome followed = work_with_library();
        EXPECT_EQ(followed.out, before.out);
        EXPECT_EQ(followed.status, before.status) << followed.err;
    } while (std::chrono::steady_clock::now() - begin < wanted && !HasFailure());
    std::uint64_t calls = 0, in_flight = 0;
    std::size_t functions = 0;
    for (const auto &function : json_lines(run({"argtrace", "status", "--json"}).out)) {
        if (!function.contains("func") || !function.contains("in_flight"))
            continue;
        in_flight += function.at("in_flight").get<std::uint64_t>();
        calls += function.at("hits").get<std::uint64_t>();
        functions += function.at("hits") > 0;
    }
    std::printf("%llu calls of %zu functions\n", static_cast<unsigned long long>(calls), functions);
    EXPECT_GT(calls, 10000u);
    EXPECT_GT(functions, 40u);
    // The programs have ended, and what runs is this test and `argtrace status`.
    EXPECT_LE(in_flight, 20u);
    ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
    EXPECT_EQ(work_with_library().out, before.out);
}

} // namespace
} // namespace vmtest
