// SPDX-License-Identifier: GPL-2.0-only
#include "spec/assessment.h"

#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "model/cold_part.h"

namespace argtrace {

namespace {

// " of the kernel" or " of the module ext4".
std::string of_owner(std::string_view module) {
    return module.empty() ? " of the kernel" : fmt::format(" of the module {}", module);
}

// Which of those that share a name --force takes.
std::string those_traced(const Assessment &assessment) {
    return assessment.traced == assessment.sharing ? "them all"
           : assessment.traced == 1                ? "the one that the kernel can trace"
                                                   : fmt::format("the {} that the kernel can trace", assessment.traced);
}

Doubt doubt_of(Kernel &kernel, const Assessment &assessment) {
    const Symbol &symbol = assessment.symbol;
    if (is_cold(symbol.name))
        return Doubt::cold;
    if (!kernel.types().has_module(symbol.module))
        return Doubt::no_module_btf;
    if (assessment.prototypes.empty())
        return Doubt::undescribed;
    if (is_clone(symbol.name))
        return Doubt::clone;
    // pahole before 1.25 describes the first function it meets of each name, whatever
    // the others take: Debian's 6.12 has two align_show(), with two and three arguments.
    if (assessment.sharing > 1)
        return Doubt::shared;
    return assessment.prototypes.size() > 1 ? Doubt::differs : Doubt::none;
}

} // namespace

std::string_view source_name(std::string_view name) {
    return name.substr(0, name.find('.', 1));
}

bool is_clone(std::string_view name) {
    return source_name(name) != name;
}

std::vector<Symbol> symbols_in(const Kallsyms &symbols, std::string_view name,
                               std::string_view module) {
    std::vector<Symbol> found = symbols.named(name);
    std::erase_if(found, [module](const Symbol &symbol) { return symbol.module != module; });
    const auto same = [](const Symbol &a, const Symbol &b) { return a.addr == b.addr; };
    found.erase(std::unique(found.begin(), found.end(), same), found.end());
    return found;
}

Assessment assess(Kernel &kernel, const Symbol &symbol, std::size_t sharing) {
    Assessment assessment{symbol, Doubt::none, sharing, {}};
    assessment.prototypes = kernel.types().prototypes(source_name(symbol.name), symbol.module);
    assessment.doubt = doubt_of(kernel, assessment);
    return assessment;
}

std::string explain(const Assessment &assessment) {
    const Symbol &symbol = assessment.symbol;
    switch (assessment.doubt) {
    case Doubt::none:
        break;
    case Doubt::clone:
        return fmt::format("BTF describes {}, whose arguments the compiler may have changed: add "
                           "--force to trace it anyway",
                           source_name(symbol.name));
    case Doubt::cold:
        return fmt::format("cannot be traced: it is a part of {} that is jumped to, not called",
                           source_name(symbol.name));
    case Doubt::shared:
        return fmt::format("its arguments are not known for sure: {} functions{} have that name, "
                           "and BTF does not tell them apart: add --force to trace {} anyway",
                           assessment.sharing, of_owner(symbol.module), those_traced(assessment));
    case Doubt::differs:
        return fmt::format("its arguments are not known for sure: BTF describes {} functions of "
                           "that name, which differ: add --force to trace it anyway",
                           assessment.prototypes.size());
    case Doubt::undescribed:
        return fmt::format("its arguments are unknown: the BTF{} does not describe it: add --raw "
                           "to see the six argument registers",
                           of_owner(symbol.module));
    case Doubt::no_module_btf:
        return fmt::format("its arguments are unknown: the module {0} has no BTF (there is no "
                           "/sys/kernel/btf/{0}): `pahole -J --btf_base /sys/kernel/btf/vmlinux "
                           "{0}.ko` makes it of the file's debug information, and --btf {0}.ko "
                           "takes it from there; or add --raw to see the six argument registers",
                           symbol.module);
    case Doubt::untraceable:
        if (assessment.told_apart)
            return fmt::format("cannot be traced: {} functions{} have that name, and the kernel traces none of them",
                               assessment.sharing, of_owner(symbol.module));
        return fmt::format("cannot be traced: {} functions{} have that name, some of which the "
                           "kernel does not trace",
                           assessment.sharing, of_owner(symbol.module));
    }
    return {};
}

std::string explain_few(const Assessment &assessment) {
    if (assessment.doubt != Doubt::untraceable || assessment.traced == 0 || !assessment.told_apart)
        return {};
    const std::size_t left = assessment.sharing - assessment.traced;
    return fmt::format("{} of {} functions{} that are called {} {}: the kernel does not trace {}", left, assessment.sharing,
                       of_owner(assessment.symbol.module), assessment.symbol.name, left == 1 ? "is left out" : "are left out",
                       left == 1 ? "it" : "them");
}

} // namespace argtrace
