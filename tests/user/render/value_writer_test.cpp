// SPDX-License-Identifier: GPL-2.0-only
#include "render/value_writer.h"

#include <fmt/format.h>
#include <limits>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <random>

#include "render/json.h"
#include "render/text.h"
#include "report/symbol_table.h"
#include "support/all_display_types.h"
#include "support/btf_builder.h"
#include "support/minus.h"
#include "support/packet_builder.h"
#include "uapi/probe.h"
#include "util/cpus.h"
#include "util/errno_name.h"

namespace argtrace {
namespace {

using test::Data;
using test::minus;

/// One argument at a time, of types made with `b`, on its way from BTF to the output.
class ValueWriterTest : public testing::Test {
protected:
    ValueWriterTest() {
        EXPECT_TRUE(symbols.add("ffffffff81000000 T ksys_read\n"
                                "ffffffffc0001000 t ext4_read\t[ext4]\n"));
    }

    struct Shown {
        std::string text;
        std::string json;

        bool operator==(const Shown &) const = default;
        friend std::ostream &operator<<(std::ostream &out, const Shown &shown) {
            return out << shown.text << " and " << shown.json;
        }
    };

    Shown show(int type, const Value &value, const std::vector<std::byte> &bytes = {}) {
        Probe sent;
        sent.function = "f";
        sent.args = {test::argument("x", value.type)};
        sent.types =
            test::all_display_types(b.get(), static_cast<std::uint32_t>(b.proto(0, {{"x", type}})));
        std::vector<std::byte> wire;
        append_probe(wire, sent);
        return write(parse_probes(wire, 1).at(0), value, bytes);
    }

    Shown show(int type, const Data &data) {
        const Value value{0, data.bytes().size(), ARGTRACE_TYPE_BYTES, true};
        return show(type, value, data.bytes());
    }

    Shown write(const Probe &probe, const Value &value, const std::vector<std::byte> &bytes = {}) {
        Event event;
        event.probe = &probe;
        const EventView view{&event, std::span(&value, 1), bytes};
        Shown shown;
        shown.text = write(ValueWriter::Style::text, view);
        shown.json = write(ValueWriter::Style::json, view);
        EXPECT_TRUE(nlohmann::json::accept(shown.json)) << shown.json;
        return shown;
    }

    std::string write(ValueWriter::Style style, const EventView &view) {
        ValueWriter writer(names, style);
        const ProbeFormats &formats = writer.formats(*view.event->probe);
        Line line;
        writer.append(line, view, view.values[0], formats.argument(0));
        return std::string(line.view());
    }

    int enumeration(const char *name, std::initializer_list<std::pair<const char *, int>> values) {
        const int id = btf__add_enum(b.get(), name, 4);
        for (const auto &[value_name, value] : values)
            EXPECT_EQ(0, btf__add_enum_value(b.get(), value_name, value));
        return id;
    }

