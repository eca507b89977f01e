// SPDX-License-Identifier: GPL-2.0-only
#include "spec/usdt_operands.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <elf.h>

#include "uapi/argtrace.h"

namespace argtrace {

namespace {

constexpr NamedRegister instruction_pointer{ARGTRACE_X86_64_RIP, 8, 0};

// "8", "-20", "0x10", which is taken off the text.
std::optional<std::int64_t> take_number(std::string_view &text) {
    std::string_view rest = text;
    const bool is_negative = rest.starts_with('-');
    rest.remove_prefix(is_negative ? 1 : 0);
    const bool is_hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
    rest.remove_prefix(is_hexadecimal ? 2 : 0);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number, is_hexadecimal ? 16 : 10);
    if (error != std::errc())
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return static_cast<std::int64_t>(is_negative ? 0 - number : number);
}

bool is_symbol_character(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '.' || c == '$' || c == '@';
}

/// A term of an address as the assembler has it: "8", "-0x10", "name".
struct Term {
    std::int64_t number = 0;
    std::string_view symbol = {};
};

class OperandParser {
public:
    OperandParser(std::string_view text, std::uint64_t address, const FindSymbol &find_symbol)
        : rest_(text), address_(address), find_symbol_(find_symbol) {}

    std::optional<UserOperand> parse() {
        if (take('%'))
            return in_register();
        if (take('$'))
            return constant();
        return memory();
    }

private:
    bool take(char c) {
        if (!rest_.starts_with(c))
            return false;
        rest_.remove_prefix(1);
        return true;
    }

    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }

    std::string_view take_name() {
        std::size_t size = 0;
        while (size < rest_.size() && is_symbol_character(rest_[size]))
            ++size;
        const std::string_view name = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return name;
    }

    /// A whole one, as addresses are made of.
    std::optional<NamedRegister> take_register() {
        const std::optional<NamedRegister> found = user_registers_x86_64.by_name(take_name());
        return found && found->bytes == 8 ? found : std::nullopt;
    }

    std::optional<UserOperand> in_register() {
        const std::string_view name = take_name();
        if (const auto vector = user_registers_x86_64.vector_by_name(name); vector && rest_.empty())
            return UserOperand{.kind = UserOperand::Kind::in_vector, .number = *vector};
        const std::optional<NamedRegister> found = user_registers_x86_64.by_name(name);
        // A segment's register has ':' and an address behind it.
        if (!found || !rest_.empty())
            return std::nullopt;
        return UserOperand{.kind = UserOperand::Kind::in_register, .base = found};
    }

