// SPDX-License-Identifier: GPL-2.0-only
#include "render/shown_numbers.h"

#include <gtest/gtest.h>
#include <random>

namespace argtrace {
namespace {

constexpr NumberForm forms[]{NumberForm::typed,      NumberForm::s32,         NumberForm::u32,        NumberForm::s64,     NumberForm::u64,        NumberForm::hex,
                             NumberForm::octal,      NumberForm::mode,        NumberForm::identity,   NumberForm::pointer, NumberForm::ioctl,      NumberForm::device,
                             NumberForm::wait_status, NumberForm::signal_set, NumberForm::size_limit, NumberForm::epoll_data};

// However often, and whatever was shown in between: what is kept of another number, form or table is not shown.
TEST(ShownNumbers, AreWhatTheTableSays) {
    std::mt19937_64 random{20261128};
    NamedValues flags(true, NumberForm::hex), commands(false, NumberForm::s32);
    flags.add("O_RDONLY", 0);
    flags.add("O_WRONLY", 1);
    flags.add("O_CREAT", 0x40);
    commands.add("ONE", 1);
    ShownNumbers numbers;
    std::size_t empty = 0;
    for (int round = 0; round < 100000; ++round) {
        const std::uint64_t number = round % 2 == 0 ? random() % 0x80 : random() >> random() % 64;
        const NamedValues *const values[]{nullptr, &flags, &commands};
        const ShownAs as{values[random() % 3], forms[random() % std::size(forms)]};
        Line line;
        const bool shown = numbers.append(line, as, number);
        ASSERT_EQ(line.view(), as.text(number));
        ASSERT_EQ(shown, !as.text(number).empty());
        empty += !shown;
    }
    EXPECT_GT(empty, 1000u);
}

} // namespace
} // namespace argtrace
