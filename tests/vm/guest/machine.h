// SPDX-License-Identifier: GPL-2.0-only
// What the tests do with the guest: modules, files of the kernel, processes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace vmtest {

/// Loads and unloads; 0 or the errno. A module is a file name, or "argtrace".
int load_module(const std::string &path);
int unload_module(const std::string &name);
bool module_is_loaded(const std::string &name);

/// The file of argtrace, in the guest's module folder.
std::string argtrace_module();

/// Loads argtrace and the helpers, unless they are.
void need_argtrace();
void need_test_module();
void need_load_module();

/// Writes a count to a file of the helper module: "run", "burst", "storm".
void call_functions(const std::string &file, std::uint64_t count);
std::uint64_t storm_calls();

/// What argtrace_load is to do on each CPU, see there, and how often it has called in all.
struct Load {
    unsigned calls = 1000;
    unsigned period_ns = 100000;
    unsigned burst = 1;
    unsigned nmis = 0;
    unsigned nmi_burst = 1;
};
struct LoadCalls {
    std::uint64_t process = 0, interrupt = 0, nmi = 0;
};
void run_load(const Load &load);
LoadCalls load_calls();

std::string read_file(const std::string &path);

/// Whether some ftrace user has armed the function.
bool is_armed(const std::string &function);

/// Whether `condition` comes true within some seconds.
bool eventually(const std::function<bool()> &condition);

/// Of tests at random: ARGTRACE_TEST_SEED, or another one each time. They print it.
std::uint64_t test_seed();

/// Whether tests whose worth grows with their length are to go on for longer: ARGTRACE_TEST_LONG.
bool is_long_run();

/// How far tests go that could go on for ever: ARGTRACE_STRESS_STEPS.
std::uint64_t stress_steps(std::uint64_t otherwise);

/// Whether the kernel is one that looks at every access and every lock (scripts/config/kasan.config), and
/// so is ten times as slow.
bool is_sanitizer_kernel();

/// All are present and online.
unsigned cpu_count();

void pin_to_cpu(unsigned cpu);
void unpin();

/// A child that runs `body` until it is killed, which the destructor does.
class Child {
public:
    explicit Child(const std::function<void()> &body);
    ~Child() { kill_and_wait(); }
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    void kill_and_wait();

private:
    pid_t pid_;
};

/// Reads /dev/zero byte by byte for ever: calls vfs_read a hundred times in a row, pauses for a
/// millisecond, and again.
void hammer_vfs_read();

} // namespace vmtest
