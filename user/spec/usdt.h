// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <vector>

#include "elf/symbol_addresses.h"
#include "elf/usdt_notes.h"
#include "spec/functions.h"
#include "spec/kernel.h"
#include "spec/object_scope.h"
#include "spec/spec.h"
#include "spec/user_objects.h"

namespace argtrace {

/// Finds USDT probes (usdt:OBJECT:[PROVIDER:]NAME), by what programs and libraries note of them. A probe that is passed in several places
/// is found once for each, under one title and with the arguments that it has there.
class UsdtFinder {
public:
    /// The kernel, whose types prototypes use, and the finder of objects stay the caller's.
    UsdtFinder(Kernel &kernel, ObjectFinder &files) : kernel_(kernel), files_(files) {}

    /// Throws Error, which says why, if there is none.
    FoundUserFunctions find(const Spec &spec);

private:
    struct Object : UserObject {
        std::vector<elf::UsdtNote> notes = {};
    };

    std::vector<Function> make(const Object &object, const std::vector<const elf::UsdtNote *> &notes);

    Kernel &kernel_;
    ObjectFinder &files_;
    OpenObjects<Object> objects_;
};

/// What is called so in an object whose functions have no such name: "usdt:PATH:PROVIDER:NAME" of a USDT probe; empty if that has none either.
std::string usdt_of_name(const elf::Object &object, const std::string &path, std::string_view name);

} // namespace argtrace
