// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "uapi/argtrace.h"

namespace argtrace {

/// How the bytes of a value are read.
enum class TypeClass : std::uint8_t {
    none, ///< not at all: not a type of values, or one that this version does not know
    integer,
    boolean,
    character,
    address,
    text,
    bytes, ///< as the argument's BTF describes them
    floating, ///< IEEE 754
};

/// What is known about a type code. A new code takes a row of `known_types`.
struct TypeInfo {
    const char *name = ""; ///< "u64"
    std::uint8_t code = ARGTRACE_TYPE_END;
    std::uint8_t size = 0; ///< in a record, as argtrace_type_size() says; 0: it varies
    TypeClass type_class = TypeClass::none;
    bool is_signed = false;

    constexpr bool is_wide() const { return size > sizeof(std::uint64_t); }
};

inline constexpr TypeInfo known_types[] = {
    {"u8", ARGTRACE_TYPE_U8, 1, TypeClass::integer, false},
    {"s8", ARGTRACE_TYPE_S8, 1, TypeClass::integer, true},
    {"u16", ARGTRACE_TYPE_U16, 2, TypeClass::integer, false},
    {"s16", ARGTRACE_TYPE_S16, 2, TypeClass::integer, true},
    {"u32", ARGTRACE_TYPE_U32, 4, TypeClass::integer, false},
    {"s32", ARGTRACE_TYPE_S32, 4, TypeClass::integer, true},
    {"u64", ARGTRACE_TYPE_U64, 8, TypeClass::integer, false},
    {"s64", ARGTRACE_TYPE_S64, 8, TypeClass::integer, true},
    {"u128", ARGTRACE_TYPE_U128, 16, TypeClass::integer, false},
    {"s128", ARGTRACE_TYPE_S128, 16, TypeClass::integer, true},
    {"bool", ARGTRACE_TYPE_BOOL, 1, TypeClass::boolean, false},
    {"char", ARGTRACE_TYPE_CHAR, 1, TypeClass::character, true},
    {"char", ARGTRACE_TYPE_UCHAR, 1, TypeClass::character, false},
    {"ptr", ARGTRACE_TYPE_PTR, 8, TypeClass::address, false},
    {"stack", ARGTRACE_TYPE_STACK, 8, TypeClass::address, false},
    {"str", ARGTRACE_TYPE_STR, 0, TypeClass::text, false},
    {"path", ARGTRACE_TYPE_PATH, 0, TypeClass::text, false},
    {"bytes", ARGTRACE_TYPE_BYTES, 0, TypeClass::bytes, false},
    {"f32", ARGTRACE_TYPE_F32, 4, TypeClass::floating, false},
    {"f64", ARGTRACE_TYPE_F64, 8, TypeClass::floating, false},
};

namespace detail {

inline constexpr auto types_by_code = [] {
    std::array<TypeInfo, std::numeric_limits<std::uint8_t>::max() + std::size_t{1}> types{};
    for (const TypeInfo &type : known_types)
        types[type.code] = type;
    return types;
}();

} // namespace detail

/// Every code has an entry, so that looking one up needs no check; unknown ones are of class None.
constexpr const TypeInfo &type_info(std::uint8_t code) {
    return detail::types_by_code[code];
}

/// The type code of an integer of that size; ARGTRACE_TYPE_END if there is none.
constexpr std::uint8_t integer_type(std::uint32_t bytes, bool is_signed) {
    for (const TypeInfo &type : known_types) {
        if (type.type_class == TypeClass::integer && type.size == bytes &&
            type.is_signed == is_signed)
            return type.code;
    }
    return ARGTRACE_TYPE_END;
}

/// The same of a floating-point number.
constexpr std::uint8_t floating_type(std::uint32_t bytes) {
    return bytes == 4 ? ARGTRACE_TYPE_F32 : bytes == 8 ? ARGTRACE_TYPE_F64 : ARGTRACE_TYPE_END;
}

} // namespace argtrace
