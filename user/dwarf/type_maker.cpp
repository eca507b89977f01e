// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/type_maker.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <bpf/btf.h>
#include <fmt/format.h>

#include "btf/limits.h"
#include "dwarf/attributes.h"
#include "dwarf/go_values.h"
#include "dwarf/language.h"
#include "dwarf/member_place.h"
#include "dwarf/non_trivial.h"
#include "dwarf/type_name.h"
#include "model/type_name.h"

namespace argtrace::dwarf {

namespace {

using Kind = MadeType::Kind;

constexpr std::size_t types_max = 1'000'000; // a damaged file may have any number
constexpr std::uint64_t pointer_bytes = 8;

bool is_struct_or_union(int tag) {
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_interface_type || tag == DW_TAG_union_type;
}

/// What stands for another type in every respect that counts here.
bool is_seen_through(int tag) {
    return tag == DW_TAG_atomic_type || tag == DW_TAG_packed_type || tag == DW_TAG_shared_type || tag == DW_TAG_immutable_type;
}

// The type unit that has what is only declared where it is used (-fdebug-types-section).
Dwarf_Die behind_signature(Dwarf_Die die) {
    const auto found = referred(die, DW_AT_signature);
    return found ? *found : die;
}

// What tells types of one name apart: files may be compiled with other members.
void append_members(Dwarf_Die &die, std::string &key) {
    visit_children(die, [&key](Dwarf_Die &child) {
        const int tag = dwarf_tag(&child);
        if (tag == DW_TAG_member || tag == DW_TAG_inheritance || tag == DW_TAG_enumerator)
            fmt::format_to(std::back_inserter(key), "\n{} {}", name_of(child),
                           number_of(child, tag == DW_TAG_enumerator ? DW_AT_const_value : DW_AT_data_member_location).value_or(0));
        return true;
    });
}

bool is_extended_integer(std::string_view name) {
    return name.find("_BitInt") != name.npos || name.find("_ExtInt") != name.npos;
}

int integer_encoding(std::uint64_t encoding) {
    switch (encoding) {
    case DW_ATE_boolean:
        return BTF_INT_BOOL;
    case DW_ATE_signed:
    case DW_ATE_signed_char:
        return BTF_INT_SIGNED;
    default:
        return 0;
    }
}

bool is_integer(std::uint64_t encoding) {
    switch (encoding) {
    case DW_ATE_boolean:
    case DW_ATE_signed:
    case DW_ATE_signed_char:
    case DW_ATE_unsigned:
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF:
    case DW_ATE_address:
        return true;
    default:
        return false;
    }
}

bool is_size_of_integers(std::uint64_t bytes) {
    return std::has_single_bit(bytes) && bytes <= 16;
}

} // namespace

std::string TypeMaker::full_name(Dwarf_Die &die) {
    const std::string_view name = name_of(die);
    return name.empty() ? std::string() : short_name(scopes_.prefix_of(die).append(name));
}

// By which types of several units are one; empty if it is like no other.
std::string TypeMaker::key_of(Dwarf_Die &die) {
    const int tag = dwarf_tag(&die);
    const bool has_members = is_struct_or_union(tag) || tag == DW_TAG_enumeration_type;
    const std::string_view name = name_of(die);
    if (name.empty() || !(has_members || tag == DW_TAG_base_type))
        return {};
    const auto size = dwarf::number_of(die, DW_AT_byte_size);
    std::string key = fmt::format("{} {}{} {}", tag, scopes_.prefix_of(die), name, size ? std::to_string(*size) : "declared");
    if (!has_members || !size)
        return key + fmt::format(" {}", dwarf::number_of(die, DW_AT_encoding).value_or(0));
    const char *file = dwarf_decl_file(&die);
    key += fmt::format(" {}:{}", file ? file : "", dwarf::number_of(die, DW_AT_decl_line).value_or(0));
    append_members(die, key);
    return key;
}

std::uint32_t TypeMaker::number_of_type(Dwarf_Die die, Turn turn) {
    for (int depth = 0; depth < depth_max && (is_seen_through(dwarf_tag(&die)) || is_go_type_parameter(die)); depth++) {
        const auto target = referred(die, DW_AT_type);
        if (!target)
            return 0;
        die = *target;
    }
    die = behind_signature(die);
    auto known = by_die_.find(die.addr);
    if (known == by_die_.end()) {
        std::string key = key_of(die);
        const auto same = key.empty() ? by_key_.end() : by_key_.find(key);
        if (same != by_key_.end()) {
            known = by_die_.emplace(die.addr, same->second).first;
        } else {
            const std::uint32_t id = made_.add({});
            known = by_die_.emplace(die.addr, id).first;
            if (!key.empty())
                by_key_.emplace(std::move(key), id);
            if (made_.count() < types_max) {
                undescribed_.emplace(id, die);
                if (turn == Turn::later)
                    later_.push_back({die, id});
            }
        }
    }
    if (turn == Turn::now)
        want_whole(known->second);
    return known->second;
}

// A type that was behind a pointer, and that others are made of after all. Names and qualifiers need what they stand for.
void TypeMaker::want_whole(std::uint32_t id) {
    for (int depth = 0; depth < depth_max && made_.has(id); depth++) {
        if (const auto pending = undescribed_.find(id); pending != undescribed_.end()) {
            now_.push_back({pending->second, id});
            return;
        }
        const MadeType &made = made_.at(id);
        if (!made.is_transparent() && made.kind != Kind::array)
            return;
        id = made.target;
    }
}

std::uint32_t TypeMaker::target_of(Dwarf_Die &die, Turn turn) {
    const auto target = referred(die, DW_AT_type);
    return target ? number_of_type(*target, turn) : 0;
}

std::uint32_t TypeMaker::type_of(Dwarf_Die &die) {
    const auto target = referred_in_all(die, DW_AT_type);
    return target ? number_of_type(*target, Turn::now) : 0;
}

std::uint32_t TypeMaker::reference_to(std::uint32_t type) {
    const auto [known, is_new] = references_.try_emplace(type);
    if (is_new)
        known->second = made_.add({.kind = Kind::pointer, .is_reference = true, .target = type});
    return known->second;
}

std::uint32_t TypeMaker::pointer_to(std::uint32_t type) {
    const auto [known, is_new] = pointers_.try_emplace(type);
    if (is_new)
        known->second = made_.add({.kind = Kind::pointer, .target = type});
    return known->second;
}

void TypeMaker::finish() {
    while (!now_.empty() || !later_.empty()) {
        const Turn turn = now_.empty() ? Turn::later : Turn::now;
        std::deque<Pending> &queue = turn == Turn::now ? now_ : later_;
        const Pending next = queue.front();
        queue.pop_front();
        if (undescribed_.erase(next.id))
            describe(next, turn);
    }
    made_.break_circles();
}

void TypeMaker::describe(Pending pending, Turn turn) {
    Dwarf_Die &die = pending.die;
    MadeType made;
    made.name = full_name(die);
    made.go = go_kind(die);
    const int tag = dwarf_tag(&die);
    const auto refer = [&](Kind kind, Turn when) {
        made.kind = kind;
        made.is_aligned = dwarf_hasattr(&die, DW_AT_alignment);
        made.target = target_of(die, when);
        made_.at(pending.id) = std::move(made);
    };
    switch (tag) {
    case DW_TAG_base_type:
        describe_number(die, made);
        made_.at(pending.id) = std::move(made);
        return;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        // Rust: "&alloc::vec::Vec<u8>"; "*const u8" is none.
        made.is_reference = tag != DW_TAG_pointer_type || made.name.starts_with('&');
        if (dwarf::number_of(die, DW_AT_byte_size).value_or(pointer_bytes) == pointer_bytes)
            refer(Kind::pointer, Turn::later);
        return;
    case DW_TAG_unspecified_type: // std::nullptr_t
        made.kind = made.name.find("nullptr") != made.name.npos ? Kind::pointer : Kind::unknown;
        made_.at(pending.id) = std::move(made);
        return;
    case DW_TAG_const_type:
        return refer(Kind::constant, turn);
    case DW_TAG_volatile_type:
        return refer(Kind::volatile_, turn);
    case DW_TAG_restrict_type:
        return refer(Kind::restrict_, turn);
    case DW_TAG_typedef:
    case DW_TAG_template_alias:
        return refer(Kind::alias, turn);
    case DW_TAG_ptr_to_member_type:
        return describe_member_pointer(die, pending.id);
    case DW_TAG_subroutine_type:
        return describe_prototype(die, pending.id);
    case DW_TAG_array_type:
        return describe_array(die, pending.id, turn);
    case DW_TAG_enumeration_type:
        made_.at(pending.id) = std::move(made);
        return describe_enumeration(die, pending.id);
    default:
        break;
    }
    if (is_struct_or_union(tag)) {
        made.kind = tag == DW_TAG_union_type ? Kind::declared_union : Kind::declared_structure;
        is_closing_ = is_closing_ || (turn == Turn::later && reached_structs_++ == reached_structs_max);
        const bool is_whole = turn == Turn::now || !is_closing_;
        made_.at(pending.id) = std::move(made);
        if (is_whole)
            describe_composite(die, pending.id);
        return;
    }
    made_.at(pending.id) = std::move(made); // of a kind that C, C++ and Rust do not have
}

void TypeMaker::describe_number(Dwarf_Die &die, MadeType &made) {
    made.size = dwarf::number_of(die, DW_AT_byte_size).value_or(0);
    const std::uint64_t encoding = dwarf::number_of(die, DW_AT_encoding).value_or(0);
    // The bits above it are not said to be anything.
    const auto bits = dwarf::number_of(die, DW_AT_bit_size);
    if (is_extended_integer(made.name) || (bits && *bits != 8 * made.size))
        return;
    if (is_integer(encoding)) {
        if (!is_size_of_integers(made.size) || (encoding == DW_ATE_boolean && made.size != 1))
            return;
        made.kind = Kind::integer;
        made.encoding = integer_encoding(encoding);
        return;
    }
    const bool is_complex = encoding == DW_ATE_complex_float;
    if (is_complex)
        return describe_complex(made);
    if (encoding != DW_ATE_float && encoding != DW_ATE_decimal_float)
        return;
    made.number = is_x87_name(made.name) ? MadeType::Number::x87 : MadeType::Number::floating;
    // Others are of a size that BTF has none of, but those behind them are where they are.
    made.kind = is_size_of_integers(made.size) && made.size > 1 ? Kind::floating : Kind::unknown;
}

// Two numbers, which BTF has as members of a struct: the one that it is of Go, and of C one that its name stands for.
void TypeMaker::describe_complex(MadeType &made) {
    const std::uint64_t half = made.size / 2;
    const bool is_of_x87 = is_x87_name(made.name), is_go = made.go != GoKind::none;
    if (!is_size_of_integers(half) || half < 2)
        return;
    const std::string_view name = half == 4 ? (is_go ? "float32" : "float") : half == 8 ? (is_go ? "float64" : "double") : is_of_x87 ? "long double" : "number";
    // clang calls all of them so, be they of long double or of __float128, which is returned elsewhere.
    const bool is_unnamed = made.name == "complex";
    if (is_unnamed)
        made.name.append(" ").append(name);
    const std::uint32_t part =
        made_.add({.kind = Kind::floating, .number = is_of_x87 ? MadeType::Number::x87 : MadeType::Number::floating, .name = std::string(name), .size = half});
    MadeType both{.kind = Kind::structure, .number = is_of_x87 || (is_unnamed && half == 16) ? MadeType::Number::complex_x87 : MadeType::Number::whole, .size = made.size};
    both.is_partial = is_unnamed && half == 16;
    both.fields = {{.name = "real", .type = part}, {.name = "imag", .type = part, .bit = 8 * half}};
    if (is_go) {
        made.kind = both.kind;
        made.fields = std::move(both.fields);
        return;
    }
    made.kind = Kind::alias;
    made.target = made_.add(std::move(both));
}

void TypeMaker::describe_array(Dwarf_Die &die, std::uint32_t id, Turn turn) {
    std::vector<std::uint64_t> counts;
    visit_children(die, [&counts](Dwarf_Die &child) {
        if (dwarf_tag(&child) != DW_TAG_subrange_type)
            return true;
        std::uint64_t count = dwarf::number_of(child, DW_AT_count).value_or(0);
        // "int x[0]" has -1
        if (const auto upper = dwarf::number_of(child, DW_AT_upper_bound); upper && *upper < std::numeric_limits<std::uint32_t>::max())
            count = *upper + 1;
        counts.push_back(std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
        return true;
    });
    const std::uint32_t element = target_of(die, turn);
    const bool is_vector = has_flag(die, DW_AT_GNU_vector);
    MadeType array{.kind = Kind::array, .target = element, .size = counts.empty() ? 0 : counts.front()};
    // Each row of several dimensions is an array.
    for (std::size_t i = counts.size(); i-- > 1;)
        array.target = made_.add({.kind = Kind::array, .target = array.target, .size = counts[i]});
    if (!is_vector) {
        made_.at(id) = std::move(array);
        return;
    }
    // C passes it as a value, but an array as a pointer.
    MadeType vector{.kind = Kind::structure, .is_vector = true, .name = "vector", .size = dwarf::number_of(die, DW_AT_byte_size).value_or(0)};
    if (vector.size == 0) {
        const MadeType *bare = made_.bare(element);
        const auto pending = undescribed_.find(element);
        vector.size = array.size * (bare && bare->size                ? bare->size
                                    : pending != undescribed_.end() ? dwarf::number_of(pending->second, DW_AT_byte_size).value_or(0)
                                                                    : 0);
    }
    vector.fields.push_back({.name = "v", .type = made_.add(std::move(array))});
    made_.at(id) = std::move(vector);
}

void TypeMaker::describe_enumeration(Dwarf_Die &die, std::uint32_t id) {
    MadeType made = std::move(made_.at(id));
    made.size = dwarf::number_of(die, DW_AT_byte_size).value_or(4);
    if (!is_size_of_integers(made.size) || made.size > 8) {
        made_.at(id) = std::move(made);
        return;
    }
    made.kind = Kind::enumeration;
    Dwarf_Die underlying = die;
    if (auto type = referred(die, DW_AT_type); type && dwarf_peel_type(&*type, &underlying) == 0)
        made.is_signed = integer_encoding(dwarf::number_of(underlying, DW_AT_encoding).value_or(0)) == BTF_INT_SIGNED;
    visit_children(die, [&made](Dwarf_Die &child) {
        Dwarf_Attribute attribute;
        Dwarf_Word number = 0;
        Dwarf_Sword value = 0;
        const std::string_view name = name_of(child);
        if (dwarf_tag(&child) != DW_TAG_enumerator || name.empty() || !dwarf_attr(&child, DW_AT_const_value, &attribute))
            return true;
        const unsigned form = dwarf_whatform(&attribute);
        // Data of a fixed size has no sign of its own.
        if ((form == DW_FORM_sdata || form == DW_FORM_implicit_const) && dwarf_formsdata(&attribute, &value) == 0) {
            made.is_signed = made.is_signed || value < 0;
            made.enumerators.push_back({std::string(name), static_cast<std::uint64_t>(value)});
        } else if (dwarf_formudata(&attribute, &number) == 0) {
            made.enumerators.push_back({std::string(name), number});
        }
        return true;
    });
    made_.at(id) = std::move(made);
}

// The types of a function that is pointed to, as far as they need to be named.
void TypeMaker::describe_prototype(Dwarf_Die &die, std::uint32_t id) {
    MadeType made{.kind = Kind::prototype, .target = target_of(die, Turn::later)};
    visit_children(die, [&](Dwarf_Die &child) {
        if (dwarf_tag(&child) == DW_TAG_formal_parameter)
            made.fields.push_back({.name = std::string(name_of(child)), .type = target_of(child, Turn::later)});
        made.variadic = made.variadic || dwarf_tag(&child) == DW_TAG_unspecified_parameters;
        return true;
    });
    if (is_go_function(die)) // what has that type has an address
        made = {.kind = Kind::alias, .name = full_name(die), .target = pointer_to(made_.add(std::move(made)))};
    made_.at(id) = std::move(made);
}

// Itanium C++ ABI, 2.3: an offset; of functions the address, or the number of a virtual one, and what is added to `this`.
void TypeMaker::describe_member_pointer(Dwarf_Die &die, std::uint32_t id) {
    const MadeType word{.kind = Kind::integer, .encoding = BTF_INT_SIGNED, .name = "long int", .size = pointer_bytes};
    const auto target = referred(die, DW_AT_type);
    Dwarf_Die type = target ? *target : die;
    if (dwarf_tag(&type) != DW_TAG_subroutine_type) {
        made_.at(id) = word;
        return;
    }
    const std::uint32_t number = made_.add(word);
    MadeType made{.kind = Kind::structure, .name = "member_function", .size = 2 * pointer_bytes};
    made.fields = {{.name = "ptr", .type = number}, {.name = "adj", .type = number, .bit = 8 * pointer_bytes}};
    made_.at(id) = std::move(made);
}

// Base classes are members without a name, whose own members are found as those of anonymous structs are.
std::optional<MadeType::Field> TypeMaker::field_of(Dwarf_Die &parent, Dwarf_Die &child, bool &is_partial) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_variant_part)
        is_partial = true;
    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || has_flag(child, DW_AT_external) || has_flag(child, DW_AT_declaration))
        return std::nullopt; // a static member is not in it
    const auto place = member_place(parent, child);
    if (!place) { // a virtual base class is where each object has it
        is_partial = true;
        return std::nullopt;
    }
    MadeType::Field field{.type = target_of(child, Turn::now), .bit = place->bit, .bits = place->bits};
    if (tag == DW_TAG_member)
        field.name = std::string(name_of(child));
    field.is_embedded = is_go_embedded(child);
    return field;
}

