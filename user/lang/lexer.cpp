// SPDX-License-Identifier: GPL-2.0-only
#include "lang/lexer.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "lang/expression_error.h"
#include "util/utf8.h"

namespace argtrace::lang {

namespace {

using Kind = Token::Kind;

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool begins_name(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

bool continues_name(char c) {
    return begins_name(c) || is_digit(c);
}

/// 36 for what is no digit in any base.
unsigned digit_value(char c) {
    if (is_digit(c))
        return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'z')
        return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'Z')
        return static_cast<unsigned>(c - 'A' + 10);
    return 36;
}

struct Suffix {
    std::uint64_t factor = 1;
    bool has_u = false;
    bool has_l = false;
};

std::optional<Suffix> find_suffix(std::string_view text) {
    constexpr std::pair<std::string_view, std::uint64_t> units[]{
        {"K", 1ull << 10}, {"M", 1ull << 20}, {"G", 1ull << 30},   {"T", 1ull << 40},
        {"ns", 1},         {"us", 1000},      {"ms", 1000 * 1000}, {"s", 1000 * 1000 * 1000},
    };
    for (const auto &[unit, factor] : units)
        if (text == unit)
            return Suffix{factor};
    Suffix suffix;
    auto take_u = [&] {
        if (suffix.has_u || text.empty() || (text[0] != 'u' && text[0] != 'U'))
            return;
        suffix.has_u = true;
        text.remove_prefix(1);
    };
    take_u();
    for (const std::string_view l : {"ll", "LL", "l", "L"}) {
        if (text.starts_with(l)) {
            suffix.has_l = true;
            text.remove_prefix(l.size());
            break;
        }
    }
    take_u();
    return text.empty() ? std::optional(suffix) : std::nullopt;
}

constexpr std::pair<std::string_view, Kind> punctuators[]{
    // The longer ones first.
    {"->", Kind::arrow},
    {"<<", Kind::shift_left},
    {">>", Kind::shift_right},
    {"<=", Kind::less_equal},
    {">=", Kind::greater_equal},
    {"==", Kind::equal},
    {"!=", Kind::not_equal},
    {"!~", Kind::exclamation_tilde},
    {"&&", Kind::and_and},
    {"||", Kind::or_or},
    {"(", Kind::left_parenthesis},
    {")", Kind::right_parenthesis},
    {"[", Kind::left_bracket},
    {"]", Kind::right_bracket},
    {",", Kind::comma},
    {".", Kind::dot},
    {"?", Kind::question},
    {":", Kind::colon},
    {"+", Kind::plus},
    {"-", Kind::minus},
    {"*", Kind::star},
    {"/", Kind::slash},
    {"%", Kind::percent},
    {"&", Kind::ampersand},
    {"|", Kind::pipe},
    {"^", Kind::caret},
    {"~", Kind::tilde},
    {"!", Kind::exclamation},
    {"<", Kind::less},
    {">", Kind::greater},
    {"@", Kind::at},
};

} // namespace

Token Lexer::next() {
    while (peek() == ' ' || peek() == '\t')
        at_++;
    const std::size_t begin = at_;
    Token token;
    if (at_ >= text_.size())
        token.kind = Kind::end;
    else if (begins_name(peek()) || peek() == '$')
        token = name();
    else if (is_digit(peek()))
        token = number();
    else if (peek() == '\'' || peek() == '"')
        token = quoted(peek());
    else
        token = punctuation();
    token.at = begin;
    token.size = at_ - begin;
    return token;
}

std::string Lexer::shown(std::size_t at) const {
    const std::string_view rest = text_.substr(std::min(at, text_.size()));
    if (rest.find_first_not_of(" \t") == rest.npos)
        return "the end";
    return fmt::format("'{}'", rest.substr(0, std::max<std::size_t>(utf8_length(rest), 1)));
}

void Lexer::fail(std::size_t at, std::string_view sentence) const {
    throw ExpressionError(text_, at, sentence);
}

Token Lexer::name() {
    Token token;
    token.kind = Kind::name;
    const std::size_t begin = at_++;
    if (text_[begin] == '$' && !begins_name(peek()))
        fail(begin, "'$' stands before a builtin's name, as in $pid");
    // C++ and Rust: "app::Level::high".
    while (continues_name(peek()) || (peek() == ':' && peek(1) == ':' && begins_name(peek(2))))
        at_ += peek() == ':' ? 3 : 1;
    token.text = text_.substr(begin, at_ - begin);
    return token;
}

// C17 6.4.4.2, of decimal ones: digits with a point or an exponent behind them.
bool Lexer::is_floating_number() const {
    std::size_t ahead = 0;
    while (is_digit(peek(ahead)))
        ahead++;
    if (peek(ahead) == '.')
        return ahead > 0 || is_digit(peek(1));
    if (ahead == 0 || (peek(ahead) != 'e' && peek(ahead) != 'E'))
        return false;
    ahead++;
    return is_digit(peek(ahead)) || ((peek(ahead) == '+' || peek(ahead) == '-') && is_digit(peek(ahead + 1)));
}