    SymbolTable symbols;
    CallerNames names{symbols};
    BtfBuilder b;
    int int_ = b.integer("int", 4, BTF_INT_SIGNED);
    int u8 = b.integer("unsigned char", 1);
    int u32 = b.integer("unsigned int", 4);
    int u64 = b.integer("long unsigned int", 8);
    int char_ = b.integer("char", 1, BTF_INT_SIGNED);
    int bool_ = b.integer("_Bool", 1, BTF_INT_BOOL);
    int void_pointer = b.pointer(0);
    int function_pointer = b.pointer(b.proto(int_, {{"arg", void_pointer}}));
};

TEST_F(ValueWriterTest, Struct) {
    const int kuid = b.name("kuid_t", b.structure(nullptr, 4, {{"val", u32, 0}}));
    const int s = b.structure("s", 24,
                              {{"uid", kuid, 0},
                               {"n", int_, 32},
                               {"p", void_pointer, 64},
                               {"flag", bool_, 128},
                               {"c", char_, 136},
                               {"big", b.constant(u32), 160}});
    const Data data = Data()
                          .put(std::uint32_t{1000})
                          .put(std::int32_t{-5})
                          .put(std::uint64_t{0xffff888000000000})
                          .put(std::uint8_t{1})
                          .put('x')
                          .put(std::uint16_t{0xffff})
                          .put(std::uint32_t{4000000000});
    EXPECT_EQ(show(s, data), (Shown{"{uid={val=1000}, n=-5, p=0xffff888000000000, flag=true, "
                                    "c='x', big=4000000000}",
                                    "{\"uid\":{\"val\":1000},\"n\":-5,"
                                    "\"p\":\"0xffff888000000000\",\"flag\":true,\"c\":120,"
                                    "\"big\":4000000000}"}));
    EXPECT_EQ(show(b.structure("empty", 0), Data()), (Shown{"{}", "{}"}));
}

TEST_F(ValueWriterTest, NumbersThatHaveAForm) {
    const auto show_as = [this](const char *type_name, std::uint8_t type, std::uint64_t number) {
        Probe probe;
        probe.args = {test::argument("x", type)};
        probe.args[0].type_name = type_name;
        return write(probe, Value{number, 0, type, true});
    };
    EXPECT_EQ(show_as("dev_t", ARGTRACE_TYPE_U32, 8 << 20 | 17), (Shown{"8:17", "8388625"}));
    EXPECT_EQ(show_as("umode_t", ARGTRACE_TYPE_U16, 0100644), (Shown{"0100644", "33188"}));
    EXPECT_EQ(show_as("umode_t", ARGTRACE_TYPE_U16, 0), (Shown{"0", "0"}));
    EXPECT_EQ(show_as("u32", ARGTRACE_TYPE_U32, 8 << 20), (Shown{"8388608", "8388608"}));
}

TEST_F(ValueWriterTest, Addresses) {
    const int in_addr = b.structure("in_addr", 4, {{"s_addr", u32, 0}});
    EXPECT_EQ(show(in_addr, Data().put(std::uint32_t{0x0100000a})),
              (Shown{"10.0.0.1", "\"10.0.0.1\""}));
    const int in6_addr = b.structure("in6_addr", 16, {{"a", u64, 0}, {"b", u64, 64}});
    EXPECT_EQ(show(in6_addr, Data().put(std::uint64_t{0}).put(std::uint64_t{1} << 56)),
              (Shown{"::1", "\"::1\""}));
    const int holder = b.structure("sin", 8, {{"port", u32, 0}, {"addr", in_addr, 32}});
    EXPECT_EQ(show(holder, Data().put(std::uint32_t{22}).put(std::uint32_t{0x0100007f})),
              (Shown{"{port=22, addr=127.0.0.1}", "{\"port\":22,\"addr\":\"127.0.0.1\"}"}));
    EXPECT_EQ(show(in_addr, Data().put(std::uint8_t{1})), (Shown{"?", "null"}));
}

TEST_F(ValueWriterTest, SocketAddresses) {
    const int sockaddr = b.structure("sockaddr", 16, {{"a", u64, 0}, {"b", u64, 64}});
    const int sockaddr_in6 = b.structure("sockaddr_in6", 28, {{"a", u64, 0}, {"b", u64, 64}});
    const Data four = Data()
                          .put(std::uint16_t{AF_INET})
                          .put(htons(443))
                          .put(std::uint32_t{0x0100000a})
                          .put(std::uint64_t{0});
    EXPECT_EQ(show(sockaddr, four), (Shown{"10.0.0.1:443", "\"10.0.0.1:443\""}));
    const Data six = Data()
                         .put(std::uint16_t{AF_INET6})
                         .put(htons(22))
                         .put(std::uint32_t{0})
                         .put(std::uint64_t{0})
                         .put(std::uint64_t{1} << 56)
                         .put(std::uint32_t{0});
    EXPECT_EQ(show(sockaddr_in6, six), (Shown{"[::1]:22", "\"[::1]:22\""}));
    const Data local = Data().put(std::uint16_t{AF_UNIX}).text("/run/x").put(std::uint64_t{0});
    EXPECT_EQ(show(sockaddr, local), (Shown{"\"/run/x\"", "\"/run/x\""}));
    const Data abstract =
        Data().put(std::uint16_t{AF_UNIX}).put('\0').text("bus").put(std::uint64_t{0}).put('\0');
    EXPECT_EQ(show(sockaddr, abstract), (Shown{"\"@bus\"", "\"@bus\""}));
    const Data unnamed = Data().put(std::uint64_t{AF_UNIX}).put(std::uint64_t{0});
    EXPECT_EQ(show(sockaddr, unnamed), (Shown{"\"\"", "\"\""}));
    const auto unended = [](std::string_view name) {
        Data address = Data().put(std::uint16_t{AF_UNIX});
        for (const char character : name)
            address.put(character);
        return address;
    };
    EXPECT_EQ(show(sockaddr, unended("/run/systemd/x")),
              (Shown{"\"/run/systemd/x\"...", "\"/run/systemd/x\""}))
        << "it may go on behind the struct";
    const int sockaddr_un = b.structure("sockaddr_un", 110, {{"a", u64, 0}});
    EXPECT_EQ(show(sockaddr_in6, unended("/run")), (Shown{"\"/run\"...", "\"/run\""}));
    EXPECT_EQ(show(sockaddr_un, unended("/run")), (Shown{"\"/run\"", "\"/run\""})) << "sockaddr() with a length has all of it";
    EXPECT_EQ(show(sockaddr_un, unended("")), (Shown{"\"\"", "\"\""}));
    const std::string longest(108, 'x');
    EXPECT_EQ(show(sockaddr_un, unended(longest)),
              (Shown{'"' + longest + '"', '"' + longest + '"'}))
        << "such a name has no NUL";
    const Data netlink = Data().put(std::uint64_t{AF_NETLINK}).put(std::uint64_t{0});
    EXPECT_EQ(show(sockaddr, netlink), (Shown{"family 16", "\"family 16\""}));
    EXPECT_EQ(show(sockaddr, Data().put(std::uint16_t{AF_NETLINK})),
              (Shown{"family 16", "\"family 16\""}));
    EXPECT_EQ(show(sockaddr, Data().put(std::uint16_t{AF_INET})), (Shown{"?", "null"}));
    EXPECT_EQ(show(sockaddr, Data().put(std::uint8_t{AF_INET})), (Shown{"?", "null"}));
}

// As probes of earlier versions have it, which do not say how many CPUs there may be.
TEST_F(ValueWriterTest, ListsOfCpus) {
    const int cpumask = b.structure("cpumask", 16, {{"a", u64, 0}, {"b", u64, 64}});
    const int proto = b.proto(0, {{"x", cpumask}});
    Probe probe;
    probe.args = {test::argument("x", ARGTRACE_TYPE_BYTES)};
    ASSERT_GT(proto, 0);
    std::uint32_t size = 0;
    const auto *raw = static_cast<const std::byte *>(btf__raw_data(b.get(), &size));
    probe.types.assign(raw, raw + size);
    const auto shown = [&](const Data &data) {
        return write(probe, Value{0, data.bytes().size(), ARGTRACE_TYPE_BYTES, true}, data.bytes());
    };
    const auto cpus = [&](std::uint64_t low, std::uint64_t high) { return shown(Data().put(low).put(high)).text; };
    EXPECT_EQ(cpus(0x8f, 0), "0-3,7");
    EXPECT_EQ(cpus(1, 0), "0");
    EXPECT_EQ(cpus(3, 0), "0-1");
    EXPECT_EQ(cpus(0, 0), "none");
    EXPECT_EQ(cpus(std::uint64_t{1} << 63, 1), "63-64");
    EXPECT_EQ(cpus(0x5, std::uint64_t{1} << 63), "0,2,127");
    EXPECT_EQ(shown(Data().put(std::uint8_t{0xff})), (Shown{"0-7", "\"0-7\""}))
        << "as many as were read";
}

TEST_F(ValueWriterTest, OnlyCpusThatThereMayBe) {
    const unsigned last = possible_cpus() - 1;
    const std::string all = last > 0 ? fmt::format("0-{}", last) : "0";
    const int cpumask = b.structure("cpumask", 1024, {{"bits", b.array(u32, u64, 128), 0}});
    Data data;
    for (int i = 0; i < 128; ++i)
        data.put(~std::uint64_t{0});
    EXPECT_EQ(show(cpumask, data).text, all);
    EXPECT_EQ(show(b.structure("s", 1024, {{"mask", cpumask, 0}}), data).text, "{mask=" + all + "}") << "within a struct";
    if (last < 64) { // as a number
        EXPECT_EQ(show(cpumask, Value{~std::uint64_t{0}, 0, ARGTRACE_TYPE_U64, true}).text, all);
        EXPECT_EQ(show(cpumask, Value{1, 0, ARGTRACE_TYPE_U64, true}), (Shown{"0", "\"0\""}));
    }
}

TEST_F(ValueWriterTest, NumbersInTheOrderOfTheNetwork) {
    const int u16 = b.integer("short unsigned int", 2);
    const int be16 = b.name("__be16", u16), be32 = b.name("__be32", u32);
    const int port = b.name("port_t", b.constant(be16));
    const int s = b.structure("s", 16, {{"sport", port, 0}, {"plain", u16, 16}, {"all", b.array(u32, be32, 3), 32}});
    Data data = Data().put(htons(443)).put(std::uint16_t{443});
    for (const std::uint32_t number : {1u, 2u, 0x1020304u})
        data.put(htonl(number));
    EXPECT_EQ(show(s, data), (Shown{"{sport=443, plain=443, all=[1, 2, 16909060]}", R"({"sport":443,"plain":443,"all":[1,2,16909060]})"}));
    // What was recorded as the number that it fills.
    const int small = b.structure("small", 4, {{"port", be16, 0}, {"plain", u16, 16}});
    EXPECT_EQ(show(small, Value{std::uint64_t{7} << 16 | htons(80), 0, ARGTRACE_TYPE_U32, true}).text, "{port=80, plain=7}");
    // A number is turned round when it is decoded.
    EXPECT_EQ(show(be16, Value{443, 0, ARGTRACE_TYPE_U16, true}).text, "443");
}

TEST_F(ValueWriterTest, ArraysAsValues) {
    const int limit = b.structure("rlimit", 16, {{"cur", u64, 0}, {"max", u64, 64}});
    const auto show_array = [&](int array, const Data &data, bool cut = false) {
        Probe probe;
        probe.args = {test::argument("x", ARGTRACE_TYPE_BYTES)};
        const ShownValue shown{.type = static_cast<std::uint32_t>(array), .name = "x", .as_bytes = true};
        probe.types = display_types(b.get(), std::span(&shown, 1));
        return write(probe, Value{0, data.bytes().size(), ARGTRACE_TYPE_BYTES, true, cut}, data.bytes());
    };
    Data limits;
    for (std::uint64_t i = 1; i <= 4; ++i)
        limits.put(i);
    EXPECT_EQ(show_array(b.array(u32, limit, 2), limits),
              (Shown{"[{cur=1, max=2}, {cur=3, max=4}]", R"([{"cur":1,"max":2},{"cur":3,"max":4}])"}));
    EXPECT_EQ(show_array(b.array(u32, int_, 2), Data().put(-1).put(7)), (Shown{"[-1, 7]", "[-1,7]"}));
    EXPECT_EQ(show_array(b.array(u32, int_, 2), Data().put(-1).put(7), true), (Shown{"[-1, 7, ...]", "[-1,7]"}));
    EXPECT_EQ(show_array(b.name("bytes_t", b.array(u32, u8, 3)), Data().put(std::uint8_t{1}).put(std::uint8_t{2}).put(std::uint8_t{255})),
              (Shown{"[1, 2, 255]", "[1,2,255]"}));
    EXPECT_EQ(show_array(b.array(u32, function_pointer, 1), Data().put(std::uint64_t{0xffffffff81000000})),
              (Shown{"[ksys_read]", R"(["ksys_read"])"}));
    EXPECT_EQ(show_array(b.array(u32, b.name("__be16", b.integer("short unsigned int", 2)), 1), Data().put(htons(80))).text, "[80]");
}

TEST_F(ValueWriterTest, WhatOnlyHasNothingOf) {
    const int in_addr = b.structure("in_addr", 4, {{"s_addr", u32, 0}});
    EXPECT_EQ(show(in_addr, Data()), (Shown{"-", "null"}));
    EXPECT_EQ(show(b.structure("empty", 0), Data()), (Shown{"{}", "{}"})) << "this has no bytes";
    EXPECT_EQ(show(in_addr, Value{0, 0, ARGTRACE_TYPE_BYTES, false}), (Shown{"?", "null"}));

    const auto show_port = [&](const char *type_name, const Data &data) {
        Probe probe;
        probe.args = {test::argument("x", ARGTRACE_TYPE_BYTES)};
        probe.args[0].type_name = type_name;
        const int u16 = b.integer("short unsigned int", 2);
        const ShownValue shown{.type = static_cast<std::uint32_t>(u16), .name = "x", .as_bytes = true};
        probe.types = display_types(b.get(), std::span(&shown, 1));
        const Value value{0, data.bytes().size(), ARGTRACE_TYPE_BYTES, true};
        return write(probe, value, data.bytes());
    };
    EXPECT_EQ(show_port("__be16", Data().put(htons(443))), (Shown{"443", "443"}));
    EXPECT_EQ(show_port("__u16", Data().put(std::uint16_t{443})), (Shown{"443", "443"}));
    EXPECT_EQ(show_port("__u16", Data()), (Shown{"-", "null"}));
}

TEST_F(ValueWriterTest, Flags) {
    const std::vector<FlagName> names{
        {"RDONLY", 0}, {"WRONLY", 1}, {"DSYNC", 0x1000}, {"SYNC", 0x101000}, {"CREAT", 0x40}};
    const auto show_flags = [&](std::uint64_t number, bool one = false) {
        Probe probe;
        probe.args = {test::argument("x", ARGTRACE_TYPE_U32)};
        const ShownValue shown{0, "x", false, names, one, 4};
        probe.types = display_types(b.get(), std::span(&shown, 1));
        return write(probe, Value{number, 0, ARGTRACE_TYPE_U32, true});
    };
    EXPECT_EQ(show_flags(0x41), (Shown{"WRONLY|CREAT", "\"WRONLY|CREAT\""}));
    EXPECT_EQ(show_flags(0x101000), (Shown{"SYNC", "\"SYNC\""})) << "most bits first";
    EXPECT_EQ(show_flags(0x1000), (Shown{"DSYNC", "\"DSYNC\""}));
    EXPECT_EQ(show_flags(0), (Shown{"RDONLY", "\"RDONLY\""}));
    EXPECT_EQ(show_flags(0x240), (Shown{"CREAT|0x200", "\"CREAT|0x200\""}));
    EXPECT_EQ(show_flags(0x200), (Shown{"512", "512"}));
    EXPECT_EQ(show_flags(0x40, true), (Shown{"CREAT", "\"CREAT\""}));
    EXPECT_EQ(show_flags(0x41, true), (Shown{"65", "65"})) << "it is not made of several";
}

TEST_F(ValueWriterTest, StructRecordedAsANumber) {
    const int kuid = b.structure(nullptr, 4, {{"val", u32, 0}});
    EXPECT_EQ(show(kuid, Value{7, 0, ARGTRACE_TYPE_U32, true}), (Shown{"{val=7}", "{\"val\":7}"}));
    const int pair = b.structure("pair", 16, {{"a", u64, 0}, {"b", u64, 64}});
    EXPECT_EQ(show(pair, Value{1, 2, ARGTRACE_TYPE_U128, true}),
              (Shown{"{a=1, b=2}", "{\"a\":1,\"b\":2}"}));
}

TEST_F(ValueWriterTest, UnionAndAnonymousMembers) {
    // sockptr_t
    const int inner = b.union_(nullptr, 8, {{"kernel", void_pointer, 0}, {"user", u64, 0}});
    const int sockptr = b.name(
        "sockptr_t", b.structure(nullptr, 16, {{nullptr, inner, 0}, {"is_kernel", bool_, 64, 1}}));
    const Data data = Data().put(std::uint64_t{16}).put(std::uint64_t{0xff});
    EXPECT_EQ(show(sockptr, data), (Shown{"{kernel=0x10, user=16, is_kernel=true}",
                                          "{\"kernel\":\"0x10\",\"user\":16,\"is_kernel\":true}"}));

    const int deeper = b.structure(nullptr, 8, {{"a", u32, 0}, {"b", u32, 32}});
    const int holder = b.structure(nullptr, 8, {{nullptr, deeper, 0}});
    const int outer = b.structure("outer", 16, {{"first", u64, 0}, {nullptr, holder, 64}});
    EXPECT_EQ(show(outer, Data().put(std::uint64_t{1}).put(2).put(3)).text, "{first=1, a=2, b=3}");
}

TEST_F(ValueWriterTest, Bitfields) {
    const int kind = enumeration("kind", {{"ONE", 1}, {"FIVE", 5}});
    const int bits = b.structure("bits", 16,
                                 {{"a", u32, 0, 3},
                                  {"b", int_, 3, 5},
                                  {"across", u32, 8, 17},
                                  {"kind", kind, 25, 3},
                                  {"flag", bool_, 28, 1},
                                  {"wide", u64, 64, 60},
                                  {"top", int_, 124, 4}});
    const std::uint64_t low = 5u | (0b10000u << 3) | (0x1abcdu << 8) | (5u << 25) | (1u << 28);
    const std::uint64_t high = 0xf000000000000001 | 0x0123456789abcde0;
    EXPECT_EQ(show(bits, Data().put(low).put(high)).text,
              "{a=5, b=-16, across=109517, kind=FIVE, flag=true, wide=81985529216486881, top=-1}");
    EXPECT_EQ(show(bits, Data().put(std::uint8_t{0xff})).text,
              "{a=7, b=-1, across=?, kind=?, flag=?, wide=?, top=?}");
}

TEST_F(ValueWriterTest, Arrays) {
    const int small = b.structure("small", 12, {{"a", b.array(u32, int_, 3), 0}});
    EXPECT_EQ(show(small, Data().put(1).put(-2).put(3)),
              (Shown{"{a=[1, -2, 3]}", "{\"a\":[1,-2,3]}"}));

    const int points = b.structure("points", 8, {{"p", b.array(u32, b.array(u32, u8, 2), 2), 0}});
    EXPECT_EQ(show(points, Data().put(std::uint64_t{0x04030201})).text, "{p=[[1, 2], [3, 4]]}");

    const int large = b.structure("large", 20, {{"a", b.array(u32, u8, 20), 0}});
    Data data;
    for (std::uint8_t i = 0; i < 20; i++)
        data.put(i);
    EXPECT_EQ(show(large, data),
              (Shown{"{a=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ...]}",
                     "{\"a\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]}"}));

    const int none = b.structure("none", 4, {{"n", int_, 0}, {"more", b.array(u32, u64, 0), 32}});
    EXPECT_EQ(show(none, Data().put(1)), (Shown{"{n=1, more=[]}", "{\"n\":1,\"more\":[]}"}));
    const int real = b.structure("real", 8, {{"r", b.array(u32, b.floating("float", 4), 2), 0}});
    EXPECT_EQ(show(real, Data().put(1.5f).put(2.5f)), (Shown{"{r=[1.5, 2.5]}", "{\"r\":[1.5,2.5]}"}));
}

TEST_F(ValueWriterTest, FloatingPointNumbers) {
    using Limits = std::numeric_limits<double>;
    const int numbers = b.structure("numbers", 56, {{"f", b.floating("float", 4), 0}, {"d", b.array(u32, b.floating("double", 8), 4), 64},
                                                    {"l", b.floating("long double", 16), 320}});
    EXPECT_EQ(show(numbers, Data().put(0.1f).put(0).put(2.0).put(-0.0).put(1e300).put(0.1).put(std::uint64_t{0xc000000000000000}).put(std::uint64_t{0xbfff})),
              (Shown{"{f=0.1, d=[2.0, -0.0, 1e+300, 0.1], l=-1.5}", "{\"f\":0.1,\"d\":[2.0,-0.0,1e+300,0.1],\"l\":\"-1.5\"}"}));
    EXPECT_EQ(show(numbers, Data().put(-1e-45f).put(0).put(Limits::infinity()).put(-Limits::infinity()).put(Limits::quiet_NaN())
                                .put(-Limits::quiet_NaN()).put(std::uint64_t{0}).put(std::uint64_t{0})),
              (Shown{"{f=-1e-45, d=[inf, -inf, nan, nan], l=0.0}", "{\"f\":-1e-45,\"d\":[\"inf\",\"-inf\",\"nan\",\"nan\"],\"l\":\"0.0\"}"}));
}

// IEEE 754's binary128: a bit for the sign, 15 for the exponent, 112 for the fraction.
TEST_F(ValueWriterTest, NumbersOfFourWords) {
    const int numbers = b.structure("numbers", 16, {{"q", b.floating("__float128", 16), 0}});
    const auto shown = [&](std::uint64_t low, std::uint64_t high) { return show(numbers, Data().put(low).put(high)).text; };
    EXPECT_EQ(show(numbers, Data().put(std::uint64_t{0}).put(std::uint64_t{0xbfff800000000000})), (Shown{"{q=-1.5}", "{\"q\":\"-1.5\"}"}));
    EXPECT_EQ(shown(0, 0), "{q=0.0}");
    EXPECT_EQ(shown(0, 0x8000000000000000), "{q=-0.0}");
    EXPECT_EQ(shown(0, 0x7fff000000000000), "{q=inf}");
    EXPECT_EQ(shown(1, 0xffff000000000000), "{q=nan}");
    EXPECT_EQ(shown(0x999999999999999a, 0x3ffb999999999999), "{q=0.1}");
    EXPECT_EQ(shown(0x999999999999999b, 0x3ffb999999999999), "{q=0.10000000000000000000000000000000002}") << "the next one";
    EXPECT_EQ(shown(~std::uint64_t{0}, 0x7ffeffffffffffff), "{q=1.189731495357231765085759326628007e+4932}") << "the largest";
    EXPECT_EQ(show(numbers, Data().put(std::uint64_t{0})).text, "{q=?}") << "cut off";
}

TEST_F(ValueWriterTest, CharArraysAreText) {
    const int named = b.structure("named", 8, {{"name", b.array(u32, b.constant(char_), 8), 0}});
    auto shown = [&](std::string_view text) {
        Data data;
        for (char c : text)
            data.put(c);
        return show(named, data);
    };
    EXPECT_EQ(shown(std::string_view("eth0\0xyz", 8)),
              (Shown{"{name=\"eth0\"}", "{\"name\":\"eth0\"}"}));
    EXPECT_EQ(shown("12345678").text, "{name=\"12345678\"}"); // no NUL
    EXPECT_EQ(shown(std::string_view("a\"\\\n\t\x01\xff\0", 8)),
              (Shown{"{name=\"a\\\"\\\\\\n\\t\\x01\\xff\"}",
                     "{\"name\":\"a\\\"\\\\\\n\\t\\u0001\xef\xbf\xbd\"}"}));
    EXPECT_EQ(shown(std::string_view("\0bcdefgh", 8)).text, "{name=\"\"}");
}

TEST_F(ValueWriterTest, Enums) {
    const int plain = enumeration("pid_type", {{"PIDTYPE_PID", 0}, {"PIDTYPE_TGID", 1}});
    auto value = [](std::uint64_t low, std::uint8_t type) { return Value{low, 0, type, true}; };
    EXPECT_EQ(show(plain, value(1, ARGTRACE_TYPE_U32)),
              (Shown{"PIDTYPE_TGID", "\"PIDTYPE_TGID\""}));
    EXPECT_EQ(show(plain, value(3, ARGTRACE_TYPE_U32)), (Shown{"3", "3"}));
    EXPECT_EQ(show(b.name("pid_type_t", b.volatile_(plain)), value(0, ARGTRACE_TYPE_U32)).text,
              "PIDTYPE_PID");

    const int negative =
        enumeration("negative", {{"LAST", 9}, {"BAD", -1}, {"ALSO_BAD", -1}, {"FIRST", 0}});
    EXPECT_EQ(show(negative, value(minus(-1), ARGTRACE_TYPE_S32)).text, "BAD");
    EXPECT_EQ(show(negative, value(minus(-7), ARGTRACE_TYPE_S32)), (Shown{"-7", "-7"}));
    EXPECT_EQ(show(negative, value(9, ARGTRACE_TYPE_S32)).text, "LAST");

    // Values that are bits are combined.
    const int bits = enumeration("bits", {{"NONE", 0}, {"URGENT", 1}, {"RETRY", 2}, {"PACKED", 4}, {"ALL", 7}});
    EXPECT_EQ(show(bits, value(3, ARGTRACE_TYPE_U32)), (Shown{"URGENT|RETRY", "\"URGENT|RETRY\""}));
    EXPECT_EQ(show(bits, value(4, ARGTRACE_TYPE_U32)).text, "PACKED");
    EXPECT_EQ(show(bits, value(7, ARGTRACE_TYPE_U32)).text, "ALL");
    EXPECT_EQ(show(bits, value(0, ARGTRACE_TYPE_U32)).text, "NONE");
    EXPECT_EQ(show(bits, value(0x12, ARGTRACE_TYPE_U32)).text, "RETRY|0x10");
    EXPECT_EQ(show(bits, value(8, ARGTRACE_TYPE_U32)), (Shown{"8", "8"}));
    // Those that are counted, be it beyond 4, or with a value that is no sum of bits, are not.
    const int counted = enumeration("counted", {{"ONE", 1}, {"TWO", 2}, {"THREE", 3}, {"FOUR", 4}});
    EXPECT_EQ(show(counted, value(5, ARGTRACE_TYPE_U32)).text, "5");
    const int few = enumeration("few", {{"ZERO", 0}, {"ONE", 1}, {"TWO", 2}});
    EXPECT_EQ(show(few, value(3, ARGTRACE_TYPE_U32)).text, "3");
    const int mixed = enumeration("mixed", {{"ONE", 1}, {"TWO", 2}, {"FOUR", 4}, {"TWENTY", 20}});
    EXPECT_EQ(show(mixed, value(3, ARGTRACE_TYPE_U32)).text, "3");

    const int high = btf__add_enum(b.get(), "high", 4);
    ASSERT_EQ(0, btf__add_enum_value(b.get(), "TOP_BIT", 0x80000000));
    EXPECT_EQ(show(high, value(0x80000000, ARGTRACE_TYPE_U32)).text, "TOP_BIT");

    const int large = btf__add_enum64(b.get(), "large", 8, false);
    ASSERT_EQ(0, btf__add_enum64_value(b.get(), "HUGE_ONE", 0x8000000000000001));
    EXPECT_EQ(show(large, value(0x8000000000000001, ARGTRACE_TYPE_U64)).text, "HUGE_ONE");
    EXPECT_EQ(show(large, value(5, ARGTRACE_TYPE_U64)).text, "5");

    // A plain integer stays a number.
    EXPECT_EQ(show(int_, value(1, ARGTRACE_TYPE_S32)), (Shown{"1", "1"}));
}

TEST_F(ValueWriterTest, Functions) {
    auto shown = [&](std::uint64_t address) {
        return show(function_pointer, Value{address, 0, ARGTRACE_TYPE_PTR, true});
    };
    EXPECT_EQ(shown(0xffffffff81000000), (Shown{"ksys_read", "\"ksys_read\""}));
    EXPECT_EQ(shown(0xffffffff81000010), (Shown{"ksys_read+0x10", "\"ksys_read+0x10\""}));
    EXPECT_EQ(shown(0xffffffffc0001000).text, "ext4_read [ext4]");
    EXPECT_EQ(shown(0xffffffffc0001004).text, "ext4_read+0x4 [ext4]");
    EXPECT_EQ(shown(0), (Shown{"0x0", "\"0x0\""}));
    EXPECT_EQ(shown(0x7f0000001000).text, "0x7f0000001000");
    EXPECT_EQ(shown(minus(-2)), (Shown{"-ENOENT", "\"-ENOENT\""}));

    const int ops = b.structure("ops", 8, {{"fn", b.name("fn_t", function_pointer), 0}});
    EXPECT_EQ(show(ops, Data().put(std::uint64_t{0xffffffff81000000})),
              (Shown{"{fn=ksys_read}", "{\"fn\":\"ksys_read\"}"}));
    const int decays = b.proto(int_, {});
    EXPECT_EQ(show(decays, Value{0xffffffff81000000, 0, ARGTRACE_TYPE_PTR, true}).text,
              "ksys_read");
    // What a data pointer points to is none of ours.
    EXPECT_EQ(show(void_pointer, Value{0xffffffff81000000, 0, ARGTRACE_TYPE_PTR, true}).text,
              "0xffffffff81000000");
}

TEST_F(ValueWriterTest, ErrorPointers) {
    auto shown = [&](std::uint64_t address) {
        return show(void_pointer, Value{address, 0, ARGTRACE_TYPE_PTR, true});
    };
    EXPECT_EQ(shown(minus(-1)), (Shown{"-EPERM", "\"-EPERM\""}));
    EXPECT_EQ(shown(minus(-2)).text, "-ENOENT");
    EXPECT_EQ(shown(minus(-11)).text, "-EAGAIN");
    EXPECT_EQ(shown(minus(-512)).text, "-ERESTARTSYS");
    EXPECT_EQ(shown(minus(-517)).text, "-EPROBE_DEFER");
    EXPECT_EQ(shown(minus(-41)).text, "0xffffffffffffffd7"); // no error has that number
    EXPECT_EQ(shown(minus(-4095)).text, "0xfffffffffffff001");
    EXPECT_EQ(shown(minus(-4096)).text, "0xfffffffffffff000");
    EXPECT_EQ(shown(0).text, "0x0");
    EXPECT_EQ(errno_name(0), "");
    EXPECT_EQ(errno_name(520), "");
    EXPECT_EQ(errno_name(100000), "");
}

TEST_F(ValueWriterTest, NumbersOf128Bits) {
    const int wide = b.integer("unsigned __int128", 16);
    EXPECT_EQ(show(wide, Value{0, 1, ARGTRACE_TYPE_U128, true}),
              (Shown{"18446744073709551616", "\"18446744073709551616\""}));
    const int s = b.structure(
        "s", 32, {{"u", wide, 0}, {"s", b.integer("__int128", 16, BTF_INT_SIGNED), 128}});
    EXPECT_EQ(show(s, Data().put(5ull).put(0ull).put(minus(-1)).put(minus(-1))),
              (Shown{"{u=5, s=-1}", "{\"u\":\"5\",\"s\":\"-1\"}"}));
}

TEST_F(ValueWriterTest, WhatIsMissing) {
    const int s = b.structure("s", 16, {{"a", u64, 0}, {"b", u64, 64}});
    EXPECT_EQ(show(s, Value{}), (Shown{"?", "null"}));
    EXPECT_EQ(show(s, Data().put(1ull).put(2)), (Shown{"{a=1, b=?}", "{\"a\":1,\"b\":null}"}));

    Probe untyped;
    untyped.args = {test::argument("x", ARGTRACE_TYPE_BYTES)};
    const Value value{1, 3, ARGTRACE_TYPE_BYTES, true};
    const std::vector<std::byte> bytes = Data().put(0x030a0100).bytes();
    EXPECT_EQ(write(untyped, value, bytes), (Shown{"{01 0a 03}", "\"010a03\""}));
    untyped.types = bytes; // no BTF
    EXPECT_EQ(write(untyped, value, bytes), (Shown{"{01 0a 03}", "\"010a03\""}));
}

// Types as a file may have them: whatever they say, rendering ends and reads nothing but the value.
TEST_F(ValueWriterTest, CorruptedTypes) {
    const int kind = enumeration("kind", {{"ONE", 1}, {"FIVE", 5}});
    const int inner = b.union_(nullptr, 8, {{"p", function_pointer, 0}, {"n", u64, 0}});
    const int s = b.structure("s", 32,
                              {{nullptr, inner, 0},
                               {"a", b.array(u32, u8, 8), 64},
                               {"text", b.array(u32, char_, 4), 128},
                               {"kind", kind, 160},
                               {"bits", int_, 192, 5}});
    const std::vector<std::byte> good =
        test::all_display_types(b.get(), static_cast<std::uint32_t>(b.proto(0, {{"s", s}})));
    ASSERT_FALSE(good.empty());

    std::mt19937 random(20240502);
    const std::vector<std::byte> bytes(32, std::byte{0xa5});
    for (int round = 0; round < 5000; ++round) {
        Probe probe;
        probe.args = {test::argument("s", ARGTRACE_TYPE_BYTES)};
        probe.types = good;
        for (std::size_t flips = 1 + random() % 4; flips > 0; --flips)
            probe.types[random() % good.size()] = static_cast<std::byte>(random());
        write(probe, Value{0, 32, ARGTRACE_TYPE_BYTES, true}, bytes);
    }
}

TEST_F(ValueWriterTest, CircularTypesEnd) {
    const int circle = b.structure("circle", 8);
    for (const char *name : {"a", "b", "c"})
        ASSERT_EQ(0, btf__add_field(b.get(), name, circle, 0, 0));
    const int nameless = b.structure(nullptr, 8);
    for (int i = 0; i < 3; i++)
        ASSERT_EQ(0, btf__add_field(b.get(), nullptr, nameless, 0, 0));
    for (const int type : {circle, nameless}) {
        b.proto(0, {{"x", type}});
        std::uint32_t size = 0;
        const auto *raw = static_cast<const std::byte *>(btf__raw_data(b.get(), &size));
        Probe probe;
        probe.args = {test::argument("x", ARGTRACE_TYPE_BYTES)};
        probe.types.assign(raw, raw + size);
        const Shown shown = write(probe, Value{0, 0, ARGTRACE_TYPE_BYTES, true});
        EXPECT_LT(shown.text.size(), 10000u);
    }
}

TEST_F(ValueWriterTest, Text) {
    const auto shown = [&](std::string_view text, bool cut = false) {
        const auto *begin = reinterpret_cast<const std::byte *>(text.data());
        const std::vector<std::byte> bytes(begin, begin + text.size());
        const Value value{0, bytes.size(), ARGTRACE_TYPE_STR, true, cut};
        Probe untyped;
        untyped.args = {test::output("x", ARGTRACE_TYPE_STR, 64)};
        // What its pointer points to is described by BTF or not: all the same.
        Shown written = write(untyped, value, bytes);
        EXPECT_EQ(written, show(b.pointer(char_), value, bytes));
        EXPECT_EQ(written, show(b.array(u32, char_, 2), value, bytes));
        return written;
    };
    EXPECT_EQ(shown("sda1"), (Shown{R"("sda1")", R"("sda1")"}));
    EXPECT_EQ(shown(""), (Shown{R"("")", R"("")"}));
    EXPECT_EQ(shown("", true), (Shown{R"(""...)", R"("")"}));
    EXPECT_EQ(shown("/usr/li", true), (Shown{R"("/usr/li"...)", R"("/usr/li")"}));
    EXPECT_EQ(shown("dots..."), (Shown{R"("dots...")", R"("dots...")"}));
    EXPECT_EQ(shown("a\"\\\n\t\x1b"), (Shown{R"("a\"\\\n\t\x1b")", R"("a\"\\\n\t\u001b")"}));
    EXPECT_EQ(shown(std::string_view("a\0b", 3)), (Shown{R"("a\0b")", R"("a\u0000b")"}));
    EXPECT_EQ(shown("\xc3\xa4\xff"), (Shown{"\"\xc3\xa4\\xff\"", "\"\xc3\xa4\xef\xbf\xbd\""}));
    EXPECT_EQ(shown("\xc3", true).text, R"("\xc3"...)"); // in the midst of a character

    Probe probe;
    probe.args = {test::output("x", ARGTRACE_TYPE_STR, 64)};
    EXPECT_EQ(write(probe, Value{}), (Shown{"?", "null"}));
}

TEST_F(ValueWriterTest, BuffersThatAreCut) {
    Probe probe;
    probe.args = {test::output("x", ARGTRACE_TYPE_BYTES, 2)};
    const std::vector<std::byte> bytes{std::byte{0x0a}, std::byte{0xff}};
    EXPECT_EQ(write(probe, Value{0, 2, ARGTRACE_TYPE_BYTES, true}, bytes), (Shown{"{0a ff}", "\"0aff\""}));
    EXPECT_EQ(write(probe, Value{0, 2, ARGTRACE_TYPE_BYTES, true, true}, bytes), (Shown{"{0a ff ...}", "\"0aff\""}));
}

TEST_F(ValueWriterTest, EventsSayWhichTextWasCut) {
    Probe probe;
    probe.function = "f";
    probe.args = {test::output("str(a)", ARGTRACE_TYPE_STR, 4), test::argument("n", ARGTRACE_TYPE_S32),
                  test::output("whole", ARGTRACE_TYPE_STR, 4), test::output("b", ARGTRACE_TYPE_STR, 4),
                  test::output("gone", ARGTRACE_TYPE_STR, 4)};
    const std::vector<std::byte> bytes = Data().text("four").bytes();
    std::vector<Value> values = {{0, 4, ARGTRACE_TYPE_STR, true, true},
                                 {7, 0, ARGTRACE_TYPE_S32, true},
                                 {1, 3, ARGTRACE_TYPE_STR, true},
                                 {0, 4, ARGTRACE_TYPE_STR, true, true},
                                 {}};
    Event event;
    event.probe = &probe;
    const auto shown = [&](bool types) {
        const EventView view{&event, values, bytes};
        std::string text, json;
        TextRenderer(names, false).event(text, view);
        JsonRenderer(names, types).event(json, view);
        EXPECT_TRUE(nlohmann::json::accept(json)) << json;
        EXPECT_TRUE(json.ends_with("}\n"));
        return text + json;
    };
    std::string all = shown(false);
    EXPECT_NE(all.find(R"x(f(str(a)="four"..., n=7, whole="our", b="four"..., gone=?))x"), all.npos) << all;
    EXPECT_NE(all.find(R"x("args":{"str(a)":"four","n":7,"whole":"our","b":"four","gone":null},"cut":["str(a)","b"]})x"),
              all.npos)
        << all;
    EXPECT_NE(shown(true).find(R"x("gone":"T"},"cut":["str(a)","b"]})x"), all.npos) << shown(true);
    values[0].cut = false;
    EXPECT_NE(shown(false).find(R"(,"cut":["b"]})"), all.npos);
    values[3].cut = false;
    EXPECT_EQ(shown(false).find("cut"), all.npos);
}

TEST_F(ValueWriterTest, WholeEvents) {
    const int kuid = b.structure(nullptr, 4, {{"val", u32, 0}});
    const int kind = enumeration("kind", {{"ONE", 1}});
    Probe probe;
    probe.function = "f";
    probe.args = {test::argument("uid", ARGTRACE_TYPE_BYTES, "kuid_t"),
                  test::argument("n", ARGTRACE_TYPE_S32, "int"),
                  test::argument("kind", ARGTRACE_TYPE_U32, "enum kind"),
                  test::argument("fn", ARGTRACE_TYPE_PTR, "fn_t"), test::not_captured("gone")};
    probe.types = test::all_display_types(
        b.get(),
        static_cast<std::uint32_t>(b.proto(0, {{"uid", kuid},
                                               {"n", int_},
                                               {"kind", kind},
                                               {"fn", function_pointer},
                                               {"gone", b.structure("big", 8, {{"x", u64, 0}})}})));
    const std::vector<std::byte> bytes = Data().put(0u).put(1000u).bytes();
    const std::vector<Value> values = {{4, 4, ARGTRACE_TYPE_BYTES, true},
                                       {1, 0, ARGTRACE_TYPE_S32, true},
                                       {1, 0, ARGTRACE_TYPE_U32, true},
                                       {0xffffffff81000000, 0, ARGTRACE_TYPE_PTR, true},
                                       {}};
    Event event;
    event.probe = &probe;
    const EventView view{&event, values, bytes};

    std::string text, json;
    TextRenderer(names, false).event(text, view);
    JsonRenderer(names, true).event(json, view);
    EXPECT_NE(text.find("f(uid={val=1000}, n=1, kind=ONE, fn=ksys_read, gone=?)\n"), text.npos)
        << text;
    EXPECT_NE(json.find("\"args\":{\"uid\":{\"val\":1000},\"n\":1,\"kind\":\"ONE\","
                        "\"fn\":\"ksys_read\",\"gone\":null},\"types\":{\"uid\":\"kuid_t\","),
              json.npos)
        << json;
}

} // namespace
} // namespace argtrace
