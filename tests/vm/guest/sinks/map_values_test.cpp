// SPDX-License-Identifier: GPL-2.0-only
// What maps compute of values that are known: every bucket, sum and extreme.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sinks/maps.h"

namespace vmtest {
namespace {

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

} // namespace
} // namespace vmtest
