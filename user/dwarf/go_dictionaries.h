// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dwarf/made_type.h"
#include "elf/object.h"

namespace argtrace::dwarf {

/// The dictionaries of a program's generic functions. Functions whose types are alike have one body, which is passed the address of a
/// dictionary for each choice of types; the symbols of the dictionaries say which types these are.
class GoDictionaries {
public:
    /// Has none of a program that may be loaded at any address, as addresses then say nothing.
    explicit GoDictionaries(const elf::Object &object);

    /// Those of a function, by its name: of "main.choose[go.shape.int]" each with its address and its types, "[int]".
    std::vector<MadeType::Enumerator> of(std::string_view function) const;

    /// How many of the function's parameters are passed before its dictionary: none, or the receiver.
    std::size_t place_in(std::string_view function) const;

private:
    using Instances = std::vector<MadeType::Enumerator>;

    std::map<std::string, Instances, std::less<>> by_function_; ///< "main.choose[]"
};

} // namespace argtrace::dwarf
