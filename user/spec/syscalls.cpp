// SPDX-License-Identifier: GPL-2.0-only
#include "spec/syscalls.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "btf/built_prototypes.h"
#include "util/suggestion.h"

namespace argtrace {

namespace {

// include/linux/syscalls.h, compat.h
constexpr std::string_view body_prefix = "__do_sys_", compat_body_prefix = "__do_compat_sys_";

constexpr std::size_t titles_shown = 5;

// What the kernel calls those that programs know by another name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> other_names{{
    {"stat", "newstat"},
    {"fstat", "newfstat"},
    {"lstat", "newlstat"},
    {"uname", "newuname"},
    {"umount2", "umount"},
    {"sendfile", "sendfile64"},
    {"fadvise64_64", "fadvise64"},
}};

struct Candidate {
    Symbol symbol;
    bool is_compat = false; // its arguments are its own, not those of the 64-bit call
};

using Candidates = std::map<std::string_view, Candidate>; // by name

/// What is known of a call's arguments.
struct Described {
    std::optional<std::vector<WrittenParameter>> written;
    std::optional<Prototype> prototype; // of a function that takes them
    bool guessed = false;
};

class SyscallFinder {
public:
    SyscallFinder(Kernel &kernel, const Spec &spec, const SyscallRequest &request)
        : kernel_(kernel), spec_(spec), request_(request), built_(kernel.types().copy_of_kernel()) {
        try {
            formats_ = &kernel.syscalls();
        } catch (const Error &error) {
            no_formats_ = error.what();
        }
    }

    FoundSyscalls find() {
        for (const SyscallAbi &abi : abis_)
            if (wants(abi.name))
                find(abi);
        if (pending_.empty() && guessed_.total + undescribed_.total == 0)
            throw why_none();
        if (pending_.empty())
            throw error_in(spec_, fmt::format("{}: {}", spec_.title(), left().front()));
        FoundSyscalls found;
        const btf *types = kernel_.types().keep(built_.take());
        for (Pending &pending : pending_) {
            complete(pending, types);
            found.syscalls.push_back(std::move(pending.function));
        }
        std::sort(found.syscalls.begin(), found.syscalls.end(),
                  [](const Function &a, const Function &b) { return a.title < b.title; });
        found.left = left();
        return found;
    }

private:
    /// A call whose prototype is made when all are known.
    struct Pending {
        Function function;
        std::uint32_t built = 0; // its prototype's number; 0: it has one
    };

    struct Titles {
        std::vector<std::string> first;
        std::size_t total = 0;

        void add(const std::string &title) {
            if (first.size() < titles_shown)
                first.push_back(title);
            ++total;
        }
        std::string describe(std::string_view why, std::string_view way_out) const {
            return fmt::format("{} left out, as {} ({}{}); {}",
                               total == 1 ? "1 system call is" : fmt::format("{} system calls are", total),
                               why, fmt::join(first, ", "), first.size() < total ? " ..." : "", way_out);
        }
    };

    bool wants(std::string_view abi) const {
        return spec_.module ? spec_.module->matches(abi) : abi.empty();
    }

    void find(const SyscallAbi &abi) {
        for (const auto &[name, candidate] : candidates(abi)) {
            if (!spec_.matches_name(name))
                continue;
            Function function{candidate.symbol, {}};
            function.kind = &syscall_kind;
            function.title = title_of(syscall_kind, abi.name, name);
            function.convention = abi.convention;
            add(std::move(function), describe(name, candidate, abi.name));
        }
    }

    Candidates candidates(const SyscallAbi &abi) { return &abi == &native_ ? native() : others(abi); }

    Candidates native() {
        Candidates candidates;
        for (const Symbol &symbol : kernel_.symbols().all()) {
            if (!symbol.name.starts_with(native_.prefix))
                continue;
            // The others are in no table of this kernel, or are only there to say that they are not.
            const std::string_view name = symbol.name.substr(native_.prefix.size());
            if (!formats_ || formats_->contains(name))
                candidates.emplace(name, Candidate{symbol});
        }
        return candidates;
    }

    // Without those that are one function with the 64-bit call: as they have no arguments, nothing tells them apart.
    Candidates others(const SyscallAbi &abi) {
        Candidates candidates;
        for (const Symbol &symbol : kernel_.symbols().all())
            if (!abi.compat_prefix.empty() && symbol.name.starts_with(abi.compat_prefix))
                candidates.emplace(symbol.name.substr(abi.compat_prefix.size()), Candidate{symbol, true});
        for (const Symbol &symbol : kernel_.symbols().all()) {
            if (!symbol.name.starts_with(abi.prefix))
                continue;
            const std::string_view name = symbol.name.substr(abi.prefix.size());
            if (!is_shared(name, symbol))
                candidates.emplace(name, Candidate{symbol});
        }
        return candidates;
    }

    bool is_shared(std::string_view name, const Symbol &symbol) {
        for (const Symbol &native : kernel_.symbols().named(std::string(native_.prefix).append(name)))
            if (native.addr == symbol.addr)
                return true;
        return false;
    }

    std::optional<Prototype> body(std::string_view prefix, std::string_view name) {
        std::vector<Prototype> found = kernel_.types().prototypes(std::string(prefix).append(name));
        if (found.size() != 1)
            return std::nullopt;
        // Without arguments: SYSCALL_DEFINE0.
        if (found.front().parameters.size() == 1 && found.front().parameters.front().name == "__unused")
            found.front().parameters.clear();
        return std::move(found.front());
    }

