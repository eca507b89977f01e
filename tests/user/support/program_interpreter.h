// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/arithmetic.h"
#include "lang/program.h"

namespace argtrace {

/// Memory that a program may read: pieces at addresses. Everything else faults.
class FakeMemory {
public:
    void put(std::uint64_t address, const void *bytes, std::size_t size) {
        const auto *begin = static_cast<const char *>(bytes);
        pieces_[address].assign(begin, begin + size);
    }
    template<typename Value>
    void put(std::uint64_t address, const Value &value) {
        put(address, &value, sizeof(value));
    }

    bool read(std::uint64_t address, void *to, std::size_t size) const {
        auto piece = pieces_.upper_bound(address);
        if (piece == pieces_.begin())
            return false;
        --piece;
        const std::uint64_t at = address - piece->first;
        if (at > piece->second.size() || size > piece->second.size() - at)
            return false;
        std::memcpy(to, piece->second.data() + at, size);
        return true;
    }

private:
    std::map<std::uint64_t, std::string> pieces_;
};

/// A call that a program runs for.
struct FakeCall {
    std::uint64_t registers[6] = {}; ///< as many as x86-64 has
    std::uint64_t stack = 0, task = 0, caller = 0, cpu = 0, time = 0;
    std::uint64_t identity[ARGTRACE_IDENTITY_CGROUP + 1] = {};
    std::uint64_t vectors[16] = {};               ///< the lower halves
    std::uint64_t returned[4] = {}, duration = 0; ///< known when it returns; behind two registers two vectors
    std::map<std::uint32_t, std::uint64_t> files; ///< of the task, by their descriptors
};

/// Checks programs as the module is to check them, and runs them as it is to run them; written
/// from the header, with nothing of the compiler's.
class ProgramInterpreter {
public:
    ProgramInterpreter(const lang::Program &program, const FakeMemory &memory)
        : program_(program), memory_(memory) {}

    struct Output {
        std::string bytes; ///< of PATH: "path", "dentry" or "node", with the address behind it
        bool readable = true;

        template<typename Value>
        Value as() const {
            Value value{};
            std::memcpy(&value, bytes.data(), std::min(sizeof(value), bytes.size()));
            return value;
        }
    };

    /// What is wrong with the program; empty if nothing is.
    std::string verify() const {
        const std::size_t size = program_.insns.size(), filter = filters();
        if (size > ARGTRACE_INSNS_MAX || filter > size)
            return "size";
        std::size_t values = 0;
        std::uint32_t defined = 0; // slots, along the instructions as they stand
        std::size_t begin = 0;
        for (std::size_t i = 0; i < size; i++) {
            if (i == filter || i == program_.nr_filter)
                defined = 0, begin = i;
            if (!is_reached(i, begin))
                return std::to_string(i) + ": no way leads to it";
            const std::string wrong = verify(i, begin, defined);
            if (!wrong.empty())
                return std::to_string(i) + ": " + wrong;
            if (program_.insns[i].action >= ARGTRACE_DO_OUT) {
                values++;
                defined = 0;
                begin = i + 1;
            }
        }
        if (begin != size && filter != size)
            return "a value has no output";
        return values == program_.values.size() ? "" : "values";
    }

    /// The filter's verdict; nothing for a fault.
    std::optional<bool> accepts(const FakeCall &call) {
        if (program_.nr_filter == 0)
            return true;
        start(call);
        for (unsigned at = 0; at < program_.nr_filter;) {
            const unsigned next = step(at);
            if (fault_)
                return std::nullopt;
            if (next == ARGTRACE_ACCEPT || next == ARGTRACE_REJECT)
                return next == ARGTRACE_ACCEPT;
            at = next;
        }
        return std::nullopt; // the filter has no end: verify() tells
    }

    std::vector<Output> values(const FakeCall &call) { return values(call, memory_); }

