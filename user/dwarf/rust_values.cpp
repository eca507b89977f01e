// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/rust_values.h"

#include <vector>

#include "btf/limits.h"

namespace argtrace::dwarf {

namespace {

using Kind = MadeType::Kind;

constexpr std::uint64_t word_bytes = 8;
constexpr std::size_t leaves_max = 2; // of what is a pair

// compiler/rustc_ty_utils/src/abi.rs: what has more than two words is passed by its address, unless it is a pair. One of 128 bits and what says
// whether it is there, as Option<u128> is, has 32 bytes, and DWARF has the parts of such an enumeration where we do not look.
constexpr std::uint64_t pair_bytes = 2 * word_bytes, partial_pair_bytes = 4 * word_bytes;

// A number or a pointer that a value consists of.
struct Leaf {
    std::uint64_t offset, bytes;
    bool is_floating;
};

// False if there are more than two, or not all are known.
bool collect_leaves(const MadeTypes &types, std::uint32_t id, std::uint64_t offset, std::vector<Leaf> &leaves, int depth) {
    const MadeType *type = types.bare(id);
    if (!type || depth > depth_max || type->is_partial)
        return false;
    switch (type->kind) {
    case Kind::integer:
    case Kind::enumeration:
    case Kind::floating:
        leaves.push_back({offset, type->size, type->kind == Kind::floating});
        return leaves.size() <= leaves_max;
    case Kind::pointer:
        leaves.push_back({offset, word_bytes, false});
        return leaves.size() <= leaves_max;
    case Kind::structure:
        for (const MadeType::Field &field : type->fields)
            if (!collect_leaves(types, field.type, offset + field.bit / 8, leaves, depth + 1))
                return false;
        return true;
    default:
        return false;
    }
}

} // namespace

std::optional<RustRegisters> rust_registers(const MadeTypes &types, std::uint32_t type, bool mixed) {
    std::vector<Leaf> leaves;
    if (!collect_leaves(types, type, 0, leaves, 0))
        return std::nullopt;
    RustRegisters registers;
    for (const Leaf &leaf : leaves) {
        if (leaf.bytes > word_bytes)
            return std::nullopt;
        ++(leaf.is_floating ? registers.vectors : registers.integers);
    }
    if (leaves.size() > 1 && (leaves[0].offset / word_bytes == leaves[1].offset / word_bytes || (!mixed && leaves[0].is_floating != leaves[1].is_floating)))
        return std::nullopt;
    return registers;
}

bool is_rust_reference(const MadeTypes &types, std::uint32_t type) {
    const MadeType *bare = types.bare(type);
    std::vector<Leaf> leaves;
    if (!bare || !bare->is_composite() || bare->size <= pair_bytes)
        return false;
    return bare->is_partial ? bare->size > partial_pair_bytes : !collect_leaves(types, type, 0, leaves, 0);
}

bool is_rust_result_known(const MadeTypes &types, std::uint32_t type, bool mixed) {
    const MadeType *bare = types.bare(type);
    return !bare || !bare->is_composite() || bare->size > pair_bytes || rust_registers(types, type, mixed);
}

} // namespace argtrace::dwarf
