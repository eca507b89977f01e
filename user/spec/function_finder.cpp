// SPDX-License-Identifier: GPL-2.0-only
#include "spec/function_finder.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "model/cold_part.h"
#include "spec/absent.h"
#include "uapi/argtrace.h"

namespace argtrace {

namespace {

Prototype registers(std::string_view function, unsigned count) {
    Prototype prototype;
    prototype.function = function;
    prototype.result = "unsigned long";
    prototype.result_shape = {.kind = Shape::Kind::pointer, .bytes = 8};
    prototype.variadic = true;
    std::string list;
    for (unsigned i = 0; i < count; i++) {
        std::string name = fmt::format("arg{}", i);
        list += fmt::format("unsigned long {}, ", name);
        // An address, so that it is shown in hexadecimal.
        prototype.parameters.push_back(
            {std::move(name), "unsigned long", {.kind = Shape::Kind::pointer, .bytes = 8}});
    }
    prototype.text = fmt::format("unsigned long {}({}...)", function, list);
    return prototype;
}

// The text of a clone's prototype has the name of what it was made of.
void rename(Prototype &prototype, std::string_view name) {
    const std::string source = std::string(source_name(name)) + '(';
    const std::size_t at = prototype.text.rfind(' ' + source);
    if (at != std::string::npos)
        prototype.text.replace(at + 1, source.size() - 1, name);
    else if (const std::size_t pointer = prototype.text.find('*' + source);
             pointer != std::string::npos)
        prototype.text.replace(pointer + 1, source.size() - 1, name);
    prototype.function = name;
}

bool shares_name(const Assessment &a, const Assessment &b) {
    return a.symbol.name == b.symbol.name && a.symbol.module == b.symbol.module;
}

Error why_left(const Spec &spec, const Assessment &left) {
    const std::string_view name = left.symbol.name;
    if (name == spec.pattern.text())
        return error_in(spec, fmt::format("{}: {}", spec.title(), explain(left)));
    return error_in(spec, fmt::format("{}: the kernel has it only as {}: {}", spec.title(),
                                      name, explain(left)));
}

} // namespace

void FunctionFinder::find(const Spec &spec) {
    check_module(kernel_, spec);
    if (spec.pattern.kind() == Pattern::Kind::name)
        find_name(spec);
    else
        find_pattern(spec);
}

void FunctionFinder::find_name(const Spec &spec) {
    std::vector<Symbol> symbols = symbols_of(spec);
    if (symbols.empty())
        throw why_absent(kernel_, spec);

    std::erase_if(symbols, [this](const Symbol &symbol) { return search_.is_excluded(symbol.name, symbol.module); });
    std::vector<Assessment> left, untraceable;
    Unresolved unresolved = search_.unresolved(spec);
    bool any = symbols.empty();
    for (const Symbol &symbol : symbols) {
        Assessment assessment = assess(
            kernel_, symbol, symbols_in(kernel_.symbols(), symbol.name, symbol.module).size());
        std::optional<Function> function = take(assessment);
        if (!function)
            (assessment.doubt == Doubt::untraceable ? untraceable : left).push_back(std::move(assessment));
        else if (search_.accept(spec, std::move(*function), unresolved))
            any = true;
    }
    // What an option takes is said first of those that share a name.
    for (const Assessment &assessment : untraceable)
        if (std::ranges::none_of(left, [&](const Assessment &other) { return shares_name(other, assessment); }))
            left.push_back(assessment);
    if (!any && !unresolved.empty())
        search_.give_up(unresolved);
    else if (!any)
        throw why_left(spec, left.front());
    note_left(spec, left);
    search_.note_unresolved(spec, unresolved);
}

void FunctionFinder::find_pattern(const Spec &spec) {
    LeftOut left;
    Unresolved unresolved = search_.unresolved(spec);
    bool any = false;
    const TraceableFunction *last = nullptr;
    for (const TraceableFunction &function : kernel_.traceable().all()) {
        if ((last && *last == function) || !spec.matches(function.name, function.module))
            continue;
        last = &function;
        if (search_.is_excluded(function.name, function.module)) {
            any = true;
            continue;
        }
        const std::vector<Symbol> symbols =
            symbols_in(kernel_.symbols(), function.name, function.module);
        for (const Symbol &symbol : symbols) {
            Assessment assessment = assess(kernel_, symbol, symbols.size());
            std::optional<Function> taken = take(assessment);
            if (!taken && assessment.told_apart && assessment.doubt == Doubt::untraceable)
                continue; // a pattern matches what can be traced
            if (!taken)
                left.add(assessment);
            else if (search_.accept(spec, std::move(*taken), unresolved))
                any = true;
        }
    }
    if (!any && !unresolved.empty())
        search_.give_up(unresolved);
    else if (!any)
        throw why_nothing(spec, left);
    if (left.total() > 0)
        search_.note_left(spec, fmt::format(
            "{} left out: {}",
            left.total() == 1 ? "1 function is" : fmt::format("{} functions are", left.total()),
            left.describe(listable(spec))));
    search_.note_unresolved(spec, unresolved);
}

// The symbols of that name and, behind them, the clones of it.
std::vector<Symbol> FunctionFinder::symbols_of(const Spec &spec) {
    const std::string &name = spec.pattern.text();
    if (is_generated_name(name))
        kernel_.insist_on_all_symbols();
    std::vector<Symbol> symbols = kernel_.symbols().named(name);
    if (!is_clone(name))
        for (const Symbol &clone : kernel_.symbols().clones(name))
            if (!is_cold(clone.name))
                symbols.push_back(clone);
    std::erase_if(symbols, [&spec](const Symbol &s) { return !spec.matches_module(s.module); });
    return symbols;
}

void FunctionFinder::note_left(const Spec &spec, const std::vector<Assessment> &left) {
    const Assessment *last = nullptr;
    for (const Assessment &assessment : left) {
        const Symbol &symbol = assessment.symbol;
        if (last && shares_name(*last, assessment))
            continue; // one of several that share the name
        last = &assessment;
        if (const std::string few = explain_few(assessment); !few.empty()) {
            search_.note_left(spec, few);
            continue;
        }
        const std::string module =
            symbol.module.empty() ? "" : fmt::format(" of the module {}", symbol.module);
        search_.note_left(spec, fmt::format("{}{} is left out: {}", symbol.name, module, explain(assessment)));
    }
}

// What `argtrace list` takes for that pattern; empty where that needs more than a word.
std::string FunctionFinder::listable(const Spec &spec) const {
    const bool glob = spec.pattern.kind() != Pattern::Kind::regex;
    return glob && !listing_ && kernel_.only_module().empty() ? spec.title() : "";
}

Error FunctionFinder::why_nothing(const Spec &spec, const LeftOut &left) {
    if (left.total() > 0)
        return error_in(spec, fmt::format("{}: the arguments of all that it matches are not "
                                          "known for sure: {}",
                                          spec.title(), left.describe(listable(spec))));
    std::string stem = spec.pattern.text();
    std::erase_if(stem, [](char c) {
        return std::string_view("*?^$.+").find(c) != std::string_view::npos;
    });
    return error_in(spec, fmt::format("{}: matches no function that can be traced{}",
                                      spec.title(), suggest_function(kernel_, stem)));
}

// The function as it is wanted; nothing if it is to be left out.
std::optional<Function> FunctionFinder::take(Assessment &assessment) {
    // One that cannot be traced would have the module refuse them all: nor is --force recommended then.
    if (assessment.sharing > 1)
        look_at_namesakes(assessment);

    Function function{assessment.symbol, {}};
    function.convention = kernel_.architecture().functions;
    function.namesakes = listing_ && kernel_.symbols().named(assessment.symbol.name).size() > 1;
    switch (assessment.doubt) {
    case Doubt::none:
        function.prototype = assessment.prototypes.front();
        return function;
    case Doubt::cold:
    case Doubt::untraceable:
        return std::nullopt;
    case Doubt::shared:
    case Doubt::differs:
    case Doubt::clone:
        if (request_.force || (listing_ && assessment.doubt != Doubt::clone)) {
            function.prototype = assessment.prototypes.front();
            function.forced = true;
            rename(function.prototype, function.symbol.name);
            return function;
        }
        break;
    case Doubt::undescribed:
    case Doubt::no_module_btf:
        break;
    }
    if (!request_.raw)
        return std::nullopt;
    function.prototype = registers(assessment.symbol.name, function.convention->registers);
    return function;
}

// Finds out which of the functions that share its name can be traced. A list of names alone has each as often as it is traced.
void FunctionFinder::look_at_namesakes(Assessment &assessment) {
    const Symbol &symbol = assessment.symbol;
    const std::vector<Symbol> sharing = symbols_in(kernel_.symbols(), symbol.name, symbol.module);
    if (std::ranges::all_of(sharing, [this](const Symbol &one) { return kernel_.is_surely_traceable(one); }))
        return;
    const Traceable *traceable = nullptr;
    try {
        traceable = &kernel_.traceable();
    } catch (const Error &) {
        return; // the module will tell
    }
    const std::vector<TraceableFunction> &listed = traceable->all();
    const auto [first, last] = std::equal_range(listed.begin(), listed.end(), TraceableFunction{symbol.name, symbol.module});
    if (static_cast<std::size_t>(last - first) >= assessment.sharing)
        return;
    assessment.told_apart = traceable->has_addresses();
    if (!assessment.told_apart) {
        assessment.doubt = Doubt::untraceable;
        return;
    }
    assessment.traced =
        static_cast<std::size_t>(std::ranges::count_if(sharing, [&](const Symbol &one) { return is_traced(*traceable, one); }));
    if (!is_traced(*traceable, symbol))
        assessment.doubt = Doubt::untraceable;
}

bool FunctionFinder::is_traced(const Traceable &traceable, const Symbol &symbol) {
    const std::vector<Symbol> &all = kernel_.symbols().all();
    const auto next = std::ranges::upper_bound(all, symbol.addr, {}, &Symbol::addr);
    return traceable.contains_between(symbol.addr, next == all.end() ? std::numeric_limits<std::uint64_t>::max() : next->addr);
}

} // namespace argtrace
