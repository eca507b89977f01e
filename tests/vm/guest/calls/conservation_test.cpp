// SPDX-License-Identifier: GPL-2.0-only
// Every call is recorded, filtered or lost, and every record is read or counted as overwritten:
// under loads chosen at random, where processes, interrupts and NMIs nest on all CPUs and the
// buffers are far too small. The helper module counts the calls.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

constexpr const char *traced_functions[] = {"al_process", "al_interrupt", "al_nmi", "al_writer"};
constexpr std::size_t kinds = std::size(traced_functions);
constexpr std::uint64_t own_calls = 200; // in each round, of al_writer()

/// One round: a session, a load, and how it is read meanwhile.
struct Round {
    std::uint32_t packet_size, nr_packets, format, reader_flags;
    bool flight;
    enum Reading { none, stalled, slow, fast } reading;
    Load load;

    bool filters_own_calls() const {
        return !flight && reader_flags & ARGTRACE_READER_EXCLUDE_SELF;
    }

    static Round choose(std::mt19937_64 &random) {
        const auto one_of = [&](std::initializer_list<std::uint32_t> choices) {
            return choices.begin()[random() % choices.size()];
        };
        Round round{};
        round.packet_size = one_of({4096, 4096, 8192, 65536});
        round.nr_packets = one_of({2, 2, 4, 16});
        round.format = one_of({0, 0, ARGTRACE_FORMAT_NAMED, ARGTRACE_FORMAT_NO_CALLER});
        round.reader_flags = one_of({0, ARGTRACE_READER_EXCLUDE_SELF});
        round.flight = random() % 2;
        round.reading = static_cast<Reading>(random() % 4);
        round.load.calls = one_of({300, 1000, 2000});
        round.load.burst = one_of({1, 10, 400});
        round.load.period_ns = 100000 + round.load.burst * 20000;
        round.load.nmis = one_of({0, 20, 100});
        round.load.nmi_burst = one_of({1, 5, 60});
        return round;
    }
};

std::ostream &operator<<(std::ostream &out, const Round &round) {
    const char *const reading[] = {"nobody reads", "a stalled reader", "a slow reader",
                                   "a fast reader"};
    return out << (round.flight ? "flight, " : "stream, ") << round.nr_packets << " packets of "
               << round.packet_size << ", format " << round.format << ", " << reading[round.reading]
               << (round.reader_flags ? " who is filtered" : "") << "; " << round.load.calls
               << " calls, " << round.load.burst << " every " << round.load.period_ns << " ns, "
               << round.load.nmi_burst << " in an NMI every " << round.load.nmis;
}

/// What happened in all rounds together, so that a test in which nothing happens fails.
struct Met {
    std::uint64_t hits = 0, nmis = 0, full = 0, filtered = 0, overwritten = 0, missed = 0;
    std::uint64_t copied = 0, full_in_flight = 0;
};

class Conservation : public testing::Test {
protected:
    void SetUp() override {
        need_argtrace();
        need_load_module();
    }

    /// Checks what a record says against itself, and returns the number of its call.
    static std::uint64_t number_of(const Round &round, const RawRecord &record, unsigned cpu) {
        // In the named encoding, the name, its NUL and the type precede each value.
        const bool named = round.format & ARGTRACE_FORMAT_NAMED;
        const std::size_t caller = round.format & ARGTRACE_FORMAT_NO_CALLER ? 0 : 8;
        std::uint64_t values[3];
        for (std::size_t i = 0; i < 3; i++) {
            const std::size_t at = caller + (named ? i * 12 + 4 : i * 8);
            if (at + 8 > record.data.size()) {
                ADD_FAILURE() << "a record of " << record.size << " bytes";
                return 0;
            }
            memcpy(&values[i], &record.data[at], 8);
        }
        EXPECT_EQ(values[1], ~values[0]) << "probe " << record.id;
        EXPECT_EQ(values[2], cpu) << "probe " << record.id;
        return values[0];
    }

