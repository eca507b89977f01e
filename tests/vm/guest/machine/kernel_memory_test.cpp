// SPDX-License-Identifier: GPL-2.0-only
// What the tool reads from the kernel's memory is what the kernel lists. The tool's own sources are tested here: only a kernel has such memory.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "btf/kernel_types.h"
#include "spec/kernel_layout.h"
#include "support/command.h"
#include "support/machine.h"
#include "symbols/kernel_memory.h"
#include "symbols/traceable.h"
#include "util/lines.h"

namespace vmtest {
namespace {

using argtrace::Kallsyms;
using argtrace::KernelMemory;
using argtrace::Symbol;

/// Without those of generated code, which come and go, and are not in tables.
std::vector<Symbol> lasting(const Kallsyms &symbols) {
    std::vector<Symbol> lasting = symbols.all();
    std::erase_if(lasting, [](const Symbol &symbol) { return symbol.module == "bpf" || symbol.module.starts_with("__builtin__"); });
    return lasting;
}

class InMemory : public testing::Test {
protected:
    void SetUp() override {
        // The kernel remembers functions of modules that were loaded while something was traced, and these are in no table.
        const std::string loaded = read_file("/proc/modules");
        argtrace::for_each_line(loaded, [](std::string_view line) {
            if (const std::string name(argtrace::next_word(line)); name.starts_with("argtrace_")) {
                EXPECT_TRUE(eventually([&name] { return unload_module(name) == 0; })) << name;
            }
        });
        unload_argtrace();
        need_argtrace();
        need_test_module();
        run({"argtrace", "clear"});
        layout_ = argtrace::layout_of(argtrace::KernelTypes::load().kernel());
        ASSERT_TRUE(layout_) << "the kernel's structures are others";
        memory_ = KernelMemory::open();
        ASSERT_TRUE(memory_) << "there is no /proc/kcore of that form";
    }

    std::optional<argtrace::KernelLayout> layout_;
    std::optional<KernelMemory> memory_;
};

TEST_F(InMemory, are_the_symbols_that_the_kernel_lists) {
    const auto read = memory_->read_symbols(*layout_);
    ASSERT_TRUE(read);
    const Kallsyms listed = Kallsyms::load();
    const std::vector<Symbol> expected = lasting(listed);
    ASSERT_EQ(read->all().size(), expected.size());
    EXPECT_TRUE(std::ranges::equal(read->all(), expected));
    EXPECT_GT(read->named("at_four").size(), 0u);
    for (const char *variable : {"vmemmap_base", "__per_cpu_offset"})
        EXPECT_EQ(read->variable(variable), listed.variable(variable)) << variable;

    std::map<std::string_view, std::size_t> times;
    for (const Symbol &symbol : expected)
        times[symbol.name]++;
    std::size_t several = 0;
    for (const auto &[name, count] : times)
        if (count > 1 && several++ < 100) {
            EXPECT_EQ(read->named(name).size(), listed.named(name).size()) << name;
        }
    EXPECT_GT(several, 100u);
}

TEST_F(InMemory, is_found_which_functions_can_be_traced) {
    const auto read = memory_->read_symbols(*layout_);
    ASSERT_TRUE(read);
    const argtrace::Traceable listed = argtrace::Traceable::load();
    std::set<std::pair<std::string_view, std::string_view>> found;
    for (const Symbol &symbol : read->all()) {
        if (!memory_->is_traceable(symbol.addr))
            continue;
        found.insert({symbol.name, symbol.module});
        EXPECT_TRUE(listed.contains(symbol.name, symbol.module)) << symbol.name;
        if (listed.has_addresses()) {
            EXPECT_TRUE(listed.contains_between(symbol.addr, symbol.addr + argtrace::ftrace_call_within)) << symbol.name;
        }
    }
    std::set<std::pair<std::string_view, std::string_view>> expected;
    for (const argtrace::TraceableFunction &function : listed.all())
        expected.insert({function.name, function.module});
    EXPECT_GT(found.size(), expected.size() * 9 / 10) << "the others must be looked up in the list, which takes long";
    EXPECT_TRUE(found.contains({"at_four", "argtrace_test"}));
}

TEST_F(InMemory, modules_may_come_and_go_meanwhile) {
    const auto with = memory_->read_symbols(*layout_);
    ASSERT_TRUE(with);
    const auto of_test = [](const Kallsyms &symbols) { return std::ranges::count(symbols.all(), "argtrace_test", &Symbol::module); };
    const auto functions = of_test(*with);
    const auto others = static_cast<std::ptrdiff_t>(with->all().size()) - functions;
    std::atomic<bool> done = false;
    std::atomic<useconds_t> pause = 50'000;
    std::thread loader([&done, &pause] {
        while (!done) {
            unload_module("argtrace_test");
            usleep(pause);
            need_test_module();
            usleep(pause);
        }
    });
    std::size_t read = 0, refused = 0;
    for (int i = 0; i < 100 || (read == 0 && i < 1000); i++) {
        auto memory = KernelMemory::open();
        const auto symbols = memory ? memory->read_symbols(*layout_) : std::nullopt;
        if (!symbols) {
            // While modules always change within one look at them, which is longer on a busy machine, nothing is ever certain.
            if (++refused % 20 == 0 && read == 0)
                pause = std::min<useconds_t>(2 * pause, 1'000'000);
            // A module may be on its way for as long as the loader is not run.
            usleep(read == 0 ? 1'000 : 0);
            continue;
        }
        read++;
        EXPECT_TRUE(of_test(*symbols) == 0 || of_test(*symbols) == functions) << of_test(*symbols);
        EXPECT_EQ(static_cast<std::ptrdiff_t>(symbols->all().size()) - of_test(*symbols), others);
        (void)memory->is_traceable(symbols->named("vfs_read").front().addr);
    }
    done = true;
    loader.join();
    RecordProperty("refused", static_cast<int>(refused));
    EXPECT_GT(read, 0u);
}

TEST_F(InMemory, the_tool_answers_as_by_the_lists) {
    const auto listed = [](const std::string &name) { return run({"argtrace", "list", name}); };
    EXPECT_EQ(listed("at_four").status, 0);
    EXPECT_NE(listed("at_four").out.find("[argtrace_test]"), std::string::npos) << listed("at_four").out;
    EXPECT_EQ(listed("vfs_read").status, 0);
    EXPECT_NE(listed("vfs_reed").err.find("did you mean vfs_read"), std::string::npos);
    ASSERT_EQ(unload_module("argtrace_test"), 0);
    EXPECT_NE(listed("at_four").err.find("no such function"), std::string::npos);
    need_test_module();
    EXPECT_EQ(listed("at_four").status, 0);

    // A user who may not see addresses sees none, wherever they could be read.
    const std::string restriction = "/proc/sys/kernel/kptr_restrict", before = read_file(restriction);
    std::ofstream(restriction) << 2 << std::flush;
    const Outcome hidden = listed("vfs_read");
    std::ofstream(restriction) << before << std::flush;
    EXPECT_EQ(hidden.status, 1);
    EXPECT_NE(hidden.err.find("the kernel hides addresses"), std::string::npos) << hidden.err;
}

} // namespace
} // namespace vmtest
