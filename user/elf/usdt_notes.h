// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elf/object.h"

namespace argtrace::elf {

/// A place of a USDT probe, as <sys/sdt.h> notes it. A probe has as many as the program passes it in different places.
struct UsdtNote {
    std::string provider, name;
    std::string arguments;       ///< as they are noted: "8@%rbx -4@112(%rsp)"
    std::uint64_t address = 0;   ///< of its instruction in the object
    std::uint64_t offset = 0;    ///< and in the file
    std::uint64_t semaphore = 0; ///< its offset in the file; 0: it has none

    bool operator==(const UsdtNote &) const = default;
};

/// All of them, by address. Where prelink has moved the object, addresses are those that it has now. Notes that are damaged, or whose
/// instruction or semaphore is not in the file, are left out.
std::vector<UsdtNote> read_usdt_notes(const Object &object);

} // namespace argtrace::elf