    /// The values of a call that is recorded when it returns, at which time memory is `later`.
    std::vector<Output> values(const FakeCall &call, const FakeMemory &later) {
        std::vector<Output> outputs;
        start(call);
        for (auto at = static_cast<unsigned>(filters()); at < program_.insns.size();) {
            now_ = is_of_return(at) ? &later : &memory_;
            const bool last = program_.insns[at].action >= ARGTRACE_DO_OUT;
            output_ = {};
            const unsigned next = step(at);
            if (fault_) {
                while (program_.insns[at].action < ARGTRACE_DO_OUT)
                    at++;
                outputs.push_back({"", false});
                at++;
                start(call);
            } else {
                if (last)
                    outputs.push_back(output_);
                at = next;
            }
        }
        return outputs;
    }

    std::size_t executed() const { return executed_; }

private:
    /// Instructions of both filters.
    std::size_t filters() const {
        return std::size_t{program_.nr_filter} + program_.nr_return;
    }

    /// Whether an instruction is executed when the function returns.
    bool is_of_return(std::size_t i) const {
        if (i < filters())
            return i >= program_.nr_filter;
        while (i + 1 < program_.insns.size() && program_.insns[i].action < ARGTRACE_DO_OUT)
            i++;
        return program_.insns[i].flags & ARGTRACE_INSN_RETURN;
    }

    static bool is_width(unsigned width) {
        return width == 1 || width == 2 || width == 4 || width == 8;
    }

    /// Whether there is a literal, with a NUL behind it and none within.
    bool is_literal(std::uint64_t at, std::uint64_t length) const {
        const std::size_t size = program_.data.size();
        if (length == 0 || length > ARGTRACE_MATCH_MAX || at >= size || length >= size - at)
            return false;
        const auto *text = reinterpret_cast<const char *>(program_.data.data()) + at;
        return strnlen(text, length + 1) == length;
    }

    /// Whether instructions before it, in the filter or its value, lead to this one.
    bool is_reached(std::size_t i, std::size_t begin) const {
        for (std::size_t from = begin; from < i; from++) {
            const argtrace_insn &insn = program_.insns[from];
            const bool tests = insn.action == ARGTRACE_DO_TEST || insn.action == ARGTRACE_DO_TEXT;
            const bool jumps = tests || insn.action == ARGTRACE_DO_JUMP;
            if (jumps ? insn.then == i || (tests && insn.other == i) : from + 1 == i)
                return true;
        }
        return i == begin;
    }

