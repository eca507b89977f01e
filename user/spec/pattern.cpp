// SPDX-License-Identifier: GPL-2.0-only
#include "spec/pattern.h"

#include <utility>

#include <re2/re2.h>

#include "util/error.h"
#include "util/glob.h"

namespace argtrace {

namespace {

RE2::Options posix_options() {
    RE2::Options options;
    options.set_posix_syntax(true);
    options.set_one_line(true); // '^' and '$' are the ends of the name
    options.set_perl_classes(true);
    options.set_word_boundary(true);
    options.set_never_capture(true);
    options.set_log_errors(false);
    return options;
}

} // namespace

Pattern::Pattern(std::string text)
    : text_(std::move(text)), kind_(is_glob(text_) ? Kind::glob : Kind::name) {}

Pattern Pattern::literal(std::string name) {
    Pattern pattern(std::move(name));
    pattern.kind_ = Kind::name;
    return pattern;
}

Pattern Pattern::regex(std::string text) {
    auto compiled = std::make_shared<const RE2>(text, posix_options());
    if (!compiled->ok())
        throw Error(compiled->error());

    Pattern pattern(std::move(text));
    pattern.kind_ = Kind::regex;
    pattern.regex_ = std::move(compiled);
    return pattern;
}

bool Pattern::matches(std::string_view name) const {
    switch (kind_) {
    case Kind::regex:
        return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *regex_);
    case Kind::glob:
        return glob_matches(text_, name);
    case Kind::name:
        break;
    }
    return name == text_;
}

} // namespace argtrace
