// SPDX-License-Identifier: GPL-2.0-only
// Bad ioctls and mmaps: each refused with the errno the ABI header documents, nothing changed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <thread>

#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

/// Every ioctl with its struct's size, as a correct caller would pass it.
struct SizedCall {
    const char *name;
    unsigned long request;
    std::uint32_t size;
};

const SizedCall sized_calls[] = {
    {"INFO", ARGTRACE_IOC_INFO, ARGTRACE_INFO_SIZE_V1},
    {"SESSION", ARGTRACE_IOC_SESSION, ARGTRACE_SESSION_SIZE_V1},
    {"SESSION_REMOVE", ARGTRACE_IOC_SESSION_REMOVE, ARGTRACE_SESSION_REMOVE_SIZE_V1},
    {"PROBE_ADD", ARGTRACE_IOC_PROBE_ADD, ARGTRACE_PROBE_ADD_SIZE_V1},
    {"PROBE_REMOVE", ARGTRACE_IOC_PROBE_REMOVE, ARGTRACE_PROBE_REMOVE_SIZE_V1},
    {"PROBE_LIST", ARGTRACE_IOC_PROBE_LIST, ARGTRACE_LIST_SIZE_V1},
    {"COUNTS", ARGTRACE_IOC_COUNTS, ARGTRACE_LIST_SIZE_V1},
    {"RETURN_COUNTS", ARGTRACE_IOC_RETURN_COUNTS, ARGTRACE_LIST_SIZE_V1},
    {"IN_FLIGHT", ARGTRACE_IOC_IN_FLIGHT, ARGTRACE_IN_FLIGHT_SIZE_V1},
    {"READER", ARGTRACE_IOC_READER, ARGTRACE_READER_SIZE_V1},
    {"ON_LOAD", ARGTRACE_IOC_ON_LOAD, ARGTRACE_ON_LOAD_SIZE_V1},
    {"ON_LOAD_REMOVE", ARGTRACE_IOC_ON_LOAD_REMOVE, ARGTRACE_ON_LOAD_REMOVE_SIZE_V1},
    {"ON_LOAD_LIST", ARGTRACE_IOC_ON_LOAD_LIST, ARGTRACE_LIST_SIZE_V1},
    {"PROCESSES", ARGTRACE_IOC_PROCESSES, ARGTRACE_PROCESS_FILTER_SIZE_V1},
    {"PROCESSES_LIST", ARGTRACE_IOC_PROCESSES_LIST, ARGTRACE_PROCESS_FILTER_SIZE_V1},
    {"STACKS", ARGTRACE_IOC_STACKS, ARGTRACE_STACKS_SIZE_V1},
    {"SYMBOL", ARGTRACE_IOC_SYMBOL, ARGTRACE_SYMBOL_SIZE_V1},
    {"MAP", ARGTRACE_IOC_MAP, ARGTRACE_MAP_SIZE_V1},
    {"USER_FILE", ARGTRACE_IOC_USER_FILE, ARGTRACE_USER_FILE_SIZE_V1},
};

class Refusals : public testing::Test {
protected:
    void SetUp() override {
        target_ = address_of("vfs_fsync_range");
        ASSERT_EQ(device_.session(), 0);
        ASSERT_EQ(device_.add(RawProbe::words(address_of("vfs_statfs"), 2).bytes(), 1), 0);
        before_ = device_.fingerprint();
    }

    void TearDown() override { EXPECT_EQ(device_.fingerprint(), before_); }

    void refuse(const RawProbe &probe, int error) {
        EXPECT_EQ(device_.add(probe.bytes(), 1), error);
    }

    RawDevice device_;
    std::uint64_t target_ = 0;
    std::string before_;
};

TEST_F(Refusals, structs_too_short_and_too_long) {
    for (const SizedCall &call : sized_calls) {
        alignas(8) unsigned char arg[8192] = {};
        auto with_size = [&](std::uint32_t size) {
            memcpy(arg, &size, sizeof(size));
            // This file is bound already, so that SESSION does not create another session.
            return device_.call(call.request, arg);
        };
        EXPECT_EQ(with_size(0), EINVAL) << call.name;
        EXPECT_EQ(with_size(call.size - 1), EINVAL) << call.name;
        EXPECT_EQ(with_size(8192), E2BIG) << call.name;
        EXPECT_EQ(with_size(0xffffffff), E2BIG) << call.name;
        arg[call.size + 100] = 1;
        EXPECT_EQ(with_size(call.size + 128), E2BIG) << call.name << " with an unknown tail";
        EXPECT_EQ(device_.call(call.request, nullptr), EFAULT) << call.name;
    }
}