    std::string verify(std::size_t i, std::size_t begin, std::uint32_t &defined) const {
        const argtrace_insn &insn = program_.insns[i];
        const std::size_t filter = filters(), size = program_.insns.size();
        const bool in_filter = i < filter;
        (void)begin;
        if ((insn.source > ARGTRACE_SOURCE_IDENTITY && insn.source != ARGTRACE_SOURCE_VECTOR) || insn.loads > 3 || insn.shl > 63 || insn.shr > 63)
            return "range";
        if (insn.source == ARGTRACE_SOURCE_REG ? insn.index >= std::size(FakeCall{}.registers)
            : insn.source == ARGTRACE_SOURCE_SLOT
                ? insn.index >= ARGTRACE_SLOTS || !(defined >> insn.index & 1)
            : insn.source == ARGTRACE_SOURCE_IDENTITY
                ? insn.index > ARGTRACE_IDENTITY_CGROUP
            : insn.source == ARGTRACE_SOURCE_RETURN ? insn.index >= std::size(FakeCall{}.returned)
            : insn.source == ARGTRACE_SOURCE_VECTOR ? insn.index >= std::size(FakeCall{}.vectors)
                                                    : insn.index != 0)
            return "source";
        if (insn.source == ARGTRACE_SOURCE_VECTOR && is_of_return(i))
            return "moment";
        if ((insn.source == ARGTRACE_SOURCE_RETURN || insn.source == ARGTRACE_SOURCE_DURATION) &&
            !is_of_return(i))
            return "moment";
        if (insn.loads ? !is_width(insn.width) : insn.width != 0)
            return "width";
        const bool trailing = insn.action != ARGTRACE_DO_TEST && insn.loads < 3;
        for (unsigned n = insn.loads + (trailing ? 1u : 0u); n < 3; n++)
            if (insn.offset[n] != 0)
                return "offset";
        const bool reads = insn.action == ARGTRACE_DO_TEXT || insn.action == ARGTRACE_DO_STR ||
                           insn.action == ARGTRACE_DO_BUF || insn.action == ARGTRACE_DO_MEM || insn.action == ARGTRACE_DO_STRS;
        unsigned known = ARGTRACE_INSN_SIGNED | ARGTRACE_INSN_SWAP | (reads ? ARGTRACE_INSN_USER_DATA : 0u) |
                         (insn.action >= ARGTRACE_DO_OUT ? ARGTRACE_INSN_RETURN : 0u);
        for (unsigned load = 0; load < insn.loads; load++)
            known |= ARGTRACE_INSN_USER(load);
        if (insn.flags & ~known)
            return "flags";
        const bool takes_number = insn.action == ARGTRACE_DO_SET || insn.action == ARGTRACE_DO_FILE ||
                                  insn.action == ARGTRACE_DO_ALU || insn.action >= ARGTRACE_DO_OUT;
        const bool uses_span = insn.action == ARGTRACE_DO_TEST || insn.action == ARGTRACE_DO_TEXT;
        if (!uses_span && insn.span != 0 && !(takes_number && insn.source == ARGTRACE_SOURCE_CONST))
            return "span";
        const auto target = [&](unsigned to) {
            if (in_filter && (to == ARGTRACE_ACCEPT || to == ARGTRACE_REJECT))
                return true;
            if (to <= i || to >= (in_filter ? filter : size))
                return false;
            for (std::size_t n = i; n < to && !in_filter; n++)
                if (program_.insns[n].action >= ARGTRACE_DO_OUT)
                    return false;
            return true;
        };
        switch (insn.action) {
        case ARGTRACE_DO_TEST:
            return target(insn.then) && target(insn.other) ? "" : "target";
        case ARGTRACE_DO_TEXT:
            if (!is_literal(insn.base, insn.span & 0xffffffff) ||
                insn.span >> 32 > ARGTRACE_MATCH_GLOB || insn.arg == 0 ||
                insn.arg > ARGTRACE_MATCH_MAX)
                return "text";
            return target(insn.then) && target(insn.other) ? "" : "target";
        case ARGTRACE_DO_JUMP:
            return target(insn.then) ? "" : "target";
        case ARGTRACE_DO_SET:
        case ARGTRACE_DO_FILE:
            if (insn.arg >= ARGTRACE_SLOTS)
                return "slot";
            defined |= 1u << insn.arg;
            return in_filter && i + 1 == filter ? "the filter has no end" : "";
        case ARGTRACE_DO_ALU:
            if (insn.arg >= ARGTRACE_SLOTS || !(defined >> insn.arg & 1))
                return "slot";
            if (insn.then > ARGTRACE_ALU_LE || (insn.other != 4 && insn.other != 8))
                return "alu";
            return in_filter && i + 1 == filter ? "the filter has no end" : "";
        case ARGTRACE_DO_OUT:
            return !in_filter && is_width(insn.arg) ? "" : "output";
        case ARGTRACE_DO_WORDS:
            if (insn.arg > 8 ? insn.base >= ARGTRACE_SLOTS || !(defined >> insn.base & 1) : insn.base != 0)
                return "slot";
            return !in_filter && insn.arg > 0 && insn.arg <= ARGTRACE_WORDS_MAX && insn.then == 0 && insn.other == 0 ? "" : "output";
        case ARGTRACE_DO_BUF:
            if (insn.base >= ARGTRACE_SLOTS || !(defined >> insn.base & 1) || insn.other > ARGTRACE_BUF_SIGNED)
                return "slot";
            [[fallthrough]];
        case ARGTRACE_DO_STR:
        case ARGTRACE_DO_MEM:
            return !in_filter && insn.arg > 0 && insn.arg <= ARGTRACE_TEXT_MAX ? "" : "output";
        case ARGTRACE_DO_PATH:
            if (insn.arg == ARGTRACE_PATH_OF_DENTRY)
                return !in_filter && insn.base == 0 ? "" : "path";
            return !in_filter && insn.arg <= ARGTRACE_PATH_OF_NODE && insn.base % 8 == 0 &&
                           insn.base + (insn.arg == ARGTRACE_PATH_OF_NODE ? sizeof(argtrace_node_layout)
                                                                          : sizeof(argtrace_mount_layout)) <=
                               program_.data.size()
                       ? ""
                       : "path";
        default:
            return "action";
        }
    }