    Described describe(std::string_view name, const Candidate &candidate, std::string_view abi) {
        Described described;
        if (candidate.is_compat) {
            described.prototype = body(compat_body_prefix, name);
            if (described.prototype)
                return described;
        }
        described.guessed = candidate.is_compat;
        if (formats_)
            described.written = formats_->arguments(name);
        if (!described.written)
            described.prototype = body(body_prefix, name);
        else if (!abi.empty())
            for (WrittenParameter &parameter : *described.written)
                if (parameter.type == "long")
                    parameter.type = "int"; // which it is extended from
        return described;
    }

    void add(Function function, Described described) {
        if (!described.written && !described.prototype) {
            if (!request_.raw) {
                undescribed_.add(function.title);
                return;
            }
            described.written = registers();
        } else if (described.guessed && !request_.guessed && request_.raw) {
            described = {registers(), std::nullopt, false};
        } else if (described.guessed && !request_.guessed) {
            guessed_.add(function.title);
            return;
        }
        function.forced = described.guessed;
        Pending pending{std::move(function)};
        if (described.written)
            pending.built = built_.add(*described.written);
        else
            pending.function.prototype = std::move(*described.prototype);
        pending_.push_back(std::move(pending));
    }

    static std::vector<WrittenParameter> registers() {
        constexpr int arguments_max = 6; // of any system call of Linux
        std::vector<WrittenParameter> parameters;
        for (int i = 0; i < arguments_max; ++i)
            parameters.push_back({"void *", fmt::format("arg{}", i)});
        return parameters;
    }

    // "long TITLE(int dfd, const char *filename)"
    static void complete(Pending &pending, const btf *types) {
        Prototype &prototype = pending.function.prototype;
        if (pending.built)
            prototype = prototype_of(types, "", pending.built);
        prototype.function = pending.function.title;
        std::string list;
        for (const Parameter &parameter : prototype.parameters)
            list += fmt::format("{}{}{}{}", list.empty() ? "" : ", ", parameter.type,
                                parameter.type.ends_with('*') ? "" : " ", parameter.name);
        prototype.text = fmt::format("{} {}({})", prototype.result, prototype.function, list);
    }

    std::vector<std::string> left() const {
        std::vector<std::string> sentences;
        if (guessed_.total)
            sentences.push_back(guessed_.describe(
                "only the arguments of the 64-bit calls of their names are known",
                "--force takes these for theirs, --raw shows registers"));
        if (undescribed_.total && formats_)
            sentences.push_back(undescribed_.describe(
                "neither tracefs nor BTF describes their arguments", "--raw shows registers"));
        else if (undescribed_.total)
            sentences.push_back(undescribed_.describe("BTF does not describe their arguments",
                                                      fmt::format("--raw shows registers; {}", no_formats_)));
        return sentences;
    }

    Error why_none() {
        const std::string &wanted = spec_.pattern.text();
        if (native().empty())
            return error_in(spec_, fmt::format("{}: the kernel's functions of system calls are not those of {}",
                                               spec_.title(), kernel_.architecture().name));
        const auto abi = std::ranges::find_if(abis_, [this](const SyscallAbi &one) { return wants(one.name); });
        if (abi == abis_.end())
            return error_in(spec_, spec_.module->at, why_no_abi());
        const Candidates natives = native();
        const Candidates all = candidates(*abi);
        const bool is_native = &*abi == &native_;
        if (!is_native && all.empty())
            return error_in(spec_, fmt::format("{}: this kernel runs no 32-bit programs ({})", spec_.title(), abi->option));
        if (spec_.is_class())
            return error_in(spec_, fmt::format("{}: this kernel has no system call of that class", spec_.title()));
        if (spec_.pattern.kind() != Pattern::Kind::name)
            return error_in(spec_, fmt::format("{}: matches no system call; `argtrace list 's:*'` shows all of them",
                                               spec_.title()));
        const auto native_title = [](std::string_view name) {
            return title_of(syscall_kind, {}, name);
        };
        if (!is_native && natives.contains(wanted))
            return error_in(spec_, fmt::format("{}: the kernel has one function for it and {}, which shows the calls of both",
                                               spec_.title(), native_title(wanted)));
        for (const auto &[known, kernels] : other_names)
            if (is_native && wanted == known && natives.contains(kernels))
                return error_in(spec_, fmt::format("{}: the kernel calls it {}", spec_.title(), native_title(kernels)));
        std::vector<std::string_view> names;
        for (const auto &[name, candidate] : all)
            names.push_back(name);
        const Suggestion suggestion = suggest(wanted, names);
        if (suggestion.names.empty())
            return error_in(spec_, fmt::format("{}: there is no such system call; `argtrace list 's:*'` shows all of them",
                                               spec_.title()));
        const std::string near = title_of(syscall_kind, abi->name, suggestion.names.front());
        return error_in(spec_, fmt::format("{}: there is no such system call{}", spec_.title(), did_you_mean(near)));
    }

    std::string why_no_abi() const {
        std::string why = fmt::format("{}: there is no such ABI", spec_.module->text);
        if (abis_.size() > 1)
            why += fmt::format("; that of 32-bit programs is {}", abis_[1].name);
        return why;
    }

    Kernel &kernel_;
    std::span<const SyscallAbi> abis_ = kernel_.architecture().syscalls;
    const SyscallAbi &native_ = abis_.front();
    const Spec &spec_;
    const SyscallRequest &request_;
    const SyscallFormats *formats_ = nullptr; // NULL: there are none,
    std::string no_formats_;                  // and why
    BuiltPrototypes built_;
    std::vector<Pending> pending_;
    Titles guessed_, undescribed_;
};

} // namespace

FoundSyscalls find_syscalls(Kernel &kernel, const Spec &spec, const SyscallRequest &request) {
    return SyscallFinder(kernel, spec, request).find();
}

} // namespace argtrace
