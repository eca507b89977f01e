// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "util/fd.h"
#include "util/uninitialized.h"

namespace argtrace {

/// The memory of the running kernel, in the form of a core dump. Reading it takes CAP_SYS_RAWIO and a kernel that is not locked down.
class Kcore {
public:
    /// Nothing if it cannot be opened or has another form.
    static std::optional<Kcore> open(const std::string &path = "/proc/kcore");

    /// The address of a symbol that VMCOREINFO has, the kernel's note for those who read its crash dumps.
    std::optional<std::uint64_t> noted_symbol(std::string_view name) const;

    /// Fills `to` from that address on. False if the core has not all of it. Memory that is not mapped reads as zeros.
    bool read(std::uint64_t address, std::span<std::byte> to) const;

    /// So many bytes from that address on.
    std::optional<RawBytes> bytes(std::uint64_t address, std::size_t size) const;

    /// The value there.
    template<typename T>
    std::optional<T> load(std::uint64_t address) const {
        static_assert(std::is_trivially_copyable_v<T>);
        T value{};
        if (!read(address, std::as_writable_bytes(std::span(&value, 1))))
            return std::nullopt;
        return value;
    }

private:
    struct Segment {
        std::uint64_t address, size, offset;
    };

    explicit Kcore(Fd file) : file_(std::move(file)) {}

    bool read_headers();
    bool read_notes(std::uint64_t offset, std::uint64_t size);
    void add_info(std::string_view text);
    bool read_file(std::uint64_t offset, std::span<std::byte> to) const;

    Fd file_;
    std::vector<Segment> segments_;
    std::map<std::string, std::uint64_t, std::less<>> noted_;
};

} // namespace argtrace
