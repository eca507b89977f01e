// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/probe.h"

namespace argtrace {

/// How a value is shown, prepared from BTF: a tree.
struct Format {
    enum class Kind : std::uint8_t {
        unknown,  ///< not shown
        scalar,   ///< as `type` says
        function, ///< the address of code
        enumeration,
        text, ///< an array of char
        array,
        aggregate, ///< struct or union
        flags,     ///< an enumeration of flags that are set together, by what made it or by its values
        device,    ///< dev_t: major and minor number
        mode,      ///< umode_t: octal, as chmod takes it
        ip4,       ///< struct in_addr
        ip6,       ///< struct in6_addr
        socket,    ///< struct sockaddr, or that of a family
        cpus,      ///< struct cpumask
        user_address, ///< an address that a program chose, and no error pointer whatever it is
        characters,   ///< bytes that are text: text()
        records,      ///< structs, each of which says how long it is
        texts,        ///< texts, each with its NUL: strs()
        duration,     ///< of Go: nanoseconds
        go_pointer,   ///< an address of a program of Go
        extended,     ///< long double of x86-64: 80 bits
        quad,         ///< __float128, and long double of arm64: IEEE 754, binary128
    };

    struct Field {
        std::string name;
        std::uint32_t bit_offset = 0;
        std::uint32_t bit_size = 0; ///< of a bitfield, else 0
        const Format *format = nullptr;
    };

    struct Enumerator {
        std::uint64_t value = 0; ///< cut to the size of the enum
        std::string name;
    };

    /// How many elements of the array stand in so many bytes.
    std::size_t elements_in(std::size_t size) const { return is_counted ? size / element->bytes : count; }

    /// The bytes of an array, up to its NULL if it ends with one; whether that is among them.
    std::pair<std::span<const std::byte>, bool> elements_of(std::span<const std::byte> data) const;

    /// Whether its values have names.
    bool has_names() const { return kind == Kind::enumeration || kind == Kind::flags; }

    /// The name of a value of this enumeration; empty when none fits.
    std::string_view name_of(std::uint64_t value) const;

    Kind kind = Kind::unknown;
    std::uint8_t type = ARGTRACE_TYPE_END; ///< scalar, function, enumeration: a type code
    std::uint32_t bytes = 0;
    bool is_big_endian = false;      ///< scalar: a number in the order of the network
    std::uint32_t count = 0;         ///< of an array's elements; of CPUs those that there may be, 0: as many as there are bits
    bool is_counted = false;         ///< an array of as many elements as were recorded
    bool goes_on = false;            ///< an array of which there is more than was recorded
    bool ends_with_null = false;     ///< an array of pointers
    bool may_be_empty = false;       ///< of which there may be nothing, though it is there
    bool is_go = false;              ///< array, aggregate: as text it is what Go prints
    const Format *element = nullptr; ///< of an array
    std::string name = {};           ///< of an aggregate, without "struct"
    std::vector<Field> fields = {};  ///< those of anonymous members among them
    std::vector<Enumerator> names = {}; ///< by value, each value once; of flags those of most bits first
    std::uint64_t parts = 1;         ///< what it takes to show all of it
};

/// The formats of one probe's arguments.
class ProbeFormats {
public:
    /// Taken from the probe's types, and for some arguments from the name of their type. Malformed
    /// types yield nothing.
    explicit ProbeFormats(const Probe &probe);

    /// Null: as its type code says.
    const Format *argument(std::size_t index) const { return arguments_[index]; }

    /// Whether what its arguments are is shown by the table of calls: see display_types().
    bool are_described() const { return are_described_; }
    /// Whether they are those of a function of Go.
    bool are_of_go() const { return are_of_go_; }

private:
    class Builder;

    void add_described(const Probe &probe);
    const Format *scalar_of(const Format &format, const std::string &type_name);
    const Format *array_of(const Format &element, std::string_view type_name);

    std::deque<Format> formats_; // they refer to each other
    std::vector<const Format *> arguments_;
    bool are_described_ = false;
    bool are_of_go_ = false;
};

} // namespace argtrace
