// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "elf/object.h"

namespace argtrace::elf {

/// The source that a place was compiled from, by DWARF, which libdw reads: in the object or in its separate debug file. DWARF is
/// read at the first question; each answer takes a walk through its compilation unit, so keep what you have got. Not for several
/// threads at once.
class InlinedFrames {
public:
    /// The object must live longer.
    explicit InlinedFrames(const Object &object, std::vector<std::string> debug_folders = {});
    InlinedFrames(InlinedFrames &&) noexcept;
    InlinedFrames &operator=(InlinedFrames &&) noexcept;
    ~InlinedFrames();

    struct Frame {
        std::string function; ///< demangled; empty if DWARF does not say it
        std::string file;     ///< likewise, the path that it was compiled as
        int line = 0;         ///< of the place, or of the call of the inlined function before this; 0: not known
    };

    /// What is at this place: the innermost inlined function first, and last the function that has the code. Empty where nothing is
    /// known. For the caller of a function ask for the byte before the return address.
    std::vector<Frame> at(std::uint64_t file_offset);

private:
    struct Info;
    const Info &info();

    const Object *object_;
    std::vector<std::string> debug_folders_;
    std::unique_ptr<Info> info_;
};

} // namespace argtrace::elf
