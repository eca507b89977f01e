// SPDX-License-Identifier: GPL-2.0-only
// Prototypes of the running kernel's functions, read from its BTF by libbpf alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

struct btf;

namespace vmtest {

struct KernelParameter {
    std::string name;
    unsigned size = 0;      ///< bytes, at most 8
    bool is_signed = false; ///< integers and enums
    bool is_enum = false;
    bool is_big_endian = false; ///< __be16, __be32 or __be64, which argtrace shows in the order of the machine
    std::map<std::string, std::uint64_t> enum_values;

    /// The lower `size` bytes of a value.
    std::uint64_t cut(std::uint64_t value) const {
        return size == 8 ? value : value & ((std::uint64_t{1} << 8 * size) - 1);
    }

    /// The lower `size` bytes as a number of that type, in two's complement.
    std::uint64_t extend(std::uint64_t value) const {
        value = cut(value);
        if (is_big_endian)
            return __builtin_bswap64(value) >> 8 * (8 - size);
        const std::uint64_t sign = std::uint64_t{1} << (8 * size - 1);
        return is_signed ? (value ^ sign) - sign : value;
    }
};

/// The prototypes whose arguments can be compared one by one.
struct KernelFunction {
    std::string name;
    std::vector<KernelParameter> parameters;
    std::optional<KernelParameter> result; ///< none of void, and of what is no number and no pointer
};

class KernelBtf {
public:
    KernelBtf();
    ~KernelBtf();
    KernelBtf(const KernelBtf &) = delete;
    KernelBtf &operator=(const KernelBtf &) = delete;

    /// Nothing if BTF has none or several of that name, or if it is variadic or takes structs by value
    /// or 128-bit integers.
    std::optional<KernelFunction> function(const std::string &name) const;

private:
    std::optional<KernelParameter> parameter(const std::string &name, std::uint32_t type) const;

    struct btf *btf_;
    std::multimap<std::string, std::uint32_t> functions_;
};

} // namespace vmtest
