// SPDX-License-Identifier: GPL-2.0-only
//
// Writes a recording of calls with stacks of user code (user_stacks.h).
//
//     user_stacks_file FILE [STACKS [likely|even]]

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "file/writer.h"
#include "support/packet_builder.h"
#include "support/trace_builder.h"
#include "uapi/argtrace_user.h"
#include "user_stacks.h"

namespace argtrace::bench {
namespace {

constexpr std::uint32_t packet_size = 64 * 1024;
constexpr std::size_t stacks_in_chunk = 1 << 14;

void write(const char *path, unsigned nr_stacks, bool likely) {
    TraceWriter writer(Fd(::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)), path);
    TraceInfo info = test::some_info();
    info.cpus = 1;
    info.packet_size = packet_size;
    writer.info(info);
    Probe probe = test::vfs_read();
    probe.args = {test::output("user_stack", ARGTRACE_TYPE_STACK, 8, std::string(user_stack_name))};
    writer.probes(std::vector{probe});
    writer.symbols(test::some_symbols);
    for (unsigned process = 0; process < UserStacks::nr_processes; ++process)
        writer.places(UserStacks::places(process));
    writer.objects(UserStacks::objects());
    writer.flush();

    UserStacks stacks(likely);
    std::uint64_t clock = 1000, seq = 0;
    for (unsigned done = 0; done < nr_stacks;) {
        const unsigned many = std::min<unsigned>(stacks_in_chunk, nr_stacks - done);
        std::vector<std::uint64_t> words, ids;
        for (unsigned i = 0; i < many; ++i, ++done)
            ids.push_back(stacks.add(words, done % UserStacks::nr_processes));
        writer.stacks(words);
        for (std::size_t i = 0; i < ids.size();) {
            test::PacketBuilder packet(packet_size, clock);
            packet.header().seq = seq++;
            for (; i < ids.size() && packet.end() + 128 < packet_size; ++i, ++clock) {
                const auto process = static_cast<std::uint32_t>((done - many + i) % UserStacks::nr_processes);
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
        std::fputs("usage: user_stacks_file FILE [STACKS [likely|even]]\n", stderr);
        return 2;
    }
    argtrace::bench::write(argv[1], argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1000000,
                           argc <= 3 || std::string_view(argv[3]) != "even");
    return 0;
}
