// SPDX-License-Identifier: GPL-2.0-only
#include "spec/kernel_layout.h"

#include <gmock/gmock.h>

#include "support/btf_builder.h"

namespace argtrace {
namespace {

/// The structures, and something else.
BtfPtr kernel_types(const char *records = "records", unsigned bit = 0) {
    BtfBuilder b;
    const int word = b.integer("long unsigned int", 8), number = b.integer("int", 4);
    b.structure("file", 16, {{"list", word, 64}});
    b.structure("module", 1024, {{"state", number, 0}, {"list", word, 64}, {"name", word, 192}, {"kallsyms", word, 3200}});
    b.structure("mod_kallsyms", 32, {{"symtab", word, 0}, {"num_symtab", number, 64}, {"strtab", word, 128}, {"typetab", word, 192}});
    b.structure("ftrace_page", 24, {{"next", word, 0}, {records, word, 64 + bit}, {"index", number, 128}, {"order", number, 160}});
    b.structure("dyn_ftrace", 16, {{"ip", word, 0}, {"flags", word, 64}});
    return b.take();
}

TEST(KernelLayout, IsThatOfTheTypes) {
    const auto layout = layout_of(kernel_types().get());
    ASSERT_TRUE(layout);
    EXPECT_EQ(layout->module.list, 8u);
    EXPECT_EQ(layout->module.name, 24u);
    EXPECT_EQ(layout->module.kallsyms, 400u);
    EXPECT_EQ(layout->module_symbols.num_symtab, 8u);
    EXPECT_EQ(layout->module_symbols.typetab, 24u);
    EXPECT_EQ(layout->ftrace_page.index, 16u);
    EXPECT_EQ(layout->ftrace_call.ip, 0u);
    EXPECT_EQ(layout->ftrace_call.size, 16u);
}

TEST(KernelLayout, IsNotKnownIfAMemberIsMissing) {
    EXPECT_FALSE(layout_of(kernel_types("other").get()));
    EXPECT_FALSE(layout_of(BtfBuilder().get()));
}

TEST(KernelLayout, IsNotKnownIfSeveralStructuresHaveTheName) {
    BtfBuilder b;
    const int word = b.integer("long unsigned int", 8);
    b.structure("dyn_ftrace", 16, {{"ip", word, 0}});
    b.structure("dyn_ftrace", 24, {{"ip", word, 64}});
    EXPECT_FALSE(layout_of(b.get()));
}

} // namespace
} // namespace argtrace
