// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/type_name.h"

namespace argtrace::dwarf {

namespace {

constexpr std::size_t name_bytes_max = 120;

// Without what is between the outermost brackets.
std::string without_arguments(const std::string &name) {
    std::string kept;
    int depth = 0;
    for (const char c : name) {
        if (c == '>' && depth > 0 && --depth == 0)
            kept += "...";
        if (depth == 0)
            kept += c;
        if (c == '<' && depth++ == 0 && kept.back() != '<')
            kept += c;
    }
    return kept;
}

} // namespace

std::string short_name(std::string name) {
    if (name.size() > name_bytes_max)
        name = without_arguments(name);
    if (name.size() > name_bytes_max) {
        name.resize(name_bytes_max);
        name += "...";
    }
    return name;
}

} // namespace argtrace::dwarf
