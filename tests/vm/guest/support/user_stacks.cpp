// SPDX-License-Identifier: GPL-2.0-only
#include "support/user_stacks.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "elf/object.h"
#include "elf/unwind_table.h"
#include "util/fd.h"

namespace vmtest {

namespace {

constexpr std::size_t page_size = 4096;

std::size_t entries_size(const argtrace_stacks &stacks) {
    return (stacks.entries * sizeof(argtrace_stack_entry) + page_size - 1) / page_size * page_size;
}

/// The kernel's own object in each process.
std::optional<argtrace::elf::Object> vdso() {
    const auto *image = reinterpret_cast<const std::byte *>(getauxval(AT_SYSINFO_EHDR));
    const auto *header = reinterpret_cast<const Elf64_Ehdr *>(image);
    return argtrace::elf::Object::from_memory({image, header->e_shoff + header->e_shnum * header->e_shentsize}, "[vdso]");
}

/// Nothing if it is no ELF file; the name is that of its file all the same.
std::optional<argtrace::elf::Object> open_object(const RawDevice &device, std::uint32_t number, std::string &name) {
    if (number == ARGTRACE_OBJECT_VDSO)
        return vdso();
    argtrace_object_open open{};
    open.size = sizeof(open);
    open.object = number;
    const int fd = ioctl(device.fd(), ARGTRACE_IOC_OBJECT_OPEN, &open);
    if (fd < 0)
        return std::nullopt;
    char path[512];
    const ssize_t length = readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), path, sizeof(path));
    name.assign(path, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    name.erase(0, name.rfind('/') + 1);
    return argtrace::elf::Object::open(argtrace::Fd(fd), name);
}

} // namespace

UserStacks::UserStacks(const RawDevice &device, std::uint32_t entries) : device_(device) {
    stacks_.size = sizeof(stacks_);
    stacks_.flags = ARGTRACE_STACKS_USER;
    stacks_.entries = entries;
    EXPECT_EQ(device.call(ARGTRACE_IOC_STACKS, &stacks_), 0);
    size_ = page_size + entries_size(stacks_) + (stacks_.words * sizeof(std::uint64_t) + page_size - 1) / page_size * page_size;
    for (std::uint32_t cpu = 0; cpu < device.info().nr_cpus; cpu++) {
        void *table = mmap(nullptr, size_, PROT_READ, MAP_SHARED, device.fd(),
                           static_cast<off_t>(ARGTRACE_MMAP_OFFSET(cpu, ARGTRACE_MMAP_USER_STACKS)));
        if (table != MAP_FAILED)
            cpus_.push_back(static_cast<const std::byte *>(table));
    }
    EXPECT_FALSE(cpus_.empty());
}

UserStacks::~UserStacks() {
    for (const std::byte *table : cpus_)
        munmap(const_cast<std::byte *>(table), size_);
}

std::vector<argtrace_object> UserStacks::objects(std::uint32_t flags) const {
    std::vector<argtrace_object> all, some(64);
    argtrace_objects list{};
    do {
        list.size = sizeof(list);
        list.flags = flags;
        list.buffer = reinterpret_cast<std::uintptr_t>(some.data());
        list.length = some.size() * sizeof(some[0]);
        list.first = list.next;
        list.next = list.count = 0;
        list.unnumbered = list.unknown = 0;
        EXPECT_EQ(device_.call(ARGTRACE_IOC_OBJECTS, &list), 0);
        EXPECT_EQ(list.unnumbered, 0u);
        EXPECT_EQ(list.unknown, 0u);
        all.insert(all.end(), some.begin(), some.begin() + list.count);
    } while (list.next != 0);
    return all;
}

int UserStacks::provide_table(std::uint32_t number) const {
    const auto object = open_object(device_, number, names_[number]);
    argtrace::elf::UnwindTable table;
    if (object)
        table = argtrace::elf::unwind_table(*object);
    argtrace_unwind unwind{};
    unwind.size = sizeof(unwind);
    unwind.object = number;
    unwind.nr_rows = static_cast<std::uint32_t>(table.rows.size());
    unwind.nr_rules = static_cast<std::uint32_t>(table.rules.size());
    unwind.rows = reinterpret_cast<std::uintptr_t>(table.rows.data());
    unwind.rules = reinterpret_cast<std::uintptr_t>(table.rules.data());
    return device_.call(ARGTRACE_IOC_UNWIND, &unwind);
}

