// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/rust_values.h"

#include <vector>

#include "btf/limits.h"

namespace argtrace::dwarf {

namespace {

using Kind = MadeType::Kind;

constexpr std::uint64_t word_bytes = 8;
constexpr std::size_t leaves_max = 2; // of what is a pair

// The sizes of the numbers and pointers that it consists of; false if there are more than two, or not all are known.
bool collect_leaves(const MadeTypes &types, std::uint32_t id, std::vector<std::uint64_t> &leaves, int depth) {
    const MadeType *type = types.bare(id);
    if (!type || depth > depth_max || type->is_partial)
        return false;
    switch (type->kind) {
    case Kind::integer:
    case Kind::enumeration:
    case Kind::floating:
        leaves.push_back(type->size);
        return leaves.size() <= leaves_max;
    case Kind::pointer:
        leaves.push_back(word_bytes);
        return leaves.size() <= leaves_max;
    case Kind::structure:
        for (const MadeType::Field &field : type->fields)
            if (!collect_leaves(types, field.type, leaves, depth + 1))
                return false;
        return true;
    default:
        return false;
    }
}

} // namespace

std::optional<unsigned> rust_words(const MadeTypes &types, std::uint32_t type) {
    std::vector<std::uint64_t> leaves;
    if (!collect_leaves(types, type, leaves, 0))
        return std::nullopt;
    for (const std::uint64_t leaf : leaves)
        if (leaf > word_bytes || (leaves.size() > 1 && leaf != word_bytes))
            return std::nullopt;
    return static_cast<unsigned>(leaves.size());
}

bool is_rust_result_known(const MadeTypes &types, std::uint32_t type) {
    const MadeType *bare = types.bare(type);
    return !bare || !bare->is_composite() || bare->size > 2 * word_bytes || rust_words(types, type);
}

} // namespace argtrace::dwarf