Token Lexer::floating_number() {
    const std::size_t begin = at_;
    Token token;
    token.kind = Kind::number;
    token.is_floating = true;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), token.floating);
    at_ = static_cast<std::size_t>(end - text_.data());
    if (error == std::errc::result_out_of_range)
        fail(begin, "this number is too large, or too near to 0, for a double");
    const std::size_t suffix = at_;
    while (continues_name(peek()))
        at_++;
    const std::string_view written = text_.substr(suffix, at_ - suffix);
    if (written == "f" || written == "F")
        token.floating = static_cast<float>(token.floating);
    else if (find_suffix(written) && !written.empty())
        fail(suffix, fmt::format("sizes and times are whole numbers: '{}' cannot follow a fraction", written));
    else if (!written.empty())
        fail(suffix, fmt::format("'{}' cannot follow a number with a fraction or an exponent", written));
    return token;
}

Token Lexer::number() {
    if (is_floating_number())
        return floating_number();
    const std::size_t begin = at_;
    unsigned base = 10;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X'))
        base = 16;
    else if (peek() == '0' && (peek(1) == 'b' || peek(1) == 'B'))
        base = 2;
    else if (peek() == '0' && is_digit(peek(1)))
        base = 8;
    at_ += base == 16 || base == 2 ? 2 : 0;

    Token token;
    token.kind = Kind::number;
    token.is_decimal = base == 10;
    const std::size_t digits = at_;
    bool too_large = false;
    for (; digit_value(peek()) < base; at_++) {
        const unsigned digit = digit_value(peek());
        too_large |= token.value > (largest - digit) / base;
        token.value = token.value * base + digit;
    }
    const std::size_t end = at_;
    while (continues_name(peek()))
        at_++;
    if (base == 8 && is_digit(text_[std::min(end, text_.size() - 1)]) && end < at_)
        fail(end, fmt::format("'{}' is no octal digit, and a number that begins with 0 is octal",
                              text_[end]));
    if (end == digits)
        fail(begin, fmt::format("'{}' is no number", text_.substr(begin, at_ - begin)));
    const std::string_view written = text_.substr(end, at_ - end);
    const std::optional<Suffix> suffix = find_suffix(written);
    if (!suffix)
        fail(end, fmt::format("'{}' cannot follow a number; sizes have K, M, G or T, times ns, us, "
                              "ms or s",
                              written));
    too_large |= token.value > largest / suffix->factor;
    if (too_large)
        fail(begin, "this number has more than 64 bits");
    token.value *= suffix->factor;
    token.has_u = suffix->has_u;
    token.has_l = suffix->has_l;
    return token;
}

// Behind the backslash.
char Lexer::escape() {
    constexpr std::string_view letters = "abfnrtve\\'\"?";
    constexpr std::string_view meanings = "\a\b\f\n\r\t\v\x1b\\'\"?";
    const std::size_t begin = at_ - 1;
    const char c = peek();
    if (c == 'x') {
        at_++;
        unsigned value = 0;
        const std::size_t digits = at_;
        for (; digit_value(peek()) < 16 && value < 256; at_++)
            value = 16 * value + digit_value(peek());
        if (at_ == digits || value > 255)
            fail(begin, "'\\x' takes one or two hexadecimal digits");
        return static_cast<char>(value);
    }
    if (digit_value(c) < 8) {
        unsigned value = 0;
        for (int i = 0; i < 3 && digit_value(peek()) < 8; i++)
            value = 8 * value + digit_value(text_[at_++]);
        if (value > 255)
            fail(begin, "this is more than a character holds");
        return static_cast<char>(value);
    }
    const std::size_t known = c ? letters.find(c) : letters.npos;
    if (known == letters.npos)
        fail(begin, "'\\' begins an escape, such as \\n; for itself it stands twice");
    at_++;
    return meanings[known];
}

Token Lexer::quoted(char quote) {
    Token token;
    const std::size_t begin = at_++;
    while (peek() != quote) {
        if (at_ >= text_.size())
            fail(begin, fmt::format("the closing {} is missing", quote));
        const char c = text_[at_++];
        token.text += c == '\\' ? escape() : c;
    }
    at_++;
    token.kind = quote == '"' ? Kind::string : Kind::character;
    if (quote == '\'' && token.text.size() != 1)
        fail(begin, token.text.empty() ? "a character is missing between the quotes"
                                       : "between ' ' is one character; text stands between \" \"");
    if (quote == '\'')
        token.value =
            static_cast<std::uint64_t>(std::int64_t{static_cast<signed char>(token.text.front())});
    return token;
}

Token Lexer::punctuation() {
    Token token;
    const std::string_view rest = text_.substr(at_);
    // One token each in C, whatever is around them.
    for (const std::string_view step : {"++", "--"})
        if (rest.starts_with(step))
            fail(at_, fmt::format("'{}' changes what it is applied to; two signs have a blank between them", step));
    for (const auto &[text, kind] : punctuators) {
        if (rest.starts_with(text)) {
            token.kind = kind;
            at_ += text.size();
            return token;
        }
    }
    token.kind = Kind::other;
    at_ += std::max<std::size_t>(utf8_length(rest), 1);
    return token;
}

} // namespace argtrace::lang
