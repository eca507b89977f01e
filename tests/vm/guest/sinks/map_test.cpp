// SPDX-License-Identifier: GPL-2.0-only
// Maps, without the tool: what the calls of functions in all contexts on all CPUs come to is known, and
// so is what must be in the slots then, to the last call.
#include <gtest/gtest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/raw_map.h"

namespace vmtest {
namespace {

constexpr unsigned calls_of_process = 3000; // on each CPU

// The arguments of the functions of argtrace_load.
enum : std::uint8_t { number_arg, complement_arg, cpu_arg };
constexpr const char *load_functions[] = {"al_process", "al_interrupt", "al_nmi"};

Load some_load() {
    Load load;
    load.calls = calls_of_process;
    load.burst = 5;
    load.period_ns = 200000;
    load.nmis = 20;
    load.nmi_burst = 3;
    return load;
}

std::int64_t log2_bucket(std::uint64_t value, bool is_signed) {
    if (is_signed && static_cast<std::int64_t>(value) < 0)
        return -static_cast<std::int64_t>(std::bit_width(0 - value));
    return static_cast<std::int64_t>(std::bit_width(value));
}

class Maps : public testing::Test {
protected:
    static constexpr std::uint32_t packet_size = 4096, nr_packets = 2;

    void SetUp() override {
        need_argtrace();
        need_load_module();
        // The numbers of its calls begin with 0 then.
        ASSERT_EQ(unload_module("argtrace_load"), 0);
        need_load_module();
        ASSERT_EQ(device_.session("", packet_size, nr_packets), 0);
    }

    void add(const char *function, const SinkProgram &program) {
        ASSERT_EQ(device_.add(program.probe(address_of(function)).bytes(), 1), 0) << function;
    }

    /// The counts of the one probe, or the sum of those of all.
    argtrace_counts counts() const {
        argtrace_counts sum{};
        for (const argtrace_counts &one : device_.counts()) {
            sum.records += one.records;
            sum.filtered += one.filtered;
            for (std::size_t i = 0; i < ARGTRACE_LOST_MAX; i++)
                sum.lost[i] += one.lost[i];
            sum.sampled += one.sampled;
            sum.capped += one.capped;
            sum.faults += one.faults;
        }
        return sum;
    }

    static std::uint64_t all_calls() {
        const LoadCalls calls = load_calls();
        return calls.process + calls.interrupt + calls.nmi;
    }

