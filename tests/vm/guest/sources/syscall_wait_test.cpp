// SPDX-License-Identifier: GPL-2.0-only
// System calls whose probes read memory of the process that is not present: they wait until it is, and go on as if nobody had looked.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t wait_page = 4096;
constexpr const char *wait_file = "/tmp/syscall-wait.pages";

/// Pages of a file, which are not in memory before somebody reads them. At the beginning of each is a path that names nothing.
class AbsentPages {
public:
    static constexpr unsigned count = 40;
    static constexpr std::size_t size = (count + 2) * wait_page;

    AbsentPages() {
        std::string all(size, 'x');
        for (unsigned i = 0; i < count; i++)
            memcpy(&all[i * wait_page], text_of(i).c_str(), text_of(i).size() + 1);
        memcpy(&all[at_the_end], across, strlen(across) + 1);
        std::ofstream(wait_file) << all;
        const int fd = open(wait_file, O_RDONLY | O_CLOEXEC);
        pages_ = static_cast<const char *>(mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0));
        close(fd);
        EXPECT_NE(pages_, MAP_FAILED);
    }
    ~AbsentPages() {
        munmap(const_cast<char *>(pages_), size);
        unlink(wait_file);
    }
    AbsentPages(const AbsentPages &) = delete;
    AbsentPages &operator=(const AbsentPages &) = delete;

    static std::string text_of(unsigned i) { return "/nowhere-" + std::to_string(i); }

    /// The address of a text, whose page has just left the memory of this process.
    const char *text(unsigned i) const {
        madvise(const_cast<char *>(pages_), size, MADV_DONTNEED);
        return pages_ + i * wait_page;
    }
    const char *text_across() const {
        text(0);
        return pages_ + at_the_end;
    }
    static constexpr const char *across = "/nowhere-across-two-pages";

private:
    static constexpr std::size_t at_the_end = (count + 1) * wait_page - 10;
    const char *pages_ = nullptr;
};

json traced_while(std::vector<std::string> command, const std::string &armed, const std::function<void()> &body, json &summary) {
    Background trace(command);
    EXPECT_TRUE(eventually([&] { return is_armed(armed) || !trace.is_running(); }));
    body();
    const Outcome outcome = trace.end(SIGINT);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    summary = json_summary(outcome.out);
    json events = json::array();
    for (const json &event : json_lines(outcome.out))
        events.push_back(event);
    return events;
}

std::vector<std::string> trace_me(std::vector<std::string> words) {
    words.insert(words.begin(), {"argtrace", "trace", "--json", "-p", std::to_string(getpid())});
    return words;
}

class SyscallWaits : public testing::Test {
protected:
    void SetUp() override { need_argtrace(); }

    /// What each of two who trace faccessat() of this process says of ten calls, whose text is absent and whose mode is 3.
    std::vector<Outcome> ten_calls_traced_twice(const std::vector<std::string> &first, const std::vector<std::string> &second) const {
        Background other(trace_me(first));
        EXPECT_TRUE(eventually([&] { return is_armed(SYSCALL_PREFIX "faccessat") || !other.is_running(); }));
        Background trace(trace_me(second));
        EXPECT_TRUE(eventually([&] { return trace.err_so_far().find("tracing") != std::string::npos || !trace.is_running(); }));
        for (unsigned i = 0; i < 10; i++)
            syscall(SYS_faccessat, AT_FDCWD, pages_.text(i), 3);
        std::vector<Outcome> outcomes;
        for (Background *one : {&other, &trace}) {
            outcomes.push_back(one->end(SIGINT));
            EXPECT_EQ(outcomes.back().status, 0) << outcomes.back().err;
        }
        return outcomes;
    }

    const AbsentPages pages_;
};

TEST_F(SyscallWaits, for_text_that_is_not_in_memory) {
    json summary;
    const json events = traced_while(trace_me({"s:faccessat(str(filename) as name, mode) if str(filename) ~ \"/nowhere-*\""}),
                                     SYSCALL_PREFIX "faccessat", [&] {
        for (unsigned i = 0; i < AbsentPages::count; i++) {
            errno = 0;
            EXPECT_EQ(syscall(SYS_faccessat, AT_FDCWD, pages_.text(i), i % 8), -1);
            EXPECT_EQ(errno, ENOENT) << i;
        }
        EXPECT_EQ(syscall(SYS_faccessat, AT_FDCWD, pages_.text_across(), 1), -1);
    }, summary);
    ASSERT_EQ(events.size(), AbsentPages::count + 1);
    for (unsigned i = 0; i < AbsentPages::count; i++)
        EXPECT_EQ(events[i]["args"], (json{{"name", AbsentPages::text_of(i)}, {"mode", i % 8}}));
    EXPECT_EQ(events.back()["args"]["name"], AbsentPages::across);
    EXPECT_EQ(summary["faults"], 0);
}