TEST_F(Refusals, a_longer_struct_with_a_zero_tail_is_taken) {
    alignas(8) unsigned char arg[512] = {};
    const std::uint32_t size = sizeof(arg);
    memcpy(arg, &size, sizeof(size));
    ASSERT_EQ(device_.call(ARGTRACE_IOC_INFO, arg), 0);
    argtrace_info info;
    memcpy(&info, arg, sizeof(info));
    EXPECT_EQ(info.api_version, ARGTRACE_API_VERSION);
    EXPECT_EQ(info.record_version, ARGTRACE_RECORD_VERSION);
}

TEST_F(Refusals, unknown_ioctls) {
    char arg[64] = {};
    EXPECT_EQ(device_.call(_IOWR(ARGTRACE_IOC_MAGIC, 99, __u32), arg), ENOTTY);
    EXPECT_EQ(device_.call(_IOWR(ARGTRACE_IOC_MAGIC, 0, __u64), arg), ENOTTY);
    EXPECT_EQ(device_.call(TCGETS, arg), ENOTTY);
}

TEST_F(Refusals, without_a_session) {
    RawDevice bare;
    EXPECT_EQ(bare.add(RawProbe::words(target_, 1).bytes(), 1), EBADFD);
    EXPECT_EQ(bare.remove_all(), EBADFD);
    EXPECT_EQ(bare.reader(), EBADFD);
    argtrace_list list{};
    list.size = sizeof(list);
    EXPECT_EQ(bare.call(ARGTRACE_IOC_PROBE_LIST, &list), EBADFD);
    EXPECT_EQ(bare.call(ARGTRACE_IOC_COUNTS, &list), EBADFD);
    EXPECT_EQ(bare.call(ARGTRACE_IOC_RETURN_COUNTS, &list), EBADFD);
    argtrace_process_filter filter{};
    filter.size = sizeof(filter);
    EXPECT_EQ(bare.call(ARGTRACE_IOC_PROCESSES, &filter), EBADFD);
    EXPECT_EQ(bare.call(ARGTRACE_IOC_PROCESSES_LIST, &filter), EBADFD);
    argtrace_map map{};
    map.size = sizeof(map);
    EXPECT_EQ(bare.call(ARGTRACE_IOC_MAP, &map), EBADFD);
    argtrace_stacks stacks{};
    stacks.size = sizeof(stacks);
    EXPECT_EQ(bare.call(ARGTRACE_IOC_STACKS, &stacks), EBADFD);
    argtrace_in_flight in_flight{};
    in_flight.size = sizeof(in_flight);
    EXPECT_EQ(bare.call(ARGTRACE_IOC_IN_FLIGHT, &in_flight), EBADFD);
    EXPECT_EQ(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, bare.fd(), 0), MAP_FAILED);
    EXPECT_EQ(errno, EBADFD);
}

TEST_F(Refusals, sessions) {
    EXPECT_EQ(device_.session(), EBUSY) << "bound already";

    RawDevice other;
    const std::function<int(std::function<void(argtrace_session_attr &)>)> attach =
        [&](const std::function<void(argtrace_session_attr &)> &spoil) {
            argtrace_session_attr attr{};
            attr.size = sizeof(attr);
            spoil(attr);
            return other.call(ARGTRACE_IOC_SESSION, &attr);
        };
    EXPECT_EQ(attach([](auto &a) { a.flags = 0x80; }), EINVAL);
    EXPECT_EQ(attach([](auto &a) { a.format = 0x80; }), EINVAL);
    EXPECT_EQ(attach([](auto &a) { a.clock = 2; }), EINVAL);
    EXPECT_EQ(attach([](auto &a) { a.clock = ARGTRACE_CLOCK_BEST - 1; }), EINVAL);
    EXPECT_EQ(attach([](auto &a) { a.nr_cpus = 1; }), EINVAL) << "the module says how many";
    EXPECT_EQ(attach([](auto &a) { a.reserved = 1; }), EINVAL);
    EXPECT_EQ(attach([](auto &a) { a.packet_size = 3000; }), EINVAL);
    EXPECT_EQ(attach([](auto &a) { a.packet_size = 12288; }), EINVAL);
    EXPECT_EQ(attach([](auto &a) { a.packet_size = 1u << 31; }), EINVAL);
    EXPECT_EQ(attach([](auto &a) { a.nr_packets = 1; }), EINVAL);
    EXPECT_EQ(attach([](auto &a) { a.nr_packets = 3; }), EINVAL);
    EXPECT_EQ(attach([](auto &a) { a.nr_packets = 1u << 30; }), EINVAL);
    EXPECT_EQ(attach([](auto &a) { a.packet_size = 1u << 20, a.nr_packets = 1u << 14; }), ENOSPC);
    EXPECT_EQ(attach([](auto &a) { memset(a.name, 'x', sizeof(a.name)); }), EINVAL);
    EXPECT_EQ(attach([](auto &a) { strcpy(a.name, "nobody-made-it"); }), ENOENT);
    EXPECT_EQ(remove_session("nobody-made-it"), ENOENT);
    EXPECT_EQ(remove_session(""), EINVAL);
    EXPECT_EQ(other.session(), 0) << "a refused file can still be bound";
}