// An enumeration of Rust whose variants have values: `variant` says which one it is, and each has a member, all of them in the same place. Where one of
// them, and a value that it cannot have, tells the others, it has no number of its own.
void TypeMaker::add_variants(Dwarf_Die &parent, Dwarf_Die &part, MadeType &made) {
    std::vector<MadeType::Field> variants;
    MadeType which{.kind = Kind::enumeration, .name = "variant"};
    visit_children(part, [&](Dwarf_Die &variant) {
        if (dwarf_tag(&variant) != DW_TAG_variant)
            return true;
        const auto number = dwarf::number_of(variant, DW_AT_discr_value);
        visit_children(variant, [&](Dwarf_Die &member) {
            auto field = field_of(parent, member, made.is_partial);
            if (!field || field->name.empty())
                return true;
            if (number)
                which.enumerators.push_back({field->name, *number});
            variants.push_back(std::move(*field));
            return true;
        });
        return true;
    });
    auto discriminant = referred(part, DW_AT_discr);
    Dwarf_Word size = 0;
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    const auto place = discriminant ? member_place(parent, *discriminant) : std::nullopt;
    if (place && dwarf_formref_die(dwarf_attr(&*discriminant, DW_AT_type, &attribute), &type) && dwarf_aggregate_size(&type, &size) == 0 &&
        is_size_of_integers(size) && size <= 8) {
        which.size = size;
        made.fields.push_back({.name = "variant", .type = made_.add(std::move(which)), .bit = place->bit});
    }
    made.fields.insert(made.fields.end(), std::make_move_iterator(variants.begin()), std::make_move_iterator(variants.end()));
}