    /// The records of one CPU, in the order of its ring: numbers of a function go up.
    static void check_order(const Round &round, const std::vector<RawRecord> &records,
                            unsigned cpu) {
        std::map<std::uint32_t, std::uint64_t> last;
        for (const RawRecord &record : records) {
            const std::uint64_t number = number_of(round, record, cpu);
            const auto before = last.find(record.id);
            if (before != last.end()) {
                ASSERT_GT(number, before->second) << "probe " << record.id << ", CPU " << cpu;
            }
            last[record.id] = number;
        }
    }

    using Rings = std::vector<std::unique_ptr<RawRing>>;

    static Rings map_rings(const RawDevice &device, const Round &round) {
        Rings rings;
        for (unsigned cpu = 0; cpu < cpu_count(); cpu++)
            rings.push_back(std::make_unique<RawRing>(
                device, cpu, round.packet_size, round.nr_packets,
                round.flight ? RawRing::Mode::flight : RawRing::Mode::stream));
        return rings;
    }

    /// Reads all rings once and counts what was read, by probe.
    void read_once(const Round &round, const Rings &rings) {
        for (unsigned cpu = 0; cpu < rings.size(); cpu++) {
            const std::vector<RawRecord> records =
                round.flight ? rings[cpu]->snapshot(met_.missed) : rings[cpu]->records();
            check_order(round, records, cpu);
            met_.copied += records.size();
            for (const RawRecord &record : records)
                read_[record.id]++;
        }
    }

    void read_along(const Round &round, const Rings &rings, const std::atomic<bool> &stop) {
        if (round.reading == Round::none)
            return;
        do {
            read_once(round, rings);
            if (round.reading == Round::slow)
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
        } while (!stop && round.reading != Round::stalled);
    }

    void run_round(const Round &round) {
        RawDevice device;
        ASSERT_EQ(device.session("", round.packet_size, round.nr_packets, round.format,
                                 round.flight ? ARGTRACE_SESSION_FLIGHT : 0),
                  0);
        if (!round.flight) {
            ASSERT_EQ(device.reader(round.reader_flags), 0);
        }
        const Rings rings = map_rings(device, round);
        std::vector<std::byte> probes;
        for (const char *function : traced_functions)
            probes = probes + RawProbe::words(address_of(function), 3, function).bytes();
        ASSERT_EQ(device.add(probes, kinds), 0);

        read_.clear();
        const LoadCalls before = load_calls();
        std::atomic<bool> stop = false;
        std::thread reader([&] { read_along(round, rings, stop); });
        // By a thread of the reader's process, but not the one that said it reads.
        std::thread own([] { call_from_here(own_calls); });
        run_load(round.load);
        own.join();
        stop = true;
        reader.join();
        const LoadCalls after = load_calls();

        const std::vector<argtrace_counts> counts = device.counts();
        ASSERT_EQ(counts.size(), kinds);
        const std::uint64_t calls[] = {after.process - before.process,
                                       after.interrupt - before.interrupt, after.nmi - before.nmi,
                                       after.writer - before.writer};
        for (std::size_t i = 0; i < kinds; i++)
            EXPECT_EQ(hits(counts[i]), calls[i]) << traced_functions[i];
        EXPECT_EQ(calls[3], own_calls);
        EXPECT_EQ(counts[3].filtered, round.filters_own_calls() ? own_calls : 0);
        if (round.flight)
            check_flight(round, rings, counts);
        else
            check_stream(round, rings, counts);
        add_up(round, rings, counts);
    }

    void check_stream(const Round &round, const Rings &rings,
                      const std::vector<argtrace_counts> &counts) {
        read_once(round, rings);
        for (const argtrace_counts &one : counts)
            EXPECT_EQ(read_[one.id], one.records) << "probe " << one.id;
    }

    void check_flight(const Round &round, const Rings &rings,
                      const std::vector<argtrace_counts> &counts) {
        std::uint64_t there = 0, overwritten = 0, missed = 0, records = 0;
        for (unsigned cpu = 0; cpu < rings.size(); cpu++) {
            const std::vector<RawRecord> own = rings[cpu]->snapshot(missed);
            check_order(round, own, cpu);
            check_no_gaps(round, own, counts, cpu);
            there += own.size();
            overwritten += rings[cpu]->control()->overwritten;
        }
        EXPECT_EQ(missed, 0u) << "nobody writes any more";
        for (const argtrace_counts &one : counts)
            records += one.records;
        EXPECT_EQ(there + overwritten, records);
    }