// Where the return is followed, its values are those of the entry, and a condition decides when the text is there.
TEST_F(SyscallWaits, when_the_return_is_followed) {
    json summary;
    const json events = traced_while(trace_me({"-r", "s:faccessat(str(filename) as name, mode)", "s:linkat(str(newname) as to) if str(oldname) ~ \"/nowhere-*\""}),
                                     SYSCALL_PREFIX "linkat", [&] {
        for (unsigned i = 0; i < AbsentPages::count; i++) {
            errno = 0;
            EXPECT_EQ(syscall(SYS_faccessat, AT_FDCWD, pages_.text(i), i % 8), -1);
            EXPECT_EQ(errno, ENOENT) << i;
            EXPECT_EQ(syscall(SYS_linkat, AT_FDCWD, pages_.text(i), AT_FDCWD, pages_.text_across(), 0), -1);
            EXPECT_EQ(errno, ENOENT) << i;
            EXPECT_EQ(syscall(SYS_linkat, AT_FDCWD, pages_.text(i) + 1, AT_FDCWD, nullptr, 0), -1); // "nowhere-..."
        }
        EXPECT_EQ(syscall(SYS_linkat, AT_FDCWD, 0x10, AT_FDCWD, pages_.text(0), 0), -1);
        EXPECT_EQ(errno, EFAULT);
    }, summary);
    ASSERT_EQ(events.size(), 2 * AbsentPages::count);
    for (unsigned i = 0; i < AbsentPages::count; i++) {
        EXPECT_EQ(events[2 * i]["args"], (json{{"name", AbsentPages::text_of(i)}, {"mode", i % 8}}));
        EXPECT_EQ(events[2 * i + 1]["args"], (json{{"to", AbsentPages::across}})) << i;
        for (const unsigned at : {2 * i, 2 * i + 1})
            EXPECT_EQ(events[at]["ret"], "-ENOENT");
    }
    EXPECT_EQ(summary["faults"], 1); // the condition, of what is nowhere
    EXPECT_EQ(summary["filtered"], AbsentPages::count + 1);
    EXPECT_EQ(summary["in_flight"], 0);
}

// Whoever has waited is in flight until the call returns, and no longer.
TEST_F(SyscallWaits, and_is_in_flight_until_it_returns) {
    struct timespec *times = static_cast<struct timespec *>(mmap(nullptr, 2 * wait_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_EQ(run({"argtrace", "add", "-r", "-p", std::to_string(getpid()), "--follow", "s:clock_nanosleep(rqtp->tv_nsec as ns)"}).status, 0);
    for (unsigned i = 0; i < 5; i++) {
        madvise(times, 2 * wait_page, MADV_DONTNEED);
        syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, times, nullptr);
    }
    const auto status = [] { return json_lines(run({"argtrace", "status", "--json"}).out).back(); };
    {
        Child sleeper([&] {
            times->tv_sec = 3600;
            syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, times, nullptr);
        });
        EXPECT_TRUE(eventually([&] { return status()["hits"] == 6; })) << status().dump();
        EXPECT_EQ(status()["in_flight"], 1) << status().dump();
    }
    EXPECT_EQ(status()["in_flight"], 0) << status().dump();
    EXPECT_EQ(status()["records"], 6) << status().dump(); // a sleep returns when its process is killed
    EXPECT_EQ(run({"argtrace", "clear"}).status, 0);
    munmap(times, 2 * wait_page);
}

