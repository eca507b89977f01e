// SPDX-License-Identifier: GPL-2.0-only
#include "answer/answer_target.h"

#include <ctime>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "render/pprof.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/nanoseconds.h"

namespace argtrace {

TraceTarget open_answer_target(const std::string &path) {
    if (path.empty())
        return {Fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)), "standard output"};
    return TraceTarget(path);
}

std::string time_of_day() {
    return time_of_day(realtime_now());
}

std::string time_of_day(std::uint64_t realtime) {
    const auto seconds = static_cast<std::time_t>(realtime / nanoseconds_per_second);
    std::tm local{};
    char text[16];
    ::localtime_r(&seconds, &local);
    return {text, std::strftime(text, sizeof(text), "%H:%M:%S", &local)};
}

StackForm stack_form_of(const std::string &path, StackForm form, bool json, bool interval) {
    const std::string_view name = path;
    if (name.ends_with(".folded"))
        form = StackForm::folded;
    const bool is_profile = name.ends_with(pprof_suffix);
    if (!name.ends_with(".svg") && !name.ends_with(".html") && !is_profile)
        return form;
    const std::string_view what = is_profile ? "profile for pprof" : "flame graph";
    if (form == StackForm::folded)
        throw Error(fmt::format("{}: --fold writes text: let the name end in .folded, or leave --fold "
                                "out for a {}",
                                path, what));
    if (json)
        throw Error(fmt::format("{}: this name asks for a {}, and --json for JSON: leave one "
                                "of them out",
                                path, what));
    if (interval)
        throw Error(fmt::format("{}: a {} is made once, at the end: leave --interval out", path, what));
    if (is_profile)
        return StackForm::pprof;
    return name.ends_with(".svg") ? StackForm::svg : StackForm::html;
}

} // namespace argtrace
