// SPDX-License-Identifier: GPL-2.0-only
#include "support/device.h"

#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>

#include "support/machine.h"

namespace vmtest {

RawDevice::RawDevice(int access) : fd_(open(ARGTRACE_DEVICE, access | O_CLOEXEC)) {
    EXPECT_GE(fd_, 0) << ARGTRACE_DEVICE << ": " << strerror(errno);
}

RawDevice::~RawDevice() {
    close();
}

void RawDevice::close() {
    if (fd_ >= 0)
        ::close(fd_);
    fd_ = -1;
}

int RawDevice::call(unsigned long request, void *arg) const {
    return ioctl(fd_, request, arg) == 0 ? 0 : errno;
}

argtrace_info RawDevice::info() const {
    argtrace_info info{};
    info.size = sizeof(info);
    EXPECT_EQ(call(ARGTRACE_IOC_INFO, &info), 0);
    return info;
}

void need_uprobes() {
    if (!(RawDevice().info().features & ARGTRACE_FEATURE_USER))
        GTEST_SKIP() << "this kernel has no uprobes";
}

void expect_nothing_left() {
    const argtrace_info info = RawDevice().info();
    EXPECT_EQ(info.nr_sessions, 0u);
    EXPECT_EQ(info.memory_used, 0u);
    EXPECT_EQ(read_file("/sys/kernel/tracing/enabled_functions"), "");
}

unsigned rings_that_have(const RawDevice &device, const std::string &text, std::size_t packets) {
    unsigned found = 0;
    const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + packets;
    for (unsigned cpu = 0; cpu < device.info().nr_cpus; ++cpu) {
        void *ring = mmap(nullptr, size, PROT_READ, MAP_SHARED, device.fd(),
                          static_cast<off_t>(ARGTRACE_MMAP_OFFSET(cpu, ARGTRACE_MMAP_PACKETS)));
        if (ring == MAP_FAILED)
            continue;
        found += memmem(ring, size, text.data(), text.size()) != nullptr;
        munmap(ring, size);
    }
    return found;
}

int RawDevice::session(const std::string &name, std::uint32_t packet_size,
                       std::uint32_t nr_packets, std::uint32_t format,
                       std::uint32_t flags, std::uint32_t clock) const {
    argtrace_session_attr attr{};
    attr.size = sizeof(attr);
    attr.flags = flags | (name.empty() ? 0 : ARGTRACE_SESSION_CREATE);
    attr.format = format;
    attr.clock = clock;
    attr.packet_size = packet_size;
    attr.nr_packets = nr_packets;
    strncpy(attr.name, name.c_str(), sizeof(attr.name) - 1);
    return call(ARGTRACE_IOC_SESSION, &attr);
}

int RawDevice::reader(std::uint32_t flags) const {
    argtrace_reader reader{sizeof(reader), flags};
    return call(ARGTRACE_IOC_READER, &reader);
}

int RawDevice::add(const std::vector<std::byte> &probes, std::uint32_t count,
                   std::uint32_t *failed) const {
    argtrace_probe_add add{};
    add.size = sizeof(add);
    add.probes = reinterpret_cast<std::uintptr_t>(probes.data());
    add.length = probes.size();
    add.count = count;
    const int error = call(ARGTRACE_IOC_PROBE_ADD, &add);
    if (failed)
        *failed = add.failed;
    return error;
}

int RawDevice::remove(std::vector<std::uint64_t> addrs, std::uint32_t *failed) const {
    argtrace_probe_remove remove{};
    remove.size = sizeof(remove);
    remove.addrs = reinterpret_cast<std::uintptr_t>(addrs.data());
    remove.count = static_cast<std::uint32_t>(addrs.size());
    const int error = call(ARGTRACE_IOC_PROBE_REMOVE, &remove);
    if (failed)
        *failed = remove.failed;
    return error;
}

int RawDevice::remove_all() const {
    argtrace_probe_remove remove{};
    remove.size = sizeof(remove);
    remove.flags = ARGTRACE_REMOVE_ALL;
    return call(ARGTRACE_IOC_PROBE_REMOVE, &remove);
}

namespace {

template <typename Entry> std::vector<Entry> list_all(const RawDevice &device, unsigned long request, std::uint32_t flags) {
    std::vector<Entry> all, part(4096);
    std::uint32_t next = 0;
    do {
        argtrace_list list{};
        list.size = sizeof(list);
        list.flags = flags;
        list.buffer = reinterpret_cast<std::uintptr_t>(part.data());
        list.length = part.size() * sizeof(part[0]);
        list.first = next;
        const int error = device.call(request, &list);
        EXPECT_EQ(error, 0);
        if (error)
            break;
        all.insert(all.end(), part.begin(), part.begin() + list.count);
        next = list.next;
    } while (next);
    return all;
}

} // namespace

std::vector<argtrace_counts> RawDevice::counts(std::uint32_t flags) const {
    return list_all<argtrace_counts>(*this, ARGTRACE_IOC_COUNTS, flags);
}

std::vector<argtrace_return_counts> RawDevice::return_counts(std::uint32_t flags) const {
    return list_all<argtrace_return_counts>(*this, ARGTRACE_IOC_RETURN_COUNTS, flags);
}

std::string RawDevice::fingerprint() const {
    std::vector<std::byte> entries(1 << 20);
    argtrace_list list{};
    list.size = sizeof(list);
    list.flags = ARGTRACE_LIST_REMOVED;
    list.buffer = reinterpret_cast<std::uintptr_t>(entries.data());
    list.length = entries.size();
    EXPECT_EQ(call(ARGTRACE_IOC_PROBE_LIST, &list), 0);
    EXPECT_EQ(list.next, 0u);

    std::ostringstream out;
    out << "generation " << list.generation;
    std::size_t at = 0;
    for (std::uint32_t i = 0; i < list.count; i++) {
        argtrace_probe probe;
        memcpy(&probe, &entries[at], sizeof(probe));
        out << "; " << probe.id << " at " << std::hex << probe.addr << std::dec << " flags "
            << probe.flags;
        at += probe.size;
    }
    return out.str();
}

int remove_session(const std::string &name) {
    argtrace_session_remove remove{};
    remove.size = sizeof(remove);
    strncpy(remove.name, name.c_str(), sizeof(remove.name) - 1);
    return RawDevice().call(ARGTRACE_IOC_SESSION_REMOVE, &remove);
}

RawProbe RawProbe::words(std::uint64_t addr, unsigned count, const std::string &name) {
    RawProbe probe;
    probe.header.addr = addr;
    probe.strings = name + '\0';
    for (unsigned i = 0; i < count; i++) {
        argtrace_arg arg{};
        arg.loc = ARGTRACE_LOC_REG;
        arg.index = static_cast<std::uint8_t>(i);
        arg.type = ARGTRACE_TYPE_U64;
        arg.size = 8;
        arg.name = static_cast<std::uint16_t>(probe.strings.size());
        probe.strings += "a" + std::to_string(i) + '\0';
        arg.type_name = static_cast<std::uint16_t>(probe.strings.size());
        probe.strings += std::string("u64") + '\0';
        probe.args.push_back(arg);
    }
    return probe.seal();
}

RawProbe RawProbe::call(std::uint64_t addr, unsigned count, const std::string &name) {
    RawProbe probe = words(addr, count + 1, name);
    for (unsigned i = argument_registers; i < count; i++) {
        probe.args[i].loc = ARGTRACE_LOC_STACK;
        probe.args[i].index = 0;
        probe.args[i].offset = stack_arguments + 8 * (i - argument_registers);
    }
    probe.args[count].loc = ARGTRACE_LOC_RETURN;
    probe.args[count].index = 0;
    const unsigned on_stack = count > argument_registers ? count - argument_registers : 0;
    probe.header.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(on_stack);
    return probe;
}

RawProbe &RawProbe::seal() {
    header.nr_args = static_cast<std::uint16_t>(args.size());
    header.strings = static_cast<std::uint16_t>(strings.size());
    const std::size_t size = sizeof(header) + args.size() * sizeof(args[0]) + strings.size();
    header.program = static_cast<std::uint16_t>(program.size());
    header.size = static_cast<std::uint32_t>((size + 7) / 8 * 8 + program.size() + returns.size() * sizeof(returns[0]));
    return *this;
}

std::vector<std::byte> RawProbe::bytes() const {
    const std::size_t args_size = args.size() * sizeof(argtrace_arg);
    std::vector<std::byte> out((sizeof(header) + args_size + strings.size() + 7) / 8 * 8);
    memcpy(out.data(), &header, sizeof(header));
    if (args_size)
        memcpy(out.data() + sizeof(header), args.data(), args_size);
    memcpy(out.data() + sizeof(header) + args_size, strings.data(), strings.size());
    out.insert(out.end(), program.begin(), program.end());
    const auto places = std::as_bytes(std::span(returns));
    out.insert(out.end(), places.begin(), places.end());
    return out;
}

std::vector<std::byte> operator+(std::vector<std::byte> a, const std::vector<std::byte> &b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

std::uint64_t hits(const argtrace_counts &counts) {
    std::uint64_t sum = counts.records + counts.filtered + counts.sampled + counts.capped;
    for (std::uint64_t lost : counts.lost)
        sum += lost;
    return sum;
}

std::uint64_t hits(const argtrace_return_counts &counts) {
    std::uint64_t sum = hits(counts.counts) + counts.in_flight;
    for (std::uint64_t unfollowed : counts.unfollowed)
        sum += unfollowed;
    return sum;
}

namespace {

void *map(const RawDevice &device, std::uint64_t offset, std::size_t size, int protection) {
    void *at = mmap(nullptr, size, protection, MAP_SHARED, device.fd(),
                    static_cast<off_t>(offset));
    EXPECT_NE(at, MAP_FAILED) << strerror(errno);
    return at;
}

} // namespace

RawRing::RawRing(const RawDevice &device, unsigned cpu, std::uint32_t packet_size,
                 std::uint32_t nr_packets, Mode mode)
    : packet_size_(packet_size), ring_size_(std::uint64_t{packet_size} * nr_packets) {
    packets_ = static_cast<unsigned char *>(
        map(device, ARGTRACE_MMAP_OFFSET(cpu, ARGTRACE_MMAP_PACKETS), 4096 + ring_size_,
            PROT_READ));
    if (mode == Mode::flight)
        return;
    reader_ = static_cast<argtrace_ring_reader *>(
        map(device, ARGTRACE_MMAP_OFFSET(cpu, ARGTRACE_MMAP_READER), 4096,
            PROT_READ | PROT_WRITE));
}

RawRing::~RawRing() {
    munmap(packets_, 4096 + ring_size_);
    if (reader_)
        munmap(const_cast<argtrace_ring_reader *>(reader_), 4096);
}

const volatile argtrace_ring_control *RawRing::control() const {
    return reinterpret_cast<const volatile argtrace_ring_control *>(packets_);
}

/// The records of one packet from an offset on; false, and a failure, where one is malformed.
bool RawRing::append(const unsigned char *packet, std::uint64_t from, std::uint64_t end,
                     std::vector<RawRecord> &records) {
    for (std::uint64_t offset = from; offset < end;) {
        argtrace_record record;
        memcpy(&record, packet + offset, sizeof(record));
        if (record.size < sizeof(record) || record.size % 8 || offset + record.size > end) {
            ADD_FAILURE() << "a record of " << record.size << " bytes at " << offset << " of "
                          << end;
            return false;
        }
        if (argtrace_record_probe(record.id)) {
            const auto *data = reinterpret_cast<const std::byte *>(packet) + offset;
            records.push_back({record, {data + sizeof(record), data + record.size}});
        }
        offset += record.size;
    }
    return true;
}

std::vector<RawRecord> RawRing::snapshot(std::uint64_t &missed) const {
    std::vector<RawRecord> records;
    std::vector<unsigned char> copy(packet_size_);
    const std::uint64_t head = __atomic_load_n(&control()->head, __ATOMIC_ACQUIRE);
    const std::uint64_t end = (head + packet_size_ - 1) / packet_size_ * packet_size_;
    for (std::uint64_t start = end > ring_size_ ? end - ring_size_ : 0; start < head;
         start += packet_size_) {
        const unsigned char *packet = packets_ + 4096 + start % ring_size_;
        memcpy(copy.data(), packet, copy.size());
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        const auto *seq = reinterpret_cast<const volatile std::uint64_t *>(
            packet + offsetof(argtrace_packet, seq));
        if (*seq != start / packet_size_) {
            missed++;
            continue;
        }
        argtrace_packet header;
        memcpy(&header, copy.data(), sizeof(header));
        EXPECT_EQ(header.magic, ARGTRACE_PACKET_MAGIC);
        EXPECT_EQ(header.seq, start / packet_size_);
        const std::uint64_t used =
            head - start <= packet_size_ ? head - start : std::uint64_t{header.used};
        EXPECT_LE(used, packet_size_);
        if (used > packet_size_ || !append(copy.data(), header.header, used, records))
            return records;
    }
    return records;
}

std::vector<RawRecord> RawRing::records() {
    const std::uint64_t head = __atomic_load_n(&control()->head, __ATOMIC_ACQUIRE);
    std::vector<RawRecord> records;
    std::uint64_t at = reader_->tail;
    while (at < head) {
        const std::uint64_t start = at - at % packet_size_;
        const unsigned char *bytes = packets_ + 4096 + start % ring_size_;
        argtrace_packet packet;
        memcpy(&packet, bytes, sizeof(packet));
        EXPECT_EQ(packet.magic, ARGTRACE_PACKET_MAGIC);
        EXPECT_EQ(packet.seq, start / packet_size_);
        const std::uint64_t end =
            head - start <= packet_size_ ? head - start : std::uint64_t{packet.used};
        if (!append(bytes, std::max<std::uint64_t>(at - start, packet.header), end, records))
            return records;
        at = head - start <= packet_size_ ? head : start + packet_size_;
    }
    __atomic_store_n(&reader_->tail, at, __ATOMIC_RELEASE);
    return records;
}

} // namespace vmtest
