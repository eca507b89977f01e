// SPDX-License-Identifier: GPL-2.0-only

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "btf/declaration.h"
#include "support/all_display_types.h"
#include "support/btf_builder.h"
#include "support/packet_builder.h"
#include "uapi/probe.h"

namespace argtrace {
namespace {

BtfPtr parse(const std::vector<std::byte> &blob) {
    return BtfPtr(btf__new(blob.data(), static_cast<std::uint32_t>(blob.size())));
}

const btf_type *last_type(const btf *types) {
    return btf__type_by_id(types, btf__type_cnt(types) - 1);
}

class DisplayTypes : public testing::Test {
protected:
    std::vector<std::byte> of(std::initializer_list<BtfBuilder::Param> params) {
        return test::all_display_types(b.get(), static_cast<std::uint32_t>(b.proto(0, params)));
    }

    BtfBuilder b;
    int int_ = b.integer("int", 4, BTF_INT_SIGNED);
    int char_ = b.integer("char", 1, BTF_INT_SIGNED);
};

TEST_F(DisplayTypes, NoneWhereNoArgumentNeedsThem) {
    const int file = b.structure("file", 4, {{"f", int_, 0}});
    EXPECT_TRUE(of({}).empty());
    EXPECT_TRUE(of({{"i", int_},
                    {"b", b.integer("_Bool", 1, BTF_INT_BOOL)},
                    {"c", b.name("letter", b.constant(char_))},
                    {"file", b.pointer(file)},
                    {"p", b.pointer(b.pointer(b.proto(0, {})))},
                    {"v", b.pointer(0)},
                    {"a", b.array(int_, int_, 3)},
                    {"opaque", b.pointer(b.forward("opaque", BTF_FWD_STRUCT))},
                    {nullptr, 0}})
                    .empty());
    EXPECT_TRUE(test::all_display_types(b.get(), static_cast<std::uint32_t>(int_)).empty());
    EXPECT_TRUE(test::all_display_types(b.get(), 9999).empty());
    EXPECT_TRUE(test::all_display_types(nullptr, 1).empty());
}

TEST_F(DisplayTypes, LastIsThePrototype) {
    const int inner = b.structure("inner", 4, {{"x", int_, 0}});
    const int outer = b.structure("outer", 32,
                                  {{"in", b.name("inner_t", inner), 0},
                                   {"next", b.pointer(inner), 64},
                                   {"fn", b.pointer(b.proto(int_, {{"a", int_}})), 128},
                                   {"bits", int_, 192, 3},
                                   {"name", b.array(int_, char_, 4), 224}});
    const BtfPtr types = parse(of({{"o", b.constant(outer)}, {"n", int_}, {nullptr, 0}}));
    ASSERT_TRUE(types);

    const btf_type *proto = last_type(types.get());
    ASSERT_TRUE(btf_is_func_proto(proto));
    ASSERT_EQ(btf_vlen(proto), 3);
    EXPECT_EQ(declare_parameters(types.get(), btf__type_cnt(types.get()) - 1),
              "(struct outer o, int n, ...)");

    const btf_type *copy = btf__type_by_id(types.get(), btf_params(proto)[0].type);
    ASSERT_TRUE(btf_is_struct(copy));
    EXPECT_EQ(copy->size, 32u);
    std::vector<std::string> members;
    for (int i = 0; i < btf_vlen(copy); i++) {
        const btf_member &member = btf_members(copy)[i];
        members.push_back(fmt::format(
            "{} at {}:{}",
            declare(types.get(), member.type, btf__name_by_offset(types.get(), member.name_off)),
            btf_member_bit_offset(copy, i), btf_member_bitfield_size(copy, i)));
    }
    EXPECT_EQ(members, (std::vector<std::string>{"struct inner in at 0:0", "void *next at 64:0",
                                                 "void (*fn)(void) at 128:0", "int bits at 192:3",
                                                 "char name[4] at 224:0"}));
}

TEST_F(DisplayTypes, EachTypeOnce) {
    const int kuid = b.name("kuid_t", b.structure(nullptr, 4, {{"val", int_, 0}}));
    const auto one = parse(of({{"a", kuid}}));
    const auto many = parse(of({{"a", kuid}, {"b", b.constant(kuid)}, {"c", int_}}));
    ASSERT_TRUE(one && many);
    EXPECT_EQ(btf__type_cnt(one.get()), btf__type_cnt(many.get()));
}

TEST_F(DisplayTypes, SplitBtf) {
    const int inner = b.structure("inner", 4, {{"x", int_, 0}});
    BtfBuilder module(b.get());
    const int outer = module.structure("outer", 4, {{"in", inner, 0}});
    const int proto = module.proto(0, {{"o", outer}});
    const BtfPtr types = parse(test::all_display_types(module.get(), static_cast<std::uint32_t>(proto)));
    ASSERT_TRUE(types);
    EXPECT_EQ(declare_parameters(types.get(), btf__type_cnt(types.get()) - 1), "(struct outer o)");
    EXPECT_GT(btf__find_by_name_kind(types.get(), "inner", BTF_KIND_STRUCT), 0);
}

TEST_F(DisplayTypes, NoneWhenTooLarge) {
    const int huge = b.enumeration("huge", 4, 0);
    for (int i = 0; i < 4000; i++)
        ASSERT_EQ(0, btf__add_enum_value(b.get(), fmt::format("VALUE_{}", i).c_str(), i));
    EXPECT_TRUE(of({{"h", huge}}).empty());
}

TEST_F(DisplayTypes, NoneWhenBroken) {
    EXPECT_TRUE(of({{"s", b.structure("s", 4, {{"missing", 9999, 0}})}}).empty());
    EXPECT_TRUE(of({{"s", b.structure("s", 4, {{"nothing", 0, 0}})}}).empty());

    const int circle = b.structure("circle", 4);
    ASSERT_EQ(0, btf__add_field(b.get(), "self", circle, 0, 0));
    EXPECT_TRUE(of({{"c", circle}}).empty());
}

TEST_F(DisplayTypes, SurviveTheWayToTheModuleAndBack) {
    Probe probe = test::vfs_read(0);
    probe.types = of({{"s", b.structure("s", 4, {{"x", int_, 0}})}});
    ASSERT_FALSE(probe.types.empty());
    std::vector<std::byte> bytes;
    append_probe(bytes, probe);
    append_probe(bytes, test::vfs_read(0));
    EXPECT_EQ(parse_probes(bytes, 2), (std::vector<Probe>{probe, test::vfs_read(0)}));
}

} // namespace
} // namespace argtrace
