// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "options.h"

int main(int argc, char **argv) {
    testing::InitGoogleTest(&argc, argv);
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::uint64_t value = std::strtoull(argv[i + 1], nullptr, 0);
        if (std::strcmp(argv[i], "--seed") == 0)
            vmtest::stress_options.seed = value;
        else if (std::strcmp(argv[i], "--steps") == 0)
            vmtest::stress_options.steps = static_cast<unsigned>(value);
    }
    std::printf("seed %llu, %u steps\n",
                static_cast<unsigned long long>(vmtest::stress_options.seed),
                vmtest::stress_options.steps);
    return RUN_ALL_TESTS();
}
