// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

namespace argtrace::lang {

/// The memory that a pointer points to.
enum class Space : std::uint8_t {
    unsaid, ///< as the type's own tags say; without any the kernel's
    kernel,
    user,    ///< that of the program that runs
    per_cpu, ///< none: each CPU has what it points to elsewhere
};

/// A type of C: one of BTF or of C's own, and pointers to it, which BTF need not have.
struct Type {
    /// The types that C has without a declaration. long long is long: on all machines that
    /// argtrace knows they are represented the same.
    enum class Basic : std::uint8_t {
        none, ///< the type is BTF's
        void_,
        bool_,
        char_,
        schar,
        uchar,
        short_,
        ushort,
        int_,
        uint,
        long_,
        ulong,
        float_,
        double_,
    };

    std::uint32_t id = 0;       ///< of BTF; 0, too, if it is none of BTF's
    Basic basic = Basic::void_; ///< none if it is BTF's
    std::uint8_t stars = 0;     ///< pointers to that
    Space space = Space::unsaid; ///< of a pointer: that of what it points to

    static constexpr Type of(Basic basic, std::uint8_t stars = 0) { return {0, basic, stars}; }
    /// BTF's void has the id 0.
    static constexpr Type btf(std::uint32_t id) { return {id, id ? Basic::none : Basic::void_, 0}; }

    /// Without a space, as what it is of may be anywhere.
    constexpr Type pointer() const { return {id, basic, static_cast<std::uint8_t>(stars + 1)}; }
    constexpr Type in(Space which) const { return {id, basic, stars, which}; }

    bool operator==(const Type &) const = default;
};

inline constexpr Type int_type = Type::of(Type::Basic::int_);
inline constexpr Type uint_type = Type::of(Type::Basic::uint);
inline constexpr Type long_type = Type::of(Type::Basic::long_);
inline constexpr Type ulong_type = Type::of(Type::Basic::ulong);
inline constexpr Type double_type = Type::of(Type::Basic::double_);
inline constexpr Type char_type = Type::of(Type::Basic::char_);
inline constexpr Type void_pointer = Type::of(Type::Basic::void_, 1);

/// What a type is, behind typedefs and qualifiers.
struct TypeTraits {
    enum class Kind : std::uint8_t {
        unknown, ///< broken BTF, or of a kind that this version does not know
        void_,
        integer, ///< _Bool and char among them
        enumeration,
        floating,
        pointer,
        array,
        function,
        aggregate,  ///< struct or union
        incomplete, ///< a struct or union of which nothing but the name is known
    };

    Kind kind = Kind::unknown;
    std::uint32_t bare = 0;  ///< its BTF behind typedefs and qualifiers; 0: it has none
    std::uint64_t bytes = 0; ///< its size
    bool is_signed = false;  ///< integer, enumeration
    bool is_bool = false;
    bool is_char = false;       ///< char, neither signed char nor unsigned char
    bool is_big_endian = false; ///< it is called __be16, __be32 or __be64
    bool is_per_cpu = false;    ///< a pointer with the tag `percpu`
    bool is_user = false;       ///< a pointer with the tag `user`

    bool is_scalar() const {
        return kind == Kind::integer || kind == Kind::enumeration || kind == Kind::pointer;
    }
    bool is_integer() const { return kind == Kind::integer || kind == Kind::enumeration; }
    /// A number of the formats that values are recorded in: float or double.
    bool is_floating() const { return kind == Kind::floating && (bytes == 4 || bytes == 8); }
    /// One of the three types that C calls characters, or a typedef of one such as u8.
    bool is_byte() const { return kind == Kind::integer && bytes == 1 && !is_bool; }
};

} // namespace argtrace::lang
