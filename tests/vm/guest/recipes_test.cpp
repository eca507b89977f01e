// SPDX-License-Identifier: GPL-2.0-only
// Every line of docs/recipes.md is run as it stands there, while processes do what is known, and has to show that. A line that is
// not known here fails, and so does one that is known and no longer there.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "command.h"
#include "machine.h"

namespace vmtest {
namespace {

/// What a line has to show: regular expressions for whole lines, each of which is there; and where, if not on standard output.
struct Recipe {
    const char *line;
    std::vector<const char *> shows;
    const char *file = nullptr;
};

/// What known processes do while a line goes on until Ctrl-C.
constexpr const char *known_load = "dd if=/dev/zero of=/dev/null bs=4096 count=1000 2>/dev/null; cat /etc/passwd >/dev/null; cat /nonexistent 2>/dev/null; "
                                   "stat /nonexistent >/dev/null 2>&1; sync; sync; (sleep 0.3; echo) | cat >/dev/null";
/// In place of make: long enough for a profile.
constexpr const char *known_build = "bash -c 'dd if=/dev/zero of=/dev/null bs=64k count=30000 2>/dev/null; sleep 0.2; true'";

// Parts of regular expressions. How many calls others make meanwhile is not known: dd makes a thousand of its size, and what is there
// of its start comes on top where sizes are not told apart.
#define SOME "[1-9][0-9]*"
#define THOUSAND "[1-9][0-9]{3,}"
#define SHARE " +[0-9.]+"
#define OFFSET "\\+0x[0-9a-f]+"
#define LONG_BAR "\\|@{52}\\|"
#define ANY_BAR "\\|@* *\\|"
#define LATENCY " *[\\[(].* +" SOME " " ANY_BAR

const std::vector<Recipe> recipes = {
    // Whether it works
    {"argtrace doctor", {"ok +kernel +Linux .*", "ok +module +.*", "ok +ftrace +.*"}},
    // What happens
    {"argtrace trace -f time,comm,pid,func s:clone s:clone3 s:vfork s:fork",
     {"TIME +COMM +PID +FUNCTION", " *[0-9]+\\.[0-9]{9} +bash +" SOME " +s:(clone3?|vfork)"}},
    {"argtrace trace -f time,comm,pid,args,ret -r 's:execve(str(filename) as file)'",
     {"TIME +COMM +PID +ARGS +RET", ".* \\(file=\"/[a-z/]*/dd\"\\) +0"}},
    {"argtrace trace -r 's:openat(str(filename) as name, flags)'",
     {"TIME +COMM .*", ".* cat .*s:openat\\(name=\"/nonexistent\", flags=0\\) = -ENOENT.*", ".* cat .*s:openat\\(name=\"/etc/passwd\", flags=0\\) = [0-9]+.*"}},
    {"argtrace trace --time delta -f time,comm,pid,func ksys_sync",
     {"TIME +COMM +PID +FUNCTION", " *\\+?[0-9]+\\.[0-9]{9} +sync +" SOME " +ksys_sync"}},
    {"argtrace trace --include-self 't:block:block_rq_complete(name(rq->cmd_flags & 255, \"REQ_OP_*\") as op, rq->__sector as sector, nr_bytes, "
     "(time - rq->start_time_ns) / 1000 as us)'",
     {"TIME +COMM .*"}},
    // How often
    {"argtrace count 'vfs_*'", {"FUNC +CALLS", "vfs_read +" THOUSAND, "vfs_write +" THOUSAND}},
    {"argtrace count -i 1 'vfs_*'", {"[0-9]{2}:[0-9]{2}:[0-9]{2}", "FUNC +CALLS", "vfs_read +" SOME}},
    {"argtrace top", {"FUNC +CALLS +PER SEC", "[^ ]+ +" SOME " +" SOME}},
    {"argtrace top -r 'vfs_*'", {"FUNC +CALLS +PER SEC +ERRORS .*P99", "vfs_read +" SOME " .*", "vfs_statx +" SOME " +[0-9.]+ +" SOME " .*"}},
    {"argtrace count --by comm,ret vfs_read", {"COMM +RET +CALLS", "dd +4096 +1000"}},
    {"argtrace count --by comm,count 'vfs_write if count > 0'", {"COMM +COUNT +CALLS", "dd +4096 +1000"}},
    {"argtrace count --by 'str(path->dentry->d_name.name) as name' --top 10 vfs_open", {"NAME +CALLS", "[^ ]+ +" SOME}},
    {"argtrace count --by caller vfs_read", {"CALLER +CALLS", "ksys_read" OFFSET " +" THOUSAND}},
    {"argtrace stacks --top 10 vfs_read",
     {" +ksys_read" OFFSET, " +[0-9]+ calls? \\([0-9.]+ %\\)", "FUNCTION +SELF +% +TOTAL +%", "(entry_SYSCALL_64_after_hwframe|do_syscall_64) .* " THOUSAND SHARE,
      SOME " calls?, " SOME " different stacks?, .*"}},
    {"argtrace stacks --fold --by comm vfs_read", {"dd;entry_SYSCALL_64_after_hwframe;.*;ksys_read(;vfs_read)? " THOUSAND}},
    {"argtrace count --by func,ret 'vfs_* if ret < 0'", {"FUNC +RET +CALLS", "vfs_statx +-ENOENT +" SOME}},
    {"argtrace count 's:*'", {"FUNC +CALLS", "s:read +" THOUSAND, "s:write +" THOUSAND}},
    {"argtrace count --by comm,func 's:*'", {"COMM +FUNC +CALLS", "dd +s:read +1[0-9]{3}", "dd +s:write +1000", "sync +s:sync +2"}},
    {"argtrace count --by func,ret 's:open*' s:read", {"FUNC +RET +CALLS", "s:openat +-ENOENT +" SOME, "s:read +4096 +" THOUSAND}},
    {"argtrace count --by comm,func,ret 's:* if ret < 0'", {"COMM +FUNC +RET +CALLS", "cat +s:openat +-ENOENT +" SOME}},
    {"argtrace count --by comm ksys_sync", {"COMM +CALLS", "sync +2"}},
    // Where the time goes
    {"argtrace profile --duration 10", {" +SELF +% +TOTAL +%  FUNCTION"}},
    {"argtrace profile -F 99 -o cpu.svg -- make", {"<svg .*", ".*Where the processors were.*", ".*data-name=\"all\".*<title>all: .*", "</svg>"}, "cpu.svg"},
    {"argtrace profile -p 1234 --top 20", {" +SELF +% +TOTAL +%  FUNCTION"}},
    {"argtrace profile --by comm --top 5", {" +SELF +% +TOTAL +%  FUNCTION", "comm=[^ ]+: [0-9]+ ticks? \\([0-9.]+ %\\)"}},
    {"argtrace profile --if 'comm == \"dd\"'", {" +SELF +% +TOTAL +%  FUNCTION"}},
    {"argtrace profile -o cpu.dat -- make", {}},
    {"argtrace profile --in cpu.dat --by comm --top 5", {" +SELF +% +TOTAL +%  FUNCTION", "comm=dd: " SOME " ticks? \\([0-9.]+ %\\)"}},
    {"argtrace profile --fold -o cpu.folded", {"([^; ]+;)*[^;]+ " SOME}, "cpu.folded"},
    // How much
    {"argtrace hist 'vfs_read(count)' --by comm", {"comm=dd", "\\[4K, 8K\\) +1000 " LONG_BAR}},
    {"argtrace hist --include-self 'blk_mq_end_request(rq->__data_len / 1024)'", {}},
    {"argtrace hist --include-self 'blk_mq_end_request(rq->__data_len / 1024)' --linear 0,512,16", {}},
    {"argtrace sum 'vfs_write(ret) if ret > 0' --by pid,comm", {"PID +COMM +CALLS +SUM", SOME " +dd +1000 +4096000"}},
    // How long
    {"argtrace latency vfs_read", {"vfs_read", LATENCY, THOUSAND " calls, .*p50 .*p90 .*p99 .*"}},
    {"argtrace latency 'vfs_*' -i 5", {"[0-9]{2}:[0-9]{2}:[0-9]{2}", LATENCY, THOUSAND " calls, .*p50 .*p90 .*p99 .*"}},
    {"argtrace latency 'vfs_read if duration > 1000000' --by comm", {}},
    {"argtrace latency --include-self --from blk_mq_start_request --to blk_mq_end_request --on rq", {}},
    {"argtrace latency --include-self --from t:block:block_rq_issue --to t:block:block_rq_complete --on rq", {}},
    // Where tasks wait
    {"argtrace offcpu --min 1ms -o off.svg", {"<svg .*", ".*data-name=\"sleep\".*", ".*<title>do_nanosleep: .*", "</svg>"}, "off.svg"},
    {"argtrace offcpu --fold -o off.folded", {"sleep;.*;do_nanosleep;.*schedule [3-9][0-9]{8,}"}, "off.folded"},
    {"argtrace offcpu --wakers --top 10", {" +__schedule" OFFSET, " +woken by .*"}},
    {"argtrace offcpu --no-stack --sort runnable", {"COMM +WAITS +BLOCKED +RUNNABLE +LONGEST +%", "sleep +" SOME " .*"}},
    {"argtrace offcpu --state D --by comm,pid", {}},
    {"argtrace offcpu -o waits.dat --wakers -- make", {}},
    {"argtrace offcpu --in waits.dat --no-stack --by comm,state", {"COMM +STATE +WAITS +BLOCKED +RUNNABLE +LONGEST +%", "sleep +S +" SOME " .*"}},
    {"argtrace offcpu --in waits.dat --wakers --min 10ms", {" +do_nanosleep" OFFSET, " +woken by .*"}},
    {"argtrace trace 't:sched:sched_switch(prev->comm as from, next->comm as to, prev_state)'",
     {"TIME +COMM .*", ".* t:sched:sched_switch\\(from=\"sleep\", to=\"[^\"]*\", prev_state=[0-9]+\\).*"}},
    {"argtrace count --by 'comm,next->comm as to' t:sched:sched_switch", {"COMM +TO +CALLS", "sleep +[^ ]+ +" SOME}},
    // Of a recording
    {"argtrace record -r -o read.dat 'vfs_read(count)' -- dd if=/dev/zero of=/dev/null count=100", {}},
    {"argtrace hist --in read.dat 'vfs_read(count)' --by comm", {"comm=dd", "\\[512, 1K\\) +10[0-9] " LONG_BAR}},
    {"argtrace latency --in read.dat", {"vfs_read", LATENCY, SOME " calls, .*p50 .*p90 .*p99 .*"}},
};

std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

/// The commands of the page.
std::vector<std::string> lines_on_the_page() {
    std::vector<std::string> commands;
    for (const std::string &line : lines_of(read_file("/root/recipes.md")))
        if (line.starts_with("    ") && !line.starts_with("    #"))
            commands.push_back(line.substr(4));
    return commands;
}

void replace(std::string &text, const std::string &what, const std::string &with) {
    if (const std::size_t at = text.find(what); at != text.npos)
        text.replace(at, what.size(), with);
}

/// Runs it until it ends, or has seen the known load.
Outcome cook(std::string line, pid_t busy) {
    const bool ends = line.find(" -- ") != line.npos || line.find(" --in ") != line.npos || line.find(" --duration ") != line.npos ||
                      line.starts_with("argtrace doctor");
    replace(line, " -- make", std::string(" -- ") + known_build);
    replace(line, " -p 1234 ", " -p " + std::to_string(busy) + " ");
    replace(line, " --duration 10", " --duration 1");
    Background tool({"bash", "-c", "exec " + line});
    if (ends)
        return tool.wait();
    // To arm all functions may take any time.
    while (tool.is_running() && tool.err_so_far().find("until Ctrl-C") == std::string::npos)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    run({"bash", "-c", known_load});
    return tool.end(SIGINT);
}

TEST(Recipes, each_line_of_the_page_shows_what_it_says) {
    need_argtrace();
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::create_directory("/tmp/recipes");
    std::filesystem::current_path("/tmp/recipes");
    const Background busy({"dd", "if=/dev/zero", "of=/dev/null", "bs=64k"});
    const std::vector<std::string> lines = lines_on_the_page();
    for (const std::string &line : lines) {
        SCOPED_TRACE(line);
        const auto recipe = std::find_if(recipes.begin(), recipes.end(), [&](const Recipe &one) { return one.line == line; });
        if (recipe == recipes.end()) {
            ADD_FAILURE() << "nobody knows what it has to show: docs/recipes.md has it, and this test has not";
            continue;
        }
        const Outcome outcome = cook(line, busy.pid());
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        const std::string text = recipe->file ? read_file(recipe->file) : outcome.out;
        const std::vector<std::string> shown = lines_of(text);
        for (const char *pattern : recipe->shows) {
            const std::regex expected(pattern);
            EXPECT_TRUE(std::any_of(shown.begin(), shown.end(), [&](const std::string &one) { return std::regex_match(one, expected); }))
                << "nothing is like " << pattern << " in\n" << text.substr(0, 4000) << outcome.err;
        }
    }
    for (const Recipe &recipe : recipes)
        EXPECT_NE(std::find(lines.begin(), lines.end(), recipe.line), lines.end()) << recipe.line << ": docs/recipes.md has it no more";
    std::filesystem::current_path(before);
    std::filesystem::remove_all("/tmp/recipes");
}

#undef SOME
#undef THOUSAND
#undef SHARE
#undef OFFSET
#undef LONG_BAR
#undef ANY_BAR
#undef LATENCY

} // namespace
} // namespace vmtest
