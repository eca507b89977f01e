// SPDX-License-Identifier: GPL-2.0-only
// Maps that are refused, with the errno the ABI header documents, and mappings that are.
#include <gtest/gtest.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "sinks/maps.h"

namespace vmtest {
namespace {

// A mapping cannot be written, and reaches no further than the map.
TEST_F(Maps, mapping_is_for_reading) {
    const RawMap map(device_, RawMap::counts(64, 1));
    const std::size_t page = 4096;
    const auto error = [&](std::size_t size, int protection, int flags, std::uint64_t cpu,
                           std::uint64_t region, std::uint64_t low = 0) {
        void *start = mmap(nullptr, size, protection, flags, device_.fd(),
                           static_cast<off_t>(ARGTRACE_MMAP_OFFSET(cpu, region) + low));
        if (start == MAP_FAILED)
            return errno;
        munmap(start, size);
        return 0;
    };
    const std::uint64_t own = ARGTRACE_MMAP_MAP;
    EXPECT_EQ(error(page, PROT_READ, MAP_SHARED, 0, own), 0);
    EXPECT_EQ(error(page, PROT_READ | PROT_WRITE, MAP_SHARED, 0, own), EPERM);
    EXPECT_EQ(error(page, PROT_READ | PROT_EXEC, MAP_SHARED, 0, own), EINVAL);
    EXPECT_EQ(error(page, PROT_READ, MAP_PRIVATE, 0, own), EINVAL);
    EXPECT_EQ(error(page, PROT_READ, MAP_SHARED, 0, own, page), EINVAL);
    EXPECT_EQ(error(page, PROT_READ, MAP_SHARED, 0, own + 1), EINVAL);
    EXPECT_EQ(error(page, PROT_READ, MAP_SHARED, 0, own + 7), EINVAL);
    EXPECT_EQ(error(page, PROT_READ, MAP_SHARED, 0, own - 1), EINVAL);
    EXPECT_EQ(error(page, PROT_READ, MAP_SHARED, 4096, own), ENXIO);
    EXPECT_EQ(error(map.size() + 16 * page, PROT_READ, MAP_SHARED, 0, own), EINVAL);

    void *start = mmap(nullptr, page, PROT_READ, MAP_SHARED, device_.fd(),
                       static_cast<off_t>(ARGTRACE_MMAP_OFFSET(0, own)));
    ASSERT_NE(start, MAP_FAILED);
    EXPECT_NE(mprotect(start, page, PROT_READ | PROT_WRITE), 0);
    EXPECT_EQ(errno, EACCES);
    munmap(start, page);
}

TEST_F(Maps, a_file_for_reading_maps_and_makes_none) {
    RawDevice first;
    ASSERT_EQ(remove_session("maps"), ENOENT);
    ASSERT_EQ(first.session("maps", packet_size, nr_packets, 0, ARGTRACE_SESSION_CREATE), 0);
    const RawMap map(first, RawMap::counts(64, 1));
    RawDevice second(O_RDONLY);
    argtrace_map wanted = RawMap::counts(64, 1);
    EXPECT_EQ(second.call(ARGTRACE_IOC_MAP, &wanted), EBADF);
    argtrace_session_attr attr{};
    attr.size = sizeof(attr);
    attr.clock = ARGTRACE_CLOCK_BEST;
    strcpy(attr.name, "maps");
    ASSERT_EQ(second.call(ARGTRACE_IOC_SESSION, &attr), 0);
    EXPECT_EQ(second.call(ARGTRACE_IOC_MAP, &wanted), EBADF);
    void *start = mmap(nullptr, map.size(), PROT_READ, MAP_SHARED, second.fd(),
                       static_cast<off_t>(ARGTRACE_MMAP_OFFSET(0, ARGTRACE_MMAP_MAP)));
    EXPECT_NE(start, MAP_FAILED);
    munmap(start, map.size());
    EXPECT_EQ(remove_session("maps"), 0);
    EXPECT_EQ(first.call(ARGTRACE_IOC_MAP, &wanted), ENOENT);
}

struct Refusal {
    const char *name;
    int error;
    std::function<void(argtrace_map &)> spoil;
};

TEST_F(Maps, descriptions_that_are_refused) {
    const std::uint64_t s64_max = every_bit >> 1;
    const std::vector<Refusal> refusals = {
        {"a short struct", EINVAL, [](auto &map) { map.size = ARGTRACE_MAP_SIZE_V1 - 4; }},
        {"no slots", EINVAL, [](auto &map) { map.slots = 0; }},
        {"few slots", EINVAL, [](auto &map) { map.slots = ARGTRACE_MAP_SLOTS_MIN / 2; }},
        {"no power of two", EINVAL, [](auto &map) { map.slots = 96; }},
        {"many slots", EINVAL, [](auto &map) { map.slots = 2 * ARGTRACE_MAP_SLOTS_MAX; }},
        {"a long key", EINVAL, [](auto &map) { map.key_words = ARGTRACE_MAP_KEY_WORDS_MAX + 1; }},
        {"an unknown flag", EINVAL, [](auto &map) { map.flags |= 4; }},
        {"unknown buckets", EINVAL, [](auto &map) { map.buckets = 3; }},
        {"buckets without a value", EINVAL, [](auto &map) { map.flags = 0; }},
        {"a sign without a value", EINVAL,
         [](auto &map) { map = RawMap::counts(64, 1), map.flags = ARGTRACE_MAP_SIGNED; }},
        {"an id", EINVAL, [](auto &map) { map.id = 1; }},
        {"a slot size", EINVAL, [](auto &map) { map.slot_size = 64; }},
        {"a place of carries", EINVAL, [](auto &map) { map.carries = 4096; }},
        {"a step of 0", EINVAL, [](auto &map) { map.step = 0; }},
        {"no buckets", EINVAL, [](auto &map) { map.nr_buckets = 0; }},
        {"many buckets", EINVAL, [](auto &map) { map.nr_buckets = ARGTRACE_MAP_BUCKETS_MAX + 1; }},
        {"an end that overflows", EINVAL, [](auto &map) { map.step = every_bit; }},
        {"an end beyond the last number", EINVAL, [](auto &map) { map.low = every_bit - 19; }},
        {"an end beyond the last signed number", EINVAL,
         [&](auto &map) { map.low = s64_max - 19, map.flags |= ARGTRACE_MAP_SIGNED; }},
        {"a step of log2", EINVAL, [](auto &map) { map.buckets = ARGTRACE_BUCKETS_LOG2; }},
    };
    const std::uint64_t used = device_.info().memory_used;
    for (const Refusal &refusal : refusals) {
        argtrace_map map = RawMap::linear(64, 1, 0, 10, 3);
        refusal.spoil(map);
        EXPECT_EQ(device_.call(ARGTRACE_IOC_MAP, &map), refusal.error) << refusal.name;
    }
    EXPECT_EQ(device_.info().memory_used, used);
    argtrace_map last = RawMap::linear(64, 1, every_bit - 29, 10, 3);
    EXPECT_EQ(device_.call(ARGTRACE_IOC_MAP, &last), 0) << "just fits";
    EXPECT_EQ(last.id, 0u);
    for (unsigned i = 1; i < ARGTRACE_MAPS_MAX; i++) {
        argtrace_map map = RawMap::counts(64, ARGTRACE_MAP_KEY_WORDS_MAX);
        EXPECT_EQ(device_.call(ARGTRACE_IOC_MAP, &map), 0);
        EXPECT_EQ(map.id, i);
    }
    argtrace_map map = RawMap::counts(64, 1);
    EXPECT_EQ(device_.call(ARGTRACE_IOC_MAP, &map), E2BIG);

    RawDevice unbound;
    EXPECT_EQ(unbound.call(ARGTRACE_IOC_MAP, &map), EBADFD);
    EXPECT_EQ(device_.call(ARGTRACE_IOC_MAP, nullptr), EFAULT);
}

TEST_F(Maps, a_map_is_charged_before_it_is_made) {
    const std::uint64_t used = device_.info().memory_used;
    argtrace_map map = RawMap::values(ARGTRACE_MAP_SLOTS_MAX, ARGTRACE_MAP_KEY_WORDS_MAX,
                                      ARGTRACE_BUCKETS_LOG2);
    EXPECT_EQ(device_.call(ARGTRACE_IOC_MAP, &map), ENOSPC);
    EXPECT_EQ(device_.info().memory_used, used);
    map = RawMap::counts(64, 1);
    EXPECT_EQ(device_.call(ARGTRACE_IOC_MAP, &map), 0);
    EXPECT_EQ(map.id, 0u) << "the refused one has taken an id";
}

TEST_F(Maps, programs_that_do_not_fit_their_sink) {
    const RawMap map(device_, RawMap::counts(64, 2));
    const RawMap value(device_, RawMap::values(64, 1, ARGTRACE_BUCKETS_NONE));
    const std::uint64_t addr = address_of("al_writer");
    const auto error = [&](const SinkProgram &program) {
        const int error = device_.add(program.probe(addr).bytes(), 1);
        if (!error) {
            EXPECT_EQ(device_.remove({addr}), 0);
        }
        return error;
    };
    const auto of_map = [](std::uint32_t id) { return SinkProgram(ARGTRACE_SINK_MAP, id); };
    EXPECT_EQ(error(of_map(0).reg(0).reg(1)), 0);
    EXPECT_EQ(error(of_map(0).comm()), 0);
    EXPECT_EQ(error(of_map(1).reg(0).reg(1)), 0);
    EXPECT_EQ(error(of_map(0)), EINVAL);
    EXPECT_EQ(error(of_map(0).reg(0)), EINVAL);
    EXPECT_EQ(error(of_map(0).reg(0).reg(1).reg(2)), EINVAL);
    EXPECT_EQ(error(of_map(1)), EINVAL);
    EXPECT_EQ(error(of_map(1).reg(0)), EINVAL);
    EXPECT_EQ(error(of_map(1).reg(0).comm()), EINVAL) << "a value is a number";
    EXPECT_EQ(error(of_map(2).reg(0).reg(1)), EINVAL) << "there is no such map";
    EXPECT_EQ(error(of_map(65535).reg(0).reg(1)), EINVAL);
    EXPECT_EQ(error(SinkProgram(ARGTRACE_SINK_COUNT).reg(0)), EINVAL);
    EXPECT_EQ(error(SinkProgram(ARGTRACE_SINK_COUNT, 1)), EINVAL);
    EXPECT_EQ(error(SinkProgram(ARGTRACE_SINK_RECORD, 1)), EINVAL);
    EXPECT_EQ(error(SinkProgram(3)), EINVAL);
    argtrace_insn insn{};
    insn.source = ARGTRACE_SOURCE_REG;
    insn.mask = every_bit;
    insn.action = ARGTRACE_DO_STR;
    insn.arg = 12;
    EXPECT_EQ(error(of_map(0).output(insn)), EINVAL) << "no whole words";
    insn.action = ARGTRACE_DO_MEM;
    insn.arg = 16;
    EXPECT_EQ(error(of_map(0).output(insn)), EINVAL);
    insn.action = ARGTRACE_DO_OUT;
    insn.arg = 4;
    EXPECT_EQ(error(of_map(1).reg(0).output(insn)), EINVAL) << "a value has 8 bytes";
}

} // namespace
} // namespace vmtest
