// SPDX-License-Identifier: GPL-2.0-only
// ARGTRACE_IOC_SYMBOL gives the same symbol for an address as /proc/kallsyms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "support/device.h"
#include "support/kallsyms.h"
#include "support/machine.h"

namespace vmtest {
namespace {

std::string printed(const RawDevice &device, std::uint64_t addr) {
    argtrace_symbol symbol{};
    symbol.size = sizeof(symbol);
    symbol.addr = addr;
    memset(symbol.text, 'x', sizeof(symbol.text));
    EXPECT_EQ(device.call(ARGTRACE_IOC_SYMBOL, &symbol), 0);
    EXPECT_LT(strnlen(symbol.text, sizeof(symbol.text)), sizeof(symbol.text));
    return symbol.text;
}

/// One that stays: BPF programs and trampolines of other tests come and go by themselves, whatever was in the list. On arm64 modules have
/// symbols that say where code begins, $x, which is not where a function does.
bool is_function(const KernelSymbol &symbol) {
    return !symbol.name.starts_with('$') && std::string_view("tT").find(symbol.type) != std::string_view::npos && symbol.module != "bpf" &&
           !symbol.module.starts_with("__builtin__");
}

TEST(Symbol, is_that_of_kallsyms) {
    need_argtrace();
    need_test_module();
    const RawDevice device; // without a session
    // Several symbols may have one address.
    std::map<std::uint64_t, std::set<std::string>> expected;
    const std::vector<KernelSymbol> all = kernel_symbols();
    for (std::size_t i = 0; i < all.size(); i += all[i].module.empty() ? 97 : 1)
        if (is_function(all[i]))
            expected[all[i].addr];
    for (const KernelSymbol &symbol : all) {
        const auto found = expected.find(symbol.addr);
        if (found == expected.end())
            continue;
        const std::string module(symbol.module);
        found->second.insert(std::string(symbol.name) +
                             (module.empty() ? "" : " [" + module + "]"));
    }
    EXPECT_GT(expected.size(), 300u);
    std::size_t alike = 0;
    for (const auto &[addr, names] : expected) {
        const std::string text = printed(device, addr);
        const std::size_t plus = text.find("+0x0/0x"), bracket = text.find(" [");
        const std::string module = bracket == text.npos ? "" : text.substr(bracket);
        // The memory of code that ran at boot has been freed.
        if (plus == text.npos && text.starts_with("0x"))
            continue;
        EXPECT_TRUE(plus != text.npos && names.contains(text.substr(0, plus) + module))
            << text << ": " << *names.begin();
        alike++;
    }
    EXPECT_GT(alike, expected.size() * 8 / 10);
}

TEST(Symbol, has_an_offset_and_ends) {
    need_argtrace();
    const RawDevice device;
    const std::uint64_t vfs_read = address_of("vfs_read");
    EXPECT_TRUE(printed(device, vfs_read + 0x1c).starts_with("vfs_read+0x1c/0x"));
    EXPECT_EQ(printed(device, 0), "0x0");
    EXPECT_EQ(printed(device, ~0ull), "0xffffffffffffffff");
    EXPECT_EQ(printed(device, 0x7fffffffffff), "0x7fffffffffff");
}

TEST(Symbol, has_no_flags) {
    need_argtrace();
    const RawDevice device;
    argtrace_symbol symbol{};
    symbol.size = sizeof(symbol);
    symbol.flags = 1;
    EXPECT_EQ(device.call(ARGTRACE_IOC_SYMBOL, &symbol), EINVAL);
    EXPECT_EQ(symbol.text[0], 0);
}

} // namespace
} // namespace vmtest
