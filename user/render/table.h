// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace argtrace {

/// Text in columns that are as wide as they need to be.
class Table {
public:
    void add_column(std::string head, bool right);
    void add_cell(std::string cell);
    void append_to(std::string &out) const;

private:
    struct Column {
        std::size_t width;
        bool right;
    };

    std::vector<Column> columns_;
    std::vector<std::string> cells_; // row by row, the heads first
};

} // namespace argtrace