unsigned UserStacks::provide_tables() const {
    unsigned count = 0;
    for (const argtrace_object &object : objects()) {
        if (object.flags & ARGTRACE_OBJECT_HAS_TABLE)
            continue;
        EXPECT_EQ(provide_table(object.object), 0) << object.object;
        count++;
    }
    return count;
}

std::uint64_t UserStacks::where(const std::byte *table, std::uint64_t id) const {
    const auto *entries = reinterpret_cast<const argtrace_stack_entry *>(table + page_size);
    for (std::uint32_t i = 0; i < stacks_.entries; i++)
        if (entries[i].id == id && entries[i].where != 0)
            return entries[i].where;
    return 0;
}

const std::uint64_t *UserStacks::words(const std::byte *table) const {
    return reinterpret_cast<const std::uint64_t *>(table + page_size + entries_size(stacks_));
}

std::optional<std::vector<std::uint64_t>> UserStacks::find(std::uint64_t id, bool *pending) const {
    std::optional<std::vector<std::uint64_t>> found;
    bool is_pending = false;
    for (const std::byte *table : cpus_) {
        const std::uint64_t at = where(table, id);
        if (at == 0 || (found && at & ARGTRACE_STACK_PENDING))
            continue;
        const std::uint64_t *first = words(table) + (at & 0xffffffff);
        is_pending = (at & ARGTRACE_STACK_PENDING) != 0;
        found = at & ARGTRACE_STACK_ALIAS ? find(*first)
                                          : std::vector<std::uint64_t>(first, first + (at >> ARGTRACE_STACK_COUNT_SHIFT & ARGTRACE_STACK_COUNT_MASK));
        if (!is_pending)
            break;
    }
    if (pending)
        *pending = is_pending;
    return found;
}

const std::string &UserStacks::name_of(std::uint32_t object) const {
    static const std::string vdso = "[vdso]", memory = "?", none = "(no name)";
    if (object == ARGTRACE_OBJECT_VDSO)
        return vdso;
    if (object == ARGTRACE_OBJECT_MEMORY)
        return memory;
    const auto found = names_.find(object);
    return found == names_.end() ? none : found->second;
}

std::vector<std::string> UserStacks::names(const std::vector<std::uint64_t> &words) const {
    std::vector<std::string> names;
    for (const std::uint64_t word : words) {
        std::uint64_t offset = word & ARGTRACE_FRAME_OFFSET_MASK;
        auto object = static_cast<std::uint32_t>(word >> ARGTRACE_FRAME_OBJECT_SHIFT & ARGTRACE_FRAME_OBJECT_MASK);
        if (object == ARGTRACE_OBJECT_HIGH_MEMORY) {
            object = ARGTRACE_OBJECT_MEMORY;
            offset |= std::uint64_t{1} << ARGTRACE_FRAME_OBJECT_SHIFT;
        }
        EXPECT_TRUE(word & ARGTRACE_FRAME_USER);
        names.push_back(object == ARGTRACE_OBJECT_END ? fmt::format("END {}", offset)
                                                      : fmt::format("{}{}+0x{:x}", word & ARGTRACE_FRAME_EXACT ? "[exact]" : "", name_of(object), offset));
    }
    return names;
}

// As StackReader::user_lost(): none is counted as completed before it is counted as incomplete.
std::vector<std::uint64_t> UserStacks::incomplete() const {
    std::vector<std::uint64_t> sums(ARGTRACE_END_COUNT);
    const std::uint64_t completed_before = completed();
    for (const std::byte *table : cpus_) {
        for (std::size_t reason = 0; reason < sums.size(); reason++)
            sums[reason] += reinterpret_cast<const argtrace_stacks_control *>(table)->incomplete[reason];
    }
    sums[ARGTRACE_END_UNREADABLE] -= completed_before;
    return sums;
}

std::uint64_t UserStacks::completed() const {
    std::uint64_t sum = 0;
    for (const std::byte *table : cpus_)
        sum += __atomic_load_n(&reinterpret_cast<const argtrace_stacks_control *>(table)->completed, __ATOMIC_ACQUIRE);
    return sum;
}

} // namespace vmtest
