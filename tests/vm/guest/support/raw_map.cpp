// SPDX-License-Identifier: GPL-2.0-only
#include "support/raw_map.h"

#include <bpf/btf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "support/machine.h"

namespace vmtest {

namespace {


argtrace_insn output_of(std::uint8_t source, std::uint8_t index, std::uint64_t mask) {
    argtrace_insn insn{};
    insn.source = source;
    insn.index = index;
    insn.mask = mask;
    insn.action = ARGTRACE_DO_OUT;
    insn.arg = 8;
    return insn;
}

bool is_less(std::uint64_t a, std::uint64_t b, bool is_signed) {
    return is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
}

} // namespace

std::int32_t task_offset(const char *member) {
    static btf *const kernel = btf__load_vmlinux_btf();
    const btf_type *task = btf__type_by_id(
        kernel,
        static_cast<__u32>(btf__find_by_name_kind(kernel, "task_struct", BTF_KIND_STRUCT)));
    for (unsigned i = 0; i < btf_vlen(task); i++) {
        if (strcmp(btf__name_by_offset(kernel, btf_members(task)[i].name_off), member) == 0)
            return static_cast<std::int32_t>(btf_member_bit_offset(task, i) / 8);
    }
    ADD_FAILURE() << "struct task_struct has no " << member;
    return 0;
}

SinkProgram::SinkProgram(std::uint16_t sink, std::uint32_t map) {
    head.sink = sink;
    head.map = static_cast<std::uint16_t>(map);
}

SinkProgram &SinkProgram::output(const argtrace_insn &insn) {
    outputs_.push_back(insn);
    return *this;
}

SinkProgram &SinkProgram::source(std::uint8_t source, std::uint8_t index) {
    argtrace_insn insn = output_of(source, index, every_bit);
    if (source == ARGTRACE_SOURCE_RETURN || source == ARGTRACE_SOURCE_DURATION)
        insn.flags = ARGTRACE_INSN_RETURN;
    return output(insn);
}

SinkProgram &SinkProgram::reg(std::uint8_t index, std::uint64_t mask) {
    return output(output_of(ARGTRACE_SOURCE_REG, index, mask));
}

SinkProgram &SinkProgram::behind(std::uint8_t index, std::int32_t offset, std::uint8_t width) {
    argtrace_insn insn = output_of(ARGTRACE_SOURCE_REG, index, every_bit);
    insn.loads = 1;
    insn.width = width;
    insn.offset[0] = offset;
    return output(insn);
}

SinkProgram &SinkProgram::constant(std::uint64_t value) {
    argtrace_insn insn = output_of(ARGTRACE_SOURCE_CONST, 0, every_bit);
    insn.span = value;
    return output(insn);
}

SinkProgram &SinkProgram::comm() {
    argtrace_insn insn = output_of(ARGTRACE_SOURCE_TASK, 0, every_bit);
    insn.action = ARGTRACE_DO_STR;
    insn.arg = ARGTRACE_COMM_LEN;
    insn.offset[0] = task_offset("comm");
    return output(insn);
}

SinkProgram &SinkProgram::only(std::uint8_t index, std::uint64_t mask, std::uint64_t value) {
    argtrace_insn insn = output_of(ARGTRACE_SOURCE_REG, index, mask);
    insn.action = ARGTRACE_DO_TEST;
    insn.arg = 0;
    insn.base = value;
    insn.then = ARGTRACE_ACCEPT;
    insn.other = ARGTRACE_REJECT;
    filter_.push_back(insn);
    return *this;
}

RawProbe SinkProgram::probe(std::uint64_t addr) const {
    RawProbe probe = RawProbe::words(addr, 0);
    argtrace_program full = head;
    full.nr_filter = static_cast<std::uint16_t>(filter_.size());
    full.nr_insns = static_cast<std::uint16_t>(filter_.size() + outputs_.size());
    for (const argtrace_insn &insn : outputs_) {
        argtrace_arg arg{};
        arg.loc = ARGTRACE_LOC_PROGRAM;
        arg.type = insn.action == ARGTRACE_DO_STR            ? ARGTRACE_TYPE_STR
                   : insn.source == ARGTRACE_SOURCE_STACK_ID || insn.source == ARGTRACE_SOURCE_USER_STACK_ID
                       ? ARGTRACE_TYPE_STACK
                   : insn.arg == 8                           ? ARGTRACE_TYPE_U64
                   : insn.arg == 4                           ? ARGTRACE_TYPE_U32
                   : insn.arg == 2                           ? ARGTRACE_TYPE_U16
                                                             : ARGTRACE_TYPE_U8;
        arg.size = insn.arg;
        probe.args.push_back(arg);
    }
    std::vector<argtrace_insn> insns = filter_;
    insns.insert(insns.end(), outputs_.begin(), outputs_.end());
    probe.program.resize(sizeof(full) + insns.size() * sizeof(insns[0]));
    memcpy(probe.program.data(), &full, sizeof(full));
    if (!insns.empty())
        memcpy(probe.program.data() + sizeof(full), insns.data(), insns.size() * sizeof(insns[0]));
    return probe.seal();
}

argtrace_map RawMap::counts(std::uint32_t slots, std::uint16_t key_words) {
    argtrace_map map{};
    map.size = sizeof(map);
    map.slots = slots;
    map.key_words = key_words;
    return map;
}

argtrace_map RawMap::values(std::uint32_t slots, std::uint16_t key_words, std::uint16_t buckets,
                            bool is_signed) {
    argtrace_map map = counts(slots, key_words);
    map.flags = ARGTRACE_MAP_VALUE | (is_signed ? ARGTRACE_MAP_SIGNED : 0u);
    map.buckets = buckets;
    return map;
}

argtrace_map RawMap::linear(std::uint32_t slots, std::uint16_t key_words, std::uint64_t low,
                            std::uint64_t step, std::uint32_t nr_buckets, bool is_signed) {
    argtrace_map map = values(slots, key_words, ARGTRACE_BUCKETS_LINEAR, is_signed);
    map.low = low;
    map.step = step;
    map.nr_buckets = nr_buckets;
    return map;
}

RawMap::RawMap(const RawDevice &device, argtrace_map description) : map_(description) {
    EXPECT_EQ(device.call(ARGTRACE_IOC_MAP, &map_), 0);
    map_cpus(device);
}

RawMap::RawMap(const RawDevice &device, const RawMap &other) : map_(other.map_) {
    map_cpus(device);
}

void RawMap::map_cpus(const RawDevice &device) {
    for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
        void *start =
            mmap(nullptr, size(), PROT_READ, MAP_SHARED, device.fd(),
                 static_cast<off_t>(ARGTRACE_MMAP_OFFSET(cpu, ARGTRACE_MMAP_MAP + map_.id)));
        EXPECT_NE(start, MAP_FAILED) << strerror(errno);
        if (start != MAP_FAILED)
            cpus_.push_back(static_cast<const std::byte *>(start));
    }
}