    RawDevice device_;
};

TEST_F(Maps, a_probe_that_only_counts_counts_every_call) {
    for (const char *function : load_functions)
        add(function, SinkProgram());
    run_load(some_load());
    EXPECT_EQ(counts().records, all_calls());
    EXPECT_EQ(hits(counts()), all_calls());
    EXPECT_GT(load_calls().nmi, 0u);
}

TEST_F(Maps, a_count_of_what_the_filter_accepts) {
    add("al_process", SinkProgram().only(number_arg, 3, 1));
    run_load(some_load());
    EXPECT_EQ(counts().records, load_calls().process / 4);
    EXPECT_EQ(counts().filtered, load_calls().process / 4 * 3);
}

TEST_F(Maps, sampled_and_capped_calls_are_not_counted) {
    SinkProgram sampled, capped;
    sampled.head.sample = 10;
    capped.head.max_rate = 7;
    add("al_process", sampled);
    add("al_writer", capped);
    run_load(some_load());
    call_from_here(500);
    const argtrace_counts sum = counts();
    EXPECT_EQ(sum.sampled, load_calls().process / 10 * 9);
    EXPECT_GE(sum.records, load_calls().process / 10 + 7);
    EXPECT_GT(sum.capped, 0u);
    EXPECT_EQ(hits(sum), load_calls().process + 500);
}

// The calls of a function on a CPU have the numbers from 0 on, and say which CPU it is.
void expect_known_counts(const RawMap &map, unsigned residues) {
    std::map<std::uint64_t, std::uint64_t> of_cpu;
    const auto keys = map.read();
    for (const auto &[key, sum] : keys)
        of_cpu[key[1]] += sum.count;
    // A busy host may keep the interrupts from a CPU, but not what processes do there.
    ASSERT_GE(of_cpu.size(), 1u);
    std::size_t expected = 0;
    for (const auto &[cpu, count] : of_cpu)
        expected += std::min<std::uint64_t>(count, residues);
    for (const auto &[key, sum] : keys)
        ASSERT_EQ(sum.count, (of_cpu[key[1]] + residues - 1 - key[0]) / residues)
            << key[0] << " of CPU " << key[1];
    EXPECT_EQ(keys.size(), expected);
}

TEST_F(Maps, counts_by_two_words_in_all_contexts) {
    std::vector<std::unique_ptr<RawMap>> maps;
    for (const char *function : load_functions) {
        maps.push_back(std::make_unique<RawMap>(device_, RawMap::counts(64, 2)));
        const std::uint32_t id = maps.back()->description().id;
        ASSERT_EQ(id, maps.size() - 1);
        add(function, SinkProgram(ARGTRACE_SINK_MAP, id).reg(number_arg, 15).reg(cpu_arg));
    }
    run_load(some_load());
    for (const auto &map : maps)
        expect_known_counts(*map, 16);
    EXPECT_EQ(counts().records, all_calls());
    EXPECT_EQ(hits(counts()), all_calls());
    EXPECT_EQ(counts().faults, 0u);
}

// One map for all of them: an NMI comes while an interrupt or a process claims or finds the same slots.
TEST_F(Maps, all_contexts_share_a_map) {
    const RawMap map(device_, RawMap::values(256, 1, ARGTRACE_BUCKETS_NONE));
    for (const char *function : load_functions)
        add(function, SinkProgram(ARGTRACE_SINK_MAP, 0).reg(number_arg, 7).reg(complement_arg));
    for (int i = 0; i < 3; i++)
        run_load(some_load());
    const auto keys = map.read();
    EXPECT_EQ(keys.size(), 8u);
    std::uint64_t calls = 0, sum = 0;
    for (const auto &[key, slot] : keys) {
        EXPECT_EQ(slot.max, ~key[0]) << key[0];
        EXPECT_LT(slot.min, slot.max);
        calls += slot.count;
        sum += slot.sum;
    }
    EXPECT_EQ(calls, all_calls());
    EXPECT_EQ(counts().records, calls);
    // Only the calls of processes are as many on each CPU.
    const std::uint64_t n = load_calls().process / cpu_count();
    EXPECT_NE(sum, 0u);
    EXPECT_GE(n, 3u * calls_of_process);
}

struct Known {
    const char *name;
    argtrace_map map;
    std::uint8_t value_arg;
    std::function<std::int64_t(std::uint64_t value)> bucket; // null: none
};

std::int64_t linear_bucket(std::uint64_t value, std::uint64_t low, std::uint64_t step,
                           std::uint32_t nr) {
    if (value < low)
        return -1;
    return static_cast<std::int64_t>(std::min<std::uint64_t>((value - low) / step, nr));
}

const std::vector<Known> &known() {
    static const std::vector<Known> all = {
        {"values", RawMap::values(64, 1, ARGTRACE_BUCKETS_NONE), number_arg, nullptr},
        {"signed values", RawMap::values(64, 1, ARGTRACE_BUCKETS_NONE, true), complement_arg,
         nullptr},
        {"log2", RawMap::values(256, 1, ARGTRACE_BUCKETS_LOG2), number_arg,
         [](std::uint64_t value) { return log2_bucket(value, false); }},
        {"signed log2", RawMap::values(256, 1, ARGTRACE_BUCKETS_LOG2, true), complement_arg,
         [](std::uint64_t value) { return log2_bucket(value, true); }},
        {"linear", RawMap::linear(1024, 1, 100, 37, 40), number_arg,
         [](std::uint64_t value) { return linear_bucket(value, 100, 37, 40); }},
        {"signed linear", RawMap::linear(1024, 1, std::uint64_t(-1000), 100, 8, true),
         complement_arg,
         [](std::uint64_t value) {
             const auto number = static_cast<std::int64_t>(value);
             return number < -1000 ? -1 : linear_bucket(value + 1000, 0, 100, 8);
         }},
    };
    return all;
}

// Every bucket, sum and extreme of what processes, interrupts and NMIs pass on each CPU.
TEST_F(Maps, known_distributions) {
    for (const char *function : load_functions) {
        for (const Known &one : known()) {
            SCOPED_TRACE(std::string(function) + ", " + one.name);
            RawDevice device;
            ASSERT_EQ(device.session("", packet_size, nr_packets), 0);
            ASSERT_EQ(unload_module("argtrace_load"), 0);
            need_load_module();
            const RawMap map(device, one.map);
            ASSERT_EQ(device.add(SinkProgram(ARGTRACE_SINK_MAP, 0)
                                     .reg(cpu_arg)
                                     .reg(one.value_arg)
                                     .probe(address_of(function))
                                     .bytes(),
                                 1),
                      0);
            run_load(some_load());

            const auto keys = map.read();
            std::map<std::uint64_t, std::uint64_t> of_cpu;
            for (const auto &[key, sum] : keys)
                of_cpu[key[0]] += sum.count;
            std::map<RawMap::Key, SlotSum> expected;
            for (const auto &[cpu, count] : of_cpu) {
                for (std::uint64_t number = 0; number < count; number++) {
                    const std::uint64_t value = one.value_arg == number_arg ? number : ~number;
                    RawMap::Key key{cpu};
                    if (one.bucket)
                        key.push_back(static_cast<std::uint64_t>(one.bucket(value)));
                    SlotSum &sum = expected[key];
                    const bool is_signed = one.map.flags & ARGTRACE_MAP_SIGNED;
                    const auto lower = [is_signed](std::uint64_t a, std::uint64_t b) {
                        return is_signed ? static_cast<std::int64_t>(a) <
                                               static_cast<std::int64_t>(b)
                                         : a < b;
                    };
                    if (!sum.count || lower(value, sum.min))
                        sum.min = value;
                    if (!sum.count || lower(sum.max, value))
                        sum.max = value;
                    sum.sum += value;
                    sum.count++;
                }
            }
            ASSERT_EQ(keys.size(), expected.size());
            for (const auto &[key, sum] : expected) {
                const auto found = keys.find(key);
                ASSERT_NE(found, keys.end()) << key[0] << " " << key.back();
                EXPECT_EQ(found->second.count, sum.count) << key[0] << " " << key.back();
                EXPECT_EQ(found->second.sum, sum.sum) << key[0] << " " << key.back();
                EXPECT_EQ(found->second.min, sum.min) << key[0] << " " << key.back();
                EXPECT_EQ(found->second.max, sum.max) << key[0] << " " << key.back();
                EXPECT_EQ(found->second.faults, 0u);
            }
            EXPECT_EQ(hits(device.counts().at(0)), map.count());
        }
    }
}

TEST_F(Maps, the_name_of_the_task_is_a_key) {
    const RawMap map(device_, RawMap::counts(64, 2));
    add("al_writer", SinkProgram(ARGTRACE_SINK_MAP, 0).comm());
    const char *const names[] = {"a", "eight_ch", "fifteen_letters"};
    std::map<std::string, std::uint64_t> expected;
    for (const char *name : names) {
        std::thread([name] {
            pthread_setname_np(pthread_self(), name);
            call_from_here(100 + strlen(name));
        }).join();
        expected[name] = 100 + strlen(name);
    }
    std::map<std::string, std::uint64_t> found;
    for (const auto &[key, sum] : map.read()) {
        char text[ARGTRACE_COMM_LEN];
        memcpy(text, key.data(), sizeof(text));
        const std::size_t length = strnlen(text, sizeof(text));
        for (std::size_t i = length; i < sizeof(text); i++)
            EXPECT_EQ(text[i], 0);
        found[std::string(text, length)] += sum.count;
    }
    EXPECT_EQ(found, expected);
}

// Keys that take more than a register: memory, constants, the caller, narrow values.
TEST_F(Maps, keys_of_all_kinds) {
    const RawMap map(device_, RawMap::values(64, 5, ARGTRACE_BUCKETS_NONE, true));
    argtrace_insn narrow{};
    narrow.source = ARGTRACE_SOURCE_REG;
    narrow.index = complement_arg;
    narrow.mask = every_bit;
    narrow.action = ARGTRACE_DO_OUT;
    narrow.arg = 2;
    argtrace_insn half{}; // (s32)complement / 2
    half.source = ARGTRACE_SOURCE_REG;
    half.index = complement_arg;
    half.shl = 32;
    half.shr = 33;
    half.flags = ARGTRACE_INSN_SIGNED;
    half.mask = every_bit;
    half.action = ARGTRACE_DO_OUT;
    half.arg = 8;
    add("al_writer", SinkProgram(ARGTRACE_SINK_MAP, 0)
                         .constant(77)
                         .output(narrow)
                         .source(ARGTRACE_SOURCE_CPU)
                         .source(ARGTRACE_SOURCE_CALLER)
                         .behind(number_arg, 0, 8)
                         .output(half));
    pin_to_cpu(1);
    call_from_here(3);
    unpin();
    const auto keys = map.read();
    ASSERT_EQ(keys.size(), 3u);
    std::uint64_t number = 3;
    for (const auto &[key, sum] : keys) {
        number--;
        EXPECT_EQ(key[0], 77u);
        EXPECT_EQ(key[1], 0xffffu - number);
        EXPECT_EQ(key[2], 1u);
        EXPECT_EQ(key[3] >> 63, 1u);
        EXPECT_EQ(key[4], 0u) << "unreadable";
        EXPECT_EQ(sum.count, 1u);
        EXPECT_EQ(static_cast<std::int64_t>(sum.sum), ~static_cast<std::int64_t>(number) >> 1);
        EXPECT_EQ(sum.min, sum.sum);
        EXPECT_EQ(sum.max, sum.sum);
    }
    EXPECT_EQ(counts().faults, 3u);
}

// The upper bits of the register are not part of a narrow output, however quickly its key is found.
TEST_F(Maps, narrow_keys_have_no_upper_bits) {
    const RawMap map(device_, RawMap::counts(1024, 1));
    argtrace_insn narrow{};
    narrow.source = ARGTRACE_SOURCE_REG;
    narrow.index = complement_arg;
    narrow.mask = every_bit;
    narrow.action = ARGTRACE_DO_OUT;
    narrow.arg = 1;
    add("al_writer", SinkProgram(ARGTRACE_SINK_MAP, 0).output(narrow));
    pin_to_cpu(0);
    call_from_here(300);
    unpin();
    const auto keys = map.read();
    ASSERT_EQ(keys.size(), 256u);
    for (const auto &[key, sum] : keys) {
        EXPECT_LE(key[0], 255u);
        EXPECT_EQ(sum.count, key[0] > 255 - 44 ? 2u : 1u) << key[0];
    }
}

// A signed number of four bytes is extended, as the tool does it with all that are.
argtrace_insn int_of(std::uint8_t source, std::uint8_t index) {
    argtrace_insn insn{};
    insn.source = source;
    insn.index = index;
    insn.shl = insn.shr = 32;
    insn.flags = ARGTRACE_INSN_SIGNED;
    insn.mask = every_bit;
    insn.action = ARGTRACE_DO_OUT;
    insn.arg = 8;
    if (source == ARGTRACE_SOURCE_TASK) {
        insn.loads = 1;
        insn.width = 4;
        insn.offset[0] = task_offset("tgid");
    }
    return insn;
}

TEST_F(Maps, numbers_of_four_bytes_keep_their_sign) {
    const RawMap by_process(device_, RawMap::counts(64, 1));
    const RawMap by_both(device_, RawMap::values(64, 2, ARGTRACE_BUCKETS_NONE, true));
    RawDevice other;
    ASSERT_EQ(other.session("", packet_size, nr_packets), 0);
    const RawMap by_register(other, RawMap::counts(256, 1));
    add("al_writer", SinkProgram(ARGTRACE_SINK_MAP, 0).output(int_of(ARGTRACE_SOURCE_TASK, 0)));
    ASSERT_EQ(other.add(SinkProgram(ARGTRACE_SINK_MAP, 0)
                            .output(int_of(ARGTRACE_SOURCE_REG, complement_arg))
                            .probe(address_of("al_writer"))
                            .bytes(),
                        1),
              0);
    pin_to_cpu(0);
    call_from_here(20);
    const auto process = by_process.read();
    ASSERT_EQ(process.size(), 1u);
    EXPECT_EQ(process.begin()->first[0], static_cast<std::uint64_t>(getpid()));
    EXPECT_EQ(process.begin()->second.count, 20u);
    const auto complements = by_register.read();
    ASSERT_EQ(complements.size(), 20u);
    std::uint64_t number = 20;
    for (const auto &[key, sum] : complements)
        EXPECT_EQ(key[0], ~--number);

    ASSERT_EQ(device_.remove_all(), 0);
    add("al_writer", SinkProgram(ARGTRACE_SINK_MAP, 1)
                         .output(int_of(ARGTRACE_SOURCE_TASK, 0))
                         .constant(9)
                         .output(int_of(ARGTRACE_SOURCE_REG, complement_arg)));
    call_from_here(10);
    unpin();
    const auto both = by_both.read();
    ASSERT_EQ(both.size(), 1u);
    EXPECT_EQ(both.begin()->first, (RawMap::Key{static_cast<std::uint64_t>(getpid()), 9}));
    const SlotSum &sum = both.begin()->second;
    EXPECT_EQ(sum.max, ~std::uint64_t{20});
    EXPECT_EQ(sum.min, ~std::uint64_t{29});
    EXPECT_EQ(static_cast<std::int64_t>(sum.sum), -255);
}

// What functions return, and how long they take.
TEST_F(Maps, calls_are_added_when_they_return) {
    constexpr std::size_t size = 777; // of no other read
    const RawMap map(device_, RawMap::values(64, 1, ARGTRACE_BUCKETS_LOG2));
    RawProbe probe = SinkProgram(ARGTRACE_SINK_MAP, 0)
                         .only(2, every_bit, size)
                         .source(ARGTRACE_SOURCE_RETURN)
                         .source(ARGTRACE_SOURCE_DURATION)
                         .probe(address_of("vfs_read"));
    probe.header.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0);
    ASSERT_EQ(device_.add(probe.seal().bytes(), 1), 0);
    SinkProgram counted;
    counted.only(2, every_bit, size);
    RawDevice other;
    ASSERT_EQ(other.session("", packet_size, nr_packets), 0);
    ASSERT_EQ(other.add(counted.probe(address_of("vfs_read")).bytes(), 1), 0);

