// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbols/symbols.h"
#include "util/interned_texts.h"

namespace argtrace {

/// Addresses of code as text: "ksys_read+0x6b", "ext4_file_read_iter+0x4a [ext4]", and
/// "0xffffffffc0a01234" where no symbol is. Each is looked up once, as long as they are not
/// too many. A name is valid until the next is asked for.
class CallerNames {
public:
    /// The symbols stay the caller's.
    explicit CallerNames(const Symbols &symbols) : symbols_(symbols) {}

    /// What is shown of a caller that is not known.
    static constexpr std::string_view unknown = "?";

    /// A return address. Where another tracer has put the address of its own code in the place of
    /// the caller's, that is `unknown`.
    const std::string &name(CodePlace place) { return name(names_, place, Zero::shown); }

    /// The address of a function: without "+0x0" where it is its beginning.
    const std::string &function(CodePlace place) {
        return name(functions_, place, Zero::hidden);
    }

    /// A function at a place of a stack.
    struct Frame {
        std::string name;     ///< "main+0x12", "min (inlined)", and with lines "main+0x12 at main.c:34"
        std::string function; ///< the same without the offset, as flame graphs have it
        SourceFrame source;   ///< with the function's name alone
    };
    /// All at the place, the innermost first: the functions that are inlined there, as far as that is known, and the one that has the
    /// code. None where name() is `unknown`.
    const std::vector<Frame> &frames(CodePlace place);

    /// The same for who asks once for each place.
    std::vector<Frame> look_up_frames(CodePlace place) const;

    /// Their Frame::function alone, by the numbers of these names, valid until the next are asked for. As many places as stacks have are kept
    /// for good, each found out once.
    std::span<const std::uint32_t> functions(CodePlace place);
    /// The same of a place that the Symbols have numbered.
    std::span<const std::uint32_t> functions(CodePlace place, std::uint32_t number) {
        if (number < functions_by_number_.size() && functions_by_number_[number].count != Functions::not_looked_up)
            return view(functions_by_number_[number]);
        return look_up_numbered(place, number);
    }

    /// The number of a name, which can also be one that functions() does not have, and the name, which stays where it is.
    std::uint32_t number(std::string_view name) { return texts_.number(name); }
    const std::string &text(std::uint32_t number) const { return texts_[number]; }
    std::size_t numbers() const { return texts_.size(); }

    /// What is shown of the word that ends a stack which is incomplete: why, and where that was, in the frame before.
    std::string end(std::uint64_t word, std::optional<std::uint64_t> innermore) const;

    /// As Symbols::stack(): valid until the next is asked for.
    std::optional<Stack> stack(std::uint64_t id) { return symbols_.stack(id, room_); }

    /// As Symbols::has_stacks_alike().
    bool has_stacks_alike() const { return symbols_.has_stacks_alike(); }

    /// The module that the function at that place is part of; empty for the kernel itself, and
    /// where no symbol is.
    std::string module(CodePlace place) const {
        const auto symbol = symbols_.find(place);
        return symbol ? std::string(symbol->module) : "";
    }

    /// The object that a place in user code is in; nothing where that is not known.
    std::optional<CodeObject> object(CodePlace place) const;

private:
    enum class Zero { shown, hidden };
    using Names = std::unordered_map<CodePlace, std::string, CodePlace::Hash>;

    const std::string &name(Names &known, CodePlace place, Zero zero);
    std::string look_up(CodePlace place, Zero zero) const;
    struct Name;
    std::optional<Name> find_name(CodePlace place, Zero zero) const;

    /// Those of a place: the one itself, which most places have, or where in function_numbers_ they are.
    struct Functions {
        std::uint32_t one_or_first = 0;
        std::uint32_t count = not_looked_up;
        static constexpr std::uint32_t not_looked_up = ~std::uint32_t{0};
    };
    Functions look_up_functions(CodePlace place);
    std::span<const std::uint32_t> look_up_numbered(CodePlace place, std::uint32_t number);
    std::span<const std::uint32_t> view(const Functions &which) const {
        return which.count == 1 ? std::span(&which.one_or_first, 1) : std::span(function_numbers_).subspan(which.one_or_first, which.count);
    }

    const Symbols &symbols_;
    StackRoom room_;
    Names names_;
    Names functions_;
    std::unordered_map<CodePlace, std::vector<Frame>, CodePlace::Hash> frames_;
    InternedTexts texts_;
    std::vector<std::uint32_t> function_numbers_;
    std::unordered_map<CodePlace, Functions, CodePlace::Hash> functions_by_place_;
    std::vector<Functions> functions_by_number_;
};

} // namespace argtrace
