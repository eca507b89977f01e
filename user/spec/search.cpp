// SPDX-License-Identifier: GPL-2.0-only
#include "spec/search.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "lang/expression_error.h"
#include "spec/aggregate.h"

namespace argtrace {

namespace {

// Where a program calls a function of its own, the kernel has no stack.
StackChoice stacks_for(const ProbeKind &kind, StackChoice wanted) {
    return kind.number == user_kind.number && wanted.any() ? user_stack : wanted;
}

} // namespace

Search::Search(Kernel &kernel, const Request &request)
    : request_(request), followers_(request),
      compiler_(kernel, request.conditions, request.meanings.get(), request.aggregate.get()) {
    compiler_.set_text_bytes(request.text_bytes);
}

bool Search::is_excluded(std::string_view name, std::string_view module) const {
    return argtrace::is_excluded(request_.specs, name, module);
}

Unresolved Search::unresolved(const Spec &spec) const {
    const Aggregate *aggregate = request_.aggregate.get();
    return {spec, request_.conditions, aggregate && !aggregate->keys.empty() ? aggregate->keys.front().expression.text() : std::string()};
}

void Search::add_ticks(const Timer &timer) {
    Function ticking{Symbol{timer.addr(), {}, {}}, {}};
    ticking.kind = &timer_kind;
    ticking.title = timer.name();
    ticking.prototype.function = "a tick"; // of which errors speak
    ticking.capture.limits = request_.limits;
    ticking.capture.stack = request_.stack;
    ticking.capture.values = request_.tick_values;
    compiler_.compile(ticking);
    found_.functions.push_back(std::move(ticking));
}

bool Search::accept(const Spec &spec, Function function, Unresolved &unresolved) {
    try {
        choose(spec, function);
    } catch (const lang::ExpressionError &error) {
        unresolved.add(function.name(), error);
        return false;
    }
    if (function.capture.returns) {
        const std::string why = followers_.choose(function);
        if (!why.empty()) {
            unresolved.add_unfollowed(function.name(), why);
            return false;
        }
    }
    add(spec, std::move(function));
    return true;
}

// What the spec wants of it. Throws lang::ExpressionError when that cannot be resolved there, and Error when it can be nowhere.
void Search::choose(const Spec &spec, Function &function) {
    const bool can_return = spec.kind->can_return;
    if (!can_return && request_.aggregate && request_.aggregate->value == Aggregate::Value::duration)
        throw error_in(spec, fmt::format("{}: {}, so it has no duration: `argtrace latency --from A --to B` "
                                         "shows the time from one to another",
                                         spec.title(), why_no_return(*spec.kind)));
    merge(function.capture, {spec.values, spec.condition, request_.limits,
                             spec.returns || (request_.returns && can_return),
                             stacks_for(*spec.kind, request_.stack), request_.changes && can_return});
    if (request_.aggregate && can_return &&
        needs_return(*request_.aggregate, request_.conditions, function.prototype,
                     function.capture))
        function.capture.returns = true;
    compiler_.compile(function);
}

void Search::add(const Spec &spec, Function function) {
    const auto [known, added] =
        index_.try_emplace({function.kind->number, function.file.get(), function.symbol.addr}, found_.functions.size());
    if (added) {
        found_.functions.push_back(std::move(function));
        return;
    }
    Function &same = found_.functions[known->second];
    same.by |= function.by;
    if (function.capture.returns)
        same.returns = std::move(function.returns);
    try {
        merge(same.capture, std::move(function.capture));
        compiler_.compile(same);
    } catch (const lang::ExpressionError &error) {
        throw Error(spec.place + error.what());
    }
}

void Search::note_left(const Spec &spec, std::string_view sentence) {
    found_.left.push_back(fmt::format("{}{}: {}", spec.place, spec.title(), sentence));
}

void Search::note_unresolved(const Spec &spec, const Unresolved &unresolved) {
    for (const std::string &sentence : unresolved.describe())
        note_left(spec, sentence);
}

void Search::give_up(const Unresolved &unresolved) {
    if (unresolved.by_spec())
        throw unresolved.error();
    if (!unmet_)
        unmet_ = unresolved.error();
}

Found Search::finish() {
    if (found_.functions.empty() && unmet_)
        throw *unmet_;
    check_exclusions();
    if (request_.goroutines)
        add_goroutines();
    followers_.limit(found_);
    if (request_.meanings)
        std::ranges::copy(request_.meanings->unresolved(), std::back_inserter(found_.left));
    return std::move(found_);
}

// A goroutine's calls belong together, in whatever thread: also those of the kernel, of C, and what the kernel calls meanwhile.
void Search::add_goroutines() {
    std::shared_ptr<const GoProgram> program;
    for (const Function &function : found_.functions) {
        if (!function.go || !function.go->goroutine_id)
            continue;
        if (program && (program->goroutine_id != function.go->goroutine_id || program->thread != function.go->thread))
            return; // a thread is that of one of several programs, and nothing says of which
        program = function.go;
    }
    for (Function &function : found_.functions) {
        if (!program || (!function.go && !(request_.goroutines_of_threads && program->thread)))
            continue;
        function.capture.goroutines_of = program;
        try {
            compiler_.compile(function);
        } catch (const lang::ExpressionError &) { // there is no room for it
            function.capture.goroutines_of = nullptr;
            compiler_.compile(function);
        }
    }
}

void Search::check_exclusions() const {
    if (!found_.functions.empty() || request_.specs.empty())
        return;
    const Spec &first = request_.specs.front();
    if (std::all_of(request_.specs.begin(), request_.specs.end(),
                    [](const Spec &spec) { return spec.exclude; }))
        throw error_in(first, 0,
                       "only exclusions are given; add '*'");
    throw Error("no function is left: all that are named are excluded with '!'");
}

} // namespace argtrace