    void start(const FakeCall &call) {
        call_ = call;
        fault_ = false;
    }

    std::uint64_t source(const argtrace_insn &insn) const {
        switch (insn.source) {
        case ARGTRACE_SOURCE_REG:
            return call_.registers[insn.index];
        case ARGTRACE_SOURCE_STACK:
            return call_.stack;
        case ARGTRACE_SOURCE_SLOT:
            return slots_[insn.index];
        case ARGTRACE_SOURCE_TASK:
            return call_.task;
        case ARGTRACE_SOURCE_CALLER:
            return call_.caller;
        case ARGTRACE_SOURCE_CPU:
            return call_.cpu;
        case ARGTRACE_SOURCE_TIME:
            return call_.time;
        case ARGTRACE_SOURCE_IDENTITY:
            return call_.identity[insn.index];
        case ARGTRACE_SOURCE_RETURN:
            return call_.returned[insn.index];
        case ARGTRACE_SOURCE_DURATION:
            return call_.duration;
        case ARGTRACE_SOURCE_VECTOR:
            return call_.vectors[insn.index];
        default:
            return insn.action == ARGTRACE_DO_TEST || insn.action == ARGTRACE_DO_TEXT ? 0
                                                                                      : insn.span;
        }
    }

    /// Up to its NUL or `max` bytes; nothing for a fault.
    std::optional<std::string> text_at(std::uint64_t address, std::size_t max) const {
        std::string text;
        for (char c; text.size() < max; text += c) {
            if (!now_->read(address + text.size(), &c, 1))
                return std::nullopt;
            if (c == '\0')
                break;
        }
        return text;
    }

    // lib/glob.c
    static bool glob(std::string_view pattern, std::string_view text) {
        if (pattern.empty())
            return text.empty();
        const char c = pattern[0];
        if (c == '*')
            return glob(pattern.substr(1), text) ||
                   (!text.empty() && glob(pattern, text.substr(1)));
        if (text.empty())
            return false;
        if (c == '?')
            return glob(pattern.substr(1), text.substr(1));
        if (c == '[') {
            const bool inverted = pattern.substr(1).starts_with('!');
            std::size_t i = inverted ? 2 : 1;
            bool match = false;
            for (bool first = true; i < pattern.size() && (first || pattern[i] != ']');
                 first = false, i++) {
                unsigned char low = static_cast<unsigned char>(pattern[i]), high = low;
                if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
                    high = static_cast<unsigned char>(pattern[i + 2]);
                    i += 2;
                }
                const auto found = static_cast<unsigned char>(text[0]);
                match |= low <= found && found <= high;
            }
            if (i < pattern.size())
                return match != inverted && glob(pattern.substr(i + 1), text.substr(1));
        }
        const std::size_t literal = c == '\\' && pattern.size() > 1 ? 1 : 0;
        return pattern[literal] == text[0] && glob(pattern.substr(literal + 1), text.substr(1));
    }

    bool matches(const argtrace_insn &insn, std::string_view text) const {
        const auto size = static_cast<std::uint32_t>(insn.span);
        const std::string_view literal(
            reinterpret_cast<const char *>(program_.data.data()) + insn.base, size);
        switch (insn.span >> 32) {
        case ARGTRACE_MATCH_WHOLE:
            return text == literal;
        case ARGTRACE_MATCH_PREFIX:
            return text.starts_with(literal);
        case ARGTRACE_MATCH_SUFFIX:
            return text.ends_with(literal);
        case ARGTRACE_MATCH_CONTAINS:
            return text.find(literal) != text.npos;
        default:
            return glob(literal, text);
        }
    }

