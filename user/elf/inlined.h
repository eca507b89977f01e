// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "elf/object.h"
#include "model/code_naming.h"
#include "model/source_frame.h"

namespace argtrace::elf {

/// The source that a place was compiled from, by DWARF, which libdw reads: in the object or in its separate debug file. DWARF is
/// read at the first question, a compilation unit at the first question about its code. Not for several threads at once.
class InlinedFrames {
public:
    /// The object must live longer.
    explicit InlinedFrames(const Object &object, DebugFiles debug_files = {});
    InlinedFrames(InlinedFrames &&) noexcept;
    InlinedFrames &operator=(InlinedFrames &&) noexcept;
    ~InlinedFrames();

    enum class Lines : bool { unwanted, wanted };
    static Lines lines_of(const CodeNaming &naming) { return naming.lines ? Lines::wanted : Lines::unwanted; }

    /// What is at this place: the innermost inlined function first, and last the function that has the code. Empty where nothing is
    /// known. For the caller of a function ask for the byte before the return address. Where lines are not wanted, their tables are
    /// not read, and frames have neither file nor line.
    std::vector<SourceFrame> at(std::uint64_t file_offset, Lines lines = Lines::wanted);

private:
    struct Info;
    Info &info();

    const Object *object_;
    DebugFiles debug_files_;
    std::unique_ptr<Info> info_;
};

} // namespace argtrace::elf
