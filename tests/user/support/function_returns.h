// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <gtest/gtest.h>

#include <fcntl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "elf/function_list.h"
#include "elf/function_returns.h"

namespace argtrace::elf {

using ReturnPlaces = std::vector<std::int32_t>;

inline std::optional<Object> open_object(const std::string &path) {
    return Object::open(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
}

/// The functions of an object, and where they return.
class ReturningFunctions {
public:
    explicit ReturningFunctions(std::optional<Object> object) : object_(std::move(object)), functions_(list_functions(object_.value())) {}

    const Object &object() const { return *object_; }

    NamedFunction at(const std::string &name) const {
        const auto found = std::ranges::find(functions_, name, &NamedFunction::symbol);
        EXPECT_NE(found, functions_.end()) << name;
        return found == functions_.end() ? NamedFunction() : *found;
    }

    FunctionReturns of(const std::string &name, std::uint32_t entry = 0, bool has_data = true) const {
        const NamedFunction function = at(name);
        return find_returns(*object_, {{{function.address, function.size}}}, entry, has_data);
    }

private:
    std::optional<Object> object_;
    std::vector<NamedFunction> functions_;
};

struct KnownReturns {
    std::size_t known = 0, all = 0; ///< functions
};

/// expect_return(FUNCTION, ITS CODE, PLACE) for each place at which a function of the object is said to return.
template<typename ExpectReturn> KnownReturns look_at_returns(const Object &object, ExpectReturn expect_return) {
    KnownReturns found;
    for (const NamedFunction &function : list_functions(object)) {
        const FunctionReturns returns = find_returns(object, {{{function.address, function.size}}});
        found.known += !returns.places.empty();
        found.all++;
        const Text code = object.read(function.offset, function.size);
        for (const std::int32_t place : returns.places)
            expect_return(function, code, static_cast<std::size_t>(place));
    }
    return found;
}

} // namespace argtrace::elf
