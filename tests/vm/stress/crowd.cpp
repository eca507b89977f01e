// SPDX-License-Identifier: GPL-2.0-only
#include "crowd.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "device.h"
#include "machine.h"

namespace vmtest {

Tally::Tally(std::vector<std::string> kinds)
    : kinds_(std::move(kinds)),
      cells_(static_cast<Cell *>(mmap(nullptr, kinds_.size() * sizeof(Cell),
                                      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                                      0))) {}

Tally::~Tally() { munmap(cells_, kinds_.size() * sizeof(Cell)); }

void Tally::add(unsigned kind, bool granted) {
    __atomic_add_fetch(granted ? &cells_[kind].granted : &cells_[kind].refused, 1,
                       __ATOMIC_RELAXED);
}

void Tally::print() const {
    for (std::size_t i = 0; i < kinds_.size(); i++)
        std::printf("  %-16s %8llu granted %8llu refused\n", kinds_[i].c_str(),
                    static_cast<unsigned long long>(cells_[i].granted),
                    static_cast<unsigned long long>(cells_[i].refused));
}

void Tally::expect_all_granted() const {
    for (std::size_t i = 0; i < kinds_.size(); i++)
        EXPECT_GT(cells_[i].granted, 0u) << kinds_[i] << " was never granted";
}

void run_processes(unsigned count, const std::function<void(unsigned)> &body) {
    std::vector<pid_t> children;
    std::fflush(nullptr);
    for (unsigned number = 0; number < count; number++) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            body(number);
            std::fflush(nullptr);
            _exit(testing::Test::HasFailure() ? 1 : 0);
        }
        children.push_back(child);
    }
    for (pid_t child : children) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << "process " << child;
    }
}

std::vector<std::uint64_t> target_addresses() {
    std::vector<std::uint64_t> addresses;
    for (const char *name : {"at_none", "at_two", "at_four", "at_six", "at_eight", "vfs_read",
                             "vfs_write", "vfs_statfs", "vfs_getattr", "vfs_open"})
        addresses.push_back(address_of(name));
    return addresses;
}

void expect_nothing_left(const std::vector<std::string> &sessions) {
    need_argtrace();
    for (const std::string &name : sessions)
        remove_session(name);
    argtrace_info info{};
    info.size = sizeof(info);
    ASSERT_EQ(RawDevice().call(ARGTRACE_IOC_INFO, &info), 0);
    EXPECT_EQ(info.nr_sessions, 0u);
    EXPECT_EQ(info.memory_used, 0u);
    EXPECT_EQ(read_file("/sys/kernel/tracing/enabled_functions"), "");
    EXPECT_EQ(unload_module("argtrace"), 0);
    need_argtrace();
}

} // namespace vmtest