RawMap::~RawMap() {
    for (const std::byte *cpu : cpus_)
        munmap(const_cast<std::byte *>(cpu), size());
}

std::map<RawMap::Key, SlotSum> RawMap::read() const {
    const bool has_value = map_.flags & ARGTRACE_MAP_VALUE;
    const bool is_signed = map_.flags & ARGTRACE_MAP_SIGNED;
    const std::size_t words = map_.key_words + (map_.buckets ? 1u : 0u);
    std::map<Key, SlotSum> keys;
    for (const std::byte *cpu : cpus_) {
        for (const std::byte *at = cpu; at < cpu + size(); at += map_.slot_size) {
            const auto *slot = reinterpret_cast<const argtrace_map_slot *>(at);
            if (!(__atomic_load_n(&slot->tag, __ATOMIC_ACQUIRE) & 1))
                continue;
            const auto *key = reinterpret_cast<const std::uint64_t *>(
                at + (has_value ? ARGTRACE_MAP_SLOT_KEY_VALUE : ARGTRACE_MAP_SLOT_KEY));
            SlotSum &sum = keys[Key(key, key + words)];
            sum.slots++;
            const std::uint64_t count = __atomic_load_n(&slot->count, __ATOMIC_ACQUIRE);
            if (has_value) {
                const std::uint64_t faults = __atomic_load_n(&slot->faults, __ATOMIC_ACQUIRE);
                sum.faults += faults;
                sum.sum += __atomic_load_n(&slot->sum, __ATOMIC_ACQUIRE);
                if (count > faults) {
                    const bool first = sum.count + faults == sum.faults;
                    if (first || is_less(slot->min, sum.min, is_signed))
                        sum.min = slot->min;
                    if (first || is_less(sum.max, slot->max, is_signed))
                        sum.max = slot->max;
                }
            }
            sum.count += count;
        }
    }
    return keys;
}

std::uint64_t RawMap::count() const {
    std::uint64_t count = 0;
    for (const auto &[key, sum] : read())
        count += sum.count;
    return count;
}

} // namespace vmtest
