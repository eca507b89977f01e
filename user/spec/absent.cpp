// SPDX-License-Identifier: GPL-2.0-only
#include "spec/absent.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "spec/assessment.h"
#include "spec/foreign.h"
#include "spec/user_objects.h"
#include "util/near_match.h"
#include "util/suggestion.h"

namespace argtrace {

namespace {

// A name that differs by more from what was written may be another one altogether.
constexpr std::size_t sure_distance = 2;

Suggestion functions_like(Kernel &kernel, std::string_view word) {
    std::vector<std::string_view> names;
    try {
        for (const TraceableFunction &function : kernel.traceable().all())
            names.push_back(function.name);
    } catch (const Error &) {
        // Without tracefs, BTF alone must do.
    }
    const std::string_view syscall_prefix = kernel.architecture().syscalls.front().prefix;
    Suggestion traceable = suggest(word, names, syscall_prefix);
    return traceable.names.empty() ? suggest(word, kernel.types().functions(kernel.only_module()), syscall_prefix) : traceable;
}

std::string did_you_mean_function(Kernel &kernel, const Suggestion &suggestion,
                                  std::string_view word) {
    const bool listing = kernel.only_module().empty(); // `argtrace list` knows loaded ones alone
    return did_you_mean(suggestion, word, listing);
}

/// The functions of built-in code go by no module: what 'ext4:*' would be there.
Error why_not_loaded(Kernel &kernel, const Spec &spec,
                     const std::vector<std::string_view> &modules) {
    const std::string &module = spec.module->text;
    const std::string stem = module + '_';
    std::size_t count = 0;
    for (const Symbol &symbol : kernel.symbols().all())
        count += symbol.module.empty() && symbol.name.starts_with(stem) ? 1 : 0;
    if (count == 0)
        return error_in(spec, spec.module->at,
                        fmt::format("{}: no such module is loaded{}", module,
                                    did_you_mean(near_match(module, modules))));
    std::string instead = spec.pattern.text();
    if (spec.pattern.kind() != Pattern::Kind::regex && !instead.starts_with(module))
        instead = stem + instead;
    return error_in(spec, spec.module->at,
                    fmt::format("{0}: no such module is loaded; where {0} is built into the "
                                "kernel, its functions go by their names alone ({1} begin with "
                                "{2}): '{3}'",
                                module, count, stem, instead));
}

/// The library or program that hands of other tools mean by a word in place of a module, as bcc's c:strlen; empty: there is none.
std::string user_object_of(const std::string &module) {
    for (std::string object : {"lib" + module, module})
        if (!find_user_object(object).empty())
            return object;
    return {};
}

// Why there is no symbol of that name in the one module that it is all about.
Error why_absent_in_module(Kernel &kernel, const Spec &spec) {
    const std::string &name = spec.pattern.text();
    const std::string &module = kernel.only_module();
    if (!is_clone(name) && !kernel.types().prototypes(name, module).empty())
        return error_in(spec,
                        fmt::format("{}: cannot be traced: the compiler inlined it everywhere (BTF "
                                    "describes it, but {} has no symbol of that name)",
                                    name, module));
    return error_in(spec, spec.pattern_at,
                    fmt::format("{}: no such function in the module {}{}", name, module,
                                suggest_function(kernel, name)));
}

// Why the modules that it names have no such function.
Error why_not_there(Kernel &kernel, const Spec &spec) {
    const std::vector<Symbol> others = kernel.symbols().named(spec.pattern.text());
    std::string elsewhere = suggest_function(kernel, spec.pattern.text());
    if (!others.empty())
        elsewhere =
            fmt::format("; it is in {}", others.front().module.empty() ? "the kernel itself"
                                                                       : others.front().module);
    return error_in(spec, spec.pattern_at,
                    fmt::format("{}: no such function there{}", spec.title(), elsewhere));
}

} // namespace

void check_module(Kernel &kernel, const Spec &spec) {
    if (!spec.module || spec.matches_module({}))
        return;
    std::vector<std::string_view> modules;
    for (const Symbol &symbol : kernel.symbols().all()) {
        if (symbol.module.empty() || (!modules.empty() && modules.back() == symbol.module))
            continue;
        if (spec.matches_module(symbol.module))
            return;
        modules.push_back(symbol.module);
    }
    const std::string &module = spec.module->text;
    if (Pattern(module).kind() != Pattern::Kind::name)
        throw error_in(spec, spec.module->at,
                       fmt::format("{}: no module that is loaded matches", module));
    const std::string foreign = explain_foreign_prefix(module, spec.pattern.text());
    if (!foreign.empty())
        throw error_in(spec, spec.module->at, foreign);
    if (const std::string object = user_object_of(module); !object.empty())
        throw error_in(spec, spec.module->at,
                       fmt::format("{}: no such module is loaded; functions of {} are u:{}:FUNCTION: 'u:{}:{}'", module,
                                   object == module ? "the program" : "the library", object, object, spec.pattern.text()));
    throw why_not_loaded(kernel, spec, modules);
}

Error why_absent(Kernel &kernel, const Spec &spec) {
    const std::string &name = spec.pattern.text();
    if (!kernel.only_module().empty())
        return why_absent_in_module(kernel, spec);
    if (spec.module)
        return why_not_there(kernel, spec);
    if (!is_clone(name) && !kernel.types().prototypes(name).empty())
        return error_in(spec,
                        fmt::format("{}: cannot be traced: the compiler inlined it everywhere (BTF "
                                    "describes it, but the kernel has no symbol of that name)",
                                    name));
    const Suggestion suggestion = functions_like(kernel, name);
    const bool sure = suggestion.contained ||
                      (!suggestion.names.empty() && edit_distance(name, suggestion.names.front(),
                                                                  sure_distance) <= sure_distance);
    return error_in(spec, fmt::format("{}: no such function{}{}", name,
                                      sure ? ""
                                           : " in this kernel: if its source has one, the "
                                             "compiler inlined it or left it out",
                                      did_you_mean_function(kernel, suggestion, name)));
}

std::string suggest_function(Kernel &kernel, std::string_view word) {
    return did_you_mean_function(kernel, functions_like(kernel, word), word);
}

} // namespace argtrace
