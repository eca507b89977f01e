// SPDX-License-Identifier: GPL-2.0-only
#include "support/machine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "support/command.h"

namespace vmtest {

int load_module(const std::string &path, const std::string &parameters) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    const int error = syscall(SYS_finit_module, fd, parameters.c_str(), 0) == 0 ? 0 : errno;
    close(fd);
    return error;
}

int unload_module(const std::string &name) {
    return syscall(SYS_delete_module, name.c_str(), O_NONBLOCK) == 0 ? 0 : errno;
}

bool module_is_loaded(const std::string &name) {
    return access(("/sys/module/" + name + "/refcnt").c_str(), F_OK) == 0;
}

std::string argtrace_module() {
    return "/lib/modules/" + kernel_release() + "/updates/argtrace.ko";
}

void need_argtrace() {
    if (module_is_loaded("argtrace"))
        return;
    ASSERT_EQ(load_module(argtrace_module()), 0);
    ASSERT_TRUE(eventually([] { return access("/dev/argtrace", F_OK) == 0; }));
}

void need_module(const std::string &name) {
    if (module_is_loaded(name))
        return;
    ASSERT_EQ(load_module("/root/" + name + ".ko"), 0);
}

void need_test_module() { need_module("argtrace_test"); }

void need_load_module() { need_module("argtrace_load"); }

void run_load(const Load &load) {
    std::ofstream out("/sys/kernel/debug/argtrace_load/run");
    out << load.calls << ' ' << load.period_ns << ' ' << load.burst << ' ' << (has_nmis ? load.nmis : 0) << ' '
        << load.nmi_burst << std::flush;
    ASSERT_TRUE(out.good());
}

void call_from_here(std::uint64_t count) {
    std::ofstream out("/sys/kernel/debug/argtrace_load/call");
    out << count << std::flush;
    EXPECT_TRUE(out.good());
}

LoadCalls load_calls() {
    std::istringstream text(read_file("/sys/kernel/debug/argtrace_load/calls"));
    LoadCalls calls;
    text >> calls.process >> calls.interrupt >> calls.nmi >> calls.writer;
    EXPECT_TRUE(text);
    return calls;
}

std::uint64_t test_seed() {
    const char *const given = getenv("ARGTRACE_TEST_SEED");
    return given ? std::stoull(given) : std::random_device()();
}

bool is_long_run() {
    return getenv("ARGTRACE_TEST_LONG") != nullptr;
}

std::uint64_t stress_steps(std::uint64_t otherwise) {
    const char *const given = getenv("ARGTRACE_STRESS_STEPS");
    return given ? std::stoull(given) : otherwise;
}

bool is_sanitizer_kernel() {
    return access("/sys/kernel/debug/kmemleak", F_OK) == 0;
}

std::uint64_t rounds_until_they_meet(std::uint64_t usual, std::uint64_t on_sanitizer_kernel, std::uint64_t in_long_run) {
    return stress_steps(is_sanitizer_kernel() ? on_sanitizer_kernel : is_long_run() ? in_long_run : usual);
}

unsigned cpu_count() {
    return static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN));
}

void call_functions(const std::string &file, std::uint64_t count) {
    std::ofstream out("/sys/kernel/debug/argtrace_test/" + file);
    out << count << std::flush;
    ASSERT_TRUE(out.good()) << file;
}

std::uint64_t storm_calls() {
    return std::stoull(read_file("/sys/kernel/debug/argtrace_test/storm"));
}

std::string kernel_release() {
    utsname name{};
    uname(&name);
    return name.release;
}

std::string read_file(const std::string &path) {
    std::ifstream in(path);
    EXPECT_TRUE(in.good()) << path;
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

bool is_armed(const std::string &function) {
    std::istringstream lines(read_file("/sys/kernel/tracing/enabled_functions"));
    std::string line;
    while (std::getline(lines, line)) {
        if (line.substr(0, line.find(' ')) == function)
            return true;
    }
    return false;
}

// Two minutes: a guest whose host is busy is slower by far now and then, and what comes true costs no more than before.
bool eventually(const std::function<bool()> &condition) {
    for (int tries = 0; tries < 2400; tries++) {
        if (condition())
            return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
}

void unload_argtrace() {
    EXPECT_TRUE(eventually([] { return unload_module("argtrace") == 0; }))
        << run({"sh", "-c", "dmesg | grep argtrace: | tail"}).out;
}

void pin_to_cpu(unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

void unpin() {
    cpu_set_t set;
    memset(&set, 0xff, sizeof(set));
    ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

bool become_nobody() {
    constexpr unsigned nobody = 65534;
    return setgid(nobody) == 0 && setuid(nobody) == 0;
}

Child::Child(const std::function<void()> &body) : pid_(fork()) {
    if (pid_ == 0) {
        body();
        _exit(0);
    }
    EXPECT_GT(pid_, 0);
}

void Child::kill_and_wait() {
    if (pid_ <= 0)
        return;
    kill(pid_, SIGKILL);
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    EXPECT_FALSE(WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) << "it died of signal " << WTERMSIG(status);
    EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) != 0) << "it has ended with status " << WEXITSTATUS(status);
}

void hammer_vfs_read() {
    const int fd = open("/dev/zero", O_RDONLY);
    // QEMU's virtual CPUs share one thread of the host: a process that never pauses would keep those
    // waiting that it is to disturb.
    for (;; usleep(1000)) {
        for (int i = 0; i < 100; i++) {
            if (char byte; read(fd, &byte, 1) != 1)
                _exit(1);
        }
    }
}

} // namespace vmtest
