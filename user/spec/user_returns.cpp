// SPDX-License-Identifier: GPL-2.0-only
#include "spec/user_returns.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "model/cold_part.h"

namespace argtrace {

namespace {

/// Whether exceptions come here: there are tables for handlers, or a library that throws is needed, or is in it. glibc has tables too, as
/// it unwinds the stacks of threads that are cancelled, but its functions let nothing through.
bool may_throw(const elf::Object &object, const std::vector<elf::NamedFunction> &functions) {
    const std::string_view path = object.path();
    if (path.substr(path.rfind('/') + 1).starts_with("libc.so"))
        return false;
    if (object.section(".gcc_except_table"))
        return true;
    if (const auto *strings = object.section(".dynstr")) {
        const Text content = object.content(*strings);
        const std::string_view names(content.data(), content.size());
        if (names.find("libstdc++.so") != names.npos || names.find("libc++.so") != names.npos || names.find("_Unwind_RaiseException") != names.npos)
            return true;
    }
    return std::ranges::any_of(functions, [](const elf::NamedFunction &function) { return function.symbol == "_Unwind_RaiseException"; });
}

/// Whether it keeps the address that it returns to, for whoever returns there once more: setjmp(3), getcontext(3), vfork(2).
bool keeps_return_address(std::string_view symbol) {
    constexpr std::string_view names[] = {"setjmp", "sigsetjmp", "getcontext", "swapcontext", "vfork", "libc_vfork", "savectx"};
    symbol.remove_prefix(std::min(symbol.find_first_not_of('_'), symbol.size()));
    return std::ranges::find(names, symbol) != std::end(names);
}

} // namespace

UserReturnsFinder::UserReturnsFinder(const elf::Object &object, const std::vector<elf::NamedFunction> &functions, const std::optional<GoCode> &go)
    : object_(object), go_(go), throws_(may_throw(object, functions)) {
    for (const elf::NamedFunction &function : functions)
        if (const std::string_view symbol = function.symbol; is_cold(symbol))
            cold_.emplace(symbol.substr(0, symbol.rfind(".cold")), elf::CodePiece{function.address, function.size});
}

UserReturns UserReturnsFinder::find(const elf::NamedFunction &function) {
    const bool is_go = go_ && go_->has(function);
    if (is_go && !go_->why_not_followed(function).empty())
        return {.why_none = go_->why_not_followed(function)};
    UserReturns returns{.throws = throws_, .keeps_address = keeps_return_address(function.symbol), .is_called = [this, offset = function.offset] {
                            if (!called_)
                                called_.emplace(object_);
                            return called_->is_called(offset);
                        }};
    std::vector<elf::CodePiece> pieces{{function.address, function.size}};
    for (auto [cold, end] = cold_.equal_range(function.symbol); cold != end; ++cold)
        pieces.push_back(cold->second);
    returns.by = elf::find_returns(object_, pieces, is_go ? go_->entry(function) : 0, !is_go);
    if (go_ && !returns.by.known())
        return {.why_none = "where it returns is not known, or it may end in a jump to another function, and the kernel's uretprobe would end a program of Go"};
    return returns;
}

} // namespace argtrace
