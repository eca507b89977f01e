// SPDX-License-Identifier: GPL-2.0-only
#include "spec/pattern.h"

#include <utility>

#include "util/error.h"
#include "util/glob.h"

namespace argtrace {

namespace {

std::string reason(int error, const regex_t &regex) {
    std::string text(::regerror(error, &regex, nullptr, 0), '\0');
    ::regerror(error, &regex, text.data(), text.size());
    text.resize(text.find('\0'));
    return text;
}

struct Free {
    void operator()(regex_t *regex) const {
        ::regfree(regex);
        delete regex;
    }
};

} // namespace

Pattern::Pattern(std::string text)
    : text_(std::move(text)), kind_(is_glob(text_) ? Kind::glob : Kind::name) {}

Pattern Pattern::regex(std::string text) {
    auto compiled = std::make_unique<regex_t>();
    if (int error = ::regcomp(compiled.get(), text.c_str(), REG_EXTENDED | REG_NOSUB))
        throw Error(reason(error, *compiled));

    Pattern pattern(std::move(text));
    pattern.kind_ = Kind::regex;
    pattern.regex_.reset(compiled.release(), Free());
    return pattern;
}

bool Pattern::matches(std::string_view name) const {
    switch (kind_) {
    case Kind::regex:
        return ::regexec(regex_.get(), std::string(name).c_str(), 0, nullptr, 0) == 0;
    case Kind::glob:
        return glob_matches(text_, name);
    case Kind::name:
        break;
    }
    return name == text_;
}

} // namespace argtrace
