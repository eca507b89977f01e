// SPDX-License-Identifier: GPL-2.0-only
#include "decode/layout.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

#include "decode/values.h"
#include "support/packet_builder.h"

namespace argtrace {
namespace {

using test::argument;

/// A prototype of arguments of any type, and data that has about the right length.
class LayoutTest : public testing::Test {
protected:
    std::size_t below(std::size_t limit) { return random() % limit; }

    Argument any_argument() {
        const auto type = static_cast<std::uint8_t>(below(18)); // one of them unknown
        if (below(8) == 0)
            return test::not_captured("n");
        Argument made = argument("x", type);
        if (type == ARGTRACE_TYPE_BYTES)
            made.size = static_cast<std::uint32_t>(below(20));
        return made;
    }

    /// What read_compact() would take, but perhaps for its end.
    std::vector<std::byte> any_data(const Probe &probe) {
        std::vector<std::byte> data;
        for (const Argument &one : probe.args) {
            if (one.loc == ARGTRACE_LOC_NONE)
                continue;
            if (one.type == ARGTRACE_TYPE_BYTES) {
                data.push_back(static_cast<std::byte>(one.size + (below(30) == 0)));
                data.push_back(std::byte{0});
            }
            for (std::uint32_t i = 0; i < one.size; ++i)
                data.push_back(static_cast<std::byte>(random()));
        }
        if (below(4) == 0)
            data.resize(below(data.size() + 12));
        return data;
    }

    /// The same with what is returned and what a program has computed, which says `unreadable` of its outputs.
    std::vector<std::byte> any_data_with_outputs(const Probe &probe, std::uint64_t unreadable) {
        Probe arguments, result, outputs;
        for (const Argument &one : probe.args)
            (one.loc == ARGTRACE_LOC_PROGRAM  ? outputs
             : one.loc == ARGTRACE_LOC_RETURN ? result
                                              : arguments)
                .args.push_back(one);
        std::vector<std::byte> data = any_data(arguments);
        const auto append = [&](const std::vector<std::byte> &more) { data.insert(data.end(), more.begin(), more.end()); };
        append(any_data(result));
        if (!outputs.args.empty())
            append({reinterpret_cast<const std::byte *>(&unreadable), reinterpret_cast<const std::byte *>(&unreadable + 1)});
        append(any_data(outputs));
        return data;
    }

    /// What the layout makes of the same data as read_compact().
    struct Both {
        bool read = false; ///< by the layout
        Values values;
        std::vector<std::byte> bytes;
        DecodeStatus status{}; ///< of read_compact()
        std::vector<Value> expected;
        std::vector<std::byte> expected_bytes;
    };

    static Both read_both(const Probe &probe, const std::vector<std::byte> &data) {
        std::vector<std::byte> with_header(CompactLayout::readable_before);
        with_header.insert(with_header.end(), data.begin(), data.end());
        const auto behind = std::span(with_header).subspan(CompactLayout::readable_before);
        Both both;
        both.expected.resize(probe.args.size());
        both.status = read_compact(behind, probe, both.expected, both.expected_bytes);
        both.read = CompactLayout(probe).read(behind, both.values, both.bytes);
        return both;
    }

    /// What the layout has read is the same; where it has not, nothing is appended.
    static void expect_agreement(const Both &both) {
        if (both.read) {
            ASSERT_TRUE(std::ranges::equal(both.values, both.expected));
            ASSERT_EQ(both.bytes, both.expected_bytes);
        } else {
            ASSERT_TRUE(both.values.empty() && both.bytes.empty());
        }
    }

