// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/probe.h"
#include "uapi/argtrace.h"

namespace argtrace::test {

/// Bytes of a record's data, written one after the other.
class Data {
public:
    template<typename T>
    Data &put(T value) {
        auto bytes = reinterpret_cast<const std::byte *>(&value);
        bytes_.insert(bytes_.end(), bytes, bytes + sizeof(value));
        return *this;
    }

    Data &text(std::string_view text) {
        for (char character : text)
            bytes_.push_back(static_cast<std::byte>(character));
        return put(char{0});
    }

    /// The text of STR, BYTES: after their length, which has flags in it.
    Data &counted(std::string_view text, unsigned flags = 0) {
        put(static_cast<std::uint16_t>(text.size() | flags));
        for (char character : text)
            bytes_.push_back(static_cast<std::byte>(character));
        return *this;
    }

    /// An argument of the named encoding.
    template<typename T>
    Data &named(std::string_view name, std::uint8_t type, T value) {
        return text(name).put(type).put(value);
    }

    Data &end_of_names() { return text("").put(std::uint8_t{ARGTRACE_TYPE_END}); }

    const std::vector<std::byte> &bytes() const { return bytes_; }

private:
    std::vector<std::byte> bytes_;
};

/// A packet made by hand from include/uapi/argtrace.h, field by field.
class PacketBuilder {
public:
    explicit PacketBuilder(std::uint32_t size = 4096, std::uint64_t clock = 1000) {
        bytes_.resize(size);
        argtrace_packet &packet = header();
        packet.magic = ARGTRACE_PACKET_MAGIC;
        packet.version = ARGTRACE_RECORD_VERSION;
        packet.header = sizeof(argtrace_packet);
        packet.size = size;
        packet.clock = clock;
        end_ = sizeof(argtrace_packet);
    }

    argtrace_packet &header() { return *reinterpret_cast<argtrace_packet *>(bytes_.data()); }

    /// Appends a record; its size is rounded up to 8 bytes. Returns where it begins.
    std::size_t record(std::uint32_t id, std::uint64_t clock, const Data &data,
                       std::uint32_t tid = 100, std::uint8_t context = 0,
                       std::uint8_t preempt = 0) {
        std::size_t start = end_;
        std::size_t size = (sizeof(argtrace_record) + data.bytes().size() + 7) / 8 * 8;
        if (start + size > bytes_.size())
            throw std::length_error("the packet is full");
        argtrace_record record{};
        record.clock = static_cast<std::uint32_t>(clock);
        record.id = id;
        record.tid = tid;
        record.size = static_cast<std::uint16_t>(size);
        record.context = context;
        record.preempt = preempt;
        std::memcpy(&bytes_[start], &record, sizeof(record));
        if (!data.bytes().empty())
            std::memcpy(&bytes_[start + sizeof(record)], data.bytes().data(), data.bytes().size());
        end_ = start + size;
        return start;
    }

    std::size_t task(std::uint32_t tid, std::uint32_t tgid, std::string_view comm,
                     std::uint64_t clock) {
        argtrace_task task{};
        task.tgid = tgid;
        std::memcpy(task.comm, comm.data(), comm.size());
        return record(ARGTRACE_ID_TASK, clock, Data().put(task), tid);
    }

    std::size_t clock(std::uint64_t clock) {
        return this->clock(clock, clock);
    }

    /// With a clock that is not in nanoseconds.
    std::size_t clock(std::uint64_t clock, std::uint64_t ns) {
        return record(ARGTRACE_ID_CLOCK, clock, Data().put(clock).put(ns), 0);
    }

    argtrace_record &record_at(std::size_t offset) {
        return *reinterpret_cast<argtrace_record *>(&bytes_[offset]);
    }

    std::size_t end() const { return end_; }
    const std::vector<std::byte> &bytes() const { return bytes_; }

private:
    std::vector<std::byte> bytes_;
    std::size_t end_;
};

inline Argument argument(std::string name, std::uint8_t type, std::string type_name = "T",
                         std::uint8_t index = 0) {
    Argument argument;
    argument.loc = ARGTRACE_LOC_REG;
    argument.index = index;
    argument.type = type;
    argument.size = argtrace_type_size(type);
    argument.name = std::move(name);
    argument.type_name = std::move(type_name);
    return argument;
}

inline Argument not_captured(std::string name, std::string type_name = "struct big") {
    Argument argument;
    argument.name = std::move(name);
    argument.type_name = std::move(type_name);
    return argument;
}

/// What a program computes; `size` is the largest one, 0 that of the type.
inline Argument output(std::string name, std::uint8_t type, std::uint32_t size = 0,
                       std::string type_name = "T") {
    Argument argument;
    argument.loc = ARGTRACE_LOC_PROGRAM;
    argument.type = type;
    argument.size = size ? size : argtrace_type_size(type);
    argument.name = std::move(name);
    argument.type_name = std::move(type_name);
    return argument;
}

/// What a function returns.
inline Argument returned(std::uint8_t type) {
    Argument argument;
    argument.loc = ARGTRACE_LOC_RETURN;
    argument.type = type;
    argument.size = argtrace_type_size(type);
    argument.name = "ret";
    argument.type_name = "T";
    return argument;
}

/// vfs_read as it is traced.
inline Probe vfs_read(std::uint32_t id = 1) {
    Probe probe;
    probe.id = id;
    probe.addr = 0xffffffff81234560;
    probe.function = "vfs_read";
    probe.args = {argument("file", ARGTRACE_TYPE_PTR, "struct file *", 0),
                  argument("buf", ARGTRACE_TYPE_PTR, "char *", 1),
                  argument("count", ARGTRACE_TYPE_U64, "size_t", 2),
                  argument("pos", ARGTRACE_TYPE_PTR, "loff_t *", 3)};
    return probe;
}

inline Data vfs_read_data(std::uint64_t count, std::uint64_t caller = 0xffffffff81000010) {
    return Data()
        .put(caller)
        .put(std::uint64_t{0xff1e1afafffb5e40})
        .put(std::uint64_t{0x161738f0})
        .put(count)
        .put(std::uint64_t{0});
}

} // namespace argtrace::test
