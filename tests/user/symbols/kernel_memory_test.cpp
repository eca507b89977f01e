// SPDX-License-Identifier: GPL-2.0-only
#include "symbols/kernel_memory.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include <gmock/gmock.h>

#include "support/kernel_image.h"

namespace argtrace {
namespace {

std::optional<Kallsyms> symbols_of(KernelImage &image) {
    auto memory = KernelMemory::open(image.write());
    return memory ? memory->read_symbols(KernelImage::layout) : std::nullopt;
}

/// The same symbols as by the text of the image.
void expect_as_listed(KernelImage &image) {
    const auto read = symbols_of(image);
    ASSERT_TRUE(read);
    const Kallsyms listed = Kallsyms::parse(image.kallsyms());
    EXPECT_EQ(read->all(), listed.all());
    EXPECT_EQ(read->variable("vmemmap_base"), KernelImage::begin + 0x5028);
}

TEST(KernelMemory, HasTheSymbolsThatTheKernelLists) {
    for (const auto form : {KernelImage::Form::absolute_percpu, KernelImage::Form::base, KernelImage::Form::place}) {
        SCOPED_TRACE(static_cast<int>(form));
        KernelImage image(form);
        expect_as_listed(image);
    }
}

TEST(KernelMemory, FindsNamesThatSeveralFunctionsHave) {
    KernelImage image;
    const auto symbols = symbols_of(image);
    ASSERT_TRUE(symbols);
    EXPECT_EQ(symbols->named("align_show").size(), 2u);
    ASSERT_EQ(symbols->named("init_once").size(), 2u);
    EXPECT_EQ(symbols->named("init_once").back().module, "xfs");
    EXPECT_EQ(symbols->all().back().module, "xfs");
}

TEST(KernelMemory, HasLongNames) {
    KernelImage image;
    image.symbols.back().type = 't';
    expect_as_listed(image);
    image.symbols.back().name = std::string(511, 'n');
    expect_as_listed(image);
    image.symbols.back().name = std::string(512, 'n'); // longer than the kernel's
    EXPECT_FALSE(symbols_of(image));
}

TEST(KernelMemory, NeedsNoModules) {
    KernelImage image;
    image.modules.clear();
    expect_as_listed(image);
}

TEST(KernelMemory, IsNotReadWithoutAKcoreOfThatForm) {
    KernelImage image;
    KernelFiles files = image.write();
    EXPECT_TRUE(KernelMemory::open(files));
    files.kcore = "/nonexistent/kcore";
    EXPECT_FALSE(KernelMemory::open(files));
    files.kcore = "/dev/null"; // as containers have it
    EXPECT_FALSE(KernelMemory::open(files));
    files.kcore = files.kallsyms;
    EXPECT_FALSE(KernelMemory::open(files));
}

/// Nothing is believed after `change`, in memory or elsewhere.
void expect_doubt(const std::function<void(KernelImage &)> &change) {
    KernelImage image;
    change(image);
    EXPECT_FALSE(symbols_of(image));
}

TEST(KernelMemory, IsNotBelievedWithATableThatDoesNotFit) {
    expect_doubt([](KernelImage &image) { image.counted_too_many = 1; });
}

TEST(KernelMemory, IsNotBelievedWithoutThePartsOfTheTable) {
    for (const char *part : {"kallsyms_names", "kallsyms_num_syms", "kallsyms_token_table", "kallsyms_token_index", "kallsyms_offsets", "kallsyms_relative_base", "_stext", "init_uts_ns"}) {
        SCOPED_TRACE(part);
        expect_doubt([part](KernelImage &image) { image.noted[part] = 0; });
        expect_doubt([part](KernelImage &image) { image.noted[part] = KernelImage::begin + 0x3ff00; });
        expect_doubt([part](KernelImage &image) { image.noted[part] = 0xffffffff90000000; });
    }
}

TEST(KernelMemory, IsNotBelievedIfAddressesDescend) {
    expect_doubt([](KernelImage &image) { std::swap(image.symbols[110], image.symbols[111]); });
}

TEST(KernelMemory, IsNotBelievedWithoutItsVariables) {
    for (const char *name : {"modules", "ftrace_mod_maps", "ftrace_pages_start", "_stext", "init_uts_ns"}) {
        SCOPED_TRACE(name);
        expect_doubt([name](KernelImage &image) { std::ranges::find(image.symbols, name, &KernelImage::Symbol::name)->name = "other"; });
        expect_doubt([name](KernelImage &image) { image.symbols.push_back({KernelImage::begin + 0x6000, 'd', name}); });
    }
}

TEST(KernelMemory, IsNotBelievedAgainstWhatTheKernelLists) {
    KernelImage image;
    const KernelFiles files = image.write();
    const auto is_read = [&] { return KernelMemory::open(files)->read_symbols(KernelImage::layout).has_value(); };
    EXPECT_TRUE(is_read());
    std::string text = image.kallsyms();
    image.write("kallsyms", text.substr(0, 1000)); // too few functions
    EXPECT_FALSE(is_read());
    image.write("kallsyms", std::string(text).replace(text.find("f7_of"), 2, "f8"));
    EXPECT_FALSE(is_read());
    image.write("kallsyms", std::string(text).replace(text.find(" t f7_of"), 2, " T"));
    EXPECT_FALSE(is_read());
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) // as this user may not see them
        text.replace(at, 16, 16, '0');
    image.write("kallsyms", text);
    EXPECT_FALSE(is_read());
}

TEST(KernelMemory, IsNotBelievedWithOtherModules) {
    KernelImage image;
    const KernelFiles files = image.write();
    const auto is_read = [&] { return KernelMemory::open(files)->read_symbols(KernelImage::layout).has_value(); };
    const std::string text = image.modules_text();
    image.write("modules", text + "new 4096 0 - Live 0xffffffffc0004000\n");
    EXPECT_FALSE(is_read());
    image.write("modules", text.substr(0, text.find('\n') + 1));
    EXPECT_FALSE(is_read());
    image.write("modules", "");
    EXPECT_FALSE(is_read());
    image.write("modules", "rubbish\n");
    EXPECT_FALSE(is_read());
    image.write("modules", std::string(text).replace(text.find("xfs"), 3, "abc"));
    EXPECT_FALSE(is_read());
    image.write("modules", text);
    EXPECT_TRUE(is_read());
    image.remove("module/xfs");
    EXPECT_FALSE(is_read());
    image.remove("modules");
    EXPECT_FALSE(is_read());
}

TEST(KernelMemory, IsNotBelievedWhileAModuleComesOrGoes) {
    expect_doubt([](KernelImage &image) { image.modules[1].state = "Unloading"; });
    expect_doubt([](KernelImage &image) { image.modules[0].state = "Loading"; });
}

TEST(KernelMemory, IsNotBelievedIfAFunctionLiesOutsideItsModule) {
    expect_doubt([](KernelImage &image) { image.modules[0].symbols[0].addr = KernelImage::begin; });
    expect_doubt([](KernelImage &image) { image.modules[0].symbols[0].addr = image.modules[0].text + image.modules[0].size; });
}

TEST(KernelMemory, LacksFunctionsOfCodeThatHasBeenFreed) {
    expect_doubt([](KernelImage &image) { image.freed_functions = KernelImage::begin + 0x7000; });
}

class TraceableInMemory : public testing::Test {
protected:
    bool is_traceable(std::uint64_t address) {
        auto memory = KernelMemory::open(image.write());
        if (!memory || !memory->read_symbols(KernelImage::layout))
            return false;
        if (after_symbols)
            after_symbols();
        return memory->is_traceable(address);
    }

