// SPDX-License-Identifier: GPL-2.0-only
// What argtrace shows of a value in JSON, against the value itself, and of a function in `status`.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>

#include "support/prototypes.h"

namespace vmtest {

/// Addresses by the names of the kernel's symbols, and how many symbols share a name.
class Symbols {
public:
    Symbols();

    std::size_t count(const std::string &name) const { return addresses_.count(name); }

    /// Whether "name", "name+0x10" or "name [module]" stands for the address.
    bool stands_for(const std::string &text, std::uint64_t address) const;

private:
    std::multimap<std::string, std::uint64_t> addresses_;
};

/// Whether `shown` is that value of the parameter, or of what is returned: then errors have their names.
bool shows(const nlohmann::ordered_json &shown, const KernelParameter &parameter, std::uint64_t value, const Symbols &symbols);

/// The calls of a function as `argtrace status` has them; a failure of the test if it is not there.
std::uint64_t hits_of(const std::string &function);

} // namespace vmtest
