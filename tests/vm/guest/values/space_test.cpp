// SPDX-License-Identifier: GPL-2.0-only
// A program that passes addresses of the kernel's to system calls is not told what is there, and neither is whoever traces it: what
// a system call takes is the program's, and so is all that its memory points to.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

constexpr long syscalls_end = 512;
constexpr std::size_t space_page = 4096;

/// What linux_banner begins with, in memory of the kernel's alone.
constexpr const char *secret = "Linux version ";
constexpr const char *snapshot_path = "/tmp/spaces.dat";
constexpr const char *own_text = "text-of-the-program";

/// These make other processes, which would go on with the test.
constexpr std::array forking{
#ifdef __x86_64__
    SYS_fork, SYS_vfork,
#endif
    SYS_clone, SYS_clone3};

std::uint64_t address_of_banner() {
    for (const KernelSymbol &symbol : kernel_symbols()) {
        if (symbol.name == "linux_banner")
            return symbol.addr;
    }
    ADD_FAILURE() << "the kernel does not list linux_banner";
    return 0;
}

/// Makes the system call with these arguments in a process of nobody's, which is ended if it does not return. The process has used
/// its `own` two pages before: what is not in memory is not read.
void call_as_nobody(long number, const std::array<std::uint64_t, 6> &args, const volatile char *own) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const int nothing = open("/dev/null", O_RDWR);
        dup2(nothing, 0);
        dup2(nothing, 1);
        dup2(nothing, 2);
        setpgid(0, 0);
        (void)own[0];
        (void)own[space_page];
        if (!become_nobody())
            _exit(1);
        alarm(1);
        syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
        _exit(0);
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        // As a signal that is blocked, or ignored, does not end it.
        if (std::chrono::steady_clock::now() > end)
            kill(child, SIGKILL);
        const timespec pause{0, 200'000};
        nanosleep(&pause, nullptr);
    }
}

class Spaces : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        run({"argtrace", "clear"});
        banner_ = address_of_banner();
    }
    void TearDown() override { run({"argtrace", "clear"}); }

    /// The banner, as text and as the numbers that its first bytes are, for a pointer to a number shows one.
    static std::vector<std::string> forms_of_the_secret() {
        std::uint64_t word = 0;
        std::uint32_t half = 0;
        memcpy(&word, secret, sizeof(word));
        memcpy(&half, secret, sizeof(half));
        char hex[32];
        snprintf(hex, sizeof(hex), "%llx", static_cast<unsigned long long>(word));
        return {secret, std::to_string(word), std::to_string(half), hex};
    }

    /// In what is shown and saved of the flight recorder, and in the rings, as they are mapped.
    static void expect_own_text_alone() {
        const Outcome saved = run({"argtrace", "snapshot", "-o", snapshot_path});
        ASSERT_EQ(saved.status, 0) << saved.err;
        for (const char *how : {"--no-header", "--json"}) {
            const Outcome shown = run({"argtrace", "report", how, snapshot_path});
            EXPECT_EQ(shown.status, 0) << shown.err;
            for (const std::string &form : forms_of_the_secret())
                EXPECT_EQ(shown.out.find(form), std::string::npos) << form;
            EXPECT_NE(shown.out.find(own_text), std::string::npos);
        }
        EXPECT_EQ(read_file(snapshot_path).find(secret), std::string::npos);
        EXPECT_NE(read_file(snapshot_path).find(own_text), std::string::npos);

        RawDevice device;
        argtrace_session_attr attr{};
        attr.size = sizeof(attr);
        strcpy(attr.name, "default");
        ASSERT_EQ(device.call(ARGTRACE_IOC_SESSION, &attr), 0);
        const std::size_t packets = std::size_t{attr.packet_size} * attr.nr_packets;
        EXPECT_EQ(rings_that_have(device, secret, packets), 0u);
        EXPECT_NE(rings_that_have(device, own_text, packets), 0u);
    }

    std::uint64_t banner_ = 0;
};

TEST_F(Spaces, of_all_that_system_calls_take) {
    // On two pages of its own: pointers to the secret, and text.
    char *own = static_cast<char *>(
        mmap(nullptr, 2 * space_page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(own, MAP_FAILED);
    for (std::size_t at = 0; at < space_page; at += sizeof(banner_))
        memcpy(own + at, &banner_, sizeof(banner_));
    strcpy(own + space_page, own_text);
    const std::uint64_t addresses[] = {
        banner_,
        banner_ + 6,
        0xffffffffff5fc000, // registers of the local APIC, behind its fixed mapping
        0x800000000000,     // not canonical
        0x1000,             // not mapped
        reinterpret_cast<std::uintptr_t>(own),
        reinterpret_cast<std::uintptr_t>(own + space_page),
    };
    // Each call takes one of them, and in a long run each of them.
    const std::size_t rounds = is_long_run() ? std::size(addresses) : 1;
    for (std::size_t round = 0; round < rounds; ++round) {
        SCOPED_TRACE(round);
        run({"argtrace", "clear"});
        const Outcome added = run({"argtrace", "add", "--flight", "-b", "2M", "-d", "s:*"});
        ASSERT_EQ(added.status, 0) << added.err;
        for (long number = 0; number < syscalls_end; ++number) {
            // uname() writes what the banner begins with to the memory of the program.
            if (number == SYS_uname || std::find(forking.begin(), forking.end(), number) != forking.end())
                continue;
            const std::uint64_t address = addresses[(static_cast<std::size_t>(number) + round) % std::size(addresses)];
            call_as_nobody(number, {address, address, address, address, address, address}, own);
        }
        for (const long number : {SYS_openat, SYS_write, SYS_execve, SYS_futex, SYS_connect, SYS_sendmsg, SYS_readv, SYS_nanosleep}) {
            for (const std::uint64_t address : addresses)
                call_as_nobody(number, {address, address, address, address, address, address}, own);
        }
        expect_own_text_alone();
    }
    munmap(own, 2 * space_page);
}

} // namespace
} // namespace vmtest
