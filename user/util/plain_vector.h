// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace argtrace {

/// A vector of plain data that grows by elements which the caller fills in: extend() takes a few instructions, where
/// std::vector::resize() takes dozens.
template<typename T>
class PlainVector {
public:
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

    PlainVector() = default;
    PlainVector(std::initializer_list<T> items) { append(items.begin(), items.size()); }
    PlainVector(const PlainVector &other) { append(other.data(), other.size()); }
    PlainVector(PlainVector &&other) noexcept
        : items_(std::move(other.items_)), size_(std::exchange(other.size_, 0)), capacity_(std::exchange(other.capacity_, 0)) {}
    PlainVector &operator=(PlainVector other) noexcept {
        items_ = std::move(other.items_);
        size_ = std::exchange(other.size_, 0);
        capacity_ = std::exchange(other.capacity_, 0);
        return *this;
    }
    ~PlainVector() = default;

    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    T *data() { return items_.get(); }
    const T *data() const { return items_.get(); }
    T *begin() { return data(); }
    T *end() { return data() + size_; }
    const T *begin() const { return data(); }
    const T *end() const { return data() + size_; }
    T &operator[](std::size_t index) { return items_.get()[index]; }
    const T &operator[](std::size_t index) const { return items_.get()[index]; }

    T &back() { return (*this)[size_ - 1]; }
    const T &back() const { return (*this)[size_ - 1]; }

    void clear() { size_ = 0; }

    /// Makes room for so many elements in all.
    void reserve(std::size_t capacity) {
        if (capacity > capacity_)
            reallocate(capacity);
    }

    /// Adds so many elements, which have no values yet, and returns the first.
    [[gnu::always_inline]] T *extend(std::size_t count) {
        if (capacity_ - size_ < count) [[unlikely]]
            grow(count);
        T *const first = data() + size_;
        size_ += count;
        return first;
    }

    [[gnu::always_inline]] void push_back(const T &item) {
        const T copy = item; // it may be one of ours
        std::construct_at(extend(1), copy);
    }

    /// Drops the last elements, so that there are so many.
    void shrink(std::size_t size) { size_ = std::min(size_, size); }

    bool operator==(const PlainVector &other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

private:
    struct Free {
        void operator()(T *items) const { ::operator delete(items); }
    };

    void append(const T *items, std::size_t count) { std::uninitialized_copy_n(items, count, extend(count)); }

    [[gnu::noinline]] void grow(std::size_t count) { reallocate(std::max(size_ + count, 2 * capacity_)); }

    void reallocate(std::size_t capacity) {
        std::unique_ptr<T, Free> larger(static_cast<T *>(::operator new(capacity * sizeof(T))));
        std::uninitialized_copy_n(data(), size_, larger.get());
        items_ = std::move(larger);
        capacity_ = capacity;
    }

    std::unique_ptr<T, Free> items_;
    std::size_t size_ = 0, capacity_ = 0;
};

} // namespace argtrace
