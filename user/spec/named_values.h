// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace argtrace {

/// How a number is written that no name stands for. `typed`: as its type says.
enum class NumberForm {
    typed,
    s32,
    u32,
    s64,
    u64,
    hex,
    octal,
    mode, ///< octal, of the 16 bits that a umode_t has
    identity,
    pointer,
    ioctl,
    device,
    wait_status,
    signal_set,
    bit_set,    ///< the numbers of the bits that are set: [0 3]
    size_limit, ///< a multiple of 1024 as one
    epoll_data,
    variables, ///< an address, behind which is how many pointers there are
};

/// The number alone; empty if the form is `typed`.
std::string number_text(NumberForm form, std::uint64_t value);

/// Which bits are set, as bit_set shows them: of descriptors, CPUs, nodes.
std::string bit_set_text(std::span<const std::byte> bytes);

/// The constants of a C header that a number is shown by.
class NamedValues {
public:
    /// `flags` are set together, of others a number is one. What is left of flags, and a number without a name, is written as `rest` says.
    NamedValues(bool flags, NumberForm rest) : flags_(flags), rest_(rest) {}

    /// With a mask it is a value of that field of the number, and what else is in the number is no matter.
    void add(std::string name, std::uint64_t value, std::uint64_t mask = 0);

    /// The field, shifted down, is shown by those of other constants, unless it is 0.
    void add_field(std::uint64_t mask, const NamedValues &values);

    /// Has it shown by its parts: FUNCTION(PART, ...), each a field of the number, shifted down.
    void set_function(std::string name) { function_ = std::move(name); }
    void add_part(std::uint64_t mask, const NamedValues *values, NumberForm form) { parts_.push_back({mask, values, form}); }

    bool are_flags() const { return flags_; }
    NumberForm rest() const { return rest_; }

    /// "O_RDWR|O_CLOEXEC|0x800000"; empty if no name stands for any of it. A 0 that no flag is has the name "0".
    std::string text(std::uint64_t value) const;

    /// The value of that name, and of a field its mask.
    struct Known {
        std::uint64_t value = 0;
        std::uint64_t mask = 0;
    };
    std::optional<Known> find(std::string_view name) const;

    /// A name that another machine has: where this one has none of that name, a test of it is no mistake, and never holds.
    void add_elsewhere(std::string name) { elsewhere_.insert(std::move(name)); }
    bool is_elsewhere(std::string_view name) const { return elsewhere_.contains(name); }

    /// All names, in the order in which they were added.
    std::vector<std::pair<std::string_view, std::uint64_t>> names() const;

private:
    struct Name {
        std::string name;
        std::uint64_t value = 0;
        std::uint64_t mask = 0;
        const NamedValues *field = nullptr;
    };

    struct Part {
        std::uint64_t mask;
        const NamedValues *values;
        NumberForm form;
    };

    std::string flags_text(std::uint64_t value) const;
    std::string parts_text(std::uint64_t value) const;

    bool flags_;
    NumberForm rest_;
    std::vector<Name> names_;
    std::vector<std::size_t> widest_first_;           // of flags: where in names_ those without a mask are
    std::map<std::uint64_t, std::size_t> by_value_;   // of others
    std::string function_;
    std::vector<Part> parts_; // with the function
    std::set<std::string, std::less<>> elsewhere_;
};

} // namespace argtrace