    std::mt19937 random{20240501};
};

TEST_F(LayoutTest, AgreesWithTheReaderThatSaysWhatIsWrong) {
    std::size_t good = 0, bad = 0;
    for (int round = 0; round < 20000; ++round) {
        Probe probe;
        for (std::size_t left = below(7); left > 0; --left)
            probe.args.push_back(any_argument());
        const Both both = read_both(probe, any_data(probe));
        ASSERT_EQ(both.read, both.status == DecodeStatus::ok) << describe(both.status);
        ASSERT_NO_FATAL_FAILURE(expect_agreement(both));
        ++(both.read ? good : bad);
    }
    EXPECT_GT(good, 5000u);
    EXPECT_GT(bad, 5000u);
}

TEST_F(LayoutTest, AgreesOnWhatAProgramHasComputedAndWhatIsReturned) {
    std::size_t good = 0, bad = 0, left_to_the_other = 0;
    for (int round = 0; round < 20000; ++round) {
        Probe probe;
        for (std::size_t left = below(4); left > 0; --left)
            probe.args.push_back(any_argument());
        if (below(2))
            probe.args.insert(probe.args.begin() + static_cast<std::ptrdiff_t>(below(probe.args.size() + 1)),
                              test::returned(static_cast<std::uint8_t>(1 + below(8))));
        for (std::size_t left = below(4); left > 0; --left)
            probe.args.insert(probe.args.begin() + static_cast<std::ptrdiff_t>(below(probe.args.size() + 1)),
                              test::output("y", static_cast<std::uint8_t>(1 + below(8))));
        const auto outputs = std::ranges::count(probe.args, ARGTRACE_LOC_PROGRAM, &Argument::loc);
        const Both both = read_both(probe, any_data_with_outputs(probe, below(8) == 0 ? below(16) : 0));
        ASSERT_NO_FATAL_FAILURE(expect_agreement(both));
        if (both.read) {
            ASSERT_EQ(both.status, DecodeStatus::ok) << describe(both.status);
            good += outputs > 0;
        } else if (both.status == DecodeStatus::ok) {
            // Only values that could not be read.
            ASSERT_FALSE(std::ranges::all_of(both.expected, &Value::captured));
            ++left_to_the_other;
        } else {
            ++bad;
        }
    }
    EXPECT_GT(good, 3000u);
    EXPECT_GT(bad, 3000u);
    EXPECT_GT(left_to_the_other, 100u);
}

TEST_F(LayoutTest, AgreesOnTextAndBytesThatAProgramHasComputed) {
    constexpr std::uint8_t counted[]{ARGTRACE_TYPE_STR, ARGTRACE_TYPE_BYTES, ARGTRACE_TYPE_PATH};
    std::size_t good = 0, bad = 0, cut = 0;
    for (int round = 0; round < 20000; ++round) {
        Probe probe;
        test::Data data;
        for (std::size_t left = below(3); left > 0; --left) {
            probe.args.push_back(argument("x", ARGTRACE_TYPE_U32));
            data.put(static_cast<std::uint32_t>(random()));
        }
        data.put(std::uint64_t{below(20) == 0});
        for (std::size_t left = 1 + below(4); left > 0; --left) {
            const std::uint8_t type = below(3) == 0 ? std::uint8_t{ARGTRACE_TYPE_S16} : counted[below(3)];
            Argument made = test::output("y", type);
            if (type == ARGTRACE_TYPE_S16) {
                data.put(static_cast<std::uint16_t>(random()));
            } else {
                const std::string text = type == ARGTRACE_TYPE_PATH ? std::string("\0\0a/b/", 6) : std::string(below(9), 'c');
                made.size = static_cast<std::uint32_t>(below(20) == 0 ? 3 : 12);
                made.type_name = below(4) == 0 ? "char[12]" : "char[]";
                data.counted(text, type != ARGTRACE_TYPE_PATH && below(3) == 0 ? ARGTRACE_TEXT_CUT : 0);
            }
            probe.args.push_back(made);
        }
        std::vector<std::byte> bytes = data.bytes();
        if (below(4) == 0)
            bytes.resize(below(bytes.size() + 12));
        const Both both = read_both(probe, bytes);
        ASSERT_NO_FATAL_FAILURE(expect_agreement(both));
        if (both.status == DecodeStatus::ok)
            ASSERT_EQ(both.read, std::ranges::all_of(both.expected, &Value::captured));
        else
            ASSERT_FALSE(both.read);
        good += both.read;
        bad += both.status != DecodeStatus::ok;
        cut += std::ranges::any_of(both.values, &Value::cut);
    }
    EXPECT_GT(good, 8000u);
    EXPECT_GT(bad, 1000u);
    EXPECT_GT(cut, 1000u);
}

TEST_F(LayoutTest, MoreThanARecordCanHold) {
    Probe probe;
    Argument large = argument("x", ARGTRACE_TYPE_BYTES);
    large.size = 40000;
    probe.args = {large, large};
    std::vector<std::byte> data(100), bytes;
    Values values;
    const CompactLayout layout(probe);
    EXPECT_FALSE(layout.read(std::span(data).subspan(8), values, bytes));
    EXPECT_FALSE(layout.read(std::span(data).subspan(8, 0), values, bytes));
}

// What a program has computed was turned round in the kernel.
TEST_F(LayoutTest, NumbersInTheOrderOfTheNetworkAreTurnedRound) {
    Probe probe;
    probe.args = {argument("port", ARGTRACE_TYPE_U16, "__be16"), argument("address", ARGTRACE_TYPE_U32, "__be32"),
                  argument("wide", ARGTRACE_TYPE_U64, "__be64"), argument("plain", ARGTRACE_TYPE_U16, "u16"),
                  argument("computed", ARGTRACE_TYPE_U16, "__be16")};
    probe.args.back().loc = ARGTRACE_LOC_PROGRAM;
    const std::vector<std::byte> data = test::Data()
                                            .put(std::uint16_t{0xbb01})
                                            .put(std::uint32_t{0x0100000a})
                                            .put(std::uint64_t{0x0807060504030201})
                                            .put(std::uint16_t{0x1234})
                                            .put(std::uint64_t{0})
                                            .put(std::uint16_t{443})
                                            .bytes();
    const Both both = read_both(probe, data);
    ASSERT_TRUE(both.read);
    ASSERT_EQ(both.status, DecodeStatus::ok);
    const std::uint64_t expected[] = {443, 0x0a000001, 0x0102030405060708, 0x1234, 443};
    for (std::size_t i = 0; i < std::size(expected); ++i) {
        EXPECT_EQ(both.values[i].low, expected[i]) << i;
        EXPECT_EQ(both.expected[i].low, expected[i]) << i;
    }
}

} // namespace
} // namespace argtrace