    KernelImage image;
    std::function<void()> after_symbols;
    const std::uint64_t vfs_read = KernelImage::begin + 0x4000;
};

TEST_F(TraceableInMemory, AreThoseWithACallAtTheirBegin) {
    EXPECT_TRUE(is_traceable(vfs_read));
    EXPECT_TRUE(is_traceable(KernelImage::begin + 0x4080)) << "one of two with its name";
    EXPECT_FALSE(is_traceable(KernelImage::begin + 0x100)) << "it has no call";
    EXPECT_TRUE(is_traceable(KernelImage::module_begin + 0x40));
    EXPECT_FALSE(is_traceable(KernelImage::module_begin + 0x100));
    EXPECT_FALSE(is_traceable(vfs_read + 1)) << "no symbol";
    image.calls[0][0] = vfs_read + 16;
    EXPECT_FALSE(is_traceable(vfs_read)) << "that of something behind it";
}

TEST_F(TraceableInMemory, AreNotCertainIfSymbolsShareThePlace) {
    EXPECT_FALSE(is_traceable(KernelImage::begin + 0x40c0)) << "the kernel lists one of the two names";
    const auto at = std::ranges::find(image.symbols, "vfs_read", &KernelImage::Symbol::name);
    image.symbols.insert(at + 1, {vfs_read + 4, 'A', "label"});
    EXPECT_FALSE(is_traceable(vfs_read));
}

TEST_F(TraceableInMemory, AreNotCertainIfTheirNumberIsAnother) {
    after_symbols = [this] { image.write("tracing/dyn_ftrace_total_info", "6 pages:1 groups: 1\n"); };
    EXPECT_FALSE(is_traceable(vfs_read));
    after_symbols = [this] { image.write("tracing/dyn_ftrace_total_info", ""); };
    EXPECT_FALSE(is_traceable(vfs_read));
}

TEST_F(TraceableInMemory, AreNotCertainWithoutTheListOfFunctions) {
    after_symbols = [this] { image.remove("tracing/available_filter_functions"); };
    EXPECT_FALSE(is_traceable(vfs_read));
}

TEST_F(TraceableInMemory, AreNotCertainAfterAModuleHasCome) {
    after_symbols = [this] { image.write("modules", image.modules_text() + "new 4096 0 - Live 0xffffffffc0004000\n"); };
    EXPECT_FALSE(is_traceable(vfs_read));
}

TEST_F(TraceableInMemory, AreNotCertainAfterAModuleHasGoneAndComeBack) {
    EXPECT_TRUE(is_traceable(vfs_read));
    after_symbols = [this] { image.load_again("xfs"); };
    EXPECT_FALSE(is_traceable(vfs_read));
}

TEST(KernelMemory, KnowsNamesOfGeneratedCode) {
    EXPECT_TRUE(is_generated_name("bpf_prog_6deef7357e7b4530_sd_devices"));
    EXPECT_TRUE(is_generated_name("bpf_trampoline_6442533632"));
    EXPECT_TRUE(is_generated_name("ftrace_trampoline"));
    EXPECT_TRUE(is_generated_name("kprobe_optinsn_page"));
    EXPECT_FALSE(is_generated_name("vfs_read"));
}

} // namespace
} // namespace argtrace
