// SPDX-License-Identifier: GPL-2.0-only
//
// Writes a recording of calls whose stacks of user code are all different: what it takes to give names to many frames.
//
//     user_stacks FILE [STACKS [likely|even]]
//
// Twenty processes have 2,000 functions each, of which every one calls four others, and stacks are 32 frames deep. `likely`, as programs
// are: of these calls one is made most of the time, so that stacks have many callers in common. `even`: all are as likely, which is the
// worst case, as hardly two stacks have more in common than the outermost frames.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <random>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "file/writer.h"
#include "model/user_frame.h"
#include "support/packet_builder.h"
#include "uapi/argtrace_user.h"

namespace argtrace::bench {
namespace {

constexpr unsigned nr_processes = 20, nr_functions = 2000, nr_calls = 4, nr_frames = 32;
constexpr std::uint64_t function_size = 256;
constexpr std::uint32_t packet_size = 64 * 1024;
constexpr std::size_t stacks_in_chunk = 1 << 14;

std::uint64_t word_of(unsigned process, unsigned function, unsigned call) {
    return UserFrame(ARGTRACE_OBJECT_FIRST + process, 0x1000 + function * function_size + 16 * (call + 1), false).word();
}

/// Two functions in three have names of C++; at one place in four a function is inlined.
std::string names_of(unsigned process) {
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

class Stacks {
public:
    explicit Stacks(bool likely) : likely_(likely) {}

    /// One that there was not yet. Its words are the number, the length, and the frames.
    std::uint64_t add(std::vector<std::uint64_t> &words, unsigned process) {
        std::uint64_t id;
        const std::size_t begin = words.size();
        do {
            words.resize(begin + 2 + nr_frames);
            id = 0x123456789;
            unsigned function = 0;
            for (unsigned i = 0; i < nr_frames; ++i) {
                const unsigned call = i + 1 == nr_frames ? nr_calls : next_call();
                const std::uint64_t word = word_of(process, function, call);
                words[begin + 2 + (nr_frames - 1 - i)] = word;
                id = (id ^ word) * 0x9e3779b97f4a7c15;
                id ^= id >> 29;
                function = (function * nr_calls + call * 577 + 1) % nr_functions;
            }
            id |= std::uint64_t{1} << 32;
        } while (!known_.insert(id).second);
        words[begin] = id;
        words[begin + 1] = nr_frames;
        return id;
    }

private:
    unsigned next_call() {
        const std::uint64_t one = random_() % 100;
        return !likely_ ? one % nr_calls : one < 80 ? 0 : one < 92 ? 1 : one < 98 ? 2 : 3;
    }

    bool likely_;
    std::mt19937_64 random_{20261127};
    std::unordered_set<std::uint64_t> known_;
};

void write(const char *path, unsigned nr_stacks, bool likely) {
    TraceWriter writer(Fd(::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)), path);
    TraceInfo info;
    info.argtrace = "0.1.0";
    info.kernel = "6.12.0";
    info.machine = "x86_64";
    info.host = "bench";
    info.cpus = 1;
    info.record_version = ARGTRACE_RECORD_VERSION;
    info.packet_size = packet_size;
    info.packets_per_cpu = 4;
    info.mode = "stream";
    info.begin_monotonic = 1000;
    writer.info(info);
    Probe probe = test::vfs_read();
    probe.args = {test::output("user_stack", ARGTRACE_TYPE_STACK, 8, std::string(user_stack_name))};
    writer.probes(std::vector{probe});
    writer.symbols("ffffffff81000000 t ksys_read\n");
    std::string objects;
    for (unsigned process = 0; process < nr_processes; ++process) {
        objects += fmt::format("{:x} {:040x} /usr/bin/program-{}\n\t0\t400000\t200000\n", ARGTRACE_OBJECT_FIRST + process, process + 1, process);
        writer.places(names_of(process));
    }
    writer.objects(objects);
    writer.flush();

    Stacks stacks(likely);
    std::uint64_t clock = 1000, seq = 0;
    for (unsigned done = 0; done < nr_stacks;) {
        const unsigned many = std::min<unsigned>(stacks_in_chunk, nr_stacks - done);
        std::vector<std::uint64_t> words, ids;
        for (unsigned i = 0; i < many; ++i, ++done)
            ids.push_back(stacks.add(words, done % nr_processes));
        writer.stacks(words);
        for (std::size_t i = 0; i < ids.size();) {
            test::PacketBuilder packet(packet_size, clock);
            packet.header().seq = seq++;
            for (; i < ids.size() && packet.end() + 128 < packet_size; ++i, ++clock) {
                const auto process = static_cast<std::uint32_t>((done - many + i) % nr_processes);
                packet.task(1000 + process, 1000 + process, fmt::format("program-{}", process), clock);
                packet.record(1, clock, test::Data().put(std::uint64_t{0xffffffff81000010}).put(std::uint64_t{0}).put(ids[i]), 1000 + process);
            }
            packet.header().used = static_cast<std::uint32_t>(packet.end());
            PacketBytes bytes;
            bytes.seq = packet.header().seq;
            bytes.bytes = std::span(packet.bytes()).first(packet.end());
            writer.packet(bytes);
            writer.flush();
        }
        writer.mark(clock);
    }
    argtrace_counts counts{};
    counts.id = 1;
    counts.records = nr_stacks;
    writer.counts(std::span(&counts, 1));
    writer.span({900, clock + 1});
    writer.end();
    writer.flush();
    writer.target().keep();
}

} // namespace
} // namespace argtrace::bench

int main(int argc, char **argv) {
    if (argc < 2 || argc > 4) {
        std::fputs("usage: user_stacks FILE [STACKS [likely|even]]\n", stderr);
        return 2;
    }
    argtrace::bench::write(argv[1], argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1000000,
                           argc <= 3 || std::string_view(argv[3]) != "even");
    return 0;
}
