// SPDX-License-Identifier: GPL-2.0-only
#include "render/caller.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/user_frame.h"
#include "util/visible.h"

namespace argtrace {

namespace {

// More than a kernel has callers of what is traced at a time; a broken file may have any number.
constexpr std::size_t names_max = 1 << 16;

// Tracers of returns, argtrace's own among them, replace the return address of a function by that
// of such code. A function that it ends in a tail call of finds it there as its caller's.
bool takes_returns(const Symbol &symbol) {
    if (symbol.module == "argtrace")
        return symbol.name.starts_with("argtrace_return_");
    return symbol.module.empty() &&
           (symbol.name == "arch_rethook_trampoline" || symbol.name == "return_to_handler");
}

/// " at file.c:34", as gdb and addr2line have it; empty where that is not known.
std::string line_text(const SourceFrame &frame) {
    if (frame.file.empty() || frame.line == 0)
        return "";
    return fmt::format(" at {}:{}", visible_text(std::string_view(frame.file).substr(frame.file.rfind('/') + 1)), frame.line);
}

std::string inlined_function(const SourceFrame &frame) {
    return frame.function.empty() ? "??" : visible_text(frame.function);
}

std::string inlined_text(const SourceFrame &frame) {
    return inlined_function(frame) + " (inlined)" + line_text(frame);
}

} // namespace

const std::string &CallerNames::name(Names &names, CodePlace place, Zero zero) {
    if (names.size() >= names_max && !names.contains(place))
        names.clear();
    auto known = names.find(place);
    if (known == names.end())
        known = names.emplace(place, look_up(place, zero)).first;
    return known->second;
}

std::optional<CodeObject> CallerNames::object(CodePlace place) const {
    return place.space == CodeSpace::user ? symbols_.object(UserFrame(place.address).object) : std::nullopt;
}

/// A name in its parts: "ext4_read", 0x10, " [ext4]". Without an offset it stands for more than a function.
struct CallerNames::Name {
    std::string function;
    std::optional<std::uint64_t> offset;
    std::string module = {};

    std::string text(Zero zero) const {
        if (!offset || (*offset == 0 && zero == Zero::hidden))
            return function + module;
        return fmt::format("{}+{:#x}{}", function, *offset, module);
    }
};

/// Nothing where the name is `unknown`.
std::optional<CallerNames::Name> CallerNames::find_name(CodePlace place, Zero zero) const {
    if (place.space == CodeSpace::user && place.address & ARGTRACE_FRAME_USER && UserFrame(place.address).is_end())
        return Name{describe_end(UserFrame(place.address), ""), std::nullopt};
    const auto symbol = symbols_.find(place);
    if (!symbol && place.space == CodeSpace::user) { // "[vdso]+0x12"
        const UserFrame frame(place.address);
        return frame.is_end() ? Name{describe_end(frame, ""), std::nullopt} : Name{describe_user_object(frame.object), frame.offset};
    }
    if (!symbol)
        return Name{fmt::format("{:#x}", place.address), std::nullopt};
    if (place.space == CodeSpace::kernel && zero == Zero::shown && takes_returns(*symbol))
        return std::nullopt;
    return Name{place.space == CodeSpace::user ? visible_text(symbol->name) : std::string(symbol->name), place.address - symbol->addr,
                symbol->module.empty() ? "" : fmt::format(" [{}]", symbol->module)};
}

std::string CallerNames::look_up(CodePlace place, Zero zero) const {
    const auto name = find_name(place, zero);
    return name ? name->text(zero) : std::string(unknown);
}

std::string CallerNames::end(std::uint64_t word, std::optional<std::uint64_t> innermore) const {
    std::string in;
    if (innermore && UserFrame(*innermore).object == ARGTRACE_OBJECT_MEMORY)
        in = "[anonymous]";
    else if (const auto found = innermore ? object(user_place(*innermore)) : std::nullopt)
        in = visible_text(shown_name(*found));
    return describe_end(UserFrame(word), in);
}

std::vector<CallerNames::Frame> CallerNames::look_up_frames(CodePlace place) const {
    const auto name = find_name(place, Zero::shown);
    if (!name)
        return {};
    std::vector<SourceFrame> source = symbols_.source(place);
    const std::string line = source.empty() ? "" : line_text(source.back());
    std::vector<Frame> frames;
    for (std::size_t i = 0; i + 1 < source.size(); ++i) {
        std::string inlined = inlined_text(source[i]);
        source[i].function = inlined_function(source[i]);
        frames.push_back({inlined, inlined, std::move(source[i])});
    }
    SourceFrame last = source.empty() ? SourceFrame() : std::move(source.back());
    last.function = name->function + name->module;
    frames.push_back({name->text(Zero::shown) + line, last.function + line, std::move(last)});
    return frames;
}

CallerNames::Functions CallerNames::look_up_functions(CodePlace place) {
    const auto name = find_name(place, Zero::shown);
    if (!name)
        return {0, 0};
    const std::vector<SourceFrame> source = symbols_.source(place);
    const std::uint32_t last = texts_.number(name->function + name->module + (source.empty() ? "" : line_text(source.back())));
    if (source.size() <= 1)
        return {last, 1};
    const auto first = static_cast<std::uint32_t>(function_numbers_.size());
    for (std::size_t i = 0; i + 1 < source.size(); ++i)
        function_numbers_.push_back(texts_.number(inlined_text(source[i])));
    function_numbers_.push_back(last);
    return {first, static_cast<std::uint32_t>(source.size())};
}

std::span<const std::uint32_t> CallerNames::functions(CodePlace place) {
    Functions &known = functions_by_place_[place];
    if (known.count == Functions::not_looked_up)
        known = look_up_functions(place);
    return view(known);
}

std::span<const std::uint32_t> CallerNames::look_up_numbered(CodePlace place, std::uint32_t number) {
    if (number >= functions_by_number_.size())
        functions_by_number_.resize(std::max<std::size_t>(number + 1, 2 * functions_by_number_.size()));
    functions_by_number_[number] = look_up_functions(place);
    return view(functions_by_number_[number]);
}

const std::vector<CallerNames::Frame> &CallerNames::frames(CodePlace place) {
    auto known = frames_.find(place);
    if (known == frames_.end()) {
        if (frames_.size() >= names_max)
            frames_.clear();
        known = frames_.emplace(place, look_up_frames(place)).first;
    }
    return known->second;
}

} // namespace argtrace
