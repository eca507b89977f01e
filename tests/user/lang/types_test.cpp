// SPDX-License-Identifier: GPL-2.0-only

// Names that several types or enumerators have.

#include "lang/types.h"

#include <gmock/gmock.h>

#include "lang/check.h"
#include "lang/flag_names.h"
#include "lang/scope.h"
#include "support/btf_builder.h"
#include "support/thrown.h"

namespace argtrace::lang {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Type btf_type_of(int id) {
    return Type::btf(static_cast<std::uint32_t>(id));
}

TypeName structure_named(const char *name) {
    TypeName found;
    found.tag = TypeName::Tag::structure;
    found.name = name;
    return found;
}

TypeName typedef_named(const char *name) {
    TypeName found;
    found.name = name;
    return found;
}

// What is said of an expression of `it`, which is of that type.
std::string refused(const btf *types, int type, const std::string &text) {
    const Types all(types);
    const Scope scope(all, "it", btf_type_of(type));
    return thrown([&] { check_value(scope, parse_condition(text)); });
}

TEST(AmbiguousNames, EnumeratorsOfDifferentValues) {
    BtfBuilder builder;
    const int number = builder.integer("int", 4, BTF_INT_SIGNED);
    builder.enumeration(nullptr, 4, 7);
    builder.enumeration("SAME", 4, 3);
    builder.enumeration("SAME", 4, 3);
    builder.enumeration(nullptr, 4, -1);
    builder.enumeration(nullptr, 4, 7);
    const Types types(builder.get());
    EXPECT_EQ(types.enumerator("VALUE"), std::nullopt);
    EXPECT_THAT(types.enumerator_values("VALUE"), ElementsAre(-1, 7));
    ASSERT_TRUE(types.enumerator("SAME")) << "those of one value are one";
    EXPECT_EQ(types.enumerator("SAME")->value, 3u);
    EXPECT_EQ(refused(builder.get(), number, "it == SAME"), "");
    EXPECT_EQ(refused(builder.get(), number, "it == VALUE"),
              "VALUE is the name of several enumerators, of the values -1, 7: write the number that "
              "is meant\n"
              "  it == VALUE\n"
              "        ^");
    EXPECT_THAT(flag_names(types, "VALUE", true), IsEmpty()) << "which one it is cannot be told";
}

TEST(AmbiguousNames, StructsOfDifferentLayouts) {
    BtfBuilder builder;
    const int word = builder.integer("int", 4, BTF_INT_SIGNED);
    const int longer = builder.integer("long", 8, BTF_INT_SIGNED);
    const int first = builder.structure("console", 4, {{"index", word, 0}});
    const int second =
        builder.structure("console", 16, {{"flags", longer, 0}, {"index", word, 64}});
    const int declared = builder.pointer(builder.forward("console", BTF_FWD_STRUCT));
    const int known = builder.pointer(second);
    const Types types(builder.get());
    EXPECT_TRUE(types.is_ambiguous(structure_named("console")));
    EXPECT_THAT(types.all(structure_named("console")),
                ElementsAre(btf_type_of(first), btf_type_of(second)));
    const std::string sentence =
        "struct console is the name of 2 different types, of 4 and 16 bytes: write the offset of the "
        "member that is meant, as in *(int *)((char *)NAME + 16)\n";
    EXPECT_EQ(refused(builder.get(), declared, "it->index"), sentence + "  it->index\n"
                                                                         "      ^");
    EXPECT_EQ(refused(builder.get(), declared, "it + 1"), sentence + "  it + 1\n"
                                                                      "     ^");
    EXPECT_EQ(refused(builder.get(), known, "((struct console *)it)->index"),
              sentence + "  ((struct console *)it)->index\n"
                         "    ^");
    EXPECT_EQ(refused(builder.get(), known, "sizeof(struct console)"),
              sentence + "  sizeof(struct console)\n"
                         "         ^");
    EXPECT_EQ(refused(builder.get(), known, "it->index"), "") << "which one this is, BTF does say";
    EXPECT_EQ(refused(builder.get(), declared, "*(int *)((char *)it + 8)"), "");
}

TEST(AmbiguousNames, StructsThatDifferBehindTheirPointersAreOne) {
    BtfBuilder builder;
    const int word = builder.integer("int", 4, BTF_INT_SIGNED);
    const int one = builder.pointer(word), other = builder.pointer(builder.constant(word));
    const int unsigned_word = builder.integer("unsigned int", 4);
    builder.structure("file", 8, {{"data", one, 0}});
    builder.structure("file", 8, {{"data", other, 0}});
    builder.structure("sign", 4, {{"value", word, 0}});
    builder.structure("sign", 4, {{"value", unsigned_word, 0}});
    builder.structure("member", 4, {{"a", word, 0}});
    builder.structure("member", 4, {{"b", word, 0}});
    builder.structure("bits", 4, {{"a", word, 0, 3}});
    builder.structure("bits", 4, {{"a", word, 0, 4}});
    builder.structure("inner", 4, {{"a", builder.structure(nullptr, 4, {{"x", word, 0}}), 0}});
    builder.structure("inner", 4, {{"a", builder.structure(nullptr, 4, {{"y", word, 0}}), 0}});
    const Types types(builder.get());
    EXPECT_FALSE(types.is_ambiguous(structure_named("file")));
    for (const char *name : {"sign", "member", "bits", "inner"})
        EXPECT_TRUE(types.is_ambiguous(structure_named(name))) << name;
}

TEST(AmbiguousNames, Typedefs) {
    BtfBuilder builder;
    const int word = builder.integer("int", 4, BTF_INT_SIGNED);
    const int longer = builder.integer("long", 8, BTF_INT_SIGNED);
    builder.name("word_t", word);
    builder.name("word_t", builder.integer("int", 4, BTF_INT_SIGNED));
    builder.name("size", word);
    builder.name("size", longer);
    builder.name("call", builder.pointer(builder.proto(0, {})));
    builder.name("call", builder.pointer(builder.proto(0, {{"x", word}})));
    const Types types(builder.get());
    EXPECT_FALSE(types.is_ambiguous(typedef_named("word_t")));
    EXPECT_FALSE(types.is_ambiguous(typedef_named("call")));
    EXPECT_EQ(refused(builder.get(), word, "(size)it"),
              "size is the name of 2 different types, of 4 and 8 bytes: write the offset of the "
              "member that is meant, as in *(int *)((char *)NAME + 16)\n"
              "  (size)it\n"
              "   ^");
}

TEST(AmbiguousNames, OfAModuleItsOwnCount) {
    BtfBuilder kernel;
    const int word = kernel.integer("int", 4, BTF_INT_SIGNED);
    kernel.structure("private", 4, {{"a", word, 0}});
    kernel.structure("private", 8, {{"a", word, 32}});
    kernel.structure("kernels", 4, {{"a", word, 0}});
    kernel.enumeration(nullptr, 4, 1);
    kernel.enumeration(nullptr, 4, 2);
    const int declared = kernel.forward("private", BTF_FWD_STRUCT);
    BtfBuilder module(kernel.get());
    const int own = module.structure("private", 16, {{"a", word, 64}});
    module.enumeration(nullptr, 4, 3);
    const int pointer = module.pointer(declared);

    const Types types(module.get());
    EXPECT_FALSE(types.is_ambiguous(structure_named("private")));
    EXPECT_EQ(types.find(structure_named("private")), btf_type_of(own));
    EXPECT_EQ(types.traits(types.target(btf_type_of(pointer))).bytes, 16u);
    EXPECT_THAT(types.enumerator_values("VALUE"), ElementsAre(3));
    ASSERT_TRUE(types.enumerator("VALUE"));
    EXPECT_EQ(types.enumerator("VALUE")->value, 3u);
    EXPECT_TRUE(types.find(structure_named("kernels")));
    EXPECT_TRUE(Types(kernel.get()).is_ambiguous(structure_named("private")));
}

} // namespace
} // namespace argtrace::lang