    // The sum of a symbol and numbers: "-8", "name+8", "8+name". Nothing if it is none, which may also be empty.
    std::optional<Term> take_sum() {
        Term sum;
        for (bool first = true;; first = false) {
            if (!first && !rest_.starts_with('+') && !rest_.starts_with('-'))
                return sum;
            if (rest_.starts_with('+'))
                take('+');
            const char next = rest_.empty() ? '\0' : rest_.front();
            if (next == '-' || (next >= '0' && next <= '9')) {
                const auto number = take_number(rest_);
                if (!number)
                    return std::nullopt;
                sum.number = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum.number) + static_cast<std::uint64_t>(*number));
                continue;
            }
            std::size_t size = 0;
            while (size < rest_.size() && is_symbol_character(rest_[size]))
                ++size;
            if (size == 0 || !sum.symbol.empty())
                return std::nullopt;
            sum.symbol = rest_.substr(0, size);
            rest_.remove_prefix(size);
        }
    }

    // Where the object is loaded is known by where this instruction is.
    std::optional<UserOperand> at_symbol(const Term &term, UserOperand::Kind kind) const {
        const std::optional<std::uint64_t> symbol = find_symbol_(term.symbol);
        if (!symbol)
            return std::nullopt;
        const std::uint64_t distance = *symbol + static_cast<std::uint64_t>(term.number) - address_;
        return UserOperand{.kind = kind, .number = static_cast<std::int64_t>(distance), .base = instruction_pointer};
    }

    std::optional<UserOperand> constant() {
        const std::optional<Term> term = take_sum();
        // The address of a symbol would be a sum, which no operand is.
        if (!term || !rest_.empty() || !term->symbol.empty())
            return std::nullopt;
        return UserOperand{.kind = UserOperand::Kind::constant, .number = term->number};
    }

    std::optional<UserOperand> memory() {
        const bool has_sum = !rest_.starts_with('(');
        std::optional<Term> term = has_sum ? take_sum() : Term{};
        if (!term)
            return std::nullopt;
        if (rest_.empty()) {
            if (!term->symbol.empty())
                return at_symbol(*term, UserOperand::Kind::memory);
            return UserOperand{.kind = UserOperand::Kind::memory, .number = term->number};
        }
        UserOperand operand{.kind = UserOperand::Kind::memory, .number = term->number};
        if (!take('('))
            return std::nullopt;
        skip_blanks();
        const bool has_base = take('%');
        const std::optional<NamedRegister> base = has_base ? take_register() : std::nullopt;
        if (has_base != base.has_value() || !take_index(operand) || !(base || operand.index) || !take(')') || !rest_.empty())
            return std::nullopt;
        if (base == instruction_pointer)
            return term->symbol.empty() || operand.index ? std::nullopt : at_symbol(*term, UserOperand::Kind::memory);
        operand.base = base;
        // "name(,%rax,8)" is the address of an object that is not moved, with registers of its own.
        return term->symbol.empty() ? std::optional(operand) : std::nullopt;
    }

    // ",%rax,8", or nothing
    bool take_index(UserOperand &operand) {
        skip_blanks();
        if (!take(','))
            return true;
        skip_blanks();
        if (!take('%') || !(operand.index = take_register()))
            return false;
        skip_blanks();
        if (take(',') && !take_scale(operand))
            return false;
        skip_blanks();
        return true;
    }

    bool take_scale(UserOperand &operand) {
        skip_blanks();
        const std::optional<std::int64_t> scale = take_number(rest_);
        if (!scale || (*scale != 1 && *scale != 2 && *scale != 4 && *scale != 8))
            return false;
        operand.scale = static_cast<std::uint8_t>(*scale);
        return true;
    }

    std::string_view rest_;
    std::uint64_t address_;
    const FindSymbol &find_symbol_;
};

std::optional<std::int64_t> number_of(std::string_view text) {
    const auto number = take_number(text);
    return text.empty() ? number : std::nullopt;
}

// pc is no operand of instructions, and so of no probe.
std::optional<NamedRegister> register_aarch64(std::string_view name) {
    const auto found = user_registers_aarch64.by_name(name);
    return found == user_registers_aarch64.instruction_pointer ? std::nullopt : found;
}

std::optional<NamedRegister> whole_register_aarch64(std::string_view name) {
    const auto found = register_aarch64(name);
    return found && found->bytes == 8 ? found : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" #"), text.size()));
    return text;
}

// "x1" and "x1, lsl 3", behind a base
bool take_index_aarch64(std::string_view text, UserOperand &operand) {
    constexpr std::string_view shift = "lsl";
    constexpr std::int64_t shift_max = 3;
    const std::size_t comma = text.find(',');
    operand.index = whole_register_aarch64(text.substr(0, comma));
    if (!operand.index || operand.index->index == ARGTRACE_ARM64_SP)
        return false;
    if (comma == text.npos)
        return true;
    const std::string_view modified = trimmed(text.substr(comma + 1));
    const auto by = modified.starts_with(shift) ? number_of(trimmed(modified.substr(shift.size()))) : std::nullopt;
    if (!by || *by < 0 || *by > shift_max)
        return false;
    operand.scale = static_cast<std::uint8_t>(1u << *by);
    return true;
}

// "d0", "v0"; "s0" is the lower half of the first
std::optional<std::uint8_t> vector_aarch64(std::string_view name) {
    if (!name.starts_with('s'))
        return user_registers_aarch64.vector_by_name(name);
    return user_registers_aarch64.vector_by_name('d' + std::string(name.substr(1)));
}

