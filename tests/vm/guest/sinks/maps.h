// SPDX-License-Identifier: GPL-2.0-only
// What tests of maps share: a session, and the calls of argtrace_load, whose numbers are known.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/raw_map.h"

namespace vmtest {

inline constexpr unsigned calls_of_process = 3000; // on each CPU

/// The arguments of the functions of argtrace_load.
enum : std::uint8_t { number_arg, complement_arg, cpu_arg };
inline constexpr const char *load_functions[] = {"al_process", "al_interrupt", "al_nmi"};

inline Load some_load() {
    Load load;
    load.calls = calls_of_process;
    load.burst = 5;
    load.period_ns = 200000;
    load.nmis = 20;
    load.nmi_burst = 3;
    return load;
}

inline std::int64_t log2_bucket(std::uint64_t value, bool is_signed) {
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

} // namespace vmtest
