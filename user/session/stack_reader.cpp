// SPDX-License-Identifier: GPL-2.0-only
#include "session/stack_reader.h"

#include <algorithm>
#include <bit>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace argtrace {

namespace {

constexpr std::uint32_t steps = 16; // as many as the module looks at
constexpr std::size_t known_max = 1 << 16;

std::size_t page_aligned(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) / page * page;
}

std::size_t entries_size(const argtrace_stacks &stacks) {
    return page_aligned(stacks.entries * sizeof(argtrace_stack_entry));
}

} // namespace

std::optional<StackTable::Found> StackTable::find(std::uint64_t id) const {
    const auto shift = 64 - static_cast<unsigned>(std::countr_zero(nr_entries));
    for (std::uint32_t step = 0; step < std::min(steps, nr_entries); ++step) {
        const argtrace_stack_entry &entry = entries[((id >> shift) + step) & (nr_entries - 1)];
        if (__atomic_load_n(&entry.id, __ATOMIC_RELAXED) != id)
            continue;
        // Pairs with the release of find_or_add() (kmod/stack/table.c).
        const std::uint64_t where = __atomic_load_n(&entry.where, __ATOMIC_ACQUIRE);
        const std::uint64_t first = where & 0xffffffffu;
        const std::uint64_t count = where >> ARGTRACE_STACK_COUNT_SHIFT & ARGTRACE_STACK_COUNT_MASK;
        if (count == 0 || first > nr_words || count > nr_words - first)
            return std::nullopt;
        return Found{{words + first, words + first + count}, (where & ARGTRACE_STACK_CUT) != 0};
    }
    return std::nullopt;
}

std::optional<StackReader> StackReader::of(const Device &device) {
    argtrace_stacks stacks{};
    stacks.size = sizeof(stacks);
    stacks.flags = ARGTRACE_STACKS_EXISTING;
    if (device.request(ARGTRACE_IOC_STACKS, &stacks) != 0)
        return std::nullopt;
    return StackReader(device.fd(), stacks, device.info().nr_cpus);
}

/// A CPU may get its table at any time.
const StackTable *StackReader::table(std::uint32_t cpu) {
    std::optional<Table> &known = tables_[cpu];
    if (known)
        return &known->view;
    const std::size_t words_at = page_aligned(1) + entries_size(stacks_);
    auto mapping = map_region(fd_, words_at + page_aligned(stacks_.words * sizeof(std::uint64_t)), PROT_READ, cpu,
                              ARGTRACE_MMAP_STACKS, "the stacks");
    if (!mapping)
        return nullptr;
    const std::byte *start = mapping->start();
    const StackTable view{reinterpret_cast<const argtrace_stacks_control *>(start),
                          reinterpret_cast<const argtrace_stack_entry *>(start + page_aligned(1)),
                          reinterpret_cast<const std::uint64_t *>(start + words_at), stacks_.entries,
                          stacks_.words};
    known.emplace(Table{std::move(*mapping), view});
    return &known->view;
}

std::optional<Stack> StackReader::find(std::uint64_t id) {
    const auto as_stack = [](const StackTable::Found &found) { return Stack{found.addresses, found.cut}; };
    if (const auto known = known_.find(id); known != known_.end())
        return as_stack(known->second);
    if (known_.size() >= known_max)
        known_.clear();
    for (std::uint32_t cpu = 0; cpu < tables_.size(); ++cpu) {
        const StackTable *one = table(cpu);
        if (!one)
            continue;
        if (auto found = one->find(id))
            return as_stack(known_.emplace(id, std::move(*found)).first->second);
    }
    return std::nullopt;
}

StackLoss StackReader::lost() {
    StackLoss sums{};
    for (std::uint32_t cpu = 0; cpu < tables_.size(); ++cpu) {
        const StackTable *one = table(cpu);
        for (std::size_t cause = 0; one && cause < sums.size(); ++cause)
            sums[cause] += __atomic_load_n(&one->control->lost[cause], __ATOMIC_RELAXED);
    }
    return sums;
}

} // namespace argtrace
