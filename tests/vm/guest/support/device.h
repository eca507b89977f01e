// SPDX-License-Identifier: GPL-2.0-only
// /dev/argtrace as the ABI header describes it, without the tool's own code in between.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/architecture.h"
#include "uapi/argtrace.h"

namespace vmtest {

/// An open /dev/argtrace. Calls return 0 or the errno.
class RawDevice {
public:
    explicit RawDevice(int access = O_RDWR);
    ~RawDevice();
    RawDevice(const RawDevice &) = delete;
    RawDevice &operator=(const RawDevice &) = delete;

    int fd() const { return fd_; }
    /// Before the destructor does.
    void close();
    int call(unsigned long request, void *arg) const;
    argtrace_info info() const;

    /// Binds to a session: nameless, or named and made if need be.
    int session(const std::string &name = "", std::uint32_t packet_size = 0,
                std::uint32_t nr_packets = 0, std::uint32_t format = 0,
                std::uint32_t flags = 0,
                std::uint32_t clock = ARGTRACE_CLOCK_BEST) const;
    int reader(std::uint32_t flags = 0) const;

    int add(const std::vector<std::byte> &probes, std::uint32_t count,
            std::uint32_t *failed = nullptr) const;
    int remove(std::vector<std::uint64_t> addrs, std::uint32_t *failed = nullptr) const;
    int remove_all() const;

    /// The counts of the live probes; with ARGTRACE_LIST_REMOVED those of all probes.
    std::vector<argtrace_counts> counts(std::uint32_t flags = 0) const;
    /// The same of those whose calls are recorded when they return.
    std::vector<argtrace_return_counts> return_counts(std::uint32_t flags = 0) const;
    /// Ids, addresses and flags of the probes, removed ones too, and the generation:
    /// equal before and after a call that must change nothing.
    std::string fingerprint() const;

private:
    int fd_;
};

/// Expects that there is no session, that nothing is charged for one, and that no function is armed.
void expect_nothing_left();

/// Skips a test where the kernel has no uprobes. The module is loaded.
void need_uprobes();

/// How many rings of the session, of `packets` bytes each, have the text somewhere in all that can be mapped of them.
unsigned rings_that_have(const RawDevice &device, const std::string &text, std::size_t packets);

/// Removes the named session if it is there.
int remove_session(const std::string &name);

/// One probe in the layout of the ABI, for a test to spoil.
struct RawProbe {
    argtrace_probe header{};
    std::vector<argtrace_arg> args;
    std::string strings;
    std::vector<std::byte> program; ///< a multiple of 8 bytes
    std::vector<std::int32_t> returns; ///< of ARGTRACE_PROBE_RETURNS, an even number

    /// A function of `count` unsigned 64-bit register arguments a0, a1 ...
    static RawProbe words(std::uint64_t addr, unsigned count, const std::string &name = "f");
    /// The same, with those beyond six on the stack, and an unsigned 64-bit value that is returned as the last.
    static RawProbe call(std::uint64_t addr, unsigned count, const std::string &name = "f");

    /// Sets size, nr_args, strings and program to fit the contents.
    RawProbe &seal();
    std::vector<std::byte> bytes() const;
};

std::vector<std::byte> operator+(std::vector<std::byte> a, const std::vector<std::byte> &b);

/// Sum of all outcomes.
std::uint64_t hits(const argtrace_counts &counts);
std::uint64_t hits(const argtrace_return_counts &counts);

/// A record of a probe: its header, and what follows it up to its size.
struct RawRecord : argtrace_record {
    std::vector<std::byte> data;
};

/// The rings of one CPU, mapped.
class RawRing {
public:
    enum class Mode { stream, flight };

    RawRing(const RawDevice &device, unsigned cpu, std::uint32_t packet_size,
            std::uint32_t nr_packets, Mode mode = Mode::stream);
    ~RawRing();
    RawRing(const RawRing &) = delete;
    RawRing &operator=(const RawRing &) = delete;

    const volatile argtrace_ring_control *control() const;
    volatile argtrace_ring_reader *reader() const { return reader_; }

    /// Records of probes from tail to head; moves tail. Fails the test on a malformed one.
    std::vector<RawRecord> records();
    /// The number of records.
    std::uint64_t drain() { return records().size(); }

    /// For a flight recorder: the records of the packets that could be copied whole while it goes on. Adds
    /// the packets that were overwritten meanwhile to `missed`. Fails the test on a malformed record.
    std::vector<RawRecord> snapshot(std::uint64_t &missed) const;

private:
    static bool append(const unsigned char *packet, std::uint64_t from, std::uint64_t end,
                       std::vector<RawRecord> &records);

    std::uint32_t packet_size_;
    std::uint64_t ring_size_;
    unsigned char *packets_ = nullptr;
    volatile argtrace_ring_reader *reader_ = nullptr;
};

} // namespace vmtest
