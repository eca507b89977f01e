// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "btf/go_kind.h"
#include "btf/kernel_types.h"

namespace argtrace::dwarf {

/// A type of DWARF as BTF is to have it, with what BTF cannot say but calling conventions ask for.
struct MadeType {
    enum class Kind : std::uint8_t {
        unknown, ///< BTF has its name alone, as of a struct that is only declared
        declared_structure,
        declared_union,
        pointer,
        constant,
        volatile_,
        restrict_,
        alias, ///< typedef
        integer,
        floating,
        array,
        structure,
        union_,
        enumeration,
        prototype,
    };
    struct Field { ///< a member; a parameter, where only name and type count
        std::string name = {};
        std::uint32_t type = 0;
        std::uint64_t bit = 0;
        std::uint32_t bits = 0; ///< of a bit-field
        bool is_embedded = false; ///< Go's: what it has is promoted to the struct
    };
    struct Enumerator {
        std::string name;
        std::uint64_t value = 0;
    };
    /// In which registers the ABI has a number.
    enum class Number : std::uint8_t { whole, floating, x87, complex_x87 };

    Kind kind = Kind::unknown;
    Number number = Number::whole;
    int encoding = 0; ///< integer: BTF_INT_*
    bool is_signed = false;    ///< enumeration
    bool variadic = false;     ///< prototype
    bool by_reference = false; ///< a class that is passed and returned by its address, as it is copied by its own constructor
    bool is_reference = false; ///< pointer: btf/reference_tag.h
    bool is_vector = false;    ///< a number of several elements, as __m128: one that is passed in a register of its own
    bool is_aligned = false;   ///< it or a member has an attribute that asks for an alignment
    bool is_partial = false;   ///< not all that is in it is known
    GoKind go = GoKind::none;  ///< of Go's: what it is beside what BTF says
    std::string name = {};
    std::uint32_t target = 0; ///< another type's number, or 0, void
    std::uint64_t size = 0;   ///< in bytes; of an array in elements
    std::vector<Field> fields = {};
    std::vector<Enumerator> enumerators = {};

    bool is_composite() const { return kind == Kind::structure || kind == Kind::union_; }
    /// Another name for its target, or the same with a qualifier.
    bool is_transparent() const {
        return kind == Kind::alias || kind == Kind::constant || kind == Kind::volatile_ || kind == Kind::restrict_;
    }
};

/// Types, whose numbers follow those of a base.
class MadeTypes {
public:
    explicit MadeTypes(std::uint32_t base_count) : first_(base_count) {}

    std::uint32_t add(MadeType type = {});
    std::size_t count() const { return types_.size(); }
    bool has(std::uint32_t id) const { return id >= first_ && id - first_ < types_.size(); }
    MadeType &at(std::uint32_t id) { return types_[id - first_]; }
    const MadeType &at(std::uint32_t id) const { return types_[id - first_]; }

    /// The type behind names and qualifiers; null for void.
    const MadeType *bare(std::uint32_t id) const;

    /// A damaged file may have a struct that is a member of itself: there the member becomes one of which nothing is known.
    void break_circles();

    /// All of them as BTF on that base, which libbpf changes. Throws Error where there is no memory.
    BtfPtr to_btf(btf *base) const;

private:
    std::uint32_t first_;
    std::vector<MadeType> types_;
};

} // namespace argtrace::dwarf