    char buffer[size];
    for (const auto &[path, times] : {std::pair("/dev/zero", 50), std::pair("/dev/null", 30)}) {
        const int file = open(path, O_RDONLY | O_CLOEXEC);
        for (int i = 0; i < times; i++)
            ASSERT_GE(read(file, buffer, size), 0);
        close(file);
    }
    std::map<std::uint64_t, SlotSum> returned;
    for (const auto &[key, sum] : map.read()) {
        EXPECT_EQ(static_cast<std::int64_t>(key[1]), log2_bucket(sum.min, false));
        EXPECT_EQ(static_cast<std::int64_t>(key[1]), log2_bucket(sum.max, false));
        EXPECT_LE(sum.min, sum.max);
        EXPECT_GE(sum.sum, sum.count * sum.min);
        EXPECT_LE(sum.sum, sum.count * sum.max);
        returned[key[0]].count += sum.count;
        returned[key[0]].sum += sum.sum;
    }
    ASSERT_EQ(returned.size(), 2u);
    EXPECT_EQ(returned[size].count, 50u);
    EXPECT_EQ(returned[0].count, 30u);
    EXPECT_GT(returned[size].sum, 0u);
    EXPECT_EQ(counts().records, 80u);
    EXPECT_EQ(other.counts().at(0).records, 80u);
}

TEST_F(Maps, a_value_that_cannot_be_read_is_counted_apart) {
    const RawMap map(device_, RawMap::values(64, 1, ARGTRACE_BUCKETS_LOG2));
    // The complement of a small number is no address; a number is one of user space that is not there.
    add("al_writer", SinkProgram(ARGTRACE_SINK_MAP, 0).reg(number_arg, 1).behind(number_arg, 0, 8));
    call_from_here(50);
    const auto keys = map.read();
    ASSERT_EQ(keys.size(), 2u);
    for (const auto &[key, sum] : keys) {
        EXPECT_EQ(key[1], 0u) << "the bucket of 0";
        EXPECT_EQ(sum.count, 25u);
        EXPECT_EQ(sum.faults, 25u);
        EXPECT_EQ(sum.sum, 0u);
    }
    EXPECT_EQ(counts().faults, 50u);
    EXPECT_EQ(counts().records, 50u);
}

// As long as there is room for a key it is counted, and from then on every call of another one is lost.
TEST_F(Maps, too_small_a_map_counts_what_it_loses) {
    const RawMap map(device_, RawMap::values(64, 1, ARGTRACE_BUCKETS_NONE));
    for (const char *function : load_functions)
        add(function, SinkProgram(ARGTRACE_SINK_MAP, 0).reg(number_arg, 255).reg(number_arg));
    for (int i = 0; i < 3; i++)
        run_load(some_load());
    const argtrace_counts sum = counts();
    EXPECT_EQ(map.count(), sum.records);
    EXPECT_EQ(sum.records + sum.lost[ARGTRACE_LOST_FULL], all_calls());
    EXPECT_EQ(hits(sum), all_calls());
    EXPECT_GT(sum.lost[ARGTRACE_LOST_FULL], 0u);
    std::uint64_t slots = 0;
    for (const auto &[key, slot] : map.read()) {
        EXPECT_LE(key[0], 255u);
        EXPECT_EQ(slot.min % 256, key[0]);
        EXPECT_EQ(slot.max % 256, key[0]);
        slots += slot.slots;
    }
    EXPECT_LE(slots, 64 * cpu_count());
    EXPECT_GT(slots, 48 * cpu_count()) << "slots were free";
}

// Nothing is ever taken back: what has been read once is there later, with no smaller numbers.
TEST_F(Maps, it_is_read_while_it_grows) {
    const RawMap map(device_, RawMap::values(512, 2, ARGTRACE_BUCKETS_NONE));
    for (const char *function : {"al_process", "al_interrupt", "al_nmi", "al_writer"})
        add(function, SinkProgram(ARGTRACE_SINK_MAP, 0)
                          .reg(number_arg, 0x3f)
                          .reg(cpu_arg)
                          .reg(number_arg, 0x3f));
    std::atomic<bool> done = false;
    std::atomic<std::uint64_t> rounds = 0;
    std::thread reader([&] {
        std::map<RawMap::Key, SlotSum> before;
        while (!done) {
            const auto now = map.read();
            for (const auto &[key, sum] : now) {
                ASSERT_LT(key[0], 64u);
                ASSERT_LT(key[1], cpu_count());
                // The count is the last to be changed and the first to be read.
                ASSERT_GE(sum.sum, sum.count * key[0]);
                if (sum.count) {
                    ASSERT_EQ(sum.min, key[0]);
                    ASSERT_EQ(sum.max, key[0]);
                }
            }
            for (const auto &[key, sum] : before) {
                const auto found = now.find(key);
                ASSERT_NE(found, now.end());
                ASSERT_GE(found->second.count, sum.count);
                ASSERT_GE(found->second.sum, sum.sum);
            }
            before = now;
            rounds++;
        }
    });
    run_load(some_load());
    // Processes of the load leave a reader hardly any time; this one has as much as we.
    EXPECT_TRUE(eventually([&] {
        call_from_here(200);
        return rounds >= 3;
    }));
    done = true;
    reader.join();
    EXPECT_EQ(map.count(), all_calls() + load_calls().writer);
    for (const auto &[key, sum] : map.read())
        ASSERT_EQ(sum.sum, sum.count * key[0]);
}

TEST_F(Maps, a_reader_that_dies_and_a_session_that_goes) {
    const std::uint64_t used = device_.info().memory_used;
    {
        RawDevice device;
        ASSERT_EQ(device.session("", packet_size, nr_packets), 0);
        const RawMap map(device, RawMap::counts(1024, 1));
        EXPECT_GE(device.info().memory_used, used + cpu_count() * map.size());
        ASSERT_EQ(device.add(
                      SinkProgram(ARGTRACE_SINK_MAP, 0).reg(number_arg).probe(address_of("al_process")).bytes(),
                      1),
                  0);
        int reading[2];
        ASSERT_EQ(pipe(reading), 0);
        Child child([&] {
            const RawMap own(device, map);
            own.read();
            if (::write(reading[1], "r", 1) != 1)
                return;
            for (;;)
                own.read();
        });
        run_load(some_load());
        char byte;
        EXPECT_EQ(::read(reading[0], &byte, 1), 1);
        child.kill_and_wait();
        close(reading[0]);
        close(reading[1]);
        run_load(some_load());
        EXPECT_EQ(hits(device.counts().at(0)), load_calls().process);
    }
    EXPECT_EQ(device_.info().memory_used, used);
}

TEST_F(Maps, the_module_goes_while_maps_are_filled) {
    auto device = std::make_unique<RawDevice>();
    ASSERT_EQ(remove_session("maps"), ENOENT);
    ASSERT_EQ(device->session("maps", packet_size, nr_packets, 0, ARGTRACE_SESSION_CREATE), 0);
    std::atomic<bool> done = false;
    std::thread load([&] {
        while (!done)
            run_load(some_load());
    });
    {
        const RawMap map(*device, RawMap::values(64, 1, ARGTRACE_BUCKETS_LOG2));
        for (const char *function : load_functions)
            ASSERT_EQ(device->add(SinkProgram(ARGTRACE_SINK_MAP, 0)
                                      .reg(number_arg)
                                      .reg(number_arg)
                                      .probe(address_of(function))
                                      .bytes(),
                                  1),
                      0);
        EXPECT_TRUE(eventually([&] { return map.count() > 0; }));
    }
    device.reset();
    // The fixture's own file would keep it.
    device_.close();
    EXPECT_EQ(unload_module("argtrace"), 0);
    done = true;
    load.join();
    need_argtrace();
    expect_nothing_left();
}

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

TEST_F(Maps, calls_of_other_processes_are_filtered) {
    std::uint32_t pid = static_cast<std::uint32_t>(getpid());
    argtrace_process_filter filter{};
    filter.size = sizeof(filter);
    filter.pids = reinterpret_cast<std::uintptr_t>(&pid);
    filter.count = 1;
    ASSERT_EQ(device_.call(ARGTRACE_IOC_PROCESSES, &filter), 0);
    const RawMap map(device_, RawMap::counts(64, 1));
    add("al_writer", SinkProgram(ARGTRACE_SINK_MAP, 0).reg(cpu_arg));
    call_from_here(30);
    {
        Child child([] {
            for (;;)
                call_from_here(100);
        });
        EXPECT_TRUE(eventually([] { return load_calls().writer > 30; }));
    }
    const std::uint64_t of_child = load_calls().writer - 30;
    EXPECT_EQ(map.count(), 30u);
    EXPECT_EQ(counts().filtered, of_child);
}

TEST_F(Maps, the_named_encoding_is_no_obstacle) {
    RawDevice device;
    ASSERT_EQ(device.session("", packet_size, nr_packets, ARGTRACE_FORMAT_NAMED), 0);
    const RawMap map(device, RawMap::counts(64, 1));
    const RawProbe probe = SinkProgram(ARGTRACE_SINK_MAP, 0).reg(number_arg, 1).probe(address_of("al_writer"));
    ASSERT_EQ(device.add(probe.bytes(), 1), 0);
    call_from_here(20);
    EXPECT_EQ(map.count(), 20u);
}

// Beside probes that record: each call goes where its probe says.
TEST_F(Maps, records_and_maps_in_one_session) {
    ASSERT_EQ(device_.reader(), 0);
    const RawMap map(device_, RawMap::counts(64, 1));
    add("al_process", SinkProgram(ARGTRACE_SINK_MAP, 0).reg(cpu_arg));
    ASSERT_EQ(device_.add(RawProbe::words(address_of("al_writer"), 3).bytes(), 1), 0);
    call_from_here(10);
    run_load(some_load());
    EXPECT_EQ(map.count(), load_calls().process);
    std::uint64_t records = 0;
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
        records += RawRing(device_, cpu, packet_size, nr_packets).drain();
    EXPECT_EQ(records, 10u);
}

} // namespace
} // namespace vmtest
