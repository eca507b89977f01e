// SPDX-License-Identifier: GPL-2.0-only
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analyze/event_keys.h"
#include "analyze/pairing.h"

namespace argtrace {
namespace {

/// Calls of vfs_read(size_t count, const char *name) = ssize_t as they are recorded.
class RecordedCalls : public testing::Test {
protected:
    RecordedCalls() {
        probe_.function = "vfs_read";
        probe_.flags = ARGTRACE_PROBE_RETURN;
        probe_.args = {argument(ARGTRACE_LOC_REG, ARGTRACE_TYPE_U64, 8, "count"),
                       argument(ARGTRACE_LOC_PROGRAM, ARGTRACE_TYPE_STR, 256, "str(name)"),
                       argument(ARGTRACE_LOC_PROGRAM, ARGTRACE_TYPE_BYTES, 4, "whole"),
                       argument(ARGTRACE_LOC_RETURN, ARGTRACE_TYPE_S64, 8, "ret")};
        other_.function = "vfs_write";
        other_.args = {probe_.args[0]};
    }

    static Argument argument(std::uint8_t loc, std::uint8_t type, std::uint32_t size,
                             const char *name) {
        Argument made;
        made.loc = loc;
        made.type = type;
        made.size = size;
        made.name = name;
        return made;
    }

    EventView call(std::uint64_t count, const std::string &name, std::int64_t ret,
                   std::uint64_t ts = 0) {
        batch_.clear();
        Event event;
        event.probe = &probe_;
        event.ts = ts;
        event.duration = 250;
        event.tid = 12;
        event.tgid = 11;
        event.cpu = 3;
        event.caller = 0xffffffff81000123;
        std::memcpy(event.comm.data(), "dd", 2);
        const auto text = std::as_bytes(std::span(name));
        batch_.bytes.assign(text.begin(), text.end());
        batch_.values.push_back({count, 0, ARGTRACE_TYPE_U64, true});
        batch_.values.push_back({0, name.size(), ARGTRACE_TYPE_STR, !name.empty()});
        batch_.values.push_back({0, 0, ARGTRACE_TYPE_BYTES, false});
        batch_.values.push_back({static_cast<std::uint64_t>(ret), 0, ARGTRACE_TYPE_S64, true});
        batch_.events.push_back(event);
        return batch_.view(batch_.events.front());
    }

    EventView other_call(std::uint64_t count, std::uint64_t ts) {
        call(count, "", 0, ts);
        batch_.events.front().probe = &other_;
        batch_.values.shrink(1);
        return batch_.view(batch_.events.front());
    }

    static std::vector<RecordedValue> values(const std::vector<std::string> &names) {
        std::vector<RecordedValue> all;
        for (const std::string &name : names)
            all.push_back({name, name});
        return all;
    }

