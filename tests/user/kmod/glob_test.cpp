// SPDX-License-Identifier: GPL-2.0-only
// The kernel's matcher of globs, compiled here, beside one that is written from what the patterns mean.
#include <bitset>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "support/encoder_environment.h"
#include "util/glob.h"

namespace {

std::size_t glob_steps = 0;

#define ARGTRACE_GLOB_STEP() glob_steps++
#include "../../../kmod/read/glob.h"

} // namespace

namespace argtrace {
namespace {

bool matches(const std::string &glob, std::string_view text) {
    glob_steps = 0;
    return argtrace_glob_matches(reinterpret_cast<const u8 *>(glob.c_str()),
                                 reinterpret_cast<const u8 *>(text.data()), static_cast<u32>(text.size()));
}

/// What one place of a pattern takes: a character of these, or with `many` any number of any.
struct GlobPlace {
    std::bitset<256> of;
    bool many = false;
};

/// The place that begins at `at`, which is moved behind it.
GlobPlace place_of(std::string_view glob, std::size_t &at) {
    GlobPlace place;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(glob[i]); };
    if (glob[at] == '*')
        place.many = true;
    else if (glob[at] == '?')
        place.of.set();
    else if (glob[at] == '[') {
        const bool inverted = at + 1 < glob.size() && glob[at + 1] == '!';
        const std::size_t first = at + (inverted ? 2 : 1);
        const std::size_t close = first < glob.size() ? glob.find(']', first + 1) : glob.npos;
        if (close != glob.npos) {
            for (std::size_t i = first; i < close; i++) {
                const bool range = i + 2 < close && glob[i + 1] == '-';
                for (unsigned c = byte(i); c <= byte(range ? i + 2 : i); c++)
                    place.of.set(c);
                i += range ? 2 : 0;
            }
            if (inverted)
                place.of.flip();
            at = close + 1;
            return place;
        }
        place.of.set('[');
    } else {
        if (glob[at] == '\\' && at + 1 < glob.size())
            at++;
        place.of.set(byte(at));
    }
    at++;
    return place;
}

/// Whether the first n bytes of the text match the places so far, for each n, place by place.
bool by_the_meaning(std::string_view glob, std::string_view text) {
    std::vector<bool> reached(text.size() + 1, false);
    reached[0] = true;
    for (std::size_t at = 0; at < glob.size();) {
        const GlobPlace place = place_of(glob, at);
        std::vector<bool> next(text.size() + 1, false);
        for (std::size_t n = 0; n <= text.size(); n++) {
            if (place.many)
                next[n] = reached[n] || (n > 0 && next[n - 1]);
            else if (n > 0)
                next[n] = reached[n - 1] && place.of[static_cast<unsigned char>(text[n - 1])];
        }
        reached = std::move(next);
    }
    return reached.back();
}

std::string random_of(std::mt19937 &random, std::string_view alphabet, std::size_t most) {
    std::string text;
    for (std::size_t length = random() % (most + 1); length > 0; --length)
        text += alphabet[random() % alphabet.size()];
    return text;
}

TEST(KernelGlob, MatchesWhatThePatternsMean) {
    std::mt19937 random(20261125);
    unsigned matched = 0, others = 0;
    for (int round = 0; round < 300000; ++round) {
        const std::string glob = random_of(random, "ab**?[[]]!-\\", 9), text = random_of(random, "aab[]-!\\", 8);
        const bool expected = by_the_meaning(glob, text);
        ASSERT_EQ(matches(glob, text), expected) << glob << " and " << text;
        ++(expected ? matched : others);
    }
    EXPECT_GT(matched, 5000u);
    EXPECT_GT(others, 5000u);
}

// The tool's own has no classes and no escapes.
TEST(KernelGlob, AgreesWithTheTools) {
    std::mt19937 random(20261126);
    for (int round = 0; round < 100000; ++round) {
        const std::string glob = random_of(random, "ab*?", 9), text = random_of(random, "aab", 12);
        ASSERT_EQ(matches(glob, text), glob_matches(glob, text)) << glob << " and " << text;
    }
}

// What argtrace_insn_cost() relies on.
TEST(KernelGlob, TakesNoMoreStepsThanBytesOfBoth) {
    const std::string text(256, 'a');
    const auto steps = [&](const std::string &glob, std::string_view of) {
        matches(glob, of);
        return glob_steps;
    };
    const std::string half(127, 'a');
    for (const std::string &glob :
         {"*[" + std::string(250, 'c') + "a]b", "*" + half + "b*" + half, std::string(255, '*'), "*[!" + half + "b]" + half,
          "*" + half + "[" + half.substr(3) + "]b", "*" + std::string(254, '?') + "b"})
        EXPECT_LE(steps(glob, text), (text.size() + 1) * glob.size()) << glob;
    // Brackets that are never closed are characters, whatever follows them.
    const std::string brackets(256, '[');
    EXPECT_LE(steps("*" + brackets.substr(2) + "b", brackets), 257u * 256u);
    // The parts between stars share the text.
    std::string stars;
    for (int i = 0; i < 100; i++)
        stars += "*a";
    EXPECT_LE(steps(stars + "*b", text), 2 * text.size());
    EXPECT_LE(steps("*a*a*a*b", text), 2 * text.size());
}

} // namespace
} // namespace argtrace
