// SPDX-License-Identifier: GPL-2.0-only
#include "spec/kernel.h"

#include <gmock/gmock.h>

#include "support/resolve_kernel.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

using testing::StartsWith;

TEST(Kernel, ReadsTheTypesOfAModuleFromAFile) {
    Kernel kernel = make_kernel();
    kernel.use_btf({"foreign", "/nonexistent/foreign.ko"});
    EXPECT_EQ(&kernel.symbols(), &kernel.symbols()) << "it is not read before it is needed";
    EXPECT_THAT(thrown([&] { kernel.types(); }), StartsWith("/nonexistent/foreign.ko: "));
}

TEST(Kernel, ReadsEachPartOnce) {
    int reads = 0;
    Kernel kernel({
        [&] {
            reads++;
            return Kallsyms::parse(small_kallsyms);
        },
        make_types,
        [] { return Traceable::parse(small_traceable); },
    });
    EXPECT_EQ(reads, 0);
    EXPECT_EQ(&kernel.symbols(), &kernel.symbols());
    EXPECT_EQ(reads, 1);
}

} // namespace
} // namespace argtrace