TEST_F(Refusals, probe_headers) {
    const RawProbe good = RawProbe::words(target_, 3);
    auto spoiled = [&](auto spoil) {
        RawProbe probe = good;
        spoil(probe.header);
        return probe;
    };
    refuse(spoiled([](auto &h) { h.id = 1; }), EINVAL);
    refuse(spoiled([](auto &h) { h.flags = ARGTRACE_PROBE_REMOVED; }), EINVAL);
    refuse(spoiled([](auto &h) { h.addr = 0; }), EINVAL);
    refuse(spoiled([](auto &h) { h.size += 8; }), EINVAL);
    refuse(spoiled([](auto &h) { h.size -= 8; }), EINVAL);
    refuse(spoiled([](auto &h) { h.size = 0; }), EINVAL);
    refuse(spoiled([](auto &h) { h.size = 0xfffffff8; }), EINVAL);
    refuse(spoiled([](auto &h) { h.nr_args = 0xffff; }), EINVAL);
    refuse(spoiled([](auto &h) { h.strings = 0; }), EINVAL);
    refuse(spoiled([](auto &h) { h.types = 8; }), EINVAL);
    refuse(spoiled([](auto &h) { h.types = 0xffffffff; }), EINVAL);
    refuse(spoiled([](auto &h) { h.kind = 1; }), EINVAL);
    refuse(spoiled([](auto &h) { h.kind = ARGTRACE_KIND_SYSCALL; }), EINVAL);
    refuse(spoiled([](auto &h) { h.kind = 0xffff; }), EINVAL);
    refuse(spoiled([](auto &h) { h.program = 8; }), EINVAL);
    refuse(spoiled([](auto &h) { h.strings = 0xffff; }), EINVAL);
}

TEST_F(Refusals, wild_descriptors) {
    auto spoiled = [&](auto spoil) {
        RawProbe probe = RawProbe::words(target_, 3);
        spoil(probe.args[1]);
        return probe;
    };
    refuse(spoiled([](auto &a) { a.loc = 200; }), EINVAL);
    refuse(spoiled([](auto &a) { a.loc = ARGTRACE_LOC_REF; }), EINVAL);
    refuse(spoiled([](auto &a) { a.loc = ARGTRACE_LOC_REG_PAIR; }), EINVAL);
    refuse(spoiled([](auto &a) { a.type = ARGTRACE_TYPE_BYTES, a.size = 9; }), EINVAL);
    refuse(spoiled([](auto &a) { a.type = ARGTRACE_TYPE_BYTES, a.size = 0; }), EINVAL);
    refuse(spoiled([](auto &a) { a.type = ARGTRACE_TYPE_U128, a.size = 16; }), EINVAL);
    for (const unsigned index : {argument_registers, ARGTRACE_REG_MAX - 1u, ARGTRACE_REG_MAX + 0u, 255u})
        refuse(spoiled([index](auto &a) { a.index = static_cast<std::uint8_t>(index); }), EINVAL);
    RawDevice other;
    ASSERT_EQ(other.session(), 0);
    EXPECT_EQ(other.add(spoiled([](auto &a) { a.index = argument_registers - 1; }).bytes(), 1), 0);
    refuse(spoiled([](auto &a) { a.type = ARGTRACE_TYPE_END; }), EINVAL);
    refuse(spoiled([](auto &a) { a.type = ARGTRACE_TYPE_STR; }), EINVAL);
    refuse(spoiled([](auto &a) { a.type = 250; }), EINVAL);
    refuse(spoiled([](auto &a) { a.size = 4; }), EINVAL);
    refuse(spoiled([](auto &a) { a.size = 0x80000000; }), EINVAL);
    refuse(spoiled([](auto &a) { a.offset = 8; }), EINVAL);
    refuse(spoiled([](auto &a) { a.flags = 1; }), EINVAL);
    refuse(spoiled([](auto &a) { a.name = 0xffff; }), EINVAL);
    refuse(spoiled([](auto &a) { a.type_name = 0xffff; }), EINVAL);
    refuse(spoiled([](auto &a) { a.loc = ARGTRACE_LOC_NONE; }), EINVAL);
}

