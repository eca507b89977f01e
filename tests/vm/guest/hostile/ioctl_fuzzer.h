// SPDX-License-Identifier: GPL-2.0-only
// Random but structured use of /dev/argtrace: ioctls that are right, nearly right or nonsense,
// maps, polls, forks, files handed around. Several may work on the same files at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "support/device.h"

namespace vmtest {

/// What fuzzers work on together: open files, of which each may be closed at any time.
struct FuzzFiles {
    std::array<std::atomic<int>, 6> fds;

    FuzzFiles() {
        for (auto &fd : fds)
            fd = -1;
    }
    void close_all();
};

/// Functions to trace: those of the test modules, and any of the kernel.
struct FuzzTargets {
    std::vector<std::uint64_t> known, any, tracepoints, syscalls;

    FuzzTargets();
};

/// Consecutive pages, followed by one that cannot be accessed.
class FuzzMemory {
public:
    static constexpr std::size_t size = 64 << 10;

    FuzzMemory();
    ~FuzzMemory();
    FuzzMemory(const FuzzMemory &) = delete;
    FuzzMemory &operator=(const FuzzMemory &) = delete;

    unsigned char *begin() const { return begin_; }
    unsigned char *end() const { return begin_ + size; }
    const void *readonly() const { return end() + 4096; }

private:
    unsigned char *begin_;
};

class IoctlFuzzer {
public:
    /// `alone`: nobody else uses the files or the memory, so that more is known of what a call
    /// answers.
    IoctlFuzzer(std::uint64_t seed, FuzzFiles &files, const FuzzTargets &targets,
                FuzzMemory &memory, bool alone);
    ~IoctlFuzzer();
    IoctlFuzzer(const IoctlFuzzer &) = delete;
    IoctlFuzzer &operator=(const IoctlFuzzer &) = delete;

    void step();

    /// The first answer that the ABI header does not document; "" if there was none.
    const std::string &fault() const { return fault_; }
    std::uint64_t calls() const { return calls_; }
    std::uint64_t successes() const { return successes_; }

private:
    using Step = void (IoctlFuzzer::*)();
    struct Weighted {
        unsigned weight;
        Step step;
    };
    static const Weighted steps_[];

    // The kinds of steps.
    void open_file();
    void close_file();
    void dup_file();
    void info();
    void session();
    void session_remove();
    void add();
    void remove();
    void list();
    void in_flight();
    void user_file();
    void reader();
    void on_load();
    void on_load_remove();
    void on_load_list();
    void symbol();
    void make_map();
    void stacks();
    void unknown_ioctl();
    void map();
    void use_map();
    void drop_map();
    void poll_file();
    void poll_by_epoll();
    void fork_child();
    void hand_over();
    void other_calls();
    void call_functions();
    void change_modules();

    std::uint64_t random(std::uint64_t below) { return random_() % below; }
    bool one_in(unsigned n) { return random(n) == 0; }
    template<typename T>
    T one_of(std::initializer_list<T> choices) {
        return choices.begin()[random(choices.size())];
    }

    std::size_t slot() { return random(files_.fds.size()); }
    int fd();
    void keep(int fd);

    /// Sends a struct from somewhere, of its size or nearly so.
    template<typename T>
    int call(const char *name, unsigned long request, T value, std::initializer_list<int> errors);
    void check(const char *name, int error, std::initializer_list<int> expected);
    void *place(const void *value, std::size_t size);
    __u64 buffer(__u64 *length);

    std::uint64_t address();
    RawProbe probe();
    RawProbe stack_probe();
    argtrace_arg argument();
    std::vector<std::byte> probes(std::uint32_t *count, bool on_load);
    void set_name(char *name);
    void set_module(char *name);

    struct Map {
        unsigned char *at;
        std::size_t size;
        bool writable;
    };

    std::mt19937_64 random_;
    FuzzFiles &files_;
    const FuzzTargets &targets_;
    FuzzMemory &memory_;
    bool alone_;
    bool is_child_ = false;
    int fresh_ = -1; ///< a file that was just opened, while it is bound
    std::vector<Map> maps_;
    int scratch_; ///< a file in memory: what is read from or written to it goes through the kernel
    std::string fault_;
    std::uint64_t calls_ = 0, successes_ = 0;
};

} // namespace vmtest
