// SPDX-License-Identifier: GPL-2.0-only
#include "spec/source_line.h"

#include <charconv>
#include <unistd.h>

#include <fmt/format.h>

namespace argtrace {

std::optional<LinePlace> line_place(const Spec &spec) {
    const std::size_t mark = spec.module && !spec.module->quoted ? spec.module->text.rfind('@') : std::string::npos;
    const std::string &number = spec.pattern.text();
    LinePlace place;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), place.line);
    if (mark == std::string::npos || spec.pattern.kind() != Pattern::Kind::name || error != std::errc() || end != number.data() + number.size())
        return std::nullopt;
    place.object = spec.module->text.substr(0, mark);
    place.file = spec.module->text.substr(mark + 1);
    return place.object.empty() || place.file.empty() || place.line <= 0 ? std::nullopt : std::optional(std::move(place));
}

void require_line(const Spec &spec) {
    const std::string path = spec.module ? spec.module->text : "";
    const std::size_t mark = path.rfind('@');
    const auto is_there = [](const std::string &name) { return ::access(name.c_str(), F_OK) == 0; };
    if (mark == path.npos || spec.module->quoted || is_there(path) || !is_there(path.substr(0, mark)))
        return;
    throw error_in(spec, spec.pattern_at,
                   fmt::format("behind u:OBJECT@FILE: is the number of a line, not '{}'; a function is u:{}:{}, whichever file it is in", spec.pattern.text(),
                               path.substr(0, mark), spec.pattern.text()));
}

namespace {

std::string describe_near(const elf::SourceLine &line) {
    if (line.before != 0 && line.behind != 0)
        return fmt::format("the nearest lines that have are {} and {}", line.before, line.behind);
    return line.before != 0 ? fmt::format("the last that has is {}", line.before) : fmt::format("the first that has is {}", line.behind);
}

} // namespace

Error why_no_line(const Spec &spec, const LinePlace &place, const std::string &path, const elf::SourceLine &line) {
    if (!line.has_dwarf)
        return error_in(spec, fmt::format("{}: {} has no debug information, which lines are known by; a place in it is u:OBJECT:0xADDRESS", spec.title(), path));
    if (!line.has_file)
        return error_in(spec, fmt::format("{}: no code of {} comes from a file {}, by its debug information", spec.title(), path, place.file));
    return error_in(spec, spec.pattern_at, fmt::format("{}: line {} has no code; {}", place.file, place.line, describe_near(line)));
}

} // namespace argtrace
