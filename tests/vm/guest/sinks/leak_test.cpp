// SPDX-License-Identifier: GPL-2.0-only
// Whoever has a session's rings mapped finds nothing in them that the records do not say, wherever he looks: of the traced
// process above all, not what follows a text.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

constexpr std::uint32_t leak_packet_size = 65536, leak_nr_packets = 2;
constexpr std::size_t leak_packets = std::size_t{leak_packet_size} * leak_nr_packets;
constexpr std::size_t leak_page = 4096;
constexpr const char *canary = "no-part-of-any-argument";

/// The text at the second argument of do_sys_openat2(), the name of the file.
RawProbe names_of_files() {
    RawProbe probe = RawProbe::words(address_of("do_sys_openat2"), 0, "do_sys_openat2");
    argtrace_arg name{};
    name.loc = ARGTRACE_LOC_PROGRAM;
    name.type = ARGTRACE_TYPE_STR;
    name.size = 256;
    probe.args.push_back(name);
    argtrace_program head{};
    head.nr_insns = 1;
    argtrace_insn insn{};
    insn.source = ARGTRACE_SOURCE_REG;
    insn.index = 1;
    insn.action = ARGTRACE_DO_STR;
    insn.flags = ARGTRACE_INSN_USER_DATA;
    insn.arg = 256;
    insn.mask = ~std::uint64_t{0};
    probe.program.resize(sizeof(head) + sizeof(insn));
    memcpy(probe.program.data(), &head, sizeof(head));
    memcpy(probe.program.data() + sizeof(head), &insn, sizeof(insn));
    return probe.seal();
}

class Leaks : public testing::TestWithParam<std::uint32_t> {
protected:
    void SetUp() override {
        need_argtrace();
        text_ = static_cast<char *>(
            mmap(nullptr, 2 * leak_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        ASSERT_NE(text_, MAP_FAILED);
        ASSERT_EQ(mprotect(text_ + leak_page, leak_page, PROT_NONE), 0);
        ASSERT_EQ(device_.session("", leak_packet_size, leak_nr_packets, 0, GetParam()), 0);
        ASSERT_EQ(device_.add(names_of_files().bytes(), 1), 0);
    }
    void TearDown() override { munmap(text_, 2 * leak_page); }

    std::uint64_t faults() const { return device_.counts().at(0).faults; }

    RawDevice device_;
    char *text_ = nullptr;
};

TEST_P(Leaks, what_follows_a_text_of_the_process) {
    for (std::size_t length = 1; length < 70; ++length) {
        memset(text_, 0, leak_page);
        memset(text_, '/', length);
        strcpy(text_ + length + 1, canary);
        open(text_, O_RDONLY | O_DIRECTORY);
        EXPECT_EQ(rings_that_have(device_, canary, leak_packets), 0u) << length;
    }
    // It is found where it is a part of the argument.
    open(canary, O_RDONLY);
    EXPECT_NE(rings_that_have(device_, canary, leak_packets), 0u);
}

TEST_P(Leaks, what_precedes_memory_that_cannot_be_read) {
    for (std::size_t length : {std::size_t{30}, std::size_t{70}, std::size_t{200}}) {
        memset(text_, '/', leak_page);
        memcpy(text_ + leak_page - length, canary, strlen(canary));
        const std::uint64_t before = faults();
        open(text_ + leak_page - length, O_RDONLY);
        EXPECT_EQ(faults(), before + 1);
        EXPECT_EQ(rings_that_have(device_, canary, leak_packets), 0u) << length;
    }
}

INSTANTIATE_TEST_SUITE_P(Sessions, Leaks, testing::Values(0u, ARGTRACE_SESSION_FLIGHT),
                         [](const testing::TestParamInfo<std::uint32_t> &session) {
                             return session.param ? "Flight" : "Stream";
                         });

} // namespace
} // namespace vmtest