    Probe probe_, other_;
    EventBatch batch_;
};

TEST_F(RecordedCalls, HaveWhatProgramsWouldHaveComputed) {
    EventKeys keys(values({"func", "comm", "pid", "tid", "cpu", "caller", "duration", "str(name)",
                           "ret", "$count"}),
                   std::nullopt);
    EXPECT_EQ(keys.missing(probe_), "$count") << "an argument, and no builtin";
    EventKeys known(values({"func", "comm", "$pid", "tid", "cpu", "caller", "duration", "str(name)",
                            "$ret"}),
                    std::nullopt);
    EXPECT_EQ(known.missing(probe_), "");
    const auto key = known.key_of(call(4096, "passwd", -2));
    ASSERT_TRUE(key);
    const Key &parts = *key;
    ASSERT_EQ(parts.size(), 9u);
    EXPECT_EQ(parts[0].text, "vfs_read");
    EXPECT_EQ(parts[1].text, "dd");
    EXPECT_EQ(parts[2].value.low, 11u);
    EXPECT_EQ(parts[3].value.low, 12u);
    EXPECT_EQ(parts[4].value.low, 3u);
    EXPECT_EQ(parts[5].value.low, 0xffffffff81000123);
    EXPECT_EQ(parts[6].value.low, 250u);
    EXPECT_EQ(parts[7].text, "passwd");
    EXPECT_EQ(static_cast<std::int64_t>(parts[8].value.low), -2);
    EXPECT_EQ(known.types_of(probe_)[7].length, 256u);
    EXPECT_EQ(known.types_of(probe_)[1].length, 16u);
}

TEST_F(RecordedCalls, ThatWereLeftHaveNoDuration) {
    EventKeys keys(values({"duration"}), RecordedValue{"duration", "duration"});
    EventView left = call(1, "", 0);
    EXPECT_EQ(keys.value_of(left)->low, 250u);
    batch_.events.front().left = true;
    EXPECT_FALSE(keys.value_of(left)->captured);
    EXPECT_EQ(keys.key_of(left)->at(0).value.low, 0u);
}

TEST_F(RecordedCalls, AreLeftOutWhereSomethingWasNotRecorded) {
    Aggregation all;
    EventKeys keys(values({"ret"}), std::nullopt);
    EXPECT_TRUE(keys.add(call(1, "", 1), all));
    EXPECT_FALSE(keys.add(other_call(1, 0), all));
    EXPECT_EQ(keys.missing(other_), "ret");
    EXPECT_EQ(all.calls(), 1u);
    EXPECT_EQ(EventKeys(values({"duration"}), std::nullopt).missing(other_), "duration");
    EXPECT_EQ(EventKeys(values({"whole"}), std::nullopt).missing(probe_), "whole")
        << "a struct is no part of a key";
    EXPECT_EQ(EventKeys({}, RecordedValue{"n", "str(name)"}).missing(probe_), "str(name)")
        << "text cannot be added up";
}

TEST_F(RecordedCalls, CountWhatCouldNotBeRead) {
    Aggregation all;
    EventKeys by_text(values({"str(name)"}), std::nullopt);
    by_text.add(call(1, "", 0), all);
    EXPECT_EQ(all.entries().begin()->first.at(0).text, "");

    EventKeys sums({}, RecordedValue{"count", "count"});
    Aggregation sum;
    EventView view = call(5, "", 0);
    sums.add(view, sum);
    batch_.values[0].captured = false;
    sums.add(batch_.view(batch_.events.front()), sum);
    EXPECT_EQ(sum.entries().at({}).total, (Tally{2, 1, 5, 5, 5}));
    EXPECT_FALSE(sums.has_signed_value(probe_));
    EXPECT_TRUE(EventKeys({}, RecordedValue{"r", "ret"}).has_signed_value(probe_));
}

TEST_F(RecordedCalls, MayHaveANameOfTheirOwn) {
    EventKeys keys({{"n", "count"}}, std::nullopt);
    EXPECT_EQ(keys.key_of(call(7, "", 0))->at(0).value.low, 7u);
    EventKeys renamed({{"count", "a->b"}}, std::nullopt);
    EXPECT_EQ(renamed.key_of(call(8, "", 0))->at(0).value.low, 8u)
        << "recorded with 'a->b as count'";
}

/// As the command line has it.
RecordedValue expression(const std::string &text) {
    const lang::ArgumentExpression parsed = lang::parse_values(text).front();
    return {parsed.name, std::string(parsed.expression.written()), parsed.expression};
}

TEST_F(RecordedCalls, HaveWhatCanBeWorkedOut) {
    EventKeys keys({expression("count / 1024"), expression("-ret as lack"), expression("count > 4096 && pid == 11"),
                    expression("1 / count"), expression("cpu ? count : ret")},
                   expression("count * 2"));
    ASSERT_EQ(keys.missing(probe_), "");
    const auto key = keys.key_of(call(5000, "", -2));
    ASSERT_TRUE(key);
    EXPECT_EQ((*key)[0].value.low, 4u);
    EXPECT_EQ((*key)[0].value.type, ARGTRACE_TYPE_U64);
    EXPECT_EQ((*key)[1].value.low, 2u);
    EXPECT_EQ((*key)[1].value.type, ARGTRACE_TYPE_S64);
    EXPECT_EQ((*key)[2].value.low, 1u);
    EXPECT_EQ((*key)[2].value.type, ARGTRACE_TYPE_S32);
    EXPECT_EQ((*key)[3].value.low, 0u);
    EXPECT_EQ((*key)[4].value.low, 5000u);
    EXPECT_EQ((*key)[4].value.type, ARGTRACE_TYPE_U64) << "whichever is taken";
    EXPECT_EQ(keys.types_of(probe_)[1].type, ARGTRACE_TYPE_S64);
    EXPECT_EQ(keys.value_of(call(5000, "", 0))->low, 10000u);
    EXPECT_FALSE(keys.has_signed_value(probe_));
    EXPECT_TRUE(EventKeys({}, expression("ret - 1")).has_signed_value(probe_));
    EXPECT_EQ(keys.key_of(call(0, "", 0))->at(3).value.low, 0u) << "as in a map, what is none is 0";
    EXPECT_FALSE(EventKeys({}, expression("1 / count")).value_of(call(0, "", 0))->captured);
    EXPECT_EQ(EventKeys({expression("count + ret")}, std::nullopt).missing(other_), "count + ret");
    EXPECT_EQ(EventKeys({expression("*count")}, std::nullopt).missing(probe_), "*count");
    EXPECT_EQ(EventKeys({expression("str(name) + 1")}, std::nullopt).missing(probe_), "str(name) + 1");
}

TEST_F(RecordedCalls, ArePairedByAValue) {
    const RecordedValue on{"count", "count"};
    Pairing pairing(EventKeys(values({"comm"}), on), EventKeys({}, on),
                    Buckets{Buckets::Kind::log2});
    pairing.take(call(1, "", 0, 100), true, false);
    pairing.take(call(2, "", 0, 110), true, false);
    pairing.take(other_call(2, 150), false, true);  // 40
    pairing.take(other_call(2, 160), false, true);  // nothing has begun
    pairing.take(call(1, "", 0, 200), true, false); // in place of the first
    pairing.take(other_call(1, 1200), false, true); // 1000
    pairing.take(call(3, "", 0, 1300), true, false);
    const auto &entries = pairing.pairs().entries();
    ASSERT_EQ(entries.size(), 1u);
    EXPECT_EQ(entries.begin()->first.at(0).text, "dd");
    EXPECT_EQ(entries.begin()->second.total, (Tally{2, 0, 1040, 40, 1000}));
    EXPECT_EQ(pairing.unpaired().ends, 1u);
    EXPECT_EQ(pairing.unpaired().replaced, 1u);
    EXPECT_EQ(pairing.unpaired().open, 1u);
    EXPECT_EQ(pairing.unpaired().unreadable, 0u);
    EXPECT_EQ(pairing.calls(), 7u);
    EXPECT_EQ(pairing.left_out(), 0u);
}

TEST_F(RecordedCalls, EndAPairAndBeginTheNext) {
    const RecordedValue on{"count", "count"};
    Pairing pairing(EventKeys({}, on), EventKeys({}, on), Buckets{Buckets::Kind::log2});
    for (const std::uint64_t ts : {100, 107, 119})
        pairing.take(call(1, "", 0, ts), true, true);
    EXPECT_EQ(pairing.pairs().entries().at({}).total, (Tally{2, 0, 19, 7, 12}));
    EXPECT_EQ(pairing.unpaired().ends, 1u);
    EXPECT_EQ(pairing.unpaired().open, 1u);
    EXPECT_EQ(pairing.calls(), 3u);
}

TEST_F(RecordedCalls, AreNotPairedAcrossALoss) {
    const RecordedValue on{"count", "count"};
    Pairing pairing(EventKeys({}, on), EventKeys({}, on), Buckets{Buckets::Kind::log2});
    pairing.take(call(1, "", 0, 100), true, false);
    pairing.take(call(2, "", 0, 110), true, false);
    pairing.take(call(3, "", 0, 120), true, false);
    pairing.take(other_call(3, 130), false, true); // 10
    pairing.lost(140, 160);
    pairing.take(other_call(1, 170), false, true);  // that of a call which was lost
    pairing.take(call(2, "", 0, 180), true, false); // the earlier one may have ended
    pairing.take(other_call(2, 200), false, true);  // 20
    pairing.take(call(4, "", 0, 210), true, false);
    pairing.take(call(5, "", 0, 220), true, false);
    pairing.take(other_call(5, 230), false, true); // 10
    EXPECT_EQ(pairing.pairs().entries().at({}).total, (Tally{3, 0, 40, 10, 20}));
    EXPECT_EQ(pairing.unpaired().lost, 2u);
    EXPECT_EQ(pairing.unpaired().ends, 1u);
    EXPECT_EQ(pairing.unpaired().replaced, 0u);
    EXPECT_EQ(pairing.unpaired().open, 1u);
    pairing.lost(300, 310);
    EXPECT_EQ(pairing.unpaired().lost, 3u);
    EXPECT_EQ(pairing.unpaired().open, 0u);
}

TEST_F(RecordedCalls, ThatNeverEndAreGivenUp) {
    const RecordedValue on{"count", "count"};
    Pairing pairing(EventKeys({}, on), EventKeys({}, on), Buckets{Buckets::Kind::log2}, 4);
    for (std::uint64_t value = 0; value < 100; ++value)
        pairing.take(call(value, "", 0, 1000 + value), true, false);
    EXPECT_EQ(pairing.unpaired().open, 8u);
    EXPECT_EQ(pairing.unpaired().given_up, 92u);
    for (std::uint64_t value = 96; value < 100; ++value)
        pairing.take(other_call(value, 2000), false, true);
    pairing.take(other_call(92, 2000), false, true);
    pairing.take(other_call(0, 2000), false, true);
    EXPECT_EQ(pairing.pairs().calls(), 5u) << "the newest are kept";
    EXPECT_EQ(pairing.unpaired().ends, 1u);
    EXPECT_EQ(pairing.unpaired().open, 3u);
}

TEST_F(RecordedCalls, ThatLackTheValueAreNotPaired) {
    const RecordedValue on{"ret", "ret"};
    Pairing pairing(EventKeys({}, on), EventKeys({}, on), Buckets{Buckets::Kind::log2});
    pairing.take(other_call(2, 150), false, true);
    EXPECT_EQ(pairing.left_out(), 1u);
    pairing.take(other_call(2, 151), true, true);
    EXPECT_EQ(pairing.left_out(), 2u) << "of each call once";
    pairing.take(call(1, "", 5, 100), true, false);
    call(1, "", 5, 100);
    batch_.values.back().captured = false;
    pairing.take(batch_.view(batch_.events.front()), true, false);
    EXPECT_EQ(pairing.calls(), 4u);
    EXPECT_EQ(pairing.left_out(), 2u);
    EXPECT_EQ(pairing.unpaired().unreadable, 1u);
    EXPECT_EQ(pairing.unpaired().open, 1u);
}

TEST_F(RecordedCalls, TextIsCutAsInAMap) {
    Aggregation all(Buckets{Buckets::Kind::log2});
    EventKeys keys(values({"str(name)", "pid"}), RecordedValue{"count", "count"});
    keys.add(call(1, "a-long-name-1", 0), all);
    keys.add(call(3, "a-long-name-2", 0), all);
    ASSERT_EQ(all.entries().size(), 2u);
    const std::vector<std::uint32_t> room{8, 0};
    const Aggregation cut = all.cut_to(room);
    ASSERT_EQ(cut.entries().size(), 1u);
    const auto &[key, entry] = *cut.entries().begin();
    EXPECT_EQ(key.at(0).text, "a-long-n");
    EXPECT_TRUE(key.at(0).value.cut);
    EXPECT_EQ(key.at(1).value.low, 11u);
    EXPECT_EQ(entry.total, (Tally{2, 0, 4, 1, 3}));
    EXPECT_EQ(entry.buckets.size(), 2u);
}

} // namespace
} // namespace argtrace
