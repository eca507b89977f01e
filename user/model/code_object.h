// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace argtrace {

/// A part of a file that is loaded to be executed.
struct CodeSegment {
    std::uint64_t offset = 0;  ///< in the file
    std::uint64_t address = 0; ///< that the file says, as its symbols do
    std::uint64_t size = 0;    ///< in the file

    bool operator==(const CodeSegment &) const = default;
};

/// A file with code, or what is like one.
struct CodeObject {
    std::string path;
    std::string build_id;                   ///< in lower-case hexadecimal digits; empty: it has none
    std::vector<CodeSegment> segments = {}; ///< empty: not known

    bool operator==(const CodeObject &) const = default;
};

/// The address that the file says for a place; the offset, where that is not known.
inline std::uint64_t address_in(const CodeObject &object, std::uint64_t offset) {
    for (const CodeSegment &segment : object.segments)
        if (offset >= segment.offset && offset - segment.offset < segment.size)
            return segment.address + (offset - segment.offset);
    return offset;
}

/// The last part of its path.
inline std::string_view shown_name(const CodeObject &object) {
    return std::string_view(object.path).substr(object.path.rfind('/') + 1);
}

} // namespace argtrace
