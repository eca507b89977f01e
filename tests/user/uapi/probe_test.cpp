// SPDX-License-Identifier: GPL-2.0-only
#include "uapi/probe.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

#include "support/packet_builder.h"
#include "util/error.h"

namespace argtrace {
namespace {

using test::argument;

Probe awkward() {
    Probe probe;
    probe.addr = 0xffffffff81000000;
    probe.function = "f";
    probe.args = {argument("a", ARGTRACE_TYPE_S8, "s8", 0), test::not_captured("big"),
                  argument("arg2", ARGTRACE_TYPE_BOOL, "bool", 5)};
    return probe;
}

TEST(Probe, SurvivesTheWayToTheModuleAndBack) {
    std::vector<std::byte> bytes;
    append_probe(bytes, test::vfs_read(0));
    append_probe(bytes, awkward());
    EXPECT_EQ(parse_probes(bytes, 2), (std::vector<Probe>{test::vfs_read(0), awkward()}));
}

TEST(Probe, ThatIsForcedHasAMarkBehindItsName) {
    Probe probe = awkward();
    probe.function = "f.isra.0";
    probe.forced = true;
    std::vector<std::byte> bytes;
    append_probe(bytes, probe);
    EXPECT_EQ(parse_probes(bytes, 1).at(0), probe);
    auto strings = reinterpret_cast<const char *>(bytes.data()) + sizeof(argtrace_probe) +
                   3 * sizeof(argtrace_arg);
    EXPECT_STREQ(strings, "f.isra.0~");
}

TEST(Probe, HasTheLayoutOfTheHeader) {
    std::vector<std::byte> bytes;
    append_probe(bytes, awkward());
    ASSERT_EQ(bytes.size() % 8, 0u);

    argtrace_probe header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    EXPECT_EQ(header.size, bytes.size());
    EXPECT_EQ(header.id, 0u);
    EXPECT_EQ(header.flags, 0u);
    EXPECT_EQ(header.addr, 0xffffffff81000000);
    EXPECT_EQ(header.nr_args, 3u);

    argtrace_arg third;
    std::memcpy(&third, bytes.data() + sizeof(header) + 2 * sizeof(third), sizeof(third));
    EXPECT_EQ(third.loc, ARGTRACE_LOC_REG);
    EXPECT_EQ(third.index, 5u);
    EXPECT_EQ(third.type, ARGTRACE_TYPE_BOOL);
    EXPECT_EQ(third.flags, 0u);
    EXPECT_EQ(third.size, 1u);

    auto strings =
        reinterpret_cast<const char *>(bytes.data()) + sizeof(header) + 3 * sizeof(argtrace_arg);
    EXPECT_STREQ(strings, "f");
    EXPECT_STREQ(strings + third.name, "arg2");
    EXPECT_STREQ(strings + third.type_name, "bool");
    EXPECT_LT(third.type_name, header.strings);
    EXPECT_EQ(strings[header.strings - 1], '\0');
}

/// With types whose end is not aligned, so that there is padding before the program.
Probe with_program() {
    Probe probe = awkward();
    probe.args.push_back(test::output("name", ARGTRACE_TYPE_STR, 64, "char *"));
    probe.types = test::Data().text("four").bytes();
    probe.program = test::Data().put(~0ull).put(0x1122334455667788ull).bytes();
    return probe;
}

TEST(Probe, CarriesItsProgram) {
    std::vector<std::byte> bytes;
    append_probe(bytes, with_program());
    append_probe(bytes, awkward());
    append_probe(bytes, with_program());
    EXPECT_EQ(parse_probes(bytes, 3),
              (std::vector<Probe>{with_program(), awkward(), with_program()}));

    // Each length of the strings, for each length of the padding.
    for (std::size_t length = 1; length <= 8; ++length) {
        Probe probe = with_program();
        probe.function = std::string(length, 'f');
        bytes.clear();
        append_probe(bytes, probe);
        EXPECT_EQ(parse_probes(bytes, 1).at(0), probe);
        argtrace_probe header;
        std::memcpy(&header, bytes.data(), sizeof(header));
        EXPECT_EQ(header.program, 16u);
        EXPECT_EQ(header.size, bytes.size());
        const std::size_t end = sizeof(header) + header.nr_args * sizeof(argtrace_arg) +
                                header.strings + header.types;
        ASSERT_EQ((end + 7) / 8 * 8 + header.program, bytes.size());
        EXPECT_TRUE(std::all_of(bytes.begin() + static_cast<long>(end), bytes.end() - 16,
                                [](std::byte byte) { return byte == std::byte{0}; }));
        EXPECT_TRUE(std::equal(bytes.end() - 16, bytes.end(), probe.program.begin()));
    }
}

TEST(Probe, ProgramsThatDoNotFitAreRefused) {
    std::vector<std::byte> bytes;
    for (const std::size_t size : {std::size_t{4}, std::size_t{65536}}) {
        Probe probe = with_program();
        probe.program.resize(size);
        EXPECT_THROW(append_probe(bytes, probe), Error) << size;
        EXPECT_TRUE(bytes.empty());
    }
}

TEST(Probe, IdAndFlagsAreTheModules) {
    Probe probe = awkward();
    probe.id = 7;
    probe.flags = ARGTRACE_PROBE_REMOVED;
    std::vector<std::byte> bytes;
    append_probe(bytes, probe);
    EXPECT_EQ(parse_probes(bytes, 1).at(0), awkward());

    argtrace_probe header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    header.id = 7;
    header.flags = ARGTRACE_PROBE_REMOVED;
    std::memcpy(bytes.data(), &header, sizeof(header));
    EXPECT_EQ(parse_probes(bytes, 1).at(0), probe);
}

TEST(Probe, StringsThatDoNotFitAreRefused) {
    std::vector<std::byte> bytes;
    Probe probe = awkward();
    probe.args[0].type_name.assign(70000, 'x');
    EXPECT_THROW(append_probe(bytes, probe), Error);
    EXPECT_TRUE(bytes.empty());
    probe = awkward();
    probe.args[0].name = std::string("a\0b", 3);
    EXPECT_THROW(append_probe(bytes, probe), Error);
}

class MalformedProbe : public testing::Test {
protected:
    MalformedProbe() { append_probe(bytes, awkward()); }

