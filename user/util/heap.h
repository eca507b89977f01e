// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <vector>

namespace argtrace {

/// Puts `item` in the place of a heap's front, as std::pop_heap() and std::push_heap() together
/// would, and with less work: often it belongs in front again. The heap is not empty.
template<typename T, typename Less>
void replace_heap_front(std::vector<T> &heap, const T &item, Less less) {
    const std::size_t size = heap.size();
    std::size_t hole = 0;
    for (std::size_t child = 1; child < size; child = 2 * hole + 1) {
        if (child + 1 < size && less(heap[child], heap[child + 1]))
            ++child;
        if (!less(item, heap[child]))
            break;
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = item;
}

/// Takes the front away.
template<typename T, typename Less>
void drop_heap_front(std::vector<T> &heap, Less less) {
    const T last = heap.back();
    heap.pop_back();
    if (!heap.empty())
        replace_heap_front(heap, last, less);
}

} // namespace argtrace