// The time of a call begins when it has what it waited for, and the text is what the kernel finds then: of a call that changes it, the old one.
TEST_F(SyscallWaits, and_keeps_what_the_kernel_reads) {
    json summary;
    char *fresh = static_cast<char *>(mmap(nullptr, wait_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::size_t length = 0;
    const json events = traced_while(trace_me({"-r", "s:getcwd(str(buf) as before) if str(buf) == \"\""}), SYSCALL_PREFIX "getcwd", [&] {
        length = static_cast<std::size_t>(syscall(SYS_getcwd, fresh, wait_page));
    }, summary);
    EXPECT_EQ(length, strlen(fresh) + 1);
    munmap(fresh, wait_page);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0]["args"], (json{{"before", ""}}));
    EXPECT_EQ(events[0]["ret"], length);
}

// As strace -e would: keys, and all processes.
TEST_F(SyscallWaits, when_calls_are_counted_by_text) {
    Background count({"argtrace", "count", "--json", "--by", "str(filename) as name", "s:faccessat if str(filename) ~ \"/nowhere-*\""});
    ASSERT_TRUE(eventually([&] { return is_armed(SYSCALL_PREFIX "faccessat") || !count.is_running(); }));
    for (unsigned i = 0; i < AbsentPages::count; i++)
        for (unsigned times = 0; times <= i % 3; times++)
            syscall(SYS_faccessat, AT_FDCWD, pages_.text(i), 0);
    const Outcome outcome = count.end(SIGINT);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    for (unsigned i = 0; i < AbsentPages::count; i++) {
        const std::string name = "{\"name\":\"" + AbsentPages::text_of(i) + "\"},\"count\":" + std::to_string(i % 3 + 1) + "}";
        EXPECT_NE(outcome.out.find(name), std::string::npos) << name << " in " << outcome.out;
    }
}

// All arguments are the program's afterwards, and what it is told.
TEST_F(SyscallWaits, and_goes_on_as_if_nobody_had_looked) {
    json summary;
    const std::string name = "/tmp/syscall-wait.made";
    unlink(name.c_str());
    const json events = traced_while(trace_me({"s:linkat(str(oldname) as from, str(newname) as to)",
                                               "s:openat(str(filename) as name, flags, mode) if str(filename) == \"\" || mode == 0640"}),
                                     SYSCALL_PREFIX "openat", [&] {
        EXPECT_EQ(syscall(SYS_linkat, AT_FDCWD, pages_.text(1), 17, pages_.text(2), 0), -1);
        EXPECT_EQ(errno, ENOENT);
        void *fresh = mmap(nullptr, wait_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        // A path of no characters, in memory that reads as zeros before anybody has written to it.
        EXPECT_EQ(syscall(SYS_openat, AT_FDCWD, fresh, O_RDONLY), -1);
        EXPECT_EQ(errno, ENOENT);
        munmap(fresh, wait_page);
        const int fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, name.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0640));
        EXPECT_GE(fd, 0);
        close(fd);
    }, summary);
    struct stat made {};
    ASSERT_EQ(stat(name.c_str(), &made), 0);
    unlink(name.c_str());
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[0]["args"], (json{{"from", "/nowhere-1"}, {"to", "/nowhere-2"}}));
    EXPECT_EQ(events[1]["args"]["name"], "");
    EXPECT_EQ(events[2]["args"]["name"], name);
    EXPECT_EQ(summary["faults"], 0);
}

// A call that waits has the caller and the stack of one that does not.
TEST_F(SyscallWaits, with_the_same_caller_and_stack) {
    json summary;
    const json events = traced_while(trace_me({"--stack", "s:faccessat(str(filename) as name) if str(filename) ~ \"/nowhere-*\""}),
                                     SYSCALL_PREFIX "faccessat", [&] {
        const char *text = pages_.text(3);
        // Linux 6.1 may have arm64's system calls come another way after vector instructions, which functions of texts have.
        syscall(SYS_getppid);
        syscall(SYS_faccessat, AT_FDCWD, text, 0);
        syscall(SYS_faccessat, AT_FDCWD, text, 0);
        EXPECT_EQ(std::string(text), "/nowhere-3");
    }, summary);
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0]["args"], events[1]["args"]);
    EXPECT_EQ(events[0]["caller"], events[1]["caller"]);
    EXPECT_EQ(events[0]["stack"], events[1]["stack"]);
    EXPECT_GE(events[0]["stack"].size(), 2u);
}

