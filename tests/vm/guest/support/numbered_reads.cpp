// SPDX-License-Identifier: GPL-2.0-only
#include "support/numbered_reads.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace vmtest {

namespace {

// What is above it says which one it is.
constexpr std::size_t first_count = 0x51a70000;

} // namespace

void call_vfs_read(int fd, std::size_t number) {
    syscall(SYS_read, fd, nullptr, first_count + number);
}

std::size_t number_of(const nlohmann::ordered_json &event) {
    return event["args"]["count"].get<std::size_t>() - first_count;
}

} // namespace vmtest
