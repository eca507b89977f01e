// SPDX-License-Identifier: GPL-2.0-only
#include "render/caller.h"

#include <fmt/format.h>

#include "model/user_frame.h"

namespace argtrace {

namespace {

// More than a kernel has callers of what is traced at a time; a broken file may have any number.
constexpr std::size_t names_max = 1 << 16;

// Tracers of returns, argtrace's own among them, replace the return address of a function by that
// of such code. A function that it ends in a tail call of finds it there as its caller's.
bool takes_returns(const Symbol &symbol) {
    if (symbol.module == "argtrace")
        return symbol.name.starts_with("argtrace_return_");
    return symbol.module.empty() &&
           (symbol.name == "arch_rethook_trampoline" || symbol.name == "return_to_handler");
}

} // namespace

const std::string &CallerNames::name(Names &names, CodePlace place, Zero zero) {
    if (names.size() >= names_max && !names.contains(place))
        names.clear();
    auto known = names.find(place);
    if (known == names.end())
        known = names.emplace(place, look_up(place, zero)).first;
    return known->second;
}

std::string CallerNames::object(CodePlace place) const {
    const auto found = place.space == CodeSpace::user ? symbols_.object(UserFrame(place.address).object) : std::nullopt;
    return found ? found->path : "";
}

std::string CallerNames::look_up(CodePlace place, Zero zero) const {
    if (place.space == CodeSpace::user && place.address & ARGTRACE_FRAME_USER && UserFrame(place.address).is_end())
        return end_mark;
    const auto symbol = symbols_.find(place);
    if (!symbol && place.space == CodeSpace::user)
        return describe_user_place(place.address);
    if (!symbol)
        return fmt::format("{:#x}", place.address);
    if (place.space == CodeSpace::kernel && zero == Zero::shown && takes_returns(*symbol))
        return std::string(unknown);
    std::string name(symbol->name);
    std::uint64_t offset = place.address - symbol->addr;
    if (offset != 0 || zero == Zero::shown)
        name += fmt::format("+{:#x}", offset);
    if (!symbol->module.empty())
        name += fmt::format(" [{}]", symbol->module);
    return name;
}

} // namespace argtrace
