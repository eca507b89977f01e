// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/code_place.h"
#include "model/probe_kind.h"
#include "model/stack_choice.h"
#include "model/type_name.h"
#include "model/user_file.h"
#include "uapi/argtrace.h"

namespace argtrace {

/// One argument as struct argtrace_arg describes it, with its strings.
struct Argument {
    std::uint8_t loc = ARGTRACE_LOC_NONE;
    std::uint8_t index = 0;
    std::uint8_t type = ARGTRACE_TYPE_END;
    std::uint32_t size = 0;
    std::uint32_t offset = 0;
    std::string name;      ///< "count"; unnamed ones are "arg0", "arg1" ...
    std::string type_name; ///< "size_t", "struct file *"

    bool operator==(const Argument &) const = default;
};

/// Whether records have its number in the order of the network, and decoding turns it round. What a program computes is turned in
/// the kernel.
inline bool is_recorded_big_endian(const Argument &argument) {
    const bool is_number = argument.type == ARGTRACE_TYPE_U16 || argument.type == ARGTRACE_TYPE_U32 || argument.type == ARGTRACE_TYPE_U64;
    return is_number && argument.loc != ARGTRACE_LOC_PROGRAM &&
           is_big_endian_name(argument.type_name);
}

/// One probe, as the module takes it and lists it.
struct Probe {
    std::uint32_t id = 0;    ///< given by the module
    std::uint64_t addr = 0;  ///< see enum argtrace_kind
    std::uint32_t flags = 0; ///< ARGTRACE_PROBE_*
    std::string function; ///< its name, as model/probe_kind.h has it: "vfs_read", "t:GROUP:NAME"
    std::vector<Argument> args;
    std::vector<std::byte> types; ///< BTF that says how to show them; usually empty
    bool forced = false;          ///< its arguments may not be those of the function
    /// A struct argtrace_program and what follows it (uapi/argtrace_program.h), a multiple of 8 bytes; empty: none. Its
    /// outputs are the arguments whose loc is ARGTRACE_LOC_PROGRAM, in their order.
    std::vector<std::byte> program = {};
    std::uint16_t kind = ARGTRACE_KIND_ENTRY; ///< enum argtrace_kind
    /// In which a user function is that is to be added; `addr` is the offset in it until the session has given the file a number.
    std::shared_ptr<const UserFile> file = {};
    /// Where a user function returns whose calls are recorded then, relative to it: ARGTRACE_PROBE_RETURNS says how many.
    std::vector<std::int32_t> returns = {};
    std::uint64_t semaphore = 0; ///< with `file`: that of a USDT probe, by its offset in the file; 0: none

    bool operator==(const Probe &) const = default;
};

/// Where a probe is: the addresses of one kind may be those of another.
struct ProbePlace {
    std::uint16_t kind = ARGTRACE_KIND_ENTRY;
    std::uint64_t addr = 0;

    auto operator<=>(const ProbePlace &) const = default;
};

inline const ProbeKind &kind_of(const Probe &probe) {
    const bool is_usdt = probe.kind == usdt_kind.number && probe.function.starts_with(usdt_kind.prefixes.front());
    return is_usdt ? usdt_kind : kind_of(probe.kind);
}

/// Where what it traces is.
inline CodePlace code_place(const Probe &probe) {
    return kernel_place(probe.addr);
}

/// Its calls are recorded when they return.
inline bool records_returns(const Probe &probe) {
    return probe.flags & ARGTRACE_PROBE_RETURN;
}

/// Whether an argument is what the function returns; of several values of a function of Go, none is. A program reads what a user function
/// returns in registers of both kinds, and what is in others has no place.
inline bool is_result(const Probe &probe, const Argument &argument) {
    if (argument.loc == ARGTRACE_LOC_RETURN)
        return true;
    const bool is_object = argument.loc == ARGTRACE_LOC_PROGRAM && argument.type == ARGTRACE_TYPE_BYTES;
    const bool is_read = probe.kind == ARGTRACE_KIND_USER && records_returns(probe) && (is_object || argument.loc == ARGTRACE_LOC_NONE);
    return (is_read || (probe.flags & ARGTRACE_PROBE_GOROUTINES)) && argument.name == "ret";
}

/// Whether the last of the arguments is.
inline bool has_result(const Probe &probe) {
    return !probe.args.empty() && is_result(probe, probe.args.back());
}

/// Which value is the number of the goroutine that makes the call, by the name that it has in records.
inline std::optional<std::size_t> goroutine_value(const Probe &probe) {
    for (std::size_t i = 0; i < probe.args.size(); i++)
        if (probe.args[i].name == "goid" && probe.args[i].loc == ARGTRACE_LOC_PROGRAM && probe.args[i].type == ARGTRACE_TYPE_U64)
            return i;
    return std::nullopt;
}

/// The type by which the number of a user stack is told from that of a kernel stack, and the name that it has in records.
inline constexpr std::string_view user_stack_name = "user_stack";

inline bool is_user_stack(const Argument &argument) {
    return argument.type == ARGTRACE_TYPE_STACK && argument.type_name == user_stack_name;
}

/// Which of the arguments are the numbers of the call's stacks; nothing where they are not recorded. They are the last, but for what
/// the function returns, and the user's stands behind the kernel's.
struct StackPlaces {
    std::optional<std::size_t> kernel, user;

    std::size_t count() const { return kernel.has_value() + std::size_t{user.has_value()}; }
    bool any() const { return kernel || user; }
};

inline StackPlaces stack_places(const Probe &probe) {
    StackPlaces places;
    for (std::size_t end = probe.args.size() - has_result(probe); end > 0; --end) {
        const Argument &argument = probe.args[end - 1];
        auto &place = is_user_stack(argument) ? places.user : places.kernel;
        if (argument.type != ARGTRACE_TYPE_STACK || place)
            break;
        place = end - 1;
    }
    return places;
}

/// Which of them there are, be it as parts of a key.
inline StackChoice named_stacks(const Probe &probe) {
    StackChoice named;
    for (const Argument &argument : probe.args)
        if (argument.type == ARGTRACE_TYPE_STACK)
            named = named | (is_user_stack(argument) ? user_stack : kernel_stack);
    return named;
}

/// How many of the arguments say more of what the function returns, which is beside them: their names begin with "ret.". They stand
/// before the stacks.
inline std::size_t result_meanings(const Probe &probe) {
    const std::size_t end = probe.args.size() - has_result(probe) - stack_places(probe).count();
    std::size_t begin = end;
    const auto is_part = [](const Argument &argument) { // Go's struct{} has no bytes
        return (argument.loc == ARGTRACE_LOC_PROGRAM || argument.loc == ARGTRACE_LOC_NONE) && argument.name.starts_with("ret.");
    };
    while (begin > 0 && is_part(probe.args[begin - 1]))
        --begin;
    const bool of_argument = begin > 0 && probe.args[begin - 1].name == "ret";
    return has_result(probe) && !of_argument ? end - begin : 0;
}

/// How many of the arguments, from the first on, are shown as arguments: neither the stacks nor what it returns.
inline std::size_t shown_arguments(const Probe &probe) {
    return probe.args.size() - has_result(probe) - stack_places(probe).count() - result_meanings(probe);
}

/// It is no longer traced because its module was unloaded.
inline bool is_unloaded(const Probe &probe) {
    return probe.flags & ARGTRACE_PROBE_GONE;
}

} // namespace argtrace
