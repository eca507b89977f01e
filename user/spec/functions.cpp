// SPDX-License-Identifier: GPL-2.0-only
#include "spec/functions.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "spec/absent.h"
#include "spec/aggregate.h"
#include "spec/assessment.h"
#include "lang/expression_error.h"
#include "spec/left_out.h"
#include "spec/syscalls.h"
#include "spec/tracepoints.h"
#include "spec/unresolved.h"
#include "spec/untraceable.h"
#include "uapi/argtrace.h"
#include "util/near_match.h"
#include "util/suggestion.h"

namespace argtrace {

namespace {

Prototype registers(std::string_view function) {
    Prototype prototype;
    prototype.function = function;
    prototype.result = "unsigned long";
    prototype.result_shape = {.kind = Shape::Kind::pointer, .bytes = 8};
    prototype.variadic = true;
    std::string list;
    for (int i = 0; i < ARGTRACE_REG_COUNT; i++) {
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

// Why its return value cannot be recorded; empty: it can.
std::string why_unfollowed(const Function &function, const CallingConvention &convention) {
    // A system call has nothing on the stack, whatever its arguments are.
    if (function.source() == Source::syscall)
        return {};
    if (function.forced)
        return "its arguments are not known for sure";
    if (!function.prototype.source.types)
        return "its arguments are unknown";
    return convention.returning(function.prototype).why_not;
}

bool shares_name(const Assessment &a, const Assessment &b) {
    return a.symbol.name == b.symbol.name && a.symbol.module == b.symbol.module;
}

// So many functions the kernel is told to follow of its own accord: each takes as long to begin as a thousand of ours.
constexpr std::size_t by_kernel_max = 64;

// So many SPECs that are wrong are reported before the search ends.
constexpr std::size_t wrong_max = 10;

class Finder {
public:
    Finder(Kernel &kernel, const Request &request, bool listing)
        : kernel_(kernel), request_(request), listing_(listing),
          compiler_(kernel, request.conditions, request.meanings.get(), request.aggregate.get()) {}

    Found find() {
        std::vector<std::string>
            wrong; // a sentence for each spec that is, so that none hides others
        if (request_.timer)
            add_timer(*request_.timer);
        for (const Spec &spec : request_.specs) {
            if (spec.exclude)
                continue;
            try {
                find(spec);
            } catch (const Error &error) {
                if (std::find(wrong.begin(), wrong.end(), error.what()) == wrong.end())
                    wrong.emplace_back(error.what());
            }
            if (wrong.size() == wrong_max) {
                wrong.emplace_back("there may be more like these");
                break;
            }
        }
        if (!wrong.empty())
            throw Error(fmt::format("{}", fmt::join(wrong, "\n")));
        if (found_.functions.empty() && unmet_)
            throw *unmet_;
        check_exclusions();
        limit_by_kernel();
        if (request_.meanings)
            std::ranges::copy(request_.meanings->unresolved(), std::back_inserter(found_.left));
        return std::move(found_);
    }

private:
    void add_timer(const Timer &timer) {
        Function ticking{Symbol{timer.addr(), {}, {}}, {}};
        ticking.title = timer.name();
        ticking.timer = true;
        ticking.prototype.function = "a tick"; // of which errors speak
        ticking.capture.limits = request_.limits;
        ticking.capture.stack = request_.stack;
        ticking.capture.values = request_.tick_values;
        compiler_.compile(ticking.prototype, ticking.capture);
        found_.functions.push_back(std::move(ticking));
    }

    void find(const Spec &spec) {
        switch (spec.source) {
        case Source::tracepoint:
            find_tracepoint(spec);
            return;
        case Source::syscall:
            find_syscall(spec);
            return;
        case Source::function:
            break;
        }
        check_module(kernel_, spec);
        if (spec.pattern.kind() == Pattern::Kind::name)
            find_name(spec);
        else
            find_pattern(spec);
    }

    void find_tracepoint(const Spec &spec) {
        FoundTracepoints found = find_tracepoints(kernel_, spec);
        std::vector<std::string> left;
        if (!found.undescribed.empty())
            left.push_back(fmt::format("left out, as BTF does not describe their arguments: {}",
                                       fmt::join(found.undescribed, ", ")));
        take_titled(spec, std::move(found.tracepoints), left);
    }

    void find_syscall(const Spec &spec) {
        if (!kernel_.only_module().empty())
            throw error_in(spec, fmt::format("{}: a module has no system calls", spec.title()));
        FoundSyscalls found = find_syscalls(
            kernel_, spec, {.guessed = request_.force || listing_, .raw = request_.raw});
        take_titled(spec, std::move(found.syscalls), found.left);
    }

    // What is no function, all of it found for the spec, and what has been left out.
    void take_titled(const Spec &spec, std::vector<Function> functions,
                     const std::vector<std::string> &left) {
        Unresolved unresolved(spec, keys_text());
        bool any = false;
        for (Function &function : functions) {
            if (is_excluded(request_.specs, function.title, {}) ||
                accept(spec, std::move(function), unresolved))
                any = true;
        }
        if (!any)
            give_up(unresolved);
        for (const std::string &sentence : left)
            found_.left.push_back(fmt::format("{}{}: {}", spec.place, spec.title(), sentence));
        note_unresolved(spec, unresolved);
    }

    bool excluded(const Symbol &symbol) const {
        return is_excluded(request_.specs, symbol.name, symbol.module);
    }

    // The symbols of that name and, behind them, the clones of it.
    std::vector<Symbol> symbols_of(const Spec &spec) {
        const std::string &name = spec.pattern.text();
        std::vector<Symbol> symbols = kernel_.symbols().named(name);
        if (!is_clone(name))
            for (const Symbol &clone : kernel_.symbols().clones(name))
                if (!is_cold(clone.name))
                    symbols.push_back(clone);
        std::erase_if(symbols, [&spec](const Symbol &s) { return !spec.matches_module(s.module); });
        return symbols;
    }

    void find_name(const Spec &spec) {
        std::vector<Symbol> symbols = symbols_of(spec);
        if (symbols.empty())
            throw why_absent(kernel_, spec);

        std::erase_if(symbols, [this](const Symbol &symbol) { return excluded(symbol); });
        std::vector<Assessment> left, untraceable;
        Unresolved unresolved(spec, keys_text());
        bool any = symbols.empty();
        for (const Symbol &symbol : symbols) {
            Assessment assessment = assess(
                kernel_, symbol, symbols_in(kernel_.symbols(), symbol.name, symbol.module).size());
            std::optional<Function> function = take(assessment);
            if (!function)
                (assessment.doubt == Doubt::untraceable ? untraceable : left).push_back(std::move(assessment));
            else if (accept(spec, std::move(*function), unresolved))
                any = true;
        }
        // What an option takes is said first of those that share a name.
        for (const Assessment &assessment : untraceable)
            if (std::ranges::none_of(left, [&](const Assessment &other) { return shares_name(other, assessment); }))
                left.push_back(assessment);
        if (!any && !unresolved.empty())
            give_up(unresolved);
        else if (!any)
            throw why_left(spec, left.front());
        note_left(spec, left);
        note_unresolved(spec, unresolved);
    }

    static Error why_left(const Spec &spec, const Assessment &left) {
        const std::string_view name = left.symbol.name;
        if (name == spec.pattern.text())
            return error_in(spec, fmt::format("{}: {}", spec.title(), explain(left)));
        return error_in(spec, fmt::format("{}: the kernel has it only as {}: {}", spec.title(),
                                          name, explain(left)));
    }

    void note_left(const Spec &spec, const std::vector<Assessment> &left) {
        const Assessment *last = nullptr;
        for (const Assessment &assessment : left) {
            const Symbol &symbol = assessment.symbol;
            if (last && shares_name(*last, assessment))
                continue; // one of several that share the name
            last = &assessment;
            if (const std::string few = explain_few(assessment); !few.empty()) {
                found_.left.push_back(fmt::format("{}{}: {}", spec.place, spec.title(), few));
                continue;
            }
            const std::string module =
                symbol.module.empty() ? "" : fmt::format(" of the module {}", symbol.module);
            found_.left.push_back(fmt::format("{}{}: {}{} is left out: {}", spec.place,
                                              spec.title(), symbol.name, module,
                                              explain(assessment)));
        }
    }

    void find_pattern(const Spec &spec) {
        LeftOut left;
        Unresolved unresolved(spec, keys_text());
        bool any = false;
        const TraceableFunction *last = nullptr;
        for (const TraceableFunction &function : kernel_.traceable().all()) {
            if ((last && *last == function) || !spec.matches(function.name, function.module))
                continue;
            last = &function;
            if (is_excluded(request_.specs, function.name, function.module)) {
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
                else if (accept(spec, std::move(*taken), unresolved))
                    any = true;
            }
        }
        if (!any && !unresolved.empty())
            give_up(unresolved);
        else if (!any)
            throw why_nothing(spec, left);
        if (left.total() > 0)
            found_.left.push_back(fmt::format(
                "{}{}: {} left out: {}", spec.place, spec.title(),
                left.total() == 1 ? "1 function is" : fmt::format("{} functions are", left.total()),
                left.describe(listable(spec))));
        note_unresolved(spec, unresolved);
    }

    // False if what is wanted of it cannot be resolved there.
    bool accept(const Spec &spec, Function function, Unresolved &unresolved) {
        try {
            choose(spec, function);
        } catch (const lang::ExpressionError &error) {
            unresolved.add(function.name(), error);
            return false;
        }
        if (function.capture.returns) {
            const std::string why = choose_way(function);
            if (!why.empty()) {
                unresolved.add_unfollowed(function.symbol.name, why);
                return false;
            }
        }
        add(spec, std::move(function));
        return true;
    }

    // Settles who follows its calls. Why nobody can; empty: somebody does.
    std::string choose_way(Function &function) {
        std::string why = why_unfollowed(function, kernel_.calling_convention());
        if (function.source() == Source::syscall)
            return why.empty() ? why_syscall_unfollowed(function) : why;
        const std::uint32_t reason = why_by_kernel(function, !why.empty());
        if (request_.return_by == ReturnBy::trampoline || (request_.return_by == ReturnBy::automatic && reason == ARGTRACE_BY_CHOICE))
            return why;
        if (!why.empty() && reason == ARGTRACE_BY_CHOICE)
            return why;
        if (wants_stack(function.capture))
            return why_no_stack(why, reason);
        function.by = request_.return_by == ReturnBy::kretprobe ? ARGTRACE_PROBE_BY_KRETPROBE : ARGTRACE_PROBE_BY_FPROBE;
        if (request_.return_by == ReturnBy::automatic)
            function.by |= ARGTRACE_PROBE_BY_REASON(reason);
        return {};
    }

    // Why its stack cannot be taken, as the kernel has to follow it.
    std::string why_no_stack(const std::string &why, std::uint32_t reason) const {
        if (request_.return_by != ReturnBy::automatic)
            return "an fprobe or a kretprobe takes no stacks";
        const std::string_view first = why_another(reason);
        return fmt::format("{}, and with its stack it must be us who follow it", first.empty() ? why : first);
    }

    // Why the trampoline cannot follow it, which nobody else does.
    std::string why_syscall_unfollowed(const Function &function) {
        constexpr std::string_view alone = "system calls are followed by the trampoline alone";
        if (request_.return_by == ReturnBy::trampoline)
            return {};
        if (request_.return_by != ReturnBy::automatic)
            return std::string(alone);
        const std::string_view first = why_another(who_comes_first(function));
        return first.empty() ? std::string() : fmt::format("{}, and {}", first, alone);
    }

    static std::string_view why_another(std::uint32_t reason) {
        return reason == ARGTRACE_BY_BPF     ? "a BPF program has come to it first"
               : reason == ARGTRACE_BY_PATCH ? "it is live patched"
                                             : std::string_view();
    }

    // Why the kernel has to, if it can: enum argtrace_by_reason. ARGTRACE_BY_CHOICE: it need not, or cannot.
    std::uint32_t why_by_kernel(const Function &function, bool unfollowed) {
        if (!function.prototype.source.types)
            return ARGTRACE_BY_CHOICE;
        if (unfollowed) {
            const Returning returning = kernel_.calling_convention().returning(function.prototype);
            return function.forced && returning.why_not.empty() ? static_cast<std::uint32_t>(ARGTRACE_BY_STACK) : returning.by_kernel;
        }
        return who_comes_first(function);
    }

    // ARGTRACE_BY_BPF or ARGTRACE_BY_PATCH where calls that are to go to the trampoline go there instead.
    std::uint32_t who_comes_first(const Function &function) {
        if (!enabled_ && request_.enabled)
            enabled_ = request_.enabled();
        if (enabled_ && enabled_->is_direct(function.symbol.name, function.symbol.module))
            return ARGTRACE_BY_BPF;
        if (enabled_ && enabled_->is_modified(function.symbol.name, function.symbol.module))
            return ARGTRACE_BY_PATCH;
        return ARGTRACE_BY_CHOICE;
    }

    static bool wants_stack(const Capture &capture) {
        return std::any_of(capture.program.values.begin(), capture.program.values.end(),
                           [](const lang::ProgramValue &value) { return value.type == ARGTRACE_TYPE_STACK; });
    }

    // Where many of those that are found would have to be followed by the kernel, which nobody has asked for, they are left out.
    void limit_by_kernel() {
        std::vector<Function> &functions = found_.functions;
        const auto is_by_kernel = [](const Function &function) { return function.by != 0; };
        const auto count = static_cast<std::size_t>(std::count_if(functions.begin(), functions.end(), is_by_kernel));
        if (request_.return_by != ReturnBy::automatic) {
            if (count > ARGTRACE_FALLBACKS_MAX)
                throw Error(fmt::format("--return-by: the kernel would have to follow {} functions, and {} is the most: name fewer, or "
                                        "leave it out",
                                        count, ARGTRACE_FALLBACKS_MAX));
            return;
        }
        if (count <= by_kernel_max)
            return;
        const auto first = std::find_if(functions.begin(), functions.end(), is_by_kernel);
        found_.left.push_back(fmt::format("{} functions are left out, whose returns the kernel would have to follow, which takes long to "
                                          "begin: {} and others; name up to {} of them",
                                          count, first->name(), by_kernel_max));
        std::erase_if(functions, is_by_kernel);
    }

    // What --by has been given; empty: nothing.
    std::string keys_text() const {
        const Aggregate *aggregate = request_.aggregate.get();
        return aggregate && !aggregate->keys.empty() ? aggregate->keys.front().expression.text()
                                                     : std::string();
    }

    // Nothing is left of the functions that the spec means. Where that is due to the request's
    // conditions, other specs may still have some.
    void give_up(const Unresolved &unresolved) {
        if (unresolved.by_spec())
            throw unresolved.error();
        if (!unmet_)
            unmet_ = unresolved.error();
    }

    void note_unresolved(const Spec &spec, const Unresolved &unresolved) {
        for (const std::string &sentence : unresolved.describe())
            found_.left.push_back(fmt::format("{}{}: {}", spec.place, spec.title(), sentence));
    }

    // What `argtrace list` takes for that pattern; empty where that needs more than a word.
    std::string listable(const Spec &spec) const {
        const bool glob = spec.pattern.kind() != Pattern::Kind::regex;
        return glob && !listing_ && kernel_.only_module().empty() ? spec.title() : "";
    }

    Error why_nothing(const Spec &spec, const LeftOut &left) {
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
    std::optional<Function> take(Assessment &assessment) {
        // One that cannot be traced would have the module refuse them all: nor is --force recommended then.
        if (assessment.sharing > 1)
            look_at_namesakes(assessment);

        Function function{assessment.symbol, {}};
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
        function.prototype = registers(assessment.symbol.name);
        return function;
    }

    // Finds out which of the functions that share its name can be traced. A list of names alone has each as often as it is traced.
    void look_at_namesakes(Assessment &assessment) {
        const Symbol &symbol = assessment.symbol;
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
        const std::vector<Symbol> sharing = symbols_in(kernel_.symbols(), symbol.name, symbol.module);
        assessment.traced =
            static_cast<std::size_t>(std::ranges::count_if(sharing, [&](const Symbol &one) { return is_traced(*traceable, one); }));
        if (!is_traced(*traceable, symbol))
            assessment.doubt = Doubt::untraceable;
    }

    bool is_traced(const Traceable &traceable, const Symbol &symbol) {
        const std::vector<Symbol> &all = kernel_.symbols().all();
        const auto next = std::ranges::upper_bound(all, symbol.addr, {}, &Symbol::addr);
        return traceable.contains_between(symbol.addr, next == all.end() ? std::numeric_limits<std::uint64_t>::max() : next->addr);
    }

    // What the spec wants of it. Throws lang::ExpressionError when that cannot be resolved there, and Error when it can be nowhere.
    void choose(const Spec &spec, Function &function) {
        const bool can_return = spec.source != Source::tracepoint;
        if (!can_return && request_.aggregate && request_.aggregate->value == Aggregate::Value::duration)
            throw error_in(spec, fmt::format("{}: a tracepoint returns nothing, so it has no duration: `argtrace latency --from A --to B` "
                                             "shows the time from one to another",
                                             spec.title()));
        merge(function.capture, {spec.values, spec.condition, request_.limits,
                                 spec.returns || (request_.returns && can_return),
                                 request_.stack, request_.changes && can_return});
        if (request_.aggregate && can_return &&
            needs_return(*request_.aggregate, request_.conditions, function.prototype,
                         function.capture))
            function.capture.returns = true;
        compiler_.compile(function.prototype, function.capture);
    }

    void add(const Spec &spec, Function function) {
        const auto [known, added] =
            index_.try_emplace({function.kind(), function.symbol.addr}, found_.functions.size());
        if (added) {
            found_.functions.push_back(std::move(function));
            return;
        }
        Function &same = found_.functions[known->second];
        same.by |= function.by;
        try {
            merge(same.capture, std::move(function.capture));
            compiler_.compile(same.prototype, same.capture);
        } catch (const lang::ExpressionError &error) {
            throw Error(spec.place + error.what());
        }
    }

    void check_exclusions() const {
        if (!found_.functions.empty() || request_.specs.empty())
            return;
        const Spec &first = request_.specs.front();
        if (std::all_of(request_.specs.begin(), request_.specs.end(),
                        [](const Spec &spec) { return spec.exclude; }))
            throw error_in(first, 0,
                           "only exclusions are given; add '*'");
        throw Error("no function is left: all that are named are excluded with '!'");
    }

    Kernel &kernel_;
    const Request &request_;
    bool listing_;
    std::optional<EnabledFunctions> enabled_; // once it has been asked for
    CaptureCompiler compiler_;
    std::optional<Error> unmet_; // no function of a spec meets the request's conditions
    Found found_;
    /// By kind and address: where in found_.functions.
    std::map<std::pair<std::uint16_t, std::uint64_t>, std::size_t> index_;
};

} // namespace

Found find_functions(Kernel &kernel, const Request &request) {
    return Finder(kernel, request, false).find();
}

Found list_functions(Kernel &kernel, const Request &request) {
    Found found = Finder(kernel, request, true).find();
    // What a pattern matches is taken from the list of those.
    const bool named =
        std::any_of(request.specs.begin(), request.specs.end(), [](const Spec &spec) {
            return !spec.exclude && spec.source == Source::function &&
                   spec.pattern.kind() == Pattern::Kind::name;
        });
    if (named)
        for (const Function &function : found.functions)
            if (function.title.empty() &&
                !kernel.traceable().contains(function.symbol.name, function.symbol.module))
                throw why_untraceable(kernel, function.symbol);

    const auto key = [](const Function &function) {
        const Symbol &symbol = function.symbol;
        return std::tuple(function.name(), symbol.module, symbol.addr);
    };
    const auto before = [key](const Function &a, const Function &b) { return key(a) < key(b); };
    // Those of one pattern are in order, and a sort would move each of them many times all the same.
    if (!std::ranges::is_sorted(found.functions, before))
        std::ranges::sort(found.functions, before);
    return found;
}

} // namespace argtrace
