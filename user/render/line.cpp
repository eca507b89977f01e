// SPDX-License-Identifier: GPL-2.0-only
#include "render/line.h"

#include <algorithm>

namespace argtrace {

void Line::grow(std::size_t bytes) {
    const std::size_t before = size();
    const std::size_t capacity = std::max(2 * capacity_, before + bytes);
    std::unique_ptr<char[]> larger(new char[capacity + slack]);
    std::memcpy(larger.get(), text_.get(), before);
    text_ = std::move(larger);
    end_ = text_.get() + before;
    capacity_ = capacity;
}

} // namespace argtrace