TEST_F(Refusals, wild_places) {
    const auto placed = [&](std::uint8_t loc, std::uint8_t index, std::uint8_t type,
                            std::uint32_t size, std::uint32_t offset) {
        RawProbe probe = RawProbe::words(target_, 1);
        argtrace_arg &arg = probe.args[0];
        arg.loc = loc, arg.index = index, arg.type = type, arg.size = size, arg.offset = offset;
        return probe;
    };
    constexpr auto stack = ARGTRACE_LOC_STACK, pair = ARGTRACE_LOC_REG_PAIR;
    constexpr auto bytes = ARGTRACE_TYPE_BYTES, u64 = ARGTRACE_TYPE_U64;
    refuse(placed(stack, 1, u64, 8, 8), EINVAL);
    if (stack_arguments > 0)
        refuse(placed(stack, 0, u64, 8, stack_arguments - 8), EINVAL);
    refuse(placed(stack, 0, u64, 8, 12), EINVAL);
    refuse(placed(stack, 0, u64, 4, 8), EINVAL);
    refuse(placed(stack, 0, u64, 8, ARGTRACE_STACK_MAX), EINVAL);
    refuse(placed(stack, 0, u64, 8, 0xfffffff8), EINVAL);
    refuse(placed(stack, 0, bytes, ARGTRACE_BYTES_MAX + 1, 8), EINVAL);
    refuse(placed(stack, 0, bytes, 1024, ARGTRACE_STACK_MAX - 1016), EINVAL);
    refuse(placed(stack, 0, bytes, 0xffffffff, 8), EINVAL);
    refuse(placed(pair, argument_registers - 1, bytes, 16, 0), EINVAL);
    refuse(placed(pair, 0, bytes, 8, 0), EINVAL);
    refuse(placed(pair, 0, bytes, 17, 0), EINVAL);
    refuse(placed(pair, 0, bytes, 16, 8), EINVAL);
    refuse(placed(pair, 0, u64, 8, 0), EINVAL);
}

TEST_F(Refusals, strings) {
    RawProbe unterminated = RawProbe::words(target_, 1);
    unterminated.strings.back() = 'x';
    refuse(unterminated, EINVAL);

    RawProbe nameless = RawProbe::words(target_, 1);
    nameless.strings[0] = '\0';
    refuse(nameless, EINVAL);

    RawProbe nameless_arg = RawProbe::words(target_, 1);
    nameless_arg.strings[nameless_arg.args[0].name] = '\0';
    refuse(nameless_arg, EINVAL);

    RawProbe long_name = RawProbe::words(target_, 1);
    long_name.args[0].name = static_cast<std::uint16_t>(long_name.strings.size());
    long_name.strings += std::string(255, 'n') + '\0';
    refuse(long_name.seal(), EINVAL);

    std::vector<std::byte> padded = RawProbe::words(target_, 0, "abcd").bytes();
    padded.back() = std::byte{1};
    EXPECT_EQ(device_.add(padded, 1), EINVAL) << "rubbish in the padding";
}

TEST_F(Refusals, lists_of_probes) {
    const auto one = RawProbe::words(target_, 2).bytes();
    const auto two = RawProbe::words(address_of("vfs_getattr"), 2).bytes();
    auto bad = RawProbe::words(address_of("vfs_read"), 2);
    bad.header.flags = 1;
    std::uint32_t failed = 99;

    EXPECT_EQ(device_.add(one, 0), EINVAL);
    EXPECT_EQ(device_.add(one, 2, &failed), EINVAL) << "more are promised than there are";
    EXPECT_EQ(failed, 1u);
    EXPECT_EQ(device_.add(one + two, 1), EINVAL) << "bytes are left over";
    EXPECT_EQ(device_.add(one, 0xffffffff), E2BIG);
    EXPECT_EQ(device_.add(one + two + bad.bytes(), 3, &failed), EINVAL);
    EXPECT_EQ(failed, 2u);
    EXPECT_EQ(device_.add(one + two + one, 3, &failed), EEXIST);
    EXPECT_EQ(failed, 2u);
    EXPECT_EQ(
        device_.add(two + RawProbe::words(address_of("vfs_statfs"), 2).bytes(), 2, &failed),
        EEXIST);
    EXPECT_EQ(failed, 1u);

    argtrace_probe_add wild{};
    wild.size = sizeof(wild);
    wild.count = 1;
    wild.probes = 0xffffffffff600000;
    wild.length = 4096;
    EXPECT_EQ(device_.call(ARGTRACE_IOC_PROBE_ADD, &wild), EFAULT);
    wild.flags = 1;
    EXPECT_EQ(device_.call(ARGTRACE_IOC_PROBE_ADD, &wild), EINVAL);

    argtrace_probe_add out{};
    out.size = sizeof(out);
    out.count = 1;
    out.probes = reinterpret_cast<std::uintptr_t>(two.data());
    out.length = two.size();
    out.failed = 1;
    EXPECT_EQ(device_.call(ARGTRACE_IOC_PROBE_ADD, &out), EINVAL) << "what the module fills in";
}

