// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <memory>
#include <new>
#include <utility>

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

} // namespace argtrace