void TypeMaker::describe_composite(Dwarf_Die &die, std::uint32_t id) {
    const auto size = dwarf::number_of(die, DW_AT_byte_size);
    if (!size || *size > std::numeric_limits<std::uint32_t>::max() || has_flag(die, DW_AT_declaration))
        return;
    MadeType made = std::move(made_.at(id));
    made.kind = made.kind == Kind::declared_union ? Kind::union_ : Kind::structure;
    made.size = *size;
    const ClassPassing passing = passing_of(die);
    made.by_reference = passing == ClassPassing::by_reference;
    made.is_partial = passing == ClassPassing::unsure;
    constexpr unsigned gcc_says_alignments_since = 8;
    made.is_aligned = dwarf_hasattr(&die, DW_AT_alignment) || !has_attributes_of_version_5(die, gcc_says_alignments_since);
    visit_children(die, [&](Dwarf_Die &child) {
        made.is_aligned = made.is_aligned || dwarf_hasattr(&child, DW_AT_alignment);
        if (dwarf_tag(&child) == DW_TAG_variant_part)
            add_variants(die, child, made);
        if (auto field = field_of(die, child, made.is_partial))
            made.fields.push_back(std::move(*field));
        return true;
    });
    // C has no empty classes of one byte: it has unnamed bit-fields, which DWARF leaves out.
    auto unit = unit_of(die);
    made.is_partial = made.is_partial || (made.fields.empty() && made.size > 0 && (!unit || language_of(*unit) == Language::c));
    made_.at(id) = std::move(made);
}

} // namespace argtrace::dwarf