// "x0", "w0", "d0", "5", "[sp]", "[x0, 8]", "[x0, x1, lsl 3]": with '#' before numbers or without
std::optional<UserOperand> operand_aarch64(std::string_view text) {
    if (const auto found = register_aarch64(text))
        return UserOperand{.kind = UserOperand::Kind::in_register, .base = found};
    if (const auto vector = vector_aarch64(text))
        return UserOperand{.kind = UserOperand::Kind::in_vector, .number = *vector};
    if (const auto number = number_of(trimmed(text)))
        return UserOperand{.kind = UserOperand::Kind::constant, .number = *number};
    if (!text.starts_with('[') || !text.ends_with(']'))
        return std::nullopt;
    text = text.substr(1, text.size() - 2);
    const std::size_t comma = text.find(',');
    UserOperand operand{.kind = UserOperand::Kind::memory, .base = whole_register_aarch64(text.substr(0, comma))};
    if (!operand.base)
        return std::nullopt;
    if (comma == text.npos)
        return operand;
    const std::string_view behind = trimmed(text.substr(comma + 1));
    if (const auto number = number_of(behind))
        operand.number = *number;
    else if (!take_index_aarch64(behind, operand))
        return std::nullopt;
    return operand;
}

// An argument is up to the next blank that is not in parentheses or brackets.
std::string_view take_argument(std::string_view &note) {
    note.remove_prefix(std::min(note.find_first_not_of(' '), note.size()));
    std::size_t end = 0;
    for (int depth = 0; end < note.size() && (note[end] != ' ' || depth > 0); ++end)
        depth += note[end] == '(' || note[end] == '[' ? 1 : note[end] == ')' || note[end] == ']' ? -1 : 0;
    const std::string_view argument = note.substr(0, end);
    note.remove_prefix(end);
    return argument;
}

// What stands before '@': "8", "-4", "8f". False if it is something else.
bool parse_size(std::string_view text, UsdtArgument &argument) {
    argument.is_floating = text.ends_with('f');
    text.remove_suffix(argument.is_floating ? 1 : 0);
    argument.is_signed = text.starts_with('-');
    text.remove_prefix(argument.is_signed ? 1 : 0);
    unsigned bytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    const bool is_integer = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    const bool is_floating = bytes == 4 || bytes == 8 || bytes == 16;
    if (error != std::errc() || end != text.data() + text.size() || !(argument.is_floating ? is_floating : is_integer))
        return false;
    argument.bytes = static_cast<std::uint8_t>(bytes);
    return true;
}

std::optional<UserOperand> parse_operand(std::string_view text, const UsdtPlace &place) {
    switch (place.machine) {
    case EM_X86_64:
        return OperandParser(text, place.address, place.find_symbol).parse();
    case EM_AARCH64:
        return operand_aarch64(text);
    default:
        return std::nullopt;
    }
}

UsdtArgument parse_argument(std::string_view text, const UsdtPlace &place) {
    UsdtArgument argument{std::string(text)};
    const std::size_t at = text.find('@');
    // Without a size it is a word; but "name@plt(%rip)" has none either.
    const bool has_size = at != text.npos && parse_size(text.substr(0, at), argument);
    if (!has_size) {
        const bool is_odd = at != text.npos;
        argument = {std::string(text)};
        if (is_odd)
            return argument;
    }
    if (argument.bytes <= 8)
        argument.operand = parse_operand(has_size ? text.substr(at + 1) : text, place);
    const bool is_known = !argument.is_floating || (argument.operand && (argument.operand->kind == UserOperand::Kind::in_vector ||
                                                                         argument.operand->kind == UserOperand::Kind::memory));
    if (!is_known)
        argument.operand.reset();
    return argument;
}

} // namespace

std::string_view UsdtArgument::type() const {
    if (is_floating)
        return bytes == 4 ? "float" : bytes == 8 ? "double" : "long double";
    switch (bytes) {
    case 1:
        return is_signed ? "signed char" : "unsigned char";
    case 2:
        return is_signed ? "short" : "unsigned short";
    case 4:
        return is_signed ? "int" : "unsigned int";
    default:
        return is_signed ? "long" : "unsigned long";
    }
}

std::vector<UsdtArgument> parse_usdt_arguments(std::string_view note, const UsdtPlace &place) {
    std::vector<UsdtArgument> arguments;
    for (std::string_view text = take_argument(note); !text.empty(); text = take_argument(note))
        arguments.push_back(parse_argument(text, place));
    return arguments;
}

} // namespace argtrace