    unsigned step(unsigned at) {
        executed_++;
        const argtrace_insn &insn = program_.insns[at];
        std::uint64_t v = source(insn);
        for (unsigned i = 0; i < insn.loads; i++) {
            const unsigned width = i + 1 == insn.loads ? insn.width : 8;
            const std::uint64_t address =
                v + static_cast<std::uint64_t>(std::int64_t{insn.offset[i]});
            v = 0;
            if (!now_->read(address, &v, width))
                return fault_ = true, 0;
        }
        if (insn.loads < 3 && insn.action != ARGTRACE_DO_TEST)
            v += static_cast<std::uint64_t>(std::int64_t{insn.offset[insn.loads]});
        if (insn.flags & ARGTRACE_INSN_SWAP)
            v = __builtin_bswap64(v);
        v <<= insn.shl;
        v = insn.flags & ARGTRACE_INSN_SIGNED
                ? static_cast<std::uint64_t>(static_cast<std::int64_t>(v) >> insn.shr)
                : v >> insn.shr;
        v &= insn.mask;
        const unsigned next = at + 1;
        switch (insn.action) {
        case ARGTRACE_DO_TEST:
            return v - insn.base <= insn.span ? insn.then : insn.other;
        case ARGTRACE_DO_TEXT: {
            const auto text = text_at(v, insn.arg);
            if (!text)
                return fault_ = true, 0;
            return matches(insn, *text) ? insn.then : insn.other;
        }
        case ARGTRACE_DO_JUMP:
            return insn.then;
        case ARGTRACE_DO_SET:
            slots_[insn.arg] = v;
            return next;
        case ARGTRACE_DO_FILE: {
            const auto found = call_.files.find(static_cast<std::uint32_t>(v));
            slots_[insn.arg] = found == call_.files.end() ? 0 : found->second;
            return next;
        }
        case ARGTRACE_DO_ALU: {
            const auto result =
                lang::compute(static_cast<argtrace_alu>(insn.then), slots_[insn.arg], v, insn.other,
                              insn.flags & ARGTRACE_INSN_SIGNED);
            if (!result)
                return fault_ = true, 0;
            slots_[insn.arg] = *result;
            return next;
        }
        case ARGTRACE_DO_OUT:
            output_.bytes.assign(reinterpret_cast<const char *>(&v), insn.arg);
            return next;
        case ARGTRACE_DO_STR: {
            const auto text = text_at(v, insn.arg);
            fault_ = !text;
            output_.bytes = text.value_or("");
            return next;
        }
        case ARGTRACE_DO_WORDS: {
            const std::uint64_t words[] = {v, insn.arg > 8 ? slots_[insn.base] : 0};
            output_.bytes.assign(reinterpret_cast<const char *>(words), insn.arg);
            return next;
        }
        case ARGTRACE_DO_BUF:
        case ARGTRACE_DO_MEM: {
            std::size_t size = insn.arg;
            if (insn.action == ARGTRACE_DO_BUF)
                size = std::min<std::uint64_t>(size, slots_[insn.base]);
            output_.bytes.resize(size);
            fault_ = size > 0 && !now_->read(v, output_.bytes.data(), size);
            return next;
        }
        default:
            output_.bytes = insn.arg == ARGTRACE_PATH_OF_DENTRY ? "dentry"
                            : insn.arg == ARGTRACE_PATH_OF_NODE ? "node"
                                                                : "path";
            output_.bytes.append(reinterpret_cast<const char *>(&v), sizeof(v));
            return next;
        }
    }

    const lang::Program &program_;
    const FakeMemory &memory_;
    const FakeMemory *now_ = &memory_;
    FakeCall call_;
    std::uint64_t slots_[ARGTRACE_SLOTS] = {};
    Output output_;
    bool fault_ = false;
    std::size_t executed_ = 0;
};

} // namespace argtrace
