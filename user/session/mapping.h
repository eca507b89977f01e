// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace argtrace {

/// One region mapped into memory.
class Mapping {
public:
    Mapping(void *start, std::size_t size) : start_(start), size_(size) {}
    Mapping(Mapping &&other) noexcept
        : start_(std::exchange(other.start_, nullptr)), size_(other.size_) {}
    Mapping &operator=(Mapping &&) = delete;
    ~Mapping();

    std::byte *start() const { return static_cast<std::byte *>(start_); }

private:
    void *start_;
    std::size_t size_;
};

/// Maps `size` bytes of a CPU's region (ARGTRACE_MMAP_*); nothing if the CPU has none. Throws Error
/// when the module refuses; `what` is what the user calls it ("the ring").
std::optional<Mapping> map_region(int fd, std::size_t size, int protection, std::uint32_t cpu,
                                  unsigned region, const char *what);

} // namespace argtrace
