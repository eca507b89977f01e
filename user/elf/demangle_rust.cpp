// SPDX-License-Identifier: GPL-2.0-only
#include "elf/demangle_rust.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "util/hex.h"
#include "util/utf8.h"

namespace argtrace::elf {

namespace {

/// References to earlier parts can make a short name long, and a deep one endless.
constexpr std::size_t name_max = 16 << 10;
constexpr int depth_max = 200;
constexpr int steps_max = 20000;

/// RFC 3492. Nothing if it is damaged.
std::optional<std::string> from_punycode(std::string_view text) {
    constexpr std::uint32_t base = 36, t_min = 1, t_max = 26, skew = 38, damp = 700;
    std::vector<std::uint32_t> out;
    // Rust writes "_" where others have "-".
    if (const std::size_t delimiter = text.rfind('_'); delimiter != std::string_view::npos) {
        for (const char c : text.substr(0, delimiter))
            out.push_back(static_cast<unsigned char>(c));
        text.remove_prefix(delimiter + 1);
    }
    std::uint64_t n = 128, i = 0, bias = 72;
    bool first = true;
    while (!text.empty()) {
        const std::uint64_t before = i;
        std::uint64_t weight = 1;
        for (std::uint64_t k = base;; k += base) {
            if (text.empty())
                return std::nullopt;
            const char c = text[0];
            text.remove_prefix(1);
            const int digit = c >= 'a' && c <= 'z' ? c - 'a' : c >= '0' && c <= '9' ? c - '0' + 26 : -1;
            if (digit < 0)
                return std::nullopt;
            i += static_cast<std::uint64_t>(digit) * weight;
            const std::uint64_t t = k <= bias ? t_min : k >= bias + t_max ? t_max : k - bias;
            if (i > UINT32_MAX || weight > UINT32_MAX)
                return std::nullopt;
            if (static_cast<std::uint64_t>(digit) < t)
                break;
            weight *= base - t;
        }
        const std::uint64_t length = out.size() + 1;
        std::uint64_t delta = (i - before) / (std::exchange(first, false) ? damp : 2);
        delta += delta / length;
        std::uint64_t k = 0;
        for (; delta > (base - t_min) * t_max / 2; k += base)
            delta /= base - t_min;
        bias = k + (base - t_min + 1) * delta / (delta + skew);
        n += i / length;
        i %= length;
        if (n > 0x10ffff)
            return std::nullopt;
        out.insert(out.begin() + static_cast<std::ptrdiff_t>(i), static_cast<std::uint32_t>(n));
        i++;
    }
    std::string utf8;
    for (const std::uint32_t character : out)
        append_utf8(utf8, character);
    return utf8;
}

std::string_view basic_type(char code) {
    switch (code) {
    case 'a':
        return "i8";
    case 'b':
        return "bool";
    case 'c':
        return "char";
    case 'd':
        return "f64";
    case 'e':
        return "str";
    case 'f':
        return "f32";
    case 'h':
        return "u8";
    case 'i':
        return "isize";
    case 'j':
        return "usize";
    case 'l':
        return "i32";
    case 'm':
        return "u32";
    case 'n':
        return "i128";
    case 'o':
        return "u128";
    case 'p':
        return "_";
    case 's':
        return "i16";
    case 't':
        return "u16";
    case 'u':
        return "()";
    case 'v':
        return "...";
    case 'x':
        return "i64";
    case 'y':
        return "u64";
    case 'z':
        return "!";
    default:
        return {};
    }
}

/// Reads the name and writes it at once. After a failure it does neither.
class RustReader {
public:
    explicit RustReader(std::string_view mangled) : text_(mangled) {}

    std::optional<std::string> run() {
        path(true);
        // The crate for which a generic function was made.
        if (!failed_ && at_ < text_.size()) {
            is_silent_ = true;
            path(false);
        }
        return failed_ || at_ != text_.size() ? std::nullopt : std::optional(std::move(out_));
    }

private:
    struct Identifier {
        std::string_view name;
        bool is_punycode = false;
        std::uint64_t disambiguator = 0;
    };

    /// Counts how deep parts are nested, and how many there are.
    class Level {
    public:
        explicit Level(RustReader &reader) : reader_(reader) {
            if (++reader_.depth_ > depth_max || ++reader_.steps_ > steps_max)
                reader_.failed_ = true;
        }
        ~Level() { reader_.depth_--; }

    private:
        RustReader &reader_;
    };

    char peek() const { return at_ < text_.size() && !failed_ ? text_[at_] : '\0'; }

    char next() {
        const char c = peek();
        if (c == '\0')
            failed_ = true;
        else
            at_++;
        return c;
    }

    bool eat(char c) {
        if (peek() != c)
            return false;
        at_++;
        return true;
    }

    void write(std::string_view text) {
        if (failed_ || is_silent_)
            return;
        if (out_.size() + text.size() > name_max)
            failed_ = true;
        else
            out_ += text;
    }