    template<typename T>
    void set(std::size_t offset, T value) {
        std::memcpy(bytes.data() + offset, &value, sizeof(value));
    }

    std::vector<std::byte> bytes;
};

TEST_F(MalformedProbe, CutOff) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        std::vector<std::byte> part(bytes.begin(), bytes.begin() + static_cast<long>(size));
        EXPECT_THROW(parse_probes(part, 1), Error) << size;
    }
    EXPECT_THROW(parse_probes(bytes, 2), Error);
}

TEST_F(MalformedProbe, Sizes) {
    auto good = static_cast<std::uint32_t>(bytes.size());
    for (std::uint32_t size : {0u, 8u, 16u, good - 8, good + 8, good - 1, 0xfffffff8u}) {
        set(offsetof(argtrace_probe, size), size);
        EXPECT_THROW(parse_probes(bytes, 1), Error) << size;
    }
}

TEST_F(MalformedProbe, Parts) {
    set(offsetof(argtrace_probe, nr_args), std::uint16_t{0xffff});
    EXPECT_THROW(parse_probes(bytes, 1), Error);
    set(offsetof(argtrace_probe, nr_args), std::uint16_t{3});
    set(offsetof(argtrace_probe, strings), std::uint16_t{0xffff});
    EXPECT_THROW(parse_probes(bytes, 1), Error);
    set(offsetof(argtrace_probe, strings), std::uint16_t{0});
    EXPECT_THROW(parse_probes(bytes, 1), Error);
}

TEST_F(MalformedProbe, Programs) {
    for (std::uint16_t size : {8, 4, 1, 0xfff8, 0xffff}) {
        set(offsetof(argtrace_probe, program), size);
        EXPECT_THROW(parse_probes(bytes, 1), Error) << size;
    }
    bytes.clear();
    append_probe(bytes, with_program());
    for (std::uint16_t size : {24, 15, 20}) {
        set(offsetof(argtrace_probe, program), size);
        EXPECT_THROW(parse_probes(bytes, 1), Error) << size;
    }
    set(offsetof(argtrace_probe, program), std::uint16_t{16});
    EXPECT_EQ(parse_probes(bytes, 1).at(0), with_program());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        std::vector<std::byte> part(bytes.begin(), bytes.begin() + static_cast<long>(size));
        EXPECT_THROW(parse_probes(part, 1), Error) << size;
    }
}

TEST_F(MalformedProbe, Strings) {
    std::size_t arg = sizeof(argtrace_probe);
    set(arg + offsetof(argtrace_arg, name), std::uint16_t{0xffff});
    EXPECT_THROW(parse_probes(bytes, 1), Error);
    set(arg + offsetof(argtrace_arg, name), std::uint16_t{0});
    EXPECT_EQ(parse_probes(bytes, 1).at(0).args.at(0).name, "f");

    // A last string without its end.
    std::uint16_t strings;
    std::memcpy(&strings, bytes.data() + offsetof(argtrace_probe, strings), sizeof(strings));
    set(offsetof(argtrace_probe, strings), static_cast<std::uint16_t>(strings - 1));
    EXPECT_THROW(parse_probes(bytes, 1), Error);
}

TEST(Probe, TypeSizes) {
    EXPECT_EQ(argtrace_type_size(ARGTRACE_TYPE_END), 0u);
    EXPECT_EQ(argtrace_type_size(ARGTRACE_TYPE_S8), 1u);
    EXPECT_EQ(argtrace_type_size(ARGTRACE_TYPE_UCHAR), 1u);
    EXPECT_EQ(argtrace_type_size(ARGTRACE_TYPE_U16), 2u);
    EXPECT_EQ(argtrace_type_size(ARGTRACE_TYPE_S32), 4u);
    EXPECT_EQ(argtrace_type_size(ARGTRACE_TYPE_PTR), 8u);
    EXPECT_EQ(argtrace_type_size(ARGTRACE_TYPE_S128), 16u);
    EXPECT_EQ(argtrace_type_size(ARGTRACE_TYPE_STR), 0u);
    EXPECT_EQ(argtrace_type_size(200), 0u);
}

} // namespace
} // namespace argtrace