TEST_F(Refusals, addresses_at_which_no_function_begins) {
    const auto good = RawProbe::words(target_, 2).bytes();
    std::uint32_t failed = 99;
    for (std::uint64_t addr : {target_ + 7, std::uint64_t{0x1234}, std::uint64_t{1} << 63,
                               ~std::uint64_t{0}, address_of("ftrace_stub")}) {
        EXPECT_EQ(device_.add(good + RawProbe::words(addr, 1).bytes(), 2, &failed), EINVAL)
            << std::hex << addr;
        EXPECT_EQ(failed, 1u);
    }
}

TEST_F(Refusals, a_record_that_fits_no_packet) {
    RawDevice small;
    ASSERT_EQ(small.session("", 4096, 2, ARGTRACE_FORMAT_NAMED), 0);
    RawProbe probe = RawProbe::words(target_, 0);
    for (int i = 0; i < 20; i++) {
        argtrace_arg arg{};
        arg.loc = ARGTRACE_LOC_REG;
        arg.type = ARGTRACE_TYPE_U8;
        arg.size = 1;
        arg.name = static_cast<std::uint16_t>(probe.strings.size());
        probe.strings += std::string(250, 'n') + '\0';
        probe.args.push_back(arg);
    }
    EXPECT_EQ(small.add(probe.seal().bytes(), 1), E2BIG);
    EXPECT_TRUE(small.counts().empty());
}

TEST_F(Refusals, a_program_that_a_call_would_wait_for_too_long) {
    argtrace_insn insn{};
    insn.source = ARGTRACE_SOURCE_REG;
    insn.index = 1;
    insn.action = ARGTRACE_DO_TEXT;
    insn.arg = ARGTRACE_MATCH_MAX;
    insn.mask = ~std::uint64_t{0};
    const std::string glob = "*[" + std::string(250, 'c') + "a]b";
    insn.span = glob.size() | std::uint64_t{ARGTRACE_MATCH_GLOB} << 32;
    const auto probe_of = [&](unsigned globs) {
        argtrace_program head{};
        head.nr_insns = head.nr_filter = static_cast<std::uint16_t>(globs);
        head.sink = ARGTRACE_SINK_COUNT;
        head.data = 256;
        RawProbe probe = RawProbe::words(target_, 2);
        probe.program.resize(sizeof(head) + globs * sizeof(insn) + head.data);
        memcpy(probe.program.data(), &head, sizeof(head));
        for (unsigned i = 0; i < globs; i++) {
            insn.then = static_cast<std::uint8_t>(i + 1 < globs ? i + 1 : ARGTRACE_ACCEPT);
            insn.other = static_cast<std::uint8_t>(i + 1 < globs ? i + 1 : ARGTRACE_REJECT);
            memcpy(probe.program.data() + sizeof(head) + i * sizeof(insn), &insn, sizeof(insn));
        }
        memcpy(probe.program.data() + sizeof(head) + globs * sizeof(insn), glob.data(), glob.size());
        return probe.seal().bytes();
    };
    RawDevice own;
    ASSERT_EQ(own.session(), 0);
    const auto added = [&](const std::vector<std::byte> &probes, std::uint32_t count, argtrace_probe_add &add) {
        add = {};
        add.size = sizeof(add);
        add.probes = reinterpret_cast<std::uintptr_t>(probes.data());
        add.length = probes.size();
        add.count = count;
        return own.call(ARGTRACE_IOC_PROBE_ADD, &add);
    };
    argtrace_probe_add add;
    EXPECT_EQ(added(probe_of(240), 1, add), E2BIG);
    EXPECT_EQ(add.failed, 0u);
    EXPECT_EQ(add.cost, 240 * argtrace_insn_cost(&insn));
    // It is told by those alone that it concerns, and not what is refused for another reason.
    EXPECT_EQ(added(probe_of(1) + probe_of(2), 2, add), E2BIG);
    EXPECT_EQ(add.failed, 1u);
    EXPECT_EQ(add.cost, 2 * argtrace_insn_cost(&insn));
    EXPECT_EQ(added(RawProbe::words(0x1234, 1).bytes(), 1, add), EINVAL);
    EXPECT_EQ(add.cost, 0u);
    EXPECT_TRUE(own.counts().empty());
    EXPECT_EQ(added(probe_of(1), 1, add), 0);
}

