// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace argtrace {

// The trace file, as docs/argtrace.dat.5.scd describes it: a FileHeader, then chunks one behind the
// other, each a ChunkHeader and its payload. Little-endian, nothing aligned.

inline constexpr std::array<char, 8> file_magic{'A', 'R', 'G', 'T', 'R', 'A', 'C', 'E'};
inline constexpr std::uint32_t file_version = 1;

struct FileHeader {
    std::array<char, 8> magic = file_magic;
    std::uint32_t version = file_version;
    std::uint32_t reserved = 0;
};

/// What a chunk is. Readers pass over types that they do not know.
enum class ChunkType : std::uint32_t {
    info = 1,    ///< a JSON object: see TraceInfo
    probes = 2,  ///< structs argtrace_probe as the module lists them, before the packets that
                 ///< need them
    symbols = 3, ///< text, lines as `nm -S` prints them, before the packets that need them
    packet = 4,  ///< PacketPrefix, then bytes of a packet
    mark = 5,    ///< u64, ns: all events that are older stand before this chunk
    counts = 6,  ///< structs argtrace_counts: the probes' counts when the recording ended
    loss = 7,    ///< structs CpuLoss
    end = 8,     ///< EndOfFile: nothing is missing
    span = 9,    ///< RecordedSpan
    stacks = 10, ///< u64s: of each stack its number, how many addresses it has, and these, innermost first;
                 ///< before the packets that name them
    running = 11, ///< RunningHead, then structs argtrace_in_flight_call: calls that had not returned when recording ended, but
                  ///< for those of which a record follows
    objects = 12, ///< text, lines of an object's number, its build id and its path; before the packets with stacks in it
    places = 13,  ///< text, lines of a word of a user stack, the offset in the function, and its name; likewise
};

/// Beside the number of addresses of a stack: there were more.
inline constexpr std::uint64_t stack_chunk_cut = std::uint64_t{1} << 32;

/// In the place of the build id of an object that has none.
inline constexpr const char *no_build_id = "-";

struct ChunkHeader {
    std::uint32_t type;
    std::uint32_t flags;       ///< chunk_*
    std::uint64_t length;      ///< of the payload, as it lies in the file
    std::uint32_t payload_sum; ///< XXH3_64bits() of the payload in the file, low half
    std::uint32_t header_sum;  ///< the same of the 20 bytes before
};

/// The payload is one zstd frame that tells its size; of a packet only what follows the prefix is.
inline constexpr std::uint32_t chunk_zstd = 1u << 0;
/// A packet chunk which does not hold a packet from its beginning to its end: others of the same
/// CPU and `seq` may follow.
inline constexpr std::uint32_t chunk_part = 1u << 1;

inline constexpr std::uint32_t chunk_flags_known = chunk_zstd | chunk_part;

struct PacketPrefix {
    std::uint64_t seq;   ///< argtrace_packet.seq
    std::uint32_t cpu;   ///< argtrace_packet.cpu
    std::uint32_t start; ///< where in the packet these bytes lie; 0, or the end of the part before
    std::uint32_t first; ///< records that begin before it belong to an earlier reader
    std::uint32_t size;  ///< how many bytes follow, once unpacked
};

/// Loss that a CPU's ring has counted, of which no probe is known.
struct CpuLoss {
    std::uint32_t cpu;
    std::uint32_t reserved;
    std::uint64_t lost; ///< calls, because the ring was full
};

/// From when on calls were recorded, and until when, in ns of CLOCK_MONOTONIC.
struct RecordedSpan {
    std::uint64_t begin;
    std::uint64_t end;
};

/// When calls were looked for that had not returned.
struct RunningHead {
    std::uint64_t clock; ///< argtrace_in_flight.clock,
    std::uint64_t ns;    ///< ns,
    std::uint32_t mult;  ///< and mult
    std::uint32_t call_size; ///< sizeof(argtrace_in_flight_call)
};

struct EndOfFile {
    std::uint64_t packets; ///< packet chunks in the file
    std::uint64_t bytes;   ///< of the file before this chunk
};

static_assert(sizeof(FileHeader) == 16);
static_assert(sizeof(ChunkHeader) == 24);
static_assert(sizeof(PacketPrefix) == 24);
static_assert(sizeof(CpuLoss) == 16);
static_assert(sizeof(RecordedSpan) == 16);
static_assert(sizeof(RunningHead) == 24);
static_assert(sizeof(EndOfFile) == 16);

// What no writer exceeds; a reader need not believe more.
inline constexpr std::uint32_t file_packet_max = 16u << 20;
inline constexpr std::uint32_t file_cpus_max = 1u << 14;
inline constexpr std::uint64_t file_payload_max = 256u << 20; // unpacked

/// The sum that chunks are checked by, of both spans as if they were one.
std::uint32_t file_checksum(std::span<const std::byte> first, std::span<const std::byte> rest = {});

/// The checksum of a chunk's header, without its last field.
std::uint32_t header_checksum(const ChunkHeader &header);

} // namespace argtrace
