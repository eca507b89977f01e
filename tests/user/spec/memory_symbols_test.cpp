// SPDX-License-Identifier: GPL-2.0-only
// What is found in the kernel's memory, and when the kernel is asked for its lists all the same.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "spec/functions.h"
#include "spec/kernel.h"
#include "support/kernel_image.h"
#include "support/resolve_kernel.h"
#include "support/thrown.h"

namespace argtrace {
namespace {

using testing::HasSubstr;

class MemorySymbols : public testing::Test {
protected:
    KernelTypes types() const {
        BtfBuilder b;
        const int word = b.integer("long unsigned int", 8), number = b.integer("int", 4);
        const KernelLayout layout = KernelImage::layout;
        if (has_structures) {
            b.structure("module", 1024, {{"list", word, layout.module.list * 8}, {"name", word, layout.module.name * 8}, {"kallsyms", word, layout.module.kallsyms * 8}});
            b.structure("mod_kallsyms", 32, {{"symtab", word, 0}, {"num_symtab", number, 64}, {"strtab", word, 128}, {"typetab", word, 192}});
            b.structure("ftrace_page", 24, {{"next", word, 0}, {"records", word, 64}, {"index", number, 128}});
            b.structure("dyn_ftrace", 16, {{"ip", word, 0}, {"flags", word, 64}});
        }
        for (const char *function : {"vfs_read", "align_show", "alias_one", "only_listed", "f7_of_the_kernel", "bpf_twice"})
            b.function(function, 0, {{"a", word}});
        return KernelTypes(b.take());
    }

    Kernel kernel() {
        files_ = image.write();
        return Kernel({
            [this] {
                lists_read++;
                return Kallsyms::parse(image.kallsyms() + also_listed);
            },
            [this] { return types(); },
            [this] {
                lists_of_functions_read++;
                return Traceable::parse(traceable);
            },
            {},
            [] { return TracepointGroups(); },
            [] { return SyscallFormats(); },
            {},
            [this] { return KernelMemory::open(files_); },
        });
    }

    std::vector<Function> listed(const std::string &spec) {
        Kernel known = kernel();
        std::vector<Function> functions = list_functions(known, request({spec})).functions;
        for (Function &function : functions)
            function.symbol.name = function.symbol.module = {}; // they go with the kernel
        return functions;
    }

    KernelImage image;
    bool has_structures = true;
    std::string also_listed, traceable;
    int lists_read = 0, lists_of_functions_read = 0;

private:
    KernelFiles files_;
};

TEST_F(MemorySymbols, AreEnoughForANameThatCanBeTraced) {
    const std::vector<Function> found = listed("vfs_read");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].symbol.addr, KernelImage::begin + 0x4000);
    EXPECT_EQ(lists_read, 0);
    EXPECT_EQ(lists_of_functions_read, 0);
}

TEST_F(MemorySymbols, AreEnoughForSeveralFunctionsOfOneName) {
    const std::vector<Function> found = listed("align_show");
    ASSERT_EQ(found.size(), 2u);
    EXPECT_TRUE(found[0].forced && found[0].namesakes);
    EXPECT_EQ(lists_read + lists_of_functions_read, 0);
}

TEST_F(MemorySymbols, LeaveItToTheListWhichOfSeveralCanBeTraced) {
    image.calls[0] = {KernelImage::begin + 0x4084};
    traceable = "ffffffff81004084 align_show\n";
    const std::vector<Function> found = listed("align_show");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].symbol.addr, KernelImage::begin + 0x4080);
    EXPECT_EQ(lists_of_functions_read, 1);
    EXPECT_EQ(lists_read, 0);
}

TEST_F(MemorySymbols, LeaveItToTheListWhetherAnAliasCanBeTraced) {
    traceable = "alias_one\n";
    EXPECT_EQ(listed("alias_one").size(), 1u);
    EXPECT_EQ(lists_of_functions_read, 1);
    EXPECT_THAT(thrown([this] { listed("f7_of_the_kernel"); }), HasSubstr("it is not in available_filter_functions"));
}

TEST_F(MemorySymbols, HaveNotTheLastWordOnWhatIsMissing) {
    also_listed = "ffffffffc0009000 t only_listed\t[bpf]\n";
    EXPECT_THAT(thrown([this] { listed("only_listed"); }), HasSubstr("the module bpf has no BTF"));
    EXPECT_EQ(lists_read, 1);
    EXPECT_THAT(thrown([this] { listed("nowhere"); }), HasSubstr("nowhere: no such function"));
    EXPECT_EQ(lists_read, 2);
}

TEST_F(MemorySymbols, AreNotAskedForNamesOfGeneratedCode) {
    image.symbols.push_back({KernelImage::begin + 0x6000, 't', "bpf_twice"});
    also_listed = "ffffffffc0009000 t bpf_twice\t[bpf]\n";
    traceable = "bpf_twice\n";
    const std::vector<Function> found = listed("bpf_twice");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(found[0].namesakes) << "the other is in the list alone";
    EXPECT_EQ(lists_read, 1);
}

TEST_F(MemorySymbols, AreReadFromTheListWhereMemoryIsNotKnown) {
    traceable = "vfs_read\n";
    has_structures = false;
    EXPECT_EQ(listed("vfs_read").size(), 1u);
    EXPECT_EQ(lists_read, 1);
    has_structures = true;
    image.counted_too_many = 1;
    EXPECT_EQ(listed("vfs_read").size(), 1u);
    EXPECT_EQ(lists_read, 2);
    EXPECT_EQ(lists_of_functions_read, 2);
}

TEST_F(MemorySymbols, StayValidWhenAllAreRead) {
    Kernel known = kernel();
    const Kallsyms &before = known.symbols();
    EXPECT_EQ(&known.symbols(), &before);
    EXPECT_TRUE(known.insist_on_all_symbols());
    EXPECT_NE(&known.symbols(), &before);
    EXPECT_EQ(before.named("vfs_read").size(), 1u);
    EXPECT_FALSE(known.insist_on_all_symbols());
    EXPECT_FALSE(known.is_surely_traceable(before.named("vfs_read").front()));
}

} // namespace
} // namespace argtrace