TEST_F(Refusals, the_largest_record_is_taken_and_no_larger_one) {
    // A packet must have room for the record and for all that may have to precede it: its own
    // header, the clock and the task.
    constexpr std::uint32_t packet_size = 4096;
    constexpr std::uint32_t largest = packet_size - sizeof(argtrace_packet) -
                                      2 * sizeof(argtrace_record) - sizeof(argtrace_now) -
                                      sizeof(argtrace_task);
    const auto probe_of = [&](std::uint32_t record_size) {
        // Structs on the stack, each with its length, which together are the record's data.
        RawProbe probe = RawProbe::words(target_, 0);
        std::uint32_t left = record_size - sizeof(argtrace_record);
        while (left) {
            argtrace_arg arg{};
            arg.loc = ARGTRACE_LOC_STACK;
            arg.type = ARGTRACE_TYPE_BYTES;
            arg.size = std::min<std::uint32_t>(left - 2, ARGTRACE_BYTES_MAX);
            arg.offset = 8;
            arg.name = static_cast<std::uint16_t>(probe.strings.size());
            probe.strings += std::string("n") + '\0';
            probe.args.push_back(arg);
            left -= arg.size + 2;
        }
        return probe.seal().bytes();
    };
    RawDevice small;
    ASSERT_EQ(small.session("", packet_size, 2, ARGTRACE_FORMAT_NO_CALLER), 0);
    EXPECT_EQ(small.add(probe_of(largest + 8), 1), E2BIG);
    EXPECT_EQ(small.add(probe_of(largest), 1), 0);
}

TEST_F(Refusals, removals) {
    std::uint32_t failed = 99;
    const std::uint64_t there = address_of("vfs_statfs");
    EXPECT_EQ(device_.remove({there, target_}, &failed), ENOENT);
    EXPECT_EQ(failed, 1u);
    EXPECT_EQ(device_.remove({there, there}, &failed), ENOENT);
    EXPECT_EQ(device_.remove({}), EINVAL);

    argtrace_probe_remove remove{};
    remove.size = sizeof(remove);
    remove.flags = 8;
    EXPECT_EQ(device_.call(ARGTRACE_IOC_PROBE_REMOVE, &remove), EINVAL);
    remove.flags = ARGTRACE_REMOVE_ALL;
    remove.count = 1;
    EXPECT_EQ(device_.call(ARGTRACE_IOC_PROBE_REMOVE, &remove), EINVAL);
    remove.flags = 0;
    remove.count = 0xffffffff;
    EXPECT_EQ(device_.call(ARGTRACE_IOC_PROBE_REMOVE, &remove), E2BIG);
    remove.count = 4;
    remove.addrs = 0xffffffffff600000;
    EXPECT_EQ(device_.call(ARGTRACE_IOC_PROBE_REMOVE, &remove), EFAULT);

    const std::uint64_t statfs = there;
    remove.addrs = reinterpret_cast<std::uintptr_t>(&statfs);
    remove.count = 1;
    remove.kind = ARGTRACE_KIND_USER;
    EXPECT_EQ(device_.call(ARGTRACE_IOC_PROBE_REMOVE, &remove), ENOENT) << "the largest kind";
    for (const std::uint16_t kind : {ARGTRACE_KIND_USER + 1, 0xffff}) {
        remove.kind = kind;
        EXPECT_EQ(device_.call(ARGTRACE_IOC_PROBE_REMOVE, &remove), EINVAL) << kind;
    }
    for (std::uint16_t &reserved : remove.reserved) {
        remove.kind = ARGTRACE_KIND_ENTRY;
        reserved = 1;
        EXPECT_EQ(device_.call(ARGTRACE_IOC_PROBE_REMOVE, &remove), EINVAL);
        reserved = 0;
    }
    remove = {sizeof(remove), ARGTRACE_REMOVE_ALL, 0, 0, 0, ARGTRACE_KIND_SYSCALL, {}};
    EXPECT_EQ(device_.call(ARGTRACE_IOC_PROBE_REMOVE, &remove), EINVAL) << "all, and of one kind";
}

TEST_F(Refusals, lists) {
    argtrace_list list{};
    list.size = sizeof(list);
    list.length = 4096;
    list.buffer = 0xffffffffff600000;
    EXPECT_EQ(device_.call(ARGTRACE_IOC_PROBE_LIST, &list), EFAULT);
    list.flags = 8;
    EXPECT_EQ(device_.call(ARGTRACE_IOC_PROBE_LIST, &list), EINVAL);
    list = {};
    list.size = sizeof(list);
    EXPECT_EQ(device_.call(ARGTRACE_IOC_PROBE_LIST, &list), 0) << "no room is no error";
    EXPECT_EQ(list.count, 0u);
    EXPECT_NE(list.next, 0u);

    // Fields that the module fills in must be zero, since they may get a meaning on the way in later.
    for (const unsigned long request :
         {ARGTRACE_IOC_PROBE_LIST, ARGTRACE_IOC_COUNTS, ARGTRACE_IOC_RETURN_COUNTS, ARGTRACE_IOC_ON_LOAD_LIST}) {
        for (std::uint32_t argtrace_list::*const field :
             {&argtrace_list::next, &argtrace_list::count, &argtrace_list::generation}) {
            list = {};
            list.size = sizeof(list);
            list.*field = 1;
            EXPECT_EQ(device_.call(request, &list), EINVAL);
        }
    }
}

