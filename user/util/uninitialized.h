// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace argtrace {

/// For vectors of plain data: what resize() adds is left as it is, to be filled in by the caller.
template<typename T>
struct UninitializedAllocator : std::allocator<T> {
    template<typename U>
    struct rebind {
        using other = UninitializedAllocator<U>;
    };

    template<typename U>
    void construct(U *) {}

    template<typename U, typename... Arguments>
    void construct(U *at, Arguments &&...arguments) {
        ::new (static_cast<void *>(at)) U(std::forward<Arguments>(arguments)...);
    }
};

/// Bytes that come from elsewhere.
using RawBytes = std::vector<std::byte, UninitializedAllocator<std::byte>>;

} // namespace argtrace
