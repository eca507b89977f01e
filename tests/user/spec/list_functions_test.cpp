// SPDX-License-Identifier: GPL-2.0-only
#include "spec/functions.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/resolve_kernel.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ListFunctions, AreListedByNameEachOnce) {
    Kernel kernel = make_kernel();
    std::vector<std::string> found;
    for (const Function &function :
         list_functions(kernel, request({"vfs_write", "vfs_*", "alias_one"})).functions)
        found.emplace_back(function.symbol.name);
    EXPECT_THAT(found, ElementsAre("alias_one", "vfs_read", "vfs_write"));
}

TEST(ListFunctions, HasAllThatShareAName) {
    Kernel kernel = make_kernel();
    const std::vector<Function> found =
        list_functions(kernel, request({"align_show", "init_once", "vfs_read"})).functions;
    ASSERT_EQ(found.size(), 5u);
    EXPECT_TRUE(found[0].forced && found[0].namesakes);
    EXPECT_EQ(found[1].symbol.addr, 0xffffffff81000100);
    EXPECT_EQ(found[2].symbol.module, "ext4");
    EXPECT_TRUE(!found[2].forced && found[2].namesakes);
    EXPECT_FALSE(found[4].forced || found[4].namesakes);
}

TEST(ListFunctions, NamesClonesAsTheKernelDoes) {
    Kernel kernel = make_kernel();
    const std::vector<Function> found =
        list_functions(kernel,
                       {parse_specs(std::vector<std::string>{"split"}, PatternSyntax::glob), true})
            .functions;
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].prototype.text, "void split.isra.0(struct file *file)");
}

TEST(ListFunctions, RefusesANameThatCannotBeTraced) {
    Kernel kernel = make_kernel();
    EXPECT_THAT(thrown([&] { list_functions(kernel, request({"native_nmi"})); }),
                HasSubstr("marked notrace"));
}

} // namespace
} // namespace argtrace
