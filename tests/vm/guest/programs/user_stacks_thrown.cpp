// SPDX-License-Identifier: GPL-2.0-only
// Never ends, for UserStacksOfPrograms: destructors that call the kernel while an exception unwinds the stack.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace {

[[gnu::noinline]] void look() { getppid(); }

struct Guard {
    [[gnu::noinline]] ~Guard() { look(); }
    int number;
};

[[gnu::noinline]] int throw_below(int depth) {
    const Guard guard{depth};
    if (depth == 0)
        throw std::runtime_error("as deep as " + std::to_string(depth));
    return throw_below(depth - 1) + guard.number;
}

[[gnu::noinline]] int throw_again(int depth) {
    try {
        return throw_below(depth);
    } catch (const std::runtime_error &error) {
        look();
        throw std::logic_error(error.what());
    }
}

} // namespace

int main() {
    std::map<std::string, int> results;
    std::puts("ready");
    std::fflush(stdout);
    for (int round = 0;; round++) {
        try {
            results[std::to_string(round % 50)] = throw_again(round % 12);
        } catch (const std::exception &error) {
            results[error.what()]++;
            look();
        }
    }
}
