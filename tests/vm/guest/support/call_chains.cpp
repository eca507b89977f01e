// SPDX-License-Identifier: GPL-2.0-only
#include "support/call_chains.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <string_view>

#include "support/command.h"
#include "support/kallsyms.h"
#include "support/machine.h"
#include "support/tracefs.h"

namespace vmtest {
namespace {

constexpr std::size_t page_bytes = 4096, data_bytes = 256 * page_bytes;

/// Functions by their addresses.
class SymbolsByAddress {
public:
    SymbolsByAddress() : symbols_(kernel_symbols()) {
        std::erase_if(symbols_, [](const KernelSymbol &symbol) { return !std::strchr("tTwW", symbol.type); });
        std::stable_sort(symbols_.begin(), symbols_.end(), [](const auto &a, const auto &b) { return a.addr < b.addr; });
    }

    std::string frame_at(std::uint64_t addr) const {
        const auto behind = std::upper_bound(symbols_.begin(), symbols_.end(), addr,
                                             [](std::uint64_t wanted, const KernelSymbol &symbol) { return wanted < symbol.addr; });
        std::ostringstream frame;
        frame << std::hex;
        if (behind == symbols_.begin()) {
            frame << "0x" << addr;
            return frame.str();
        }
        const KernelSymbol &symbol = *(behind - 1);
        frame << symbol.name << "+0x" << addr - symbol.addr;
        if (!symbol.module.empty())
            frame << " [" << symbol.module << ']';
        return frame.str();
    }

private:
    std::vector<KernelSymbol> symbols_;
};

/// "[   12.345678][  T123] text" -> "text"
std::string without_stamps(std::string line) {
    while (line.starts_with('[')) {
        const std::size_t end = line.find(']');
        line.erase(0, end == line.npos ? line.npos : end + 1);
    }
    if (line.starts_with(' '))
        line.erase(0, 1);
    return line;
}

} // namespace

std::string without_size(std::string frame) {
    const std::size_t slash = frame.find('/');
    if (slash != frame.npos)
        frame.erase(slash, std::min(frame.find(' ', slash), frame.size()) - slash);
    return frame;
}

std::string function_of(const std::string &frame) {
    return frame.substr(0, frame.find('+'));
}

std::vector<CallChain> chains_of_trace() {
    std::vector<CallChain> chains;
    std::istringstream lines(read_file(tracing_directory + "trace"));
    for (std::string line; std::getline(lines, line);) {
        if (line.ends_with("<stack trace>"))
            chains.emplace_back();
        else if (line.starts_with(" => ") && !chains.empty())
            chains.back().push_back(without_size(line.substr(4)));
    }
    return chains;
}

std::vector<CallChain> chains_of_log() {
    std::vector<CallChain> chains;
    std::istringstream lines(run({"dmesg"}).out);
    bool in_chain = false;
    for (std::string line; std::getline(lines, line);) {
        line = without_stamps(line);
        // x86-64 has the first, arm64 the second.
        if (line == "Call Trace:" || line == "Call trace:") {
            in_chain = true;
            chains.emplace_back();
        } else if (!line.starts_with(' ')) {
            // Registers that an interrupt has saved stand between the frames.
            in_chain = in_chain && (line.starts_with("RIP: ") || line.starts_with("RSP: ") || line.starts_with("RAX: ") || line.starts_with("RDX: ") ||
                                    line.starts_with("RBP: ") || line.starts_with("R10: ") || line.starts_with("R13: ") || line.starts_with("Code: "));
        } else if (in_chain && !line.starts_with(" <") && !line.starts_with(" ? ")) {
            chains.back().push_back(without_size(line.substr(1)));
        }
    }
    return chains;
}

PerfChains::PerfChains(std::uint32_t type, std::uint64_t config, std::uint64_t period) {
    for (unsigned number = 0; number < cpu_count(); ++number) {
        perf_event_attr attr{};
        attr.size = sizeof(attr);
        attr.type = type;
        attr.config = config;
        attr.sample_period = period;
        attr.sample_type = PERF_SAMPLE_CALLCHAIN;
        attr.exclude_callchain_user = 1;
        const auto fd = static_cast<int>(syscall(SYS_perf_event_open, &attr, -1, number, -1, PERF_FLAG_FD_CLOEXEC));
        EXPECT_GE(fd, 0) << strerror(errno);
        void *at = mmap(nullptr, page_bytes + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        EXPECT_NE(at, MAP_FAILED) << strerror(errno);
        cpus_.push_back({fd, static_cast<unsigned char *>(at)});
    }
}

PerfChains::~PerfChains() {
    for (const Cpu &cpu : cpus_) {
        munmap(cpu.at, page_bytes + data_bytes);
        close(cpu.fd);
    }
}

void PerfChains::take_from(const Cpu &cpu, std::vector<std::vector<std::uint64_t>> &chains) {
    auto *const page = reinterpret_cast<perf_event_mmap_page *>(cpu.at);
    const std::uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    std::uint64_t tail = page->data_tail;
    const auto copy = [&](void *to, std::uint64_t from, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i)
            static_cast<unsigned char *>(to)[i] = cpu.at[page_bytes + (from + i) % data_bytes];
    };
    while (tail < head) {
        perf_event_header header;
        copy(&header, tail, sizeof(header));
        std::uint64_t count = 0;
        if (header.type == PERF_RECORD_SAMPLE) {
            copy(&count, tail + sizeof(header), sizeof(count));
            std::vector<std::uint64_t> chain(count);
            copy(chain.data(), tail + sizeof(header) + sizeof(count), count * sizeof(count));
            // Some are no addresses, but say what follows.
            std::erase_if(chain, [](std::uint64_t addr) { return addr >= PERF_CONTEXT_MAX; });
            chains.push_back(std::move(chain));
        }
        tail += header.size;
    }
    __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

std::vector<CallChain> PerfChains::take() {
    std::vector<std::vector<std::uint64_t>> taken;
    for (const Cpu &cpu : cpus_)
        take_from(cpu, taken);
    const SymbolsByAddress symbols;
    std::vector<CallChain> chains;
    for (const auto &addresses : taken) {
        CallChain chain;
        for (const std::uint64_t addr : addresses)
            chain.push_back(symbols.frame_at(addr));
        chains.push_back(std::move(chain));
    }
    return chains;
}

} // namespace vmtest
