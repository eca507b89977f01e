// SPDX-License-Identifier: GPL-2.0-only
//
// Gives names to the frames of many stacks of user code (user_stacks.h), as all that shows stacks does, and prints how long that took, in seconds,
// how many frames and functions that were, and by how many MiB memory has grown meanwhile. How the stacks and the symbols are read is not measured.
//
//     name_user_stacks [STACKS [likely|even]]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <span>
#include <string_view>
#include <vector>

#include "render/caller.h"
#include "render/stack.h"
#include "report/symbol_table.h"
#include "uapi/argtrace_user.h"
#include "user_stacks.h"

namespace argtrace::bench {
namespace {

std::size_t bytes_in_use() {
    const struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

void measure(unsigned nr_stacks, bool likely) {
    SymbolTable symbols;
    symbols.add_objects(UserStacks::objects());
    for (unsigned process = 0; process < UserStacks::nr_processes; ++process)
        symbols.add_places(UserStacks::places(process));
    std::vector<Value> stacks;
    stacks.reserve(nr_stacks);
    UserStacks made(likely);
    std::vector<std::uint64_t> words;
    for (unsigned i = 0; i < nr_stacks; ++i) {
        words.clear();
        stacks.push_back({made.add(words, i % UserStacks::nr_processes), 0, ARGTRACE_TYPE_STACK, true});
        symbols.add_stacks(std::as_bytes(std::span(words)));
    }

    const std::size_t before = bytes_in_use();
    const auto begin = std::chrono::steady_clock::now();
    CallerNames names(symbols);
    std::vector<StackFrame> frames;
    std::vector<std::size_t> calls; // of each function
    for (const Value &stack : stacks) {
        frames.clear();
        add_stack_frames(frames, names, {nullptr, &stack});
        if (calls.size() < names.numbers())
            calls.resize(2 * names.numbers());
        for (const StackFrame &frame : frames)
            ++calls[frame.name];
    }
    std::size_t functions = 0, bytes = 0;
    for (std::uint32_t name = 0; name < names.numbers(); ++name) {
        functions += calls[name];
        bytes += calls[name] * names.text(name).size();
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("%.2f s: %zu frames, %zu functions with names of %zu bytes; %.0f MiB\n", seconds.count(),
                std::size_t{nr_stacks} * UserStacks::nr_frames, functions, bytes, static_cast<double>(bytes_in_use() - before) / (1 << 20));
}

} // namespace
} // namespace argtrace::bench

int main(int argc, char **argv) {
    if (argc > 3) {
        std::fputs("usage: name_user_stacks [STACKS [likely|even]]\n", stderr);
        return 2;
    }
    argtrace::bench::measure(argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1000000, argc <= 2 || std::string_view(argv[2]) != "even");
    return 0;
}