    /// The newest records are there, and unless some were lost, none is missing between them.
    static void check_no_gaps(const Round &round, const std::vector<RawRecord> &records,
                              const std::vector<argtrace_counts> &counts, unsigned cpu) {
        for (const argtrace_counts &one : counts) {
            if (hits(one) != one.records)
                continue;
            std::vector<std::uint64_t> numbers;
            for (const RawRecord &record : records) {
                if (record.id == one.id)
                    numbers.push_back(number_of(round, record, cpu));
            }
            if (!numbers.empty()) {
                EXPECT_EQ(numbers.back() - numbers.front() + 1, numbers.size());
            }
        }
    }

    void add_up(const Round &round, const Rings &rings,
                const std::vector<argtrace_counts> &counts) {
        std::uint64_t lost = 0, full = 0;
        for (const auto &ring : rings) {
            lost += ring->control()->lost;
            met_.overwritten += ring->control()->overwritten;
        }
        for (const argtrace_counts &one : counts) {
            met_.hits += hits(one);
            met_.filtered += one.filtered;
            full += one.lost[ARGTRACE_LOST_FULL];
        }
        EXPECT_EQ(lost, full) << "by CPU and by probe";
        met_.nmis += hits(counts[2]);
        (round.flight ? met_.full_in_flight : met_.full) += full;
    }

    std::map<std::uint32_t, std::uint64_t> read_;
    Met met_;
};

TEST_F(Conservation, of_every_call_under_random_loads) {
    const std::uint64_t seed = test_seed();
    std::cout << "seed " << seed << std::endl;
    std::mt19937_64 random(seed);
    const int rounds = is_long_run() ? 30 : 10;
    for (int number = 0; number < rounds && !HasFatalFailure(); number++) {
        Round round = Round::choose(random);
        if (number == 0) { // one at least
            round.flight = false;
            round.reader_flags = ARGTRACE_READER_EXCLUDE_SELF;
        }
        std::ostringstream what;
        what << "seed " << seed << ", round " << number << ": " << round;
        SCOPED_TRACE(what.str());
        run_round(round);
    }
    std::cout << met_.hits << " calls, " << met_.nmis << " in NMIs, " << met_.filtered
              << " filtered, " << met_.full
              << " lost to full rings; flight recorders: " << met_.overwritten << " overwritten, "
              << met_.full_in_flight << " lost in one interrupt, " << met_.missed
              << " packets gone while copied\n";
    EXPECT_EQ(met_.nmis > 0, has_nmis);
    EXPECT_GE(met_.filtered, own_calls);
    EXPECT_GT(met_.full + met_.overwritten, 0u);
}

TEST_F(Conservation, of_a_flight_recorder_that_is_lapped_within_an_interrupt) {
    // An interrupt that calls more often than the ring has room for must not come by the packet
    // of the call it has interrupted. Named records take long to write, which helps it to come.
    Round round{4096, 2, ARGTRACE_FORMAT_NAMED, 0, true, Round::none, {20000, 3000000, 400, 0, 1}};
    for (int tries = 0; tries < 300 && met_.full_in_flight == 0; tries++)
        run_round(round);
    EXPECT_GT(met_.full_in_flight, 0u) << "no interrupt came while a call was recorded";
    EXPECT_GT(met_.overwritten, 0u);
}

TEST_F(Conservation, of_packets_that_are_copied_while_they_are_overwritten) {
    Round round{4096, 2, 0, 0, true, Round::fast, {1000, 200000, 5, 50, 1}};
    for (int tries = 0; tries < 300 && (met_.missed == 0 || met_.copied == 0); tries++)
        run_round(round);
    EXPECT_GT(met_.missed, 0u) << "no packet went while it was copied: this shows nothing";
    EXPECT_GT(met_.copied, 0u);
}

} // namespace
} // namespace vmtest
