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

/// Loads argtrace (from the guest's module folder) and the helper, unless they are.
void need_argtrace();
void need_test_module();

/// Writes a count to a file of the helper module: "run", "burst", "storm".
void call_functions(const std::string &file, std::uint64_t count);
std::uint64_t storm_calls();

std::string read_file(const std::string &path);

/// Whether some ftrace user has armed the function.
bool is_armed(const std::string &function);

/// Whether `condition` comes true within some seconds.
bool eventually(const std::function<bool()> &condition);

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

/// Reads /dev/zero byte by byte for ever: calls vfs_read as fast as it can.
void hammer_vfs_read();

} // namespace vmtest
