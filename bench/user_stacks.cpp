// SPDX-License-Identifier: GPL-2.0-only
#include "user_stacks.h"

#include <span>

#include <fmt/format.h>

#include "model/user_frame.h"
#include "symbols/stack_number.h"
#include "uapi/argtrace_user.h"

namespace argtrace::bench {

namespace {

constexpr std::uint64_t function_size = 256;

std::uint64_t word_of(unsigned process, unsigned function, unsigned call) {
    return UserFrame(ARGTRACE_OBJECT_FIRST + process, 0x1000 + function * function_size + 16 * (call + 1), false).word();
}

} // namespace

std::string UserStacks::objects() {
    std::string lines;
    for (unsigned process = 0; process < nr_processes; ++process)
        lines += fmt::format("{:x} {:040x} /usr/bin/program-{}\n\t0\t400000\t200000\n", ARGTRACE_OBJECT_FIRST + process, process + 1, process);
    return lines;
}

std::string UserStacks::places(unsigned process) {
    std::string lines;
    for (unsigned function = 0; function < nr_functions; ++function)
        for (unsigned call = 0; call <= nr_calls; ++call) {
            const std::string name = function % 3 == 0 ? fmt::format("program_{}_function_{}", process, function)
                                                       : fmt::format("program_{0}::Worker<int>::function_{1}(std::vector<int> const&)", process, function);
            lines += fmt::format("{:016x} {:x} {}\n", word_of(process, function, call), 16 * (call + 1), name);
            if ((function + call) % 4 == 0)
                lines += fmt::format("\t12\tprogram_{}::inlined_{}\tsource.h\n\t34\t{}\tsource.cpp\n", process, function % 50, name);
        }
    return lines;
}

std::uint64_t UserStacks::add(std::vector<std::uint64_t> &words, unsigned process) {
    std::uint64_t id;
    const std::size_t begin = words.size();
    do {
        words.resize(begin + 2 + nr_frames);
        unsigned function = 0;
        for (unsigned i = 0; i < nr_frames; ++i) {
            const unsigned call = i + 1 == nr_frames ? nr_calls : next_call();
            words[begin + 2 + (nr_frames - 1 - i)] = word_of(process, function, call);
            function = (function * nr_calls + call * 577 + 1) % nr_functions;
        }
        id = stack_number(std::span(words).last(nr_frames), false);
    } while (!known_.insert(id).second);
    words[begin] = id;
    words[begin + 1] = nr_frames;
    return id;
}

unsigned UserStacks::next_call() {
    const std::uint64_t one = random_() % 100;
    return !likely_ ? one % nr_calls : one < 80 ? 0 : one < 92 ? 1 : one < 98 ? 2 : 3;
}

} // namespace argtrace::bench