    std::uint64_t base_62() {
        if (eat('_'))
            return 0;
        std::uint64_t number = 0;
        while (!eat('_')) {
            const char c = next();
            const int digit = c >= '0' && c <= '9'   ? c - '0'
                              : c >= 'a' && c <= 'z' ? c - 'a' + 10
                              : c >= 'A' && c <= 'Z' ? c - 'A' + 36
                                                     : -1;
            if (digit < 0 || __builtin_mul_overflow(number, 62u, &number) ||
                __builtin_add_overflow(number, static_cast<std::uint64_t>(digit), &number))
                failed_ = true;
            if (failed_)
                return 0;
        }
        return number + (number < UINT64_MAX);
    }

    /// 0 without the tag, so that the number is one more than what is behind it.
    std::uint64_t optional_base_62(char tag) { return eat(tag) ? base_62() + 1 : 0; }

    Identifier identifier() {
        Identifier found;
        found.disambiguator = optional_base_62('s');
        found.is_punycode = eat('u');
        std::size_t size = 0;
        const char first = next();
        if (first < '0' || first > '9') {
            failed_ = true;
            return found;
        }
        size = static_cast<std::size_t>(first - '0');
        while (size > 0 && peek() >= '0' && peek() <= '9' && size < text_.size())
            size = size * 10 + static_cast<std::size_t>(next() - '0');
        eat('_');
        if (size > text_.size() - at_) {
            failed_ = true;
            return found;
        }
        found.name = text_.substr(at_, size);
        at_ += size;
        return found;
    }

    void write(const Identifier &identifier) {
        if (!identifier.is_punycode) {
            write(identifier.name);
            return;
        }
        const auto decoded = from_punycode(identifier.name);
        if (decoded)
            write(*decoded);
        else
            failed_ = true;
    }

    /// Goes on at an earlier place, and comes back. What is not written is not read a second time.
    template<typename Read>
    void back_reference(const Read &read) {
        const std::size_t start = at_ - 1;
        const std::uint64_t target = base_62();
        if (failed_ || target >= start) {
            failed_ = true;
            return;
        }
        if (is_silent_)
            return;
        const std::size_t behind = std::exchange(at_, static_cast<std::size_t>(target));
        read();
        at_ = behind;
    }

    /// In expressions generic arguments are written with `::` before them.
    void path(bool in_value) {
        const Level level(*this);
        switch (next()) {
        case 'C':
            write(identifier());
            break;
        case 'N':
            nested(in_value);
            break;
        case 'M':
        case 'X': {
            // Where the impl is says nothing to people.
            const bool is_trait = text_[at_ - 1] == 'X';
            optional_base_62('s');
            const bool was_silent = std::exchange(is_silent_, true);
            path(in_value);
            is_silent_ = was_silent;
            write("<");
            type();
            if (is_trait) {
                write(" as ");
                path(false);
            }
            write(">");
            break;
        }
        case 'Y':
            write("<");
            type();
            write(" as ");
            path(false);
            write(">");
            break;
        case 'I':
            path(in_value);
            write(in_value ? "::<" : "<");
            generic_arguments();
            write(">");
            break;
        case 'B':
            back_reference([this, in_value] { path(in_value); });
            break;
        default:
            failed_ = true;
        }
    }

    void nested(bool in_value) {
        const char space = next();
        path(in_value);
        const Identifier name = identifier();
        if (space >= 'a' && space <= 'z') {
            if (!name.name.empty()) {
                write("::");
                write(name);
            }
        } else if (space >= 'A' && space <= 'Z') {
            write("::{");
            write(space == 'C' ? std::string_view("closure") : space == 'S' ? std::string_view("shim") : std::string_view(&space, 1));
            if (!name.name.empty()) {
                write(":");
                write(name);
            }
            write(fmt::format("#{}}}", name.disambiguator));
        } else {
            failed_ = true;
        }
    }

    void generic_arguments() {
        for (bool first = true; !failed_ && !eat('E'); first = false) {
            if (!first)
                write(", ");
            if (eat('L'))
                lifetime(base_62());
            else if (eat('K'))
                constant();
            else
                type();
        }
    }

    void lifetime(std::uint64_t number) {
        write("'");
        if (number == 0) {
            write("_");
            return;
        }
        if (number > bound_) {
            failed_ = true;
            return;
        }
        const std::uint64_t depth = bound_ - number;
        if (depth < 26)
            write(std::string(1, static_cast<char>('a' + depth)));
        else
            write(fmt::format("_{}", depth));
    }

    /// `for<'a>` before what `read` reads.
    template<typename Read>
    void bound(const Read &read) {
        const std::uint64_t count = optional_base_62('G');
        if (count > 100) {
            failed_ = true;
            return;
        }
        if (count > 0) {
            write("for<");
            for (std::uint64_t i = 0; i < count; i++) {
                write(i > 0 ? ", " : "");
                bound_++;
                lifetime(1);
            }
            write("> ");
        }
        read();
        bound_ -= count;
    }

