// SPDX-License-Identifier: GPL-2.0-only
// Functions that exceptions leave, for tests that follow them until they return: user_returns_thrown LOG
#include <cstdio>

#define CALLED extern "C" __attribute__((noinline, noclone, noipa, externally_visible, visibility("default")))

static volatile long sink;

CALLED long ut_throws(long number) {
    sink = sink + 1;
    if (number % 2)
        throw number;
    return number * 2;
}

CALLED long ut_within(long number) {
    return ut_throws(number) + 1;
}

// Has no instruction that it returns by.
CALLED long ut_always(long number) {
    sink = sink + 3;
    throw number;
}

// Ends in a jump: a uretprobe would end the program.
CALLED long ut_jumps(long number) {
    sink = sink + 2;
    return ut_throws(number + 1);
}

int main(int argc, char **argv) {
    FILE *log = argc > 1 ? std::fopen(argv[1], "w") : nullptr;
    if (!log)
        return 2;
    for (long i = 0; i < 40; i++) {
        try {
            const long result = ut_within(i);
            std::fprintf(log, "ut_throws %ld %ld\nut_within %ld %ld\n", i, result - 1, i, result);
        } catch (long) {
        }
        try {
            const long result = ut_jumps(i);
            std::fprintf(log, "ut_throws %ld %ld\n", i + 1, result);
        } catch (long) {
        }
        try {
            ut_always(i);
        } catch (long) {
        }
    }
    std::fclose(log);
    return 0;
}
