// SPDX-License-Identifier: GPL-2.0-only
#include "render/table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "util/utf8.h"

namespace argtrace {

namespace {

/// Characters, which a terminal shows in one column each.
std::size_t width_of(std::string_view text) {
    std::size_t width = 0;
    for (; !text.empty(); ++width)
        text.remove_prefix(std::max<std::size_t>(utf8_length(text), 1));
    return width;
}

} // namespace

void Table::add_column(std::string head, bool right) {
    columns_.push_back({width_of(head), right});
    cells_.push_back(std::move(head));
}

void Table::add_cell(std::string cell) {
    Column &column = columns_[cells_.size() % columns_.size()];
    column.width = std::max(column.width, width_of(cell));
    cells_.push_back(std::move(cell));
}

void Table::append_to(std::string &out) const {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        const std::size_t at = i % columns_.size();
        const Column &column = columns_[at];
        const bool last = at + 1 == columns_.size();
        const std::size_t padding = column.width - width_of(cells_[i]);
        if (column.right)
            out.append(padding, ' ');
        out += cells_[i];
        if (!column.right && !last)
            out.append(padding, ' ');
        out += last ? '\n' : ' ';
    }
}

} // namespace argtrace
