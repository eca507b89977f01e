// SPDX-License-Identifier: GPL-2.0-only
#include "btf/shape.h"

#include "support/btf_builder.h"

namespace argtrace {
namespace {

using Kind = Shape::Kind;

class ShapeOf : public testing::Test {
protected:
    BtfBuilder b;
    int int_ = b.integer("int", 4, BTF_INT_SIGNED);
    int u64_ = b.integer("long unsigned int", 8);

    Shape shape(int type) { return shape_of(b.get(), type); }
};

TEST_F(ShapeOf, Integers) {
    EXPECT_EQ(shape(0).kind, Kind::nothing);
    EXPECT_EQ(shape(int_), (Shape{.kind = Kind::integer, .bytes = 4, .is_signed = true}));
    EXPECT_EQ(shape(u64_), (Shape{.kind = Kind::integer, .bytes = 8}));
    EXPECT_EQ(shape(b.integer("__int128 unsigned", 16)),
              (Shape{.kind = Kind::integer, .bytes = 16}));
    EXPECT_EQ(shape(b.integer("_Bool", 1, BTF_INT_BOOL)),
              (Shape{.kind = Kind::integer, .bytes = 1, .is_bool = true}));
}

// As pahole writes them: up to Linux 6.1 plain char is signed, then unsigned.
TEST_F(ShapeOf, Chars) {
    EXPECT_EQ(shape(b.integer("char", 1, BTF_INT_SIGNED)),
              (Shape{.kind = Kind::integer, .bytes = 1, .is_signed = true, .is_char = true}));
    EXPECT_EQ(shape(b.integer("char", 1)),
              (Shape{.kind = Kind::integer, .bytes = 1, .is_char = true}));
    EXPECT_FALSE(shape(b.integer("signed char", 1, BTF_INT_SIGNED)).is_char);
    EXPECT_FALSE(shape(b.integer("unsigned char", 1)).is_char);
}

TEST_F(ShapeOf, TypesBehindNamesAndQualifiers) {
    const int deep = b.constant(b.name("a_t", b.volatile_(b.name("b_t", b.tag("rcu", int_)))));
    EXPECT_EQ(shape(deep), shape(int_));
    EXPECT_EQ(shape(b.name("nothing_t", 0)).kind, Kind::unknown) << "no value is void";
}

TEST_F(ShapeOf, Pointers) {
    const Shape pointer{.kind = Kind::pointer, .bytes = 8};
    EXPECT_EQ(shape(b.pointer(0)), pointer);
    EXPECT_EQ(shape(b.restrict_(b.pointer(int_))), pointer);
    EXPECT_EQ(shape(b.array(int_, int_, 100)), pointer) << "decays";
    EXPECT_EQ(shape(b.proto(0, {})), pointer) << "decays";
}

TEST_F(ShapeOf, Enums) {
    EXPECT_EQ(shape(b.enumeration("e", 4, 1)), (Shape{.kind = Kind::enumeration, .bytes = 4}));
    EXPECT_EQ(shape(b.enumeration("s", 4, -1)),
              (Shape{.kind = Kind::enumeration, .bytes = 4, .is_signed = true}));
    EXPECT_EQ(shape(b.enumeration("packed", 1, 1)), (Shape{.kind = Kind::enumeration, .bytes = 1}));
    EXPECT_EQ(shape(b.enumeration64("big", 8, true)),
              (Shape{.kind = Kind::enumeration, .bytes = 8, .is_signed = true}));
}

TEST_F(ShapeOf, Aggregates) {
    const int pair = b.structure("pair", 16, {{"a", u64_, 0}, {"b", int_, 64}});
    EXPECT_EQ(shape(pair), (Shape{.kind = Kind::aggregate, .bytes = 16}));
    EXPECT_EQ(shape(b.union_("u", 8, {{"a", u64_, 0}, {"b", int_, 0}})),
              (Shape{.kind = Kind::aggregate, .bytes = 8}));
    EXPECT_EQ(shape(b.structure("empty", 0)), (Shape{.kind = Kind::aggregate, .bytes = 0}));
    EXPECT_FALSE(shape(b.structure("bits", 4, {{"a", int_, 0, 3}, {"b", int_, 3, 5}})).unaligned);
}

TEST_F(ShapeOf, UnalignedAggregates) {
    const int packed = b.structure("packed", 12, {{"a", int_, 0}, {"b", u64_, 32}});
    EXPECT_TRUE(shape(packed).unaligned);
    EXPECT_TRUE(shape(b.structure("outer", 16, {{"p", packed, 0}})).unaligned) << "by its member";
    EXPECT_TRUE(shape(b.structure("list", 12, {{"p", b.array(int_, packed, 1), 0}})).unaligned);
}

TEST_F(ShapeOf, BitFieldsAreNeverUnaligned) {
    const int bits = b.structure("bits", 8, {{"a", int_, 0, 8}, {"b", int_, 8, 32}});
    EXPECT_EQ(shape(bits), (Shape{.kind = Kind::aggregate, .bytes = 8}));
}

// struct { u64 a : 8, b : 8; } aligned to 16 bytes: the type of b ends in the second word, b does
// not.
TEST_F(ShapeOf, BitFieldsEndWhereTheirBitsEnd) {
    EXPECT_TRUE(shape(b.structure("bits", 16, {{"a", u64_, 0, 8}, {"b", u64_, 8, 8}})).ambiguous);
    EXPECT_FALSE(shape(b.structure("both", 16, {{"a", u64_, 0, 8}, {"b", u64_, 60, 8}})).ambiguous);
}

TEST_F(ShapeOf, AmbiguousAggregates) {
    EXPECT_TRUE(shape(b.structure("aligned", 16, {{"a", u64_, 0}})).ambiguous) << "a bare word";
    EXPECT_TRUE(shape(b.structure("unnamed", 16, {{"a", u64_, 64}})).ambiguous);
    EXPECT_FALSE(shape(b.structure("large", 32, {{"a", u64_, 0}})).ambiguous) << "in memory";
    const int five = b.structure("five", 5, {{"a", int_, 0}});
    const int list = b.structure("list", 10, {{"p", b.array(int_, five, 2), 0}});
    EXPECT_TRUE(shape(list).ambiguous) << "its second element is unaligned";
    EXPECT_FALSE(shape(list).unaligned);
    const int unknown = b.structure("unknown", 8, {{"p", b.forward("f", BTF_FWD_STRUCT), 0}});
    EXPECT_TRUE(shape(unknown).ambiguous);
}

TEST_F(ShapeOf, AggregatesWithFloats) {
    const int double_ = b.floating("double", 8);
    EXPECT_EQ(shape(double_), (Shape{.kind = Kind::floating, .bytes = 8}));
    const int inner = b.structure("inner", 8, {{"d", b.name("real_t", double_), 0}});
    EXPECT_TRUE(shape(b.union_("outer", 8, {{"a", u64_, 0}, {"i", inner, 0}})).has_float);
}

TEST_F(ShapeOf, WhatCannotBeAValueIsUnknown) {
    EXPECT_EQ(shape(b.forward("pid", BTF_FWD_STRUCT)).kind, Kind::unknown);
    EXPECT_EQ(shape(54321).kind, Kind::unknown);
    // Bitfields as they were described before Linux 4.20: 31 bits, and 32 that begin at bit 1.
    for (const unsigned layout : {BTF_INT_BITS(31u), 1u << 16 | BTF_INT_BITS(32u)}) {
        const int odd = b.integer("odd", 4);
        auto type = const_cast<btf_type *>(btf__type_by_id(b.get(), static_cast<unsigned>(odd)));
        *reinterpret_cast<std::uint32_t *>(type + 1) = layout;
        EXPECT_EQ(shape(odd).kind, Kind::unknown) << layout;
    }
    const int circle = b.name("circle_t", int_);
    const_cast<btf_type *>(btf__type_by_id(b.get(), circle))->type = circle;
    EXPECT_EQ(shape(circle).kind, Kind::unknown);
}

} // namespace
} // namespace argtrace
