// SPDX-License-Identifier: GPL-2.0-only
#include "spec/functions.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "util/glob.h"
#include "util/near_match.h"

namespace argtrace {

namespace {

// "foo" of "foo.isra.0"; the whole name if it is none that the compiler made up.
std::string_view source_name(std::string_view name) {
    return name.substr(0, name.find('.', 1));
}

bool is_clone(std::string_view name) {
    return source_name(name) != name;
}

// " of the kernel" or " of the module ext4".
std::string of_owner(std::string_view module) {
    return module.empty() ? " of the kernel" : fmt::format(" of the module {}", module);
}

// The different addresses in `module` that bear that name.
std::vector<Symbol> symbols_in(const Kallsyms &symbols, std::string_view name,
                               std::string_view module) {
    std::vector<Symbol> found = symbols.named(name);
    std::erase_if(found, [module](const Symbol &symbol) { return symbol.module != module; });
    const auto same = [](const Symbol &a, const Symbol &b) { return a.addr == b.addr; };
    found.erase(std::unique(found.begin(), found.end(), same), found.end());
    return found;
}

std::string_view suggestion(Kernel &kernel, std::string_view word) {
    std::vector<std::string_view> names;
    try {
        for (const TraceableFunction &function : kernel.traceable().all())
            names.push_back(function.name);
    } catch (const Error &) {
        // Without tracefs, BTF alone must do.
    }
    const std::string_view traceable = near_match(word, names);
    return traceable.empty() ? near_match(word, kernel.types().functions()) : traceable;
}

std::string did_you_mean(Kernel &kernel, std::string_view word) {
    const std::string_view name = suggestion(kernel, word);
    return name.empty() ? "" : fmt::format("; did you mean {}?", name);
}

// Why there is no symbol of that name.
Error why_absent(Kernel &kernel, const std::string &name) {
    std::vector<Symbol> clones = kernel.symbols().clones(name);
    std::erase_if(clones, [](const Symbol &clone) { return clone.name.ends_with(".cold"); });
    if (!clones.empty())
        return Error(fmt::format("{}: cannot be traced: the kernel has it only as {}, whose "
                                 "arguments the compiler may have changed",
                                 name, clones.front().name));
    if (!kernel.types().prototypes(name).empty())
        return Error(fmt::format("{}: cannot be traced: the compiler inlined it everywhere (BTF "
                                 "describes it, but the kernel has no symbol of that name)",
                                 name));
    return Error(fmt::format("{}: no such function{}", name, did_you_mean(kernel, name)));
}

Prototype only_prototype(Kernel &kernel, const Symbol &symbol) {
    std::vector<Prototype> prototypes = kernel.types().prototypes(symbol.name, symbol.module);
    if (prototypes.size() == 1)
        return std::move(prototypes.front());
    if (prototypes.size() > 1)
        throw Error(fmt::format("{}: its arguments are not known for sure: BTF describes {} "
                                "functions of that name, which differ",
                                symbol.name, prototypes.size()));
    if (!kernel.types().has_module(symbol.module))
        throw Error(fmt::format("{}: its arguments are unknown: the module {} has no BTF (there is "
                                "no /sys/kernel/btf/{}); build it where the kernel's vmlinux and "
                                "pahole are at hand",
                                symbol.name, symbol.module, symbol.module));
    throw Error(fmt::format("{}: its arguments are unknown: the BTF{} does not describe it",
                            symbol.name, of_owner(symbol.module)));
}

bool is_init_code(const Kallsyms &symbols, const Symbol &symbol) {
    const std::vector<Symbol> begin = symbols.named("_sinittext");
    const std::vector<Symbol> end = symbols.named("_einittext");
    return begin.size() == 1 && end.size() == 1 && symbol.addr >= begin.front().addr &&
           symbol.addr < end.front().addr;
}

} // namespace

std::vector<Function> functions_named(Kernel &kernel, const std::string &name) {
    const std::vector<Symbol> symbols = kernel.symbols().named(name);
    if (symbols.empty())
        throw why_absent(kernel, name);
    if (is_clone(name))
        throw Error(fmt::format("{}: cannot be traced: the compiler made it of {} and may have "
                                "changed its arguments",
                                name, source_name(name)));

    std::vector<Function> found;
    for (const Symbol &symbol : symbols) {
        const std::size_t sharing = symbols_in(kernel.symbols(), name, symbol.module).size();
        // pahole before 1.25 describes the first function it meets of each name, whatever
        // the others take: Debian's 6.12 has two align_show(), with two and three arguments.
        if (sharing > 1)
            throw Error(fmt::format("{}: its arguments are not known for sure: {} functions{} have "
                                    "that name, and BTF does not tell them apart",
                                    name, sharing, of_owner(symbol.module)));
        const bool known = std::any_of(found.begin(), found.end(), [&symbol](const Function &f) {
            return f.symbol.addr == symbol.addr;
        });
        if (!known)
            found.push_back({symbol, only_prototype(kernel, symbol)});
    }
    return found;
}

std::vector<Function> functions_matching(Kernel &kernel, const std::string &glob) {
    std::vector<Function> found;
    std::size_t undescribed = 0;
    const TraceableFunction *last = nullptr;
    for (const TraceableFunction &function : kernel.traceable().all()) {
        if (!glob_matches(glob, function.name) || (last && *last == function))
            continue;
        last = &function;

        const std::vector<Symbol> symbols =
            symbols_in(kernel.symbols(), function.name, function.module);
        if (symbols.size() == 1 && !is_clone(function.name)) {
            std::vector<Prototype> prototypes =
                kernel.types().prototypes(function.name, function.module);
            if (prototypes.size() == 1) {
                found.push_back({symbols.front(), std::move(prototypes.front())});
                continue;
            }
        }
        undescribed++;
    }
    if (!found.empty())
        return found;

    if (undescribed > 0)
        throw Error(fmt::format("{}: the arguments of all that it matches are unknown: BTF does "
                                "not describe them for sure (functions that can be traced: {})",
                                glob, undescribed));
    std::string stem = glob;
    std::erase_if(stem, [](char c) { return c == '*' || c == '?'; });
    throw Error(fmt::format("{}: matches no function that can be traced{}", glob,
                            did_you_mean(kernel, stem)));
}

std::vector<Function> traceable_functions(Kernel &kernel, std::span<const std::string> specs) {
    std::vector<Function> functions;
    for (const std::string &spec : specs) {
        std::vector<Function> found =
            is_glob(spec) ? functions_matching(kernel, spec) : functions_named(kernel, spec);
        for (const Function &function : found)
            if (!is_glob(spec) &&
                !kernel.traceable().contains(function.symbol.name, function.symbol.module))
                throw why_untraceable(kernel, function.symbol);
        std::move(found.begin(), found.end(), std::back_inserter(functions));
    }

    const auto key = [](const Function &function) {
        const Symbol &symbol = function.symbol;
        return std::tie(symbol.name, symbol.module, symbol.addr);
    };
    std::sort(functions.begin(), functions.end(),
              [key](const Function &a, const Function &b) { return key(a) < key(b); });
    const auto same = [key](const Function &a, const Function &b) { return key(a) == key(b); };
    functions.erase(std::unique(functions.begin(), functions.end(), same), functions.end());
    return functions;
}

Error why_untraceable(Kernel &kernel, const Symbol &symbol) {
    bool listed = false;
    try {
        listed = kernel.traceable().contains(symbol.name, symbol.module);
    } catch (const Error &e) {
        return Error(
            fmt::format("{}: the kernel does not trace it, and why cannot be looked up: {}",
                        symbol.name, e.what()));
    }
    if (listed)
        return Error(fmt::format("{}: the kernel refused to trace it at {:#x}, although it is in "
                                 "available_filter_functions: see dmesg",
                                 symbol.name, symbol.addr));
    if (is_init_code(kernel.symbols(), symbol))
        return Error(fmt::format("{}: cannot be traced: it ran while the kernel booted, and was "
                                 "freed after that",
                                 symbol.name));
    return Error(fmt::format("{}: cannot be traced: it is marked notrace or written in "
                             "assembly (it is not in available_filter_functions)",
                             symbol.name));
}

} // namespace argtrace