// What is nowhere is an address, however often one looks, and the call is told so by the kernel.
TEST_F(SyscallWaits, not_for_what_is_nowhere) {
    json summary;
    void *closed = mmap(nullptr, wait_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const unsigned long bad[] = {0x10, reinterpret_cast<unsigned long>(closed), 0x7ffffffff000, ~0ul - 100,
                                 static_cast<unsigned long>(address_of(SYSCALL_PREFIX "faccessat"))};
    const json events = traced_while(trace_me({"s:faccessat(str(filename) as name, mode)"}), SYSCALL_PREFIX "faccessat", [&] {
        for (const unsigned long address : bad) {
            EXPECT_EQ(syscall(SYS_faccessat, AT_FDCWD, address, 5), -1);
            EXPECT_EQ(errno, EFAULT) << std::hex << address;
        }
    }, summary);
    munmap(closed, wait_page);
    ASSERT_EQ(events.size(), std::size(bad));
    for (const json &event : events) {
        EXPECT_TRUE(event["args"]["name"].is_null()) << event.dump();
        EXPECT_EQ(event["args"]["mode"], 5);
    }
    EXPECT_EQ(summary["hits"], summary["records"].get<std::uint64_t>() + summary["filtered"].get<std::uint64_t>());
}

// Two who trace one function are told of each call, though neither may have it wait.
TEST_F(SyscallWaits, not_where_others_trace_the_same) {
    for (const Outcome &outcome : ten_calls_traced_twice({"s:faccessat(mode) if mode == 3"}, {"s:faccessat(str(filename) as name) if mode == 3"})) {
        EXPECT_EQ(json_lines(outcome.out).size(), 10u);
    }
}

// The same with returns, of which the one that is asked first may be redirected by the other.
TEST_F(SyscallWaits, beside_others_who_follow_returns) {
    for (const Outcome &outcome : ten_calls_traced_twice({"-r", "s:faccessat(str(filename) as name) if mode == 3"}, {"-r", "s:faccessat(mode) if str(filename) ~ \"/nowhere-*\""})) {
        const json summary = json_summary(outcome.out);
        // The C library's access() makes such calls, too, on arm64: of those that are filtered, ours are the ones whose text could not be read.
        std::size_t told = summary["records"].get<std::size_t>() + summary["faults"].get<std::size_t>();
        for (const json &count : summary["unfollowed"])
            told += count.get<std::size_t>();
        EXPECT_EQ(told, 10u) << summary.dump();
    }
}

class SyscallWaitHostile : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(, SyscallWaitHostile, testing::Values("at_entry", "-r"), [](const auto &info) { return *info.param == '-' ? "with_returns" : info.param; });

// Processes that are killed while they wait, while probes come and go, and the module does.
TEST_P(SyscallWaitHostile, unloading_while_processes_wait) {
    const auto make_callers = [] {
        std::vector<std::unique_ptr<Child>> callers;
        for (unsigned i = 0; i < 3; i++)
            callers.push_back(std::make_unique<Child>([] {
                const AbsentPages pages;
                for (unsigned turn = 0;; turn++) {
                    syscall(SYS_faccessat, AT_FDCWD, pages.text(turn % AbsentPages::count), 0);
                    syscall(SYS_linkat, AT_FDCWD, pages.text_across(), AT_FDCWD, turn % 2 ? pages.text(7) : nullptr, 0);
                }
            }));
        return callers;
    };
    for (int round = 0; round < 2; round++) {
        need_argtrace();
        for (int i = 0; i < 2; i++) {
            auto callers = make_callers();
            std::vector<std::string> add = {"argtrace", "add", "s:faccessat(str(filename))", "s:linkat(str(oldname), str(newname)) if str(newname) != \"x\""};
            if (*GetParam() == '-')
                add.push_back(GetParam());
            const Outcome added = run(add);
            ASSERT_EQ(added.status, 0) << added.err;
            EXPECT_TRUE(eventually([] {
                return json_lines(run({"argtrace", "status", "--json"}).out).back()["hits"].get<std::uint64_t>() > 200;
            }));
            if (i == 0)
                callers.clear(); // killed
            const json status = json_lines(run({"argtrace", "status", "--json"}).out).back();
            EXPECT_GT(status["hits"], 0);
            ASSERT_EQ(run({"argtrace", "clear"}).status, 0);
            if (i == 1)
                unload_argtrace();
        }
        EXPECT_FALSE(is_armed(SYSCALL_PREFIX "faccessat"));
    }
    need_argtrace();
}

} // namespace
} // namespace vmtest
