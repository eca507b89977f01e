// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "spec/kernel.h"

namespace argtrace {

/// Why it is not sure what a function takes.
enum class Doubt {
    none,
    clone,         ///< the compiler made it of another one, and may have changed what it takes
    cold,          ///< a part that the compiler put elsewhere: it is jumped to, not called
    shared,        ///< several functions of its owner have that name
    differs,       ///< BTF has several prototypes of that name
    undescribed,   ///< BTF does not describe it
    no_module_btf, ///< there is no BTF for its module
    untraceable,   ///< it shares its name, and cannot be traced, or the kernel does not tell whether it can
};

/// What is known of the function at a symbol.
struct Assessment {
    Symbol symbol;
    Doubt doubt = Doubt::none;
    std::size_t sharing = 1;           ///< functions of its owner that have its name
    std::vector<Prototype> prototypes; ///< what BTF says of that name; just one if no doubt
    std::size_t traced = sharing;      ///< how many of these the kernel can trace, as far as is known
    bool told_apart = false;           ///< the kernel tells which these are, where some cannot be traced
};

/// `sharing` is how many functions of its owner have its name.
Assessment assess(Kernel &kernel, const Symbol &symbol, std::size_t sharing);

/// The doubt, and the way out, as a sentence behind the function's name: "its arguments are ...".
std::string explain(const Assessment &assessment);

/// Why some of those that share its name are left out, and the others are not, as a sentence of its own: "1 of 4 functions ..."; empty
/// where that is not so.
std::string explain_few(const Assessment &assessment);

/// "foo" for "foo.isra.0"; the whole name if the compiler has not added a suffix.
std::string_view source_name(std::string_view name);

/// Whether the compiler made up that name: "foo.isra.0", "foo.part.0.cold" ...
bool is_clone(std::string_view name);

/// The different addresses in `module` that bear that name.
std::vector<Symbol> symbols_in(const Kallsyms &symbols, std::string_view name,
                               std::string_view module);

} // namespace argtrace
