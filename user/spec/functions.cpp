// SPDX-License-Identifier: GPL-2.0-only
#include "spec/functions.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "spec/function_finder.h"
#include "spec/search.h"
#include "spec/syscalls.h"
#include "spec/tracepoints.h"
#include "spec/unresolved.h"
#include "spec/untraceable.h"
#include "spec/usdt.h"
#include "spec/user_functions.h"

namespace argtrace {

namespace {

// So many SPECs that are wrong are reported before the search ends.
constexpr std::size_t wrong_max = 10;

/// Has each spec of a request found by the finder of its kind.
class Finder {
public:
    Finder(Kernel &kernel, const Request &request, bool listing)
        : kernel_(kernel), request_(request), listing_(listing), search_(kernel, request),
          functions_(kernel, request, listing, search_) {}

    Found find() {
        std::vector<std::string>
            wrong; // a sentence for each spec that is, so that none hides others
        if (request_.timer)
            search_.add_ticks(*request_.timer);
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
        return search_.finish();
    }

private:
    void find(const Spec &spec) {
        // What finds the probes of each kind.
        static constexpr std::pair<const ProbeKind *, void (Finder::*)(const Spec &)> finders[] = {
            {&function_kind, &Finder::find_function},
            {&tracepoint_kind, &Finder::find_tracepoint},
            {&syscall_kind, &Finder::find_syscall},
            {&user_kind, &Finder::find_user_function},
            {&usdt_kind, &Finder::find_usdt},
        };
        if (!kernel_.only_module().empty() && !spec.kind->deferrable)
            throw error_in(spec, fmt::format("{}: a module has no {}s", spec.title(), spec.kind->noun));
        const auto found =
            std::ranges::find_if(finders, [&spec](const auto &finder) { return *finder.first == *spec.kind; });
        (this->*found->second)(spec);
    }

    void find_function(const Spec &spec) { functions_.find(spec); }

    void find_tracepoint(const Spec &spec) {
        FoundTracepoints found = find_tracepoints(kernel_, spec);
        std::vector<std::string> left;
        if (!found.undescribed.empty())
            left.push_back(fmt::format("left out, as BTF does not describe their arguments: {}",
                                       fmt::join(found.undescribed, ", ")));
        take_titled(spec, std::move(found.tracepoints), left);
    }

    void find_syscall(const Spec &spec) {
        FoundSyscalls found = find_syscalls(
            kernel_, spec, {.guessed = request_.force || listing_, .raw = request_.raw});
        take_titled(spec, std::move(found.syscalls), found.left);
    }

    void find_user_function(const Spec &spec) {
        FoundUserFunctions found = user_functions_.find(spec);
        take_titled(spec, std::move(found.functions), found.left);
    }

    void find_usdt(const Spec &spec) {
        FoundUserFunctions found = usdt_.find(spec);
        if (request_.returns)
            found.left.push_back(why_no_return(usdt_kind));
        take_titled(spec, std::move(found.functions), found.left);
    }

    // What is no function, all of it found for the spec, and what has been left out.
    void take_titled(const Spec &spec, std::vector<Function> functions,
                     const std::vector<std::string> &left) {
        Unresolved unresolved = search_.unresolved(spec);
        bool any = false;
        for (Function &function : functions) {
            if (search_.is_excluded(function.title, {}) ||
                search_.accept(spec, std::move(function), unresolved))
                any = true;
        }
        if (!any)
            search_.give_up(unresolved);
        for (const std::string &sentence : left)
            search_.note_left(spec, sentence);
        search_.note_unresolved(spec, unresolved);
    }

    Kernel &kernel_;
    const Request &request_;
    bool listing_;
    Search search_;
    FunctionFinder functions_;
    ObjectFinder objects_{request_.objects};
    UserFunctionFinder user_functions_{kernel_, request_.prototypes, objects_, request_.debug_files};
    UsdtFinder usdt_{kernel_, objects_};
};

} // namespace

Found find_functions(Kernel &kernel, const Request &request) {
    return kernel.find_surely([&] { return Finder(kernel, request, false).find(); });
}

namespace {

Found list_of_functions(Kernel &kernel, const Request &request) {
    Found found = Finder(kernel, request, true).find();
    // What a pattern matches is taken from the list of those.
    const bool named =
        std::any_of(request.specs.begin(), request.specs.end(), [](const Spec &spec) {
            return !spec.exclude && *spec.kind == function_kind &&
                   spec.pattern.kind() == Pattern::Kind::name;
        });
    if (named)
        for (const Function &function : found.functions)
            if (*function.kind == function_kind && !kernel.is_surely_traceable(function.symbol) &&
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

} // namespace

Found list_functions(Kernel &kernel, const Request &request) {
    return kernel.find_surely([&] { return list_of_functions(kernel, request); });
}

} // namespace argtrace
