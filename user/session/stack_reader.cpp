// SPDX-License-Identifier: GPL-2.0-only
#include "session/stack_reader.h"

#include <algorithm>
#include <array>
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
        Found found{{words + first, count}, (where & ARGTRACE_STACK_CUT) != 0};
        if (where & ARGTRACE_STACK_ALIAS) {
            // The module may be replacing it; it writes the word before it takes PENDING away.
            found.target = __atomic_load_n(&words[first], __ATOMIC_RELAXED);
            found.pending = (where & ARGTRACE_STACK_PENDING) != 0;
            found.addresses = {};
        }
        return found;
    }
    return std::nullopt;
}

std::optional<StackReader> StackReader::of(const Device &device) {
    constexpr std::pair<CodeSpace, std::uint32_t> kinds[]{{CodeSpace::kernel, 0}, {CodeSpace::user, ARGTRACE_STACKS_USER}};
    const argtrace_info info = device.info();
    StackReader reader(device.fd());
    for (const auto &[space, flags] : kinds) {
        if (space == CodeSpace::user && !(info.features & ARGTRACE_FEATURE_USER_STACK))
            continue;
        Tables tables{space};
        tables.stacks.size = sizeof(tables.stacks);
        tables.stacks.flags = ARGTRACE_STACKS_EXISTING | flags;
        if (device.request(ARGTRACE_IOC_STACKS, &tables.stacks) != 0)
            continue;
        tables.by_cpu.resize(info.nr_cpus);
        reader.tables_.push_back(std::move(tables));
    }
    return reader.tables_.empty() ? std::nullopt : std::optional(std::move(reader));
}

/// A CPU may get its table at any time.
const StackTable *StackReader::table(Tables &tables, std::uint32_t cpu) const {
    std::optional<Table> &known = tables.by_cpu[cpu];
    if (known)
        return &known->view;
    const argtrace_stacks &stacks = tables.stacks;
    const bool user = tables.space == CodeSpace::user;
    const std::size_t words_at = page_aligned(1) + entries_size(stacks);
    auto mapping = map_region(fd_, words_at + page_aligned(stacks.words * sizeof(std::uint64_t)), PROT_READ, cpu,
                              user ? ARGTRACE_MMAP_USER_STACKS : ARGTRACE_MMAP_STACKS, "the stacks");
    if (!mapping)
        return nullptr;
    const std::byte *start = mapping->start();
    const StackTable view{reinterpret_cast<const argtrace_stacks_control *>(start),
                          reinterpret_cast<const argtrace_stack_entry *>(start + page_aligned(1)),
                          reinterpret_cast<const std::uint64_t *>(start + words_at), stacks.entries,
                          stacks.words};
    known.emplace(Table{std::move(*mapping), view});
    return &known->view;
}

std::optional<StackTable::Found> StackReader::look_up(std::uint64_t id, CodeSpace &space) {
    std::optional<StackTable::Found> best;
    for (Tables &tables : tables_) {
        for (std::uint32_t cpu = 0; cpu < tables.by_cpu.size(); ++cpu) {
            const StackTable *one = table(tables, cpu);
            const auto found = one ? one->find(id) : std::nullopt;
            if (!found || (best && found->pending))
                continue;
            best = found;
            space = tables.space;
            if (!best->pending)
                return best;
        }
    }
    return best;
}

std::optional<Stack> StackReader::find(std::uint64_t id) {
    if (const auto known = known_.find(id); known != known_.end())
        return known->second;
    CodeSpace space = CodeSpace::kernel;
    const auto found = look_up(id, space);
    if (!found)
        return std::nullopt;
    Stack stack{found->addresses, found->cut, space};
    if (found->target != 0) {
        const auto target = look_up(found->target, space);
        if (!target || target->target != 0)
            return std::nullopt;
        stack = {target->addresses, target->cut, space, {}, found->target, found->pending};
    }
    if (stack.pending)
        return stack;
    if (known_.size() >= known_max)
        known_.clear();
    return known_.emplace(id, stack).first->second;
}

template<typename Take>
bool StackReader::for_each_control(CodeSpace space, const Take &take) {
    const auto tables = std::find_if(tables_.begin(), tables_.end(), [space](const Tables &one) { return one.space == space; });
    if (tables == tables_.end())
        return false;
    for (std::uint32_t cpu = 0; cpu < tables->by_cpu.size(); ++cpu)
        if (const StackTable *one = table(*tables, cpu))
            take(*one->control);
    return true;
}

namespace {

template<std::size_t N>
void add_counts(std::array<std::uint64_t, N> &sums, const std::uint64_t *counts) {
    for (std::size_t i = 0; i < N; ++i)
        sums[i] += __atomic_load_n(&counts[i], __ATOMIC_RELAXED);
}

} // namespace

std::optional<StackLoss> StackReader::lost() {
    StackLoss sums{};
    const bool any = for_each_control(CodeSpace::kernel, [&sums](const argtrace_stacks_control &one) {
        add_counts(sums, reinterpret_cast<const std::uint64_t *>(one.lost));
    });
    return any ? std::optional(sums) : std::nullopt;
}

std::optional<UserStackLoss> StackReader::user_lost() {
    UserStackLoss sums;
    std::uint64_t completed = 0; // read first: none is counted before it is counted as incomplete
    for_each_control(CodeSpace::user, [&completed](const argtrace_stacks_control &one) {
        completed += __atomic_load_n(&one.completed, __ATOMIC_ACQUIRE);
    });
    const bool any = for_each_control(CodeSpace::user, [&sums](const argtrace_stacks_control &one) {
        add_counts(sums.lost, reinterpret_cast<const std::uint64_t *>(one.lost));
        add_counts(sums.incomplete, reinterpret_cast<const std::uint64_t *>(one.incomplete));
    });
    std::uint64_t &unreadable = sums.incomplete[ARGTRACE_END_UNREADABLE];
    unreadable -= std::min(unreadable, completed);
    return any ? std::optional(sums) : std::nullopt;
}

} // namespace argtrace
