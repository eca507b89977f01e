// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include <vector>

#include "render/stack.h"

namespace argtrace {
namespace {

/// One function at each multiple of 0x100, and two stacks.
class SomeSymbols : public Symbols {
public:
    std::optional<Symbol> find(CodePlace place) const override {
        const std::uint64_t addr = place.address;
        if (addr >= 0x500)
            return std::nullopt;
        static constexpr Symbol symbols[] = {{0x0, "zero", "", 0},
                                             {0x100, "vfs_read", "", 0},
                                             {0x200, "ksys_read", "", 0},
                                             {0x300, "argtrace_return_quick", "argtrace", 0},
                                             {0x400, "ext4_read", "ext4", 0}};
        return symbols[addr / 0x100];
    }

    std::optional<Stack> stack(std::uint64_t id, StackRoom & /*room*/) const override {
        if (id == 1)
            return Stack{whole_, false};
        return id == 20 ? std::optional(Stack{cut_, true}) : std::nullopt;
    }

private:
    std::vector<std::uint64_t> whole_{0x410, 0x120, 0x344, 0x208, 0x600}, cut_{0x110};
};

Value stack(std::uint64_t id, bool captured = true) {
    Value value;
    value.low = id;
    value.type = ARGTRACE_TYPE_STACK;
    value.captured = captured;
    return value;
}

template<typename Append>
std::string shown(const Append &append, const Value &value) {
    const SomeSymbols symbols;
    CallerNames names(symbols);
    Line line;
    append(line, names, value);
    return std::string(line.view());
}

TEST(RenderStack, HasALineForEachFunctionButOurOwn) {
    EXPECT_EQ(shown(append_stack, stack(1)), "        ext4_read+0x10 [ext4]\n"
                                             "        vfs_read+0x20\n"
                                             "        ksys_read+0x8\n"
                                             "        0x600\n");
    EXPECT_EQ(shown(append_stack, stack(20)), "        vfs_read+0x10\n        ...\n");
    EXPECT_EQ(shown(append_stack, stack(30)), "        ?\n");
    EXPECT_EQ(shown(append_stack, stack(1, false)), "        ?\n");
}

TEST(RenderStack, IsAnArrayInJson) {
    const auto in_json = [](Line &out, CallerNames &names, const Value &value) { append_json_stack(out, names, value); };
    EXPECT_EQ(shown(in_json, stack(1)),
              R"(["ext4_read+0x10 [ext4]","vfs_read+0x20","ksys_read+0x8","0x600"])");
    EXPECT_EQ(shown(in_json, stack(20)), R"(["vfs_read+0x10","..."])");
    EXPECT_EQ(shown(in_json, stack(30)), "null");
    EXPECT_EQ(shown(in_json, stack(1, false)), "null");
}

} // namespace
} // namespace argtrace