    void type() {
        const Level level(*this);
        const char code = next();
        if (const std::string_view basic = basic_type(code); !basic.empty()) {
            write(basic);
            return;
        }
        switch (code) {
        case 'R':
        case 'Q':
            write("&");
            if (eat('L')) {
                if (const std::uint64_t number = base_62()) {
                    lifetime(number);
                    write(" ");
                }
            }
            write(code == 'Q' ? "mut " : "");
            type();
            break;
        case 'P':
        case 'O':
            write(code == 'P' ? "*const " : "*mut ");
            type();
            break;
        case 'A':
            write("[");
            type();
            write("; ");
            constant();
            write("]");
            break;
        case 'S':
            write("[");
            type();
            write("]");
            break;
        case 'T':
            tuple();
            break;
        case 'F':
            bound([this] { function_type(); });
            break;
        case 'D':
            write("dyn ");
            bound([this] {
                for (bool first = true; !failed_ && !eat('E'); first = false) {
                    write(first ? "" : " + ");
                    dynamic_trait();
                }
            });
            if (!eat('L')) {
                failed_ = true;
            } else if (const std::uint64_t number = base_62()) {
                write(" + ");
                lifetime(number);
            }
            break;
        case 'B':
            back_reference([this] { type(); });
            break;
        default:
            if (!failed_)
                at_--;
            path(false);
        }
    }

    void tuple() {
        write("(");
        int count = 0;
        for (; !failed_ && !eat('E'); count++) {
            write(count > 0 ? ", " : "");
            type();
        }
        write(count == 1 ? ",)" : ")");
    }

    void function_type() {
        if (eat('U'))
            write("unsafe ");
        if (eat('K')) {
            write("extern \"");
            if (eat('C')) {
                write("C");
            } else {
                std::string abi(identifier().name);
                for (char &c : abi)
                    c = c == '_' ? '-' : c;
                write(abi);
            }
            write("\" ");
        }
        write("fn(");
        for (bool first = true; !failed_ && !eat('E'); first = false) {
            write(first ? "" : ", ");
            type();
        }
        write(")");
        if (eat('u'))
            return;
        write(" -> ");
        type();
    }

    /// A path whose generic arguments are not closed, since associated types follow.
    bool open_path() {
        const Level level(*this);
        if (eat('B')) {
            bool is_open = false;
            back_reference([this, &is_open] { is_open = open_path(); });
            return is_open;
        }
        if (!eat('I')) {
            path(false);
            return false;
        }
        path(false);
        write("<");
        generic_arguments();
        return true;
    }

    void dynamic_trait() {
        bool is_open = open_path();
        while (eat('p')) {
            write(is_open ? ", " : "<");
            is_open = true;
            write(identifier());
            write(" = ");
            type();
        }
        if (is_open)
            write(">");
    }

    std::string_view hexadecimal() {
        const std::size_t start = at_;
        while ((peek() >= '0' && peek() <= '9') || (peek() >= 'a' && peek() <= 'f'))
            at_++;
        const std::string_view digits = text_.substr(start, at_ - start);
        if (!eat('_'))
            failed_ = true;
        return digits;
    }

    void constant() {
        const Level level(*this);
        const char code = next();
        switch (code) {
        case 'p':
            write("_");
            break;
        case 'B':
            back_reference([this] { constant(); });
            break;
        case 'a':
        case 's':
        case 'l':
        case 'x':
        case 'n':
        case 'i':
            if (eat('n'))
                write("-");
            unsigned_constant();
            break;
        case 'h':
        case 't':
        case 'm':
        case 'y':
        case 'o':
        case 'j':
            unsigned_constant();
            break;
        case 'b': {
            const std::string_view digits = hexadecimal();
            if (digits == "0" || digits == "1")
                write(digits == "1" ? "true" : "false");
            else
                failed_ = true;
            break;
        }
        case 'c': {
            const auto character = parse_hex(hexadecimal());
            if (!character || *character > 0x10ffff) {
                failed_ = true;
                break;
            }
            std::string text = "'";
            if (*character < ' ' || *character == 0x7f)
                text += fmt::format("\\u{{{:x}}}", *character);
            else
                append_utf8(text, static_cast<std::uint32_t>(*character));
            write(text + "'");
            break;
        }
        default:
            failed_ = true;
        }
    }

    void unsigned_constant() {
        const std::string_view digits = hexadecimal();
        const auto number = digits.size() <= 16 ? parse_hex(digits) : std::nullopt;
        write(number ? fmt::format("{}", *number) : fmt::format("0x{}", digits));
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::string out_;
    bool failed_ = false, is_silent_ = false;
    int depth_ = 0, steps_ = 0;
    std::uint64_t bound_ = 0; ///< lifetimes that `for` has introduced
};

} // namespace

std::optional<std::string> demangle_rust(std::string_view mangled) {
    if (!mangled.starts_with("_R"))
        return std::nullopt;
    mangled.remove_prefix(2);
    // A digit would be the version of a later mangling.
    if (mangled.empty() || mangled[0] < 'A' || mangled[0] > 'Z')
        return std::nullopt;
    return RustReader(mangled).run();
}

} // namespace argtrace::elf
