// SPDX-License-Identifier: GPL-2.0-only
// Whether the returns of our trampolines are those that the kernel has every return be on this machine.
#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/klog.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "support/architecture.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

/// Bytes of the kernel's memory, from /proc/kcore.
std::string kernel_bytes(std::uint64_t begin, std::size_t size) {
    const int file = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
    Elf64_Ehdr header{};
    std::string bytes(size, '\0');
    bool found = false;
    if (pread(file, &header, sizeof(header), 0) == sizeof(header)) {
        std::vector<Elf64_Phdr> segments(header.e_phnum);
        const auto length = static_cast<ssize_t>(segments.size() * sizeof(Elf64_Phdr));
        if (pread(file, segments.data(), length, header.e_phoff) == length) {
            for (const Elf64_Phdr &segment : segments) {
                if (segment.p_type != PT_LOAD || begin < segment.p_vaddr || begin + size > segment.p_vaddr + segment.p_memsz)
                    continue;
                const off_t at = segment.p_offset + (begin - segment.p_vaddr);
                found = pread(file, bytes.data(), size, at) == static_cast<ssize_t>(size);
                break;
            }
        }
    }
    close(file);
    EXPECT_TRUE(found) << "/proc/kcore does not have the trampolines";
    return bytes;
}

/// What the kernel's log says returns go through, the last time it says so; "" where they are plain ones.
std::string return_thunk() {
    constexpr int read_all = 3, size_of_buffer = 10;
    constexpr std::string_view said = "active return thunk: ";
    std::string log(klogctl(size_of_buffer, nullptr, 0), '\0');
    log.resize(klogctl(read_all, log.data(), static_cast<int>(log.size())));
    const std::size_t at = log.rfind(said);
    if (at == log.npos)
        return "";
    const std::size_t begin = at + said.size();
    return log.substr(begin, log.find('\n', begin) - begin);
}

TEST(Branches, returns_are_those_that_the_kernel_wants) {
    if (is_arm64)
        GTEST_SKIP() << "returns go through thunks on x86-64 alone";
    need_argtrace();
    if (access("/proc/kcore", R_OK) != 0)
        GTEST_SKIP() << "this kernel has no /proc/kcore";
    const std::uint64_t begin = address_of("argtrace_return_text"), end = address_of("argtrace_return_text_end");
    ASSERT_LT(begin, end);
    const std::string text = kernel_bytes(begin, end - begin), thunk = return_thunk();
    const std::uint64_t target = thunk.empty() ? 0 : address_of(thunk);

    // A return is five bytes: a jump to a thunk, or RET and INT3.
    constexpr std::size_t size = 5;
    unsigned plain = 0, through_thunk = 0;
    for (std::size_t i = 0; i + size <= text.size(); i++) {
        std::int32_t distance = 0;
        memcpy(&distance, &text[i + 1], sizeof(distance));
        plain += text.compare(i, size, "\xc3\xcc\xcc\xcc\xcc") == 0;
        through_thunk += target && text[i] == '\xe9' && begin + i + size + distance == target;
    }
    // Only those in the lower half of a cache line go through this one.
    if (thunk != "its_return_thunk") {
        EXPECT_EQ(plain == 0, !thunk.empty());
    }
    EXPECT_EQ(through_thunk != 0, !thunk.empty());
    printf("%u returns by RET, %u through %s\n", plain, through_thunk, thunk.empty() ? "no thunk" : thunk.c_str());
}

} // namespace
} // namespace vmtest
