// SPDX-License-Identifier: GPL-2.0-only
// What tests do to the guest: load modules, read and write files of the kernel, run processes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "support/architecture.h"

namespace vmtest {

/// Loads and unloads; 0 or the errno. A module is a file name, or "argtrace".
int load_module(const std::string &path, const std::string &parameters = "");
int unload_module(const std::string &name);
bool module_is_loaded(const std::string &name);

/// The file argtrace.ko, in the guest's module folder.
std::string argtrace_module();

/// Load argtrace and the helper modules, also by their names, unless they are loaded.
void need_argtrace();
void need_module(const std::string &name);
void need_test_module();
void need_load_module();

/// Writes a count to a file of the helper module: "run", "burst", "storm".
void call_functions(const std::string &file, std::uint64_t count);
std::uint64_t storm_calls();

/// What argtrace_load does on each CPU (see argtrace_load.c), and how many calls it has made in all. Where modules have no NMIs, run_load()
/// asks for none.
struct Load {
    unsigned calls = 1000;
    unsigned period_ns = 100000;
    unsigned burst = 1;
    unsigned nmis = 0;
    unsigned nmi_burst = 1;
};
struct LoadCalls {
    std::uint64_t process = 0, interrupt = 0, nmi = 0, writer = 0;
};
void run_load(const Load &load);

/// Has argtrace_load call al_writer() that often in this thread.
void call_from_here(std::uint64_t count);

LoadCalls load_calls();

std::string read_file(const std::string &path);

/// As `uname -r` has it.
std::string kernel_release();

/// Whether some ftrace user has armed the function.
bool is_armed(const std::string &function);

/// Whether `condition` comes true within two minutes.
bool eventually(const std::function<bool()> &condition);

/// Unloads argtrace as soon as nothing uses it. If that does not happen, the failure has what the log says of it.
void unload_argtrace();

/// The seed of randomised tests, which print it: ARGTRACE_TEST_SEED, or a new one each time.
std::uint64_t test_seed();

/// Whether randomised tests run longer: ARGTRACE_TEST_LONG.
bool is_long_run();

/// The number of steps of tests that could go on for ever: ARGTRACE_STRESS_STEPS.
std::uint64_t stress_steps(std::uint64_t otherwise);

/// The rounds of a test that waits for things to meet: few, as `make check` has several kernels; more where each access to memory is
/// checked, and in a long run elsewhere. ARGTRACE_STRESS_STEPS takes precedence.
std::uint64_t rounds_until_they_meet(std::uint64_t usual, std::uint64_t on_sanitizer_kernel, std::uint64_t in_long_run);

/// Whether the kernel checks every memory access and every lock (scripts/config/kasan.config), which
/// makes it ten times as slow.
bool is_sanitizer_kernel();

/// The number of CPUs, all of which are present and online.
unsigned cpu_count();

void pin_to_cpu(unsigned cpu);
void unpin();

/// Gives up root for the user and group nobody; false if that fails.
bool become_nobody();

/// A child that runs `body` until it is killed, which the destructor does.
class Child {
public:
    explicit Child(const std::function<void()> &body);
    ~Child() { kill_and_wait(); }
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    /// Fails the test if the child has died of itself.
    void kill_and_wait();

private:
    pid_t pid_;
};

/// Reads /dev/zero byte by byte for ever: a hundred calls of vfs_read, a pause of a millisecond, and so on.
void hammer_vfs_read();

} // namespace vmtest