TEST_F(Refusals, processes) {
    const auto own = static_cast<std::uint32_t>(getpid());
    const auto ask = [&](std::vector<std::uint32_t> pids,
                         const std::function<void(argtrace_process_filter &)> &spoil = {},
                         std::uint32_t *failed = nullptr) {
        argtrace_process_filter filter{};
        filter.size = sizeof(filter);
        filter.pids = reinterpret_cast<std::uintptr_t>(pids.data());
        filter.count = static_cast<std::uint32_t>(pids.size());
        if (spoil)
            spoil(filter);
        const int error = device_.call(ARGTRACE_IOC_PROCESSES, &filter);
        if (failed)
            *failed = filter.failed;
        return error;
    };
    EXPECT_EQ(ask({own}, [](auto &filter) { filter.flags = 4; }), EINVAL);
    EXPECT_EQ(ask({own}, [](auto &filter) { filter.failed = 1; }), EINVAL);
    EXPECT_EQ(ask({}, [](auto &filter) { filter.pids = 4096; }), EINVAL) << "none, but an address";
    EXPECT_EQ(ask({}, [](auto &filter) {
        filter.pids = 0;
        filter.flags = ARGTRACE_PROCESSES_CHILDREN;
    }), EINVAL) << "nobody's children";
    EXPECT_EQ(ask({own}, [](auto &filter) { filter.pids = 1; }), EFAULT);
    EXPECT_EQ(ask({own}, [](auto &filter) { filter.pids = ~0ull << 47; }), EFAULT);
    EXPECT_EQ(ask(std::vector<std::uint32_t>(ARGTRACE_PROCESSES_MAX + 1, own)), E2BIG);
    EXPECT_EQ(ask({own}, [](auto &filter) { filter.count = 0xffffffff; }), E2BIG);
    for (const std::uint32_t nobody : {0u, 4u << 20, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
        std::uint32_t failed = 0;
        EXPECT_EQ(ask({own, nobody, own}, {}, &failed), ESRCH) << nobody;
        EXPECT_EQ(failed, 1u) << nobody;
    }
    std::uint32_t failed = 0;
    std::atomic<pid_t> tid = 0;
    std::atomic<bool> done = false;
    std::thread thread([&] {
        tid = static_cast<pid_t>(syscall(SYS_gettid));
        while (!done)
            usleep(1000);
    });
    while (!tid)
        usleep(1000);
    EXPECT_EQ(ask({static_cast<std::uint32_t>(tid)}, {}, &failed), ESRCH) << "a thread";
    EXPECT_EQ(failed, 0u);
    done = true;
    thread.join();

    EXPECT_EQ(ask({own}, {}, &failed), EBUSY) << "there is a probe";
    argtrace_process_filter filter{};
    filter.size = sizeof(filter);
    filter.flags = ARGTRACE_PROCESSES_CHILDREN;
    EXPECT_EQ(device_.call(ARGTRACE_IOC_PROCESSES_LIST, &filter), EINVAL);

    RawDevice other;
    ASSERT_EQ(other.session("removed"), 0);
    ASSERT_EQ(remove_session("removed"), 0);
    filter.flags = 0;
    filter.pids = reinterpret_cast<std::uintptr_t>(&own);
    filter.count = 1;
    EXPECT_EQ(other.call(ARGTRACE_IOC_PROCESSES, &filter), ENOENT);
}

TEST_F(Refusals, lists_of_processes) {
    RawDevice device;
    ASSERT_EQ(device.session(), 0);
    std::vector<std::uint32_t> pids(ARGTRACE_PROCESSES_MAX, static_cast<std::uint32_t>(getpid()));
    argtrace_process_filter filter{};
    filter.size = sizeof(filter);
    filter.pids = reinterpret_cast<std::uintptr_t>(pids.data());
    filter.count = ARGTRACE_PROCESSES_MAX;
    ASSERT_EQ(device.call(ARGTRACE_IOC_PROCESSES, &filter), 0) << "as many as there may be";

    std::uint32_t room[3] = {7, 7, 7};
    filter.pids = reinterpret_cast<std::uintptr_t>(room);
    filter.count = 2;
    ASSERT_EQ(device.call(ARGTRACE_IOC_PROCESSES_LIST, &filter), 0);
    EXPECT_EQ(filter.count, ARGTRACE_PROCESSES_MAX);
    EXPECT_EQ(room[1], pids[0]);
    EXPECT_EQ(room[2], 7u) << "behind the room";
    filter.count = 0;
    filter.pids = 1;
    EXPECT_EQ(device.call(ARGTRACE_IOC_PROCESSES_LIST, &filter), 0) << "it only asks how many";
    filter.count = 0xffffffff;
    EXPECT_EQ(device.call(ARGTRACE_IOC_PROCESSES_LIST, &filter), EFAULT);
}

TEST_F(Refusals, mappings) {
    const auto packets = static_cast<off_t>(ARGTRACE_MMAP_OFFSET(0, ARGTRACE_MMAP_PACKETS));
    const auto reader = static_cast<off_t>(ARGTRACE_MMAP_OFFSET(0, ARGTRACE_MMAP_READER));
    auto refused = [&](std::size_t size, int protection, int flags, off_t offset) {
        void *at = mmap(nullptr, size, protection, flags, device_.fd(), offset);
        if (at != MAP_FAILED) {
            munmap(at, size);
            return 0;
        }
        return errno;
    };
    EXPECT_EQ(refused(4096, PROT_READ | PROT_WRITE, MAP_SHARED, packets), EPERM);
    EXPECT_EQ(refused(4096, PROT_READ | PROT_EXEC, MAP_SHARED, packets), EINVAL);
    EXPECT_EQ(refused(4096, PROT_READ, MAP_PRIVATE, packets), EINVAL);
    EXPECT_EQ(refused(4096, PROT_READ, MAP_SHARED, packets + 4096), EINVAL);
    EXPECT_EQ(refused(std::size_t{64} << 20, PROT_READ, MAP_SHARED, packets), EINVAL);
    EXPECT_EQ(refused(4096, PROT_READ, MAP_SHARED, reader), EPERM) << "not the reader";
    for (unsigned region = ARGTRACE_MMAP_PACKETS + 1; region < 16; region++)
        EXPECT_EQ(refused(4096, PROT_READ, MAP_SHARED,
                          static_cast<off_t>(ARGTRACE_MMAP_OFFSET(0, region))),
                  EINVAL)
            << "region " << region;
    EXPECT_EQ(refused(4096, PROT_READ, MAP_SHARED,
                      static_cast<off_t>(ARGTRACE_MMAP_OFFSET(4000, ARGTRACE_MMAP_PACKETS))),
              ENXIO);

    ASSERT_EQ(device_.reader(), 0);
    EXPECT_EQ(refused(8192, PROT_READ | PROT_WRITE, MAP_SHARED, reader), EINVAL);
    EXPECT_EQ(refused(4096, PROT_READ | PROT_WRITE, MAP_SHARED, reader), 0);

    void *at = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, device_.fd(), packets);
    ASSERT_NE(at, MAP_FAILED);
    EXPECT_EQ(mprotect(at, 4096, PROT_READ | PROT_WRITE), -1) << "made writable afterwards";
    EXPECT_EQ(errno, EACCES);
    munmap(at, 4096);
}

