// SPDX-License-Identifier: GPL-2.0-only
#include "model/type.h"

#include <set>

#include <gtest/gtest.h>

namespace argtrace {
namespace {

TEST(Type, HasTheSizeThatTheHeaderGivesEachCode) {
    for (unsigned code = 0; code <= UINT8_MAX; ++code)
        EXPECT_EQ(type_info(static_cast<std::uint8_t>(code)).size,
                  argtrace_type_size(static_cast<std::uint8_t>(code)))
            << code;
}

TEST(Type, EachCodeHasOneRow) {
    std::set<std::uint8_t> codes;
    for (const TypeInfo &type : known_types) {
        EXPECT_TRUE(codes.insert(type.code).second) << type.name;
        EXPECT_NE(type.type_class, TypeClass::none) << type.name;
        EXPECT_STREQ(type_info(type.code).name, type.name);
    }
    EXPECT_FALSE(codes.contains(ARGTRACE_TYPE_END));
}

TEST(Type, UnknownCodesAreOfNoClass) {
    for (std::uint8_t code : {std::uint8_t{ARGTRACE_TYPE_END}, std::uint8_t{21}}) {
        EXPECT_EQ(type_info(code).type_class, TypeClass::none);
        EXPECT_STREQ(type_info(code).name, "");
    }
    EXPECT_EQ(type_info(200).type_class, TypeClass::none);
}

TEST(Type, IntegersAreFoundBySizeAndSign) {
    EXPECT_EQ(integer_type(1, false), ARGTRACE_TYPE_U8);
    EXPECT_EQ(integer_type(1, true), ARGTRACE_TYPE_S8);
    EXPECT_EQ(integer_type(2, true), ARGTRACE_TYPE_S16);
    EXPECT_EQ(integer_type(4, false), ARGTRACE_TYPE_U32);
    EXPECT_EQ(integer_type(8, false), ARGTRACE_TYPE_U64) << "and not an address";
    EXPECT_EQ(integer_type(16, true), ARGTRACE_TYPE_S128);
    EXPECT_EQ(integer_type(3, false), ARGTRACE_TYPE_END);
    EXPECT_EQ(integer_type(0, false), ARGTRACE_TYPE_END) << "and not BYTES";
}

TEST(Type, PlainCharIsSignedByItsCode) {
    EXPECT_TRUE(type_info(ARGTRACE_TYPE_CHAR).is_signed);
    EXPECT_FALSE(type_info(ARGTRACE_TYPE_UCHAR).is_signed);
}

} // namespace
} // namespace argtrace
