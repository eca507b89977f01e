// SPDX-License-Identifier: GPL-2.0-only
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "render/stack_flames.h"

namespace argtrace {
namespace {

class NoSymbols : public Symbols {
public:
    std::optional<Symbol> find(CodePlace) const override { return std::nullopt; }
};

using Path = std::vector<std::string>;

/// Adds stacks that are as random as `letters` are many, and compares the tree with what was added.
void check(unsigned letters, unsigned stacks, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const NoSymbols symbols;
    CallerNames names(symbols);
    std::vector<Path> paths;
    std::map<Path, std::uint64_t> expected; // samples that end there
    std::size_t deepest = 0;
    for (unsigned i = 0; i < stacks; ++i) {
        Path path(1 + random() % 6);
        for (std::string &name : path)
            name = std::string(1, static_cast<char>('a' + random() % letters));
        deepest = std::max(deepest, path.size());
        paths.push_back(std::move(path)); // may be there already
    }
    StackFlames flames([&](std::uint32_t stack, std::vector<StackFrame> &frames) {
        frames.clear();
        for (const std::string &name : paths[stack])
            frames.push_back({names.number(name), name < "c" ? CodeSpace::user : CodeSpace::kernel});
    });
    for (std::uint32_t i = 0; i < stacks; ++i) {
        const std::uint64_t samples = 1 + random() % 9;
        flames.add(i, samples);
        expected[paths[i]] += samples;
    }
    EXPECT_EQ(flames.depth(), deepest);
    CallNode root;
    flames.build(root, names);
    std::map<Path, std::uint64_t> found;
    Path path;
    const std::function<void(const CallNode &)> walk = [&](const CallNode &node) {
        if (node.self > 0)
            found[path] += node.self;
        for (const auto &[name, callee] : node.callees) {
            EXPECT_EQ(callee->in_user, name < "c");
            path.push_back(name);
            walk(*callee);
            path.pop_back();
        }
    };
    walk(root);
    EXPECT_EQ(found, expected) << "seed " << seed;
}

TEST(StackFlames, HaveEachSampleWhereItsStackEnds) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        check(2, 60, seed);  // which are mostly the same
        check(5, 300, seed); // the next frame tells most of them apart
        check(20, 100, seed);
    }
}

/// As the flame graph does.
TEST(StackFlames, HaveNothingBelowWhatIsTooNarrow) {
    const NoSymbols symbols;
    CallerNames names(symbols);
    StackFlames flames([&](std::uint32_t stack, std::vector<StackFrame> &frames) {
        frames = {{names.number("main")}};
        if (stack > 0)
            frames.insert(frames.end(), {{names.number("rare" + std::to_string(stack / 2))}, {names.number("leaf")}});
    });
    flames.add(0, 10'000'000);
    for (std::uint32_t stack = 1; stack < 10; ++stack)
        flames.add(stack, 7);
    CallNode root;
    flames.build(root, names);
    const CallNode &top = *root.callees.at("main");
    EXPECT_EQ(top.self, 10'000'000u);
    ASSERT_EQ(top.callees.size(), 5u);
    EXPECT_EQ(top.callees.at("rare1")->self, 14u);
    EXPECT_TRUE(top.callees.at("rare1")->callees.empty());
    EXPECT_EQ(flames.depth(), 3u);
}

} // namespace
} // namespace argtrace
