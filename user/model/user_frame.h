// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/code_place.h"
#include "uapi/argtrace_user.h"

namespace argtrace {

/// A word of a user stack.
struct UserFrame {
    std::uint32_t object = 0;
    std::uint64_t offset = 0; ///< ARGTRACE_OBJECT_MEMORY: the whole address
    bool exact = false; ///< an instruction that was interrupted; else the one behind a call or a system call

    explicit constexpr UserFrame(std::uint64_t word)
        : object(word >> ARGTRACE_FRAME_OBJECT_SHIFT & ARGTRACE_FRAME_OBJECT_MASK), offset(word & ARGTRACE_FRAME_OFFSET_MASK),
          exact((word & ARGTRACE_FRAME_EXACT) != 0) {
        if (object == ARGTRACE_OBJECT_HIGH_MEMORY) {
            object = ARGTRACE_OBJECT_MEMORY;
            offset |= high;
        }
    }
    constexpr UserFrame(std::uint32_t object, std::uint64_t offset, bool exact) : object(object), offset(offset), exact(exact) {}

    constexpr std::uint64_t word() const {
        const std::uint64_t number = object == ARGTRACE_OBJECT_MEMORY && (offset & high) ? ARGTRACE_OBJECT_HIGH_MEMORY : object;
        return ARGTRACE_FRAME_USER | (exact ? ARGTRACE_FRAME_EXACT : 0) | number << ARGTRACE_FRAME_OBJECT_SHIFT | (offset & ARGTRACE_FRAME_OFFSET_MASK);
    }
    /// It is no frame, but says why there are no more.
    constexpr bool is_end() const { return object == ARGTRACE_OBJECT_END; }
    /// An offset that is in the function: behind a call that is the last instruction of a function is the next one.
    constexpr std::uint64_t inside() const { return exact || offset == 0 ? offset : offset - 1; }

    static constexpr std::uint64_t high = ARGTRACE_FRAME_OFFSET_MASK + 1;
};

/// What is shown in place of frames that could not be found, and why: "[... no unwind table for libfoo.so]". `object`: what the frame before
/// is in; empty if that is not known.
std::string describe_end(UserFrame end, std::string_view object);

/// "[vdso]", "[anonymous]", "[object 17]": an object of which no more is known.
std::string describe_user_object(std::uint32_t object);

} // namespace argtrace