TEST_F(Refusals, a_second_reader) {
    const int removed = remove_session("shared"); // another test may have left it
    ASSERT_TRUE(removed == 0 || removed == ENOENT) << removed;
    RawDevice first, second;
    ASSERT_EQ(first.session("shared"), 0);
    ASSERT_EQ(second.session("shared"), 0);
    EXPECT_EQ(first.reader(8), EINVAL);
    EXPECT_EQ(first.reader(), 0);
    EXPECT_EQ(second.reader(), EBUSY);
    EXPECT_EQ(first.reader(), 0) << "the reader itself may say it again";
    EXPECT_EQ(remove_session("shared"), 0);
}

TEST(Permission, an_ordinary_user_cannot_open_the_device) {
    struct stat node {};
    ASSERT_EQ(stat(ARGTRACE_DEVICE, &node), 0);
    EXPECT_EQ(node.st_mode & 0777, 0600u);

    // Not even if the mode of the node allowed it.
    ASSERT_EQ(chmod(ARGTRACE_DEVICE, 0666), 0);
    const pid_t child = fork();
    if (child == 0) {
        if (!become_nobody())
            _exit(99);
        _exit(open(ARGTRACE_DEVICE, O_RDWR) >= 0 ? 0 : errno);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), EPERM);
    ASSERT_EQ(chmod(ARGTRACE_DEVICE, 0600), 0);
}

} // namespace
} // namespace vmtest
