// SPDX-License-Identifier: GPL-2.0-only
#include "abi/calling_convention.h"

#include <sys/utsname.h>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace {

namespace {

constexpr CallingConvention conventions[] = {
    {"x86_64", sysv_x86_64, sysv_x86_64_returning, sysv_x86_64_location, syscall_location_x86_64},
    // System calls take their arguments in the registers of functions.
    {"aarch64", aapcs64, aapcs64_returning, aapcs64_location,
     [](const Argument &argument, bool) { return aapcs64_location(argument); }},
};

} // namespace

std::vector<Argument> CallingConvention::places(const Prototype &prototype) const {
    if (prototype.hidden == 0)
        return arguments(prototype);
    Prototype passed = prototype;
    passed.parameters.insert(passed.parameters.begin(), prototype.hidden,
                             {"", "void *", {.kind = Shape::Kind::pointer, .bytes = 8}});
    std::vector<Argument> all = arguments(passed);
    all.erase(all.begin(), all.begin() + prototype.hidden);
    return all;
}

const CallingConvention &calling_convention(std::string_view machine) {
    for (const CallingConvention &convention : conventions) {
        if (convention.machine == machine)
            return convention;
    }
    throw Error(fmt::format("{}: argtrace does not know how this machine passes arguments; it "
                            "knows x86_64 and aarch64",
                            machine));
}

const CallingConvention &native_calling_convention() {
    static const CallingConvention &native = [] () -> const CallingConvention & {
        utsname system{};
        ::uname(&system);
        return calling_convention(system.machine);
    }();
    return native;
}

} // namespace argtrace
