// SPDX-License-Identifier: GPL-2.0-only
#include "spec/tracepoints.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/probe_kind.h"
#include "util/suggestion.h"

namespace argtrace {

namespace {

// include/linux/tracepoint.h: DEFINE_TRACE_FN()
constexpr std::string_view iterator_prefix = "__traceiter_";

std::string_view name_of(const Symbol &iterator) {
    return iterator.name.substr(iterator_prefix.size());
}

std::vector<Symbol> all_iterators(Kernel &kernel) {
    std::vector<Symbol> iterators;
    for (const Symbol &symbol : kernel.symbols().all())
        if (symbol.name.starts_with(iterator_prefix))
            iterators.push_back(symbol);
    return iterators;
}

std::vector<Symbol> iterators_of(Kernel &kernel, const Pattern &pattern) {
    if (pattern.kind() == Pattern::Kind::name)
        return kernel.symbols().named(std::string(iterator_prefix) + pattern.text());
    std::vector<Symbol> iterators = all_iterators(kernel);
    std::erase_if(iterators,
                  [&pattern](const Symbol &one) { return !pattern.matches(name_of(one)); });
    return iterators;
}

// Where no group is asked for, it does not matter whether they are known.
std::string find_title(Kernel &kernel, const Symbol &iterator, bool groups_matter) {
    const std::string_view name = name_of(iterator);
    try {
        return title_of(tracepoint_kind, kernel.groups().group_of(name), name);
    } catch (const Error &) {
        if (groups_matter)
            throw;
        return title_of(tracepoint_kind, {}, name);
    }
}

// "int __traceiter_NAME(void *__data, bool preempt)" is "TITLE(bool preempt)".
std::string prototype_text(const Prototype &iterator, const std::string &title) {
    const std::string_view text = iterator.text;
    const std::size_t list = text.find('(', text.find(iterator.function)) + 1;
    const std::size_t first_end = text.find_first_of(",)", list);
    if (first_end == text.npos || text[first_end] == ')')
        return title + "()";
    return fmt::format("{}({}", title, text.substr(text.find_first_not_of(", ", first_end)));
}

bool describe(Kernel &kernel, Function &function) {
    const Symbol &iterator = function.symbol;
    std::vector<Prototype> prototypes =
        kernel.types().prototypes(iterator.name, iterator.module);
    if (prototypes.size() != 1 || prototypes.front().parameters.empty())
        return false;
    function.prototype = std::move(prototypes.front());
    Prototype &prototype = function.prototype;
    prototype.text = prototype_text(prototype, function.title);
    prototype.function = function.title;
    prototype.parameters.erase(prototype.parameters.begin());
    prototype.hidden = 1;
    return true;
}

Error why_none(Kernel &kernel, const Spec &spec) {
    const std::string &wanted = spec.pattern.text();
    // Events of tracefs, but no tracepoints.
    if (spec.module && spec.module->text == "syscalls")
        return error_in(spec, fmt::format("{}: there is no such tracepoint; a system call is s:NAME, with what it "
                                          "returns by --return: `argtrace list 's:*'` shows them",
                                          spec.title()));
    const std::string &module = kernel.only_module();
    if (all_iterators(kernel).empty() && !module.empty())
        return error_in(spec, fmt::format("{}: {} has no tracepoints", spec.title(), module));
    if (all_iterators(kernel).empty())
        return error_in(spec, fmt::format("{}: this kernel has no tracepoints (CONFIG_TRACEPOINTS)",
                                          spec.title()));
    const std::string list = module.empty() ? "argtrace list 't:*'" : fmt::format("argtrace list --on-load {} 't:*'", module);
    if (spec.pattern.kind() != Pattern::Kind::name)
        return error_in(spec, fmt::format("{}: matches no tracepoint; `{}` shows all of them", spec.title(), list));
    std::vector<std::string> titles;
    std::vector<std::string_view> names;
    for (const Symbol &iterator : all_iterators(kernel))
        titles.push_back(find_title(kernel, iterator, false));
    for (const std::string &title : titles)
        names.push_back(split_title(title).name);
    if (!spec.module && kernel.groups().has_group(wanted))
        return error_in(spec, fmt::format("{}: there is no such tracepoint; those of that group are "
                                          "'t:{}:*'",
                                          spec.title(), wanted));
    // The name may be right, and the group wrong.
    const Suggestion suggestion = suggest(wanted, names);
    if (suggestion.names.empty())
        return error_in(spec, fmt::format("{}: there is no such tracepoint; `{}` shows all of them", spec.title(), list));
    const auto near = std::find(names.begin(), names.end(), suggestion.names.front());
    const std::string_view title = titles[static_cast<std::size_t>(near - names.begin())];
    return error_in(spec, fmt::format("{}: there is no such tracepoint{}", spec.title(),
                                      did_you_mean(title)));
}

} // namespace

FoundTracepoints find_tracepoints(Kernel &kernel, const Spec &spec) {
    FoundTracepoints found;
    for (const Symbol &iterator : iterators_of(kernel, spec.pattern)) {
        Function function{iterator, {}};
        function.kind = &tracepoint_kind;
        function.convention = kernel.architecture().functions;
        function.title = find_title(kernel, iterator, spec.module.has_value());
        if (!spec.matches(function.title, {}))
            continue;
        if (describe(kernel, function))
            found.tracepoints.push_back(std::move(function));
        else
            found.undescribed.push_back(std::move(function.title));
    }
    if (found.tracepoints.empty() && found.undescribed.empty())
        throw why_none(kernel, spec);
    if (found.tracepoints.empty())
        throw error_in(spec, fmt::format("{}: BTF does not describe its arguments",
                                         found.undescribed.front()));
    std::sort(found.tracepoints.begin(), found.tracepoints.end(),
              [](const Function &a, const Function &b) { return a.title < b.title; });
    return found;
}

} // namespace argtrace
