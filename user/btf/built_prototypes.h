// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "btf/kernel_types.h"
#include "model/written_parameter.h"

namespace argtrace {

/// Prototypes of functions that BTF does not describe, made of text: types that build on those of a kernel.
class BuiltPrototypes {
public:
    /// libbpf changes `kernel`, which must outlive what is made: see KernelTypes::copy_of_kernel().
    explicit BuiltPrototypes(btf *kernel);

    /// A prototype. A type that the kernel has none of the name of is taken for unsigned long or, behind a pointer, for one of
    /// which nothing is known. Returns its number.
    std::uint32_t add(std::span<const WrittenParameter> parameters, std::string_view result = "long", bool variadic = false);

    /// Ends the making: all that have been added are in here.
    BtfPtr take() { return std::move(types_); }

private:
    std::uint32_t type(std::string_view text);
    std::uint32_t base(std::string_view words);
    std::uint32_t integer(std::string_view words);
    std::uint32_t floating(std::string_view words);
    std::uint32_t find(std::string_view name, std::uint32_t kind) const;

    btf *kernel_;
    BtfPtr types_;
    std::unordered_map<std::string, std::uint32_t> known_; // by text
};

} // namespace argtrace
