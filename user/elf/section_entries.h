// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstring>
#include <vector>

#include "elf/object.h"

namespace argtrace::elf {

/// What a section of structs, such as Elf64_Sym or Elf64_Rela, consists of: as many of these as are whole.
template<typename T>
std::vector<T> entries_of(const Object &object, const Object::Section &section) {
    const Text bytes = object.content(section);
    std::vector<T> entries(bytes.size() / sizeof(T));
    if (!entries.empty())
        std::memcpy(entries.data(), bytes.data(), entries.size() * sizeof(T));
    return entries;
}

} // namespace argtrace::elf
