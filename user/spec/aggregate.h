// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/parser.h"
#include "model/probe.h"
#include "spec/functions.h"
#include "spec/kernel.h"

namespace argtrace {

/// How calls are added up, in the module, instead of being recorded.
struct Aggregate {
    enum class Value : std::uint8_t {
        none,     ///< calls are counted
        of_spec,  ///< the one in the parentheses of each SPEC
        duration, ///< how long calls take
    };

    std::vector<lang::ArgumentExpression> keys; ///< a plain `func` is the function's name
    Value value = Value::none;
    /// Which key is func for the top of stacks alone: where there is one function alone, the map goes without it.
    std::optional<std::size_t> func_of_stacks = {};
    std::vector<std::uint32_t> room = {}; ///< of each key, see share_key_room(); empty: not known yet

    /// The counts of the functions say it all, and no map is needed.
    bool counts_only() const;
};

bool is_function_key(const lang::ArgumentExpression &key);

/// A key that is 1 of calls that return an error, else 0; also of functions that cannot return one.
lang::ArgumentExpression error_key();
bool is_error_key(const lang::ArgumentExpression &key);

/// Whether a function's calls have to be followed until they return, for what is wanted of them.
bool needs_return(const Aggregate &aggregate, std::span<const lang::Expression> conditions,
                  const Prototype &prototype, const Capture &capture);

/// One part of the keys.
struct KeyDescription {
    std::string name;
    bool is_function = false;
    bool is_result = false;
    bool is_caller = false;
    bool is_user_stack = false; ///< of the stacks, it is that of user code
    std::uint8_t type = ARGTRACE_TYPE_U64; ///< STR, or that of the number
    std::uint32_t room = 0;                ///< bytes of text; 0: it is a number, of one word
    std::uint32_t length = 0;              ///< of text at most, which may be less
};

/// Functions whose calls are to be added up.
struct AggregatedFunctions {
    std::vector<Function> functions;
    std::vector<std::string> left;    ///< as Found::left
    std::vector<KeyDescription> keys; ///< one for each of the keys of a map
    /// Where the name of the only function belongs in them, which the map does not have; nothing: it has all.
    std::optional<std::size_t> only_function_at = {};
    std::vector<std::string> names;   ///< of the functions, by the number that a map has for them
    Probe shown;                      ///< its arguments are the keys; its types say how they are shown
    bool is_signed = false;           ///< the values are signed numbers
    bool counts_only = false;         ///< no map is needed

    std::uint16_t key_words() const;

    /// The probes, of which `map` is the id.
    std::vector<Probe> probes(std::uint16_t map) const;
};

/// What the request, which has an `aggregate`, stands for. Throws Error as find_functions() does, and
/// when the keys do not go together.
AggregatedFunctions resolve_aggregate(Kernel &kernel, Request request);

} // namespace argtrace
