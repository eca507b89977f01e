// SPDX-License-Identifier: GPL-2.0-only
#include "elf/unwind_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "elf/call_frames.h"
#include "elf/code_rows.h"
#include "elf/debug_file.h"
#include "elf/go_functions.h"
#include "elf/go_stack_switch.h"
#include "elf/linkage_rows.h"
#include "elf/section_entries.h"
#include "elf/symbol_tables.h"
#include "elf/unwind_rule.h"
#include "model/cold_part.h"

namespace argtrace::elf {

namespace {

/// A rule for a range of the file.
struct RulePiece {
    std::uint64_t start, end;
    std::uint32_t rule;
};
using RulePieces = std::vector<RulePiece>; // ascending, without overlaps

/// Rules, each once.
class RuleSet {
public:
    std::uint32_t add(const argtrace_unwind_rule &rule) {
        if (!rules_.empty() && same(rules_[latest_], rule))
            return latest_;
        const auto [found, is_new] = numbers_.try_emplace(rule, static_cast<std::uint32_t>(rules_.size()));
        if (is_new) {
            if (rules_.size() == ARGTRACE_UNWIND_RULES_MAX) {
                numbers_.erase(found);
                return ARGTRACE_UNWIND_NONE;
            }
            rules_.push_back(rule);
        }
        return latest_ = found->second;
    }

    bool is(std::uint32_t number, const argtrace_unwind_rule &rule) const { return number < rules_.size() && same(rules_[number], rule); }

    std::vector<argtrace_unwind_rule> take() { return std::move(rules_); }

private:
    // Without gaps, so that bytes can be compared.
    static_assert(sizeof(argtrace_unwind_rule) == 40);

    static bool same(const argtrace_unwind_rule &a, const argtrace_unwind_rule &b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

    struct Same {
        bool operator()(const argtrace_unwind_rule &a, const argtrace_unwind_rule &b) const { return same(a, b); }
    };
    struct Hash {
        std::size_t operator()(const argtrace_unwind_rule &rule) const {
            return std::hash<std::string_view>()({reinterpret_cast<const char *>(&rule), sizeof(rule)});
        }
    };

    std::vector<argtrace_unwind_rule> rules_;
    std::unordered_map<argtrace_unwind_rule, std::uint32_t, Hash, Same> numbers_;
    std::uint32_t latest_ = 0;
};

/// The segment of code that has this address; nullptr if it is in none.
const Elf64_Phdr *code_at(const Object &object, std::uint64_t address) {
    for (const Elf64_Phdr &segment : object.segments())
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz)
            return &segment;
    return nullptr;
}

/// Gathers the rows of functions.
class FunctionRows {
public:
    FunctionRows(const Object &object, const FrameRegisters &registers, RuleSet &rules) : object_(object), registers_(registers), rules_(rules) {}

    void read(std::string_view bytes, std::uint64_t address, bool is_eh_frame) {
        const FrameSection section = {bytes, address, is_eh_frame, &registers_};
        visit_frames(section, {[this](std::uint64_t start, std::uint64_t end) { return begin(start, end); },
                               [this](std::uint64_t start, std::uint64_t end, const FrameState *state, bool is_signal_frame) {
                                   add(start, end, state, is_signal_frame);
                               }});
    }

    /// All that was read. Where functions overlap, the one that begins later is right, and of those that
    /// begin at one place the first.
    RulePieces pieces() {
        std::stable_sort(functions_.begin(), functions_.end(), [](const Function &a, const Function &b) { return a.start < b.start; });
        functions_.erase(std::unique(functions_.begin(), functions_.end(), [](const Function &a, const Function &b) { return a.start == b.start; }),
                         functions_.end());
        RulePieces sorted;
        sorted.reserve(rows_.size());
        for (std::size_t i = 0; i < functions_.size(); i++) {
            const std::uint64_t limit = i + 1 < functions_.size() ? functions_[i + 1].start : UINT64_MAX;
            const Function &function = functions_[i];
            for (std::size_t row = function.first; row < function.behind && rows_[row].start < limit; row++)
                sorted.push_back({rows_[row].start, std::min(rows_[row].end, limit), rows_[row].rule});
        }
        return sorted;
    }

private:
    struct Function {
        std::uint64_t start; ///< in the file
        std::size_t first, behind; ///< its rows
    };

    bool begin(std::uint64_t start, std::uint64_t) {
        const Elf64_Phdr *segment = code_at(object_, start);
        if (!segment || rows_.size() >= ARGTRACE_UNWIND_ROWS_MAX)
            return false;
        to_file_ = segment->p_offset - segment->p_vaddr;
        end_ = segment->p_offset + segment->p_filesz;
        functions_.push_back({start + to_file_, rows_.size(), rows_.size()});
        return true;
    }

    void add(std::uint64_t start, std::uint64_t end, const FrameState *state, bool is_signal_frame) {
        Function &function = functions_.back();
        const std::uint64_t from = start + to_file_, to = std::min(end + to_file_, end_);
        if (from >= to)
            return;
        const auto rule = state ? unwind_rule(registers_, *state, is_signal_frame) : std::nullopt;
        const std::uint32_t number = rule ? rules_.add(*rule) : ARGTRACE_UNWIND_NONE;
        if (function.behind > function.first && rows_.back().rule == number) {
            rows_.back().end = to;
            return;
        }
        rows_.push_back({from, to, number});
        function.behind = rows_.size();
    }

    const Object &object_;
    const FrameRegisters &registers_;
    RuleSet &rules_;
    std::uint64_t to_file_ = 0, end_ = 0;
    std::vector<Function> functions_;
    std::vector<RulePiece> rows_;
};

/// Pieces of whatever order; of those that overlap the first remains.
RulePieces in_order(RulePieces pieces) {
    std::sort(pieces.begin(), pieces.end(), [](const RulePiece &a, const RulePiece &b) { return a.start < b.start; });
    const auto overlaps = [](const RulePiece &a, const RulePiece &b) { return b.start < a.end; };
    pieces.erase(std::unique(pieces.begin(), pieces.end(), overlaps), pieces.end());
    return pieces;
}

/// Where `first` says nothing, `second` does.
RulePieces fill_gaps(const RulePieces &first, const RulePieces &second) {
    if (second.empty())
        return first;
    RulePieces all;
    all.reserve(first.size() + second.size());
    std::size_t i = 0;
    for (RulePiece piece : second) {
        while (piece.start < piece.end) {
            while (i < first.size() && first[i].end <= piece.start)
                all.push_back(first[i++]);
            const std::uint64_t next = i < first.size() ? first[i].start : UINT64_MAX;
            if (next > piece.start)
                all.push_back({piece.start, std::min(piece.end, next), piece.rule});
            if (next >= piece.end)
                break;
            piece.start = std::max(piece.start, first[i].end);
        }
    }
    all.insert(all.end(), first.begin() + static_cast<std::ptrdiff_t>(i), first.end());
    return all;
}

/// Where .eh_frame is: a section; in a file without headers of these where .eh_frame_hdr says, up to
/// the end of its segment.
std::optional<std::pair<Text, std::uint64_t>> eh_frame_of(const Object &object) {
    if (const Object::Section *section = object.section(".eh_frame"); section && section->header.sh_type != SHT_NOBITS)
        return std::pair(object.content(*section), section->header.sh_addr);
    for (const Elf64_Phdr &header : object.segments()) {
        if (header.p_type != PT_GNU_EH_FRAME)
            continue;
        // Version 1, an encoding that is relative to itself and of 4 bytes, two other encodings.
        const Text bytes = object.read(header.p_offset, 8);
        if (bytes.size() < 8 || bytes[0] != 1 || bytes[1] != 0x1b)
            continue;
        std::int32_t distance;
        std::memcpy(&distance, bytes.data() + 4, sizeof(distance));
        const std::uint64_t address = header.p_vaddr + 4 + static_cast<std::uint64_t>(std::int64_t(distance));
        for (const Elf64_Phdr &segment : object.segments())
            if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
                return std::pair(object.read(segment.p_offset + (address - segment.p_vaddr), segment.p_filesz - (address - segment.p_vaddr)), address);
    }
    return std::nullopt;
}

Text debug_frame_of(const Object &object) {
    for (const char *name : {".debug_frame", ".zdebug_frame"})
        if (const Object::Section *section = object.section(name))
            if (Text content = object.content(*section); !content.empty())
                return content;
    return {};
}

/// The code that returns from a signal handler, by which libgcc knows it, too: glibc describes it on x86-64, but neither musl nor the
/// vdso of arm64 does.
struct Sigreturn {
    std::string_view code;
    std::array<std::string_view, 2> paddings; ///< what precedes it, which an unwinder looks up that takes it for a return address
    std::int32_t distance;                    ///< of the struct ucontext from the stack pointer
};

/// mov $15, %rax; syscall. Before it nop or int3.
constexpr Sigreturn sigreturn_x86_64 = {{"\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9}, {"\x90", "\xcc"}, 0};
/// mov x8, #139; svc #0. Before it nop. The ucontext is behind a siginfo.
constexpr Sigreturn sigreturn_arm64 = {{"\x68\x11\x80\xd2\x01\x00\x00\xd4", 8}, {{{"\x1f\x20\x03\xd5", 4}, {}}}, 128};

const Sigreturn &sigreturn_of(const Object &object) {
    return object.machine() == EM_AARCH64 ? sigreturn_arm64 : sigreturn_x86_64;
}

void find_sigreturn(const Sigreturn &sigreturn, std::string_view code, std::uint64_t offset, std::uint32_t rule, RulePieces &pieces) {
    for (std::size_t at = 0; (at = code.find(sigreturn.code, at)) != std::string_view::npos; at += sigreturn.code.size()) {
        std::size_t padding = 0;
        for (const std::string_view padded : sigreturn.paddings)
            if (code.substr(0, at).ends_with(padded))
                padding = std::max(padding, padded.size());
        pieces.push_back({offset + at - padding, offset + at + sigreturn.code.size(), rule});
    }
}

RulePieces sigreturns_of(const Object &object, const FrameRegisters &registers, RuleSet &rules) {
    constexpr std::uint64_t step = 1 << 20;
    const Sigreturn &sigreturn = sigreturn_of(object);
    RulePieces pieces;
    std::uint64_t left = object.size(); // segments that do not overlap have no more
    for (const Elf64_Phdr &segment : object.segments()) {
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) || segment.p_filesz > left)
            continue;
        left -= segment.p_filesz;
        for (std::uint64_t at = 0; at < segment.p_filesz; at += step) {
            // What may precede it before, and so many behind that the code may begin with the last.
            const std::uint64_t before = at > 0 ? sigreturn.paddings[0].size() : 0;
            const std::uint64_t size = std::min(step + sigreturn.code.size() - 1, segment.p_filesz - at) + before;
            const Text code = object.read(segment.p_offset + at - before, size);
            if (code.empty())
                break;
            if (view(code).find(sigreturn.code) != std::string_view::npos)
                find_sigreturn(sigreturn, view(code), segment.p_offset + at - before, rules.add(sigreturn_rule(registers, sigreturn.distance)), pieces);
        }
    }
    return in_order(std::move(pieces));
}

RulePieces linkage_tables_of(const Object &object, const FrameRegisters &registers, RuleSet &rules) {
    RulePieces pieces;
    visit_linkage_rows(object, registers, [&](std::uint64_t start, std::uint64_t end, const argtrace_unwind_rule &rule) {
        pieces.push_back({start, end, rules.add(rule)});
    });
    return in_order(std::move(pieces));
}

/// Go's code has a table of its own instead of .eh_frame, and its .debug_frame does not say where stacks end.
class GoRows {
public:
    GoRows(const Object &object, const FrameRegisters &registers, RuleSet &rules) : object_(object), registers_(registers), rules_(rules), switches_(object, registers) {}

    RulePieces read() {
        const auto functions = GoFunctions::read(object_);
        for (std::size_t i = 0; functions && i < functions->count() && pieces_.size() < ARGTRACE_UNWIND_ROWS_MAX; i++) {
            const auto function = functions->at(i);
            const Elf64_Phdr *segment = function ? code_at(object_, function->start) : nullptr;
            if (!segment || function->end - segment->p_vaddr > segment->p_filesz)
                continue;
            to_file_ = segment->p_offset - segment->p_vaddr;
            add(*functions, *function);
        }
        return in_order(std::move(pieces_));
    }

private:
    using Function = GoFunctions::Function;

    void add(std::uint64_t start, std::uint64_t end, std::uint32_t rule) { pieces_.push_back({start + to_file_, end + to_file_, rule}); }

    void add(const GoFunctions &functions, const Function &function) {
        using Caller = GoFunctions::Caller;
        const auto add_rule = [this](std::uint64_t start, std::uint64_t end, const std::optional<argtrace_unwind_rule> &rule) {
            add(start, end, rule ? rules_.add(*rule) : ARGTRACE_UNWIND_NONE);
        };
        switch (function.caller) {
        case Caller::none:
            return add(function.start, function.end, rules_.add(end_rule(registers_)));
        case Caller::on_stack:
            return add_sizes(functions, function, function.end);
        case Caller::interrupted:
            return add_sizes(functions, function, function.end, ARGTRACE_RA_INTERRUPTED);
        case Caller::in_c:
            return switches_.visit_all(function.start, function.end, add_rule);
        case Caller::elsewhere:
            return add_sizes(functions, function, switches_.visit_changed(function.start, function.end, add_rule));
        case Caller::saved: {
            const auto changed = switches_.visit_changed(function.start, function.end, [](auto, auto, const auto &) {});
            add_sizes(functions, function, changed);
            if (const auto rule = switches_.growth_rule(functions, function))
                add(changed, function.end, rules_.add(*rule));
        }
        }
    }

    void add_sizes(const GoFunctions &functions, const Function &function, std::uint64_t until, std::uint8_t ra = ARGTRACE_RA_MEMORY) {
        std::int64_t frame = 0; ///< what the function has taken first, at the end of which a linked one has its return address
        functions.visit_sizes(function, [&](std::uint64_t start, std::uint64_t end, std::int64_t size) {
            if (start >= until || size < 0 || size >= INT32_MAX - interrupted_bytes)
                return;
            frame = frame ? frame : size;
            const bool is_interrupted = ra == ARGTRACE_RA_INTERRUPTED;
            auto rule = registers_.is_linked ? linked_rule(size, frame, is_interrupted) : stack_rule(registers_, static_cast<std::int32_t>(size + 8));
            if (!rule)
                return;
            if (is_interrupted)
                rule->ra = ra;
            add(start, std::min(end, until), rules_.add(*rule));
        });
    }

    /// Where a register has the return address when a function is entered: it is stored when the function takes its frame. What a signal's handler
    /// has made a function call has another frame below, with the register as it was before (pushCall() in Go's runtime/signal_arm64.go).
    std::optional<argtrace_unwind_rule> linked_rule(std::int64_t size, std::int64_t frame, bool is_interrupted) const {
        if (size == 0)
            return is_interrupted ? std::nullopt : std::optional(link_rule(registers_));
        const std::int64_t beyond = is_interrupted ? interrupted_bytes : 0, words = (frame + beyond) / 8;
        if (frame % 8 != 0 || words > -std::int64_t{INT16_MIN})
            return std::nullopt;
        return stack_rule(registers_, static_cast<std::int32_t>(size + beyond), static_cast<std::int16_t>(-words));
    }

    static constexpr std::int64_t interrupted_bytes = 16;
    const Object &object_;
    const FrameRegisters &registers_;
    RuleSet &rules_;
    GoStackSwitch switches_;
    RulePieces pieces_;
    std::uint64_t to_file_ = 0;
};

/// What follows a description that ends before a system call, as glibc's of clone() and clone3() do, since it would be wrong for the child behind
/// that: the parent's stack is there still as it was called.
void add_code_of_parents(const Object &object, const argtrace_unwind_rule &as_called, const RuleSet &rules, const RulePieces &described, std::vector<CodeRange> &functions) {
    constexpr std::string_view system_call("\x0f\x05", 2);
    for (std::size_t i = 0; i + 1 < described.size(); i++) {
        const std::uint64_t start = described[i].end, end = described[i + 1].start;
        if (start >= end || !rules.is(described[i].rule, as_called) || view(object.read(start, system_call.size())) != system_call)
            continue;
        for (const Elf64_Phdr &segment : object.segments())
            if (const std::uint64_t address = start - segment.p_offset + segment.p_vaddr; code_at(object, address) == &segment)
                functions.push_back({address, address + (end - start), true});
    }
}

/// Functions that have symbols, but are nowhere described: those of C in a program that Go's linker has put together, and of assembly.
RulePieces undescribed_of(const Object &object, const FrameRegisters &registers, RuleSet &rules, const RulePieces &described) {
    if (registers.is_linked)
        return {};
    const auto is_described = [&described](std::uint64_t offset) {
        const auto behind = std::ranges::upper_bound(described, offset, {}, &RulePiece::start);
        return behind != described.begin() && offset < std::prev(behind)->end;
    };
    std::vector<CodeRange> functions;
    for (const Object::Section &section : object.sections()) {
        const std::uint32_t type = section.header.sh_type;
        if ((type != SHT_SYMTAB && type != SHT_DYNSYM) || section.header.sh_link >= object.sections().size())
            continue;
        std::optional<Text> names; // of all functions, where mostly none is undescribed
        for (const Elf64_Sym &symbol : entries_of<Elf64_Sym>(object, section)) {
            const auto offset = is_function(symbol) && symbol.st_size > 0 ? object.offset_of(symbol.st_value) : std::nullopt;
            if (!offset || is_described(*offset) || !code_at(object, symbol.st_value))
                continue;
            if (!names)
                names = object.content(object.sections()[section.header.sh_link]);
            const bool is_called = !is_cold(string_at(*names, symbol.st_name)) && symbol.st_value != object.entry();
            functions.push_back({symbol.st_value, symbol.st_value + symbol.st_size, is_called});
        }
    }
    add_code_of_parents(object, stack_rule(registers, 8), rules, described, functions);
    RulePieces pieces;
    visit_code_rows(object, registers, std::move(functions), [&](std::uint64_t start, std::uint64_t end, const FrameState &state) {
        if (const auto rule = unwind_rule(registers, state, false); rule && pieces.size() < ARGTRACE_UNWIND_ROWS_MAX)
            pieces.push_back({start, end, rules.add(*rule)});
    });
    return in_order(std::move(pieces));
}

std::vector<argtrace_unwind_row> rows_of(const RulePieces &pieces) {
    std::vector<argtrace_unwind_row> rows;
    std::uint64_t behind = 0;
    // Two are kept for the last piece.
    const auto has_room = [&rows](std::uint64_t end) { return end <= UINT32_MAX && rows.size() + 3 <= ARGTRACE_UNWIND_ROWS_MAX; };
    const auto add = [&rows](std::uint64_t offset, std::uint32_t rule) {
        if ((rows.empty() ? ARGTRACE_UNWIND_NONE : rows.back().rule) != rule)
            rows.push_back({static_cast<std::uint32_t>(offset), rule});
    };
    for (const RulePiece &piece : pieces) {
        if (!has_room(piece.end))
            break;
        if (piece.start > behind)
            add(behind, ARGTRACE_UNWIND_NONE);
        add(piece.start, piece.rule);
        behind = piece.end;
    }
    add(behind, ARGTRACE_UNWIND_NONE);
    return rows;
}

/// Libraries without exceptions have rules in .eh_frame for what was written in assembly alone (musl).
bool describes_most(const Object &object, const RulePieces &pieces) {
    std::uint64_t described = 0, code = 0;
    for (const RulePiece &piece : pieces)
        described += piece.end - piece.start;
    for (const CodeSegment &segment : object.code_segments())
        code += segment.size;
    return described > code / 2;
}

} // namespace

UnwindTable unwind_table(const Object &object, const DebugFiles &debug_files) {
    const FrameRegisters *const registers = frame_registers(object.machine());
    if (!registers)
        return {};
    RuleSet rules;
    FunctionRows described(object, *registers, rules), debugged(object, *registers, rules);
    if (const auto eh_frame = eh_frame_of(object))
        described.read(view(eh_frame->first), eh_frame->second, true);
    RulePieces pieces = fill_gaps(described.pieces(), GoRows(object, *registers, rules).read());
    Text debug_frame = debug_frame_of(object);
    if (debug_frame.empty() && !describes_most(object, pieces)) {
        if (const auto debug_file = find_debug_file(object, debug_files))
            debug_frame = debug_frame_of(*debug_file);
    }
    debugged.read(view(debug_frame), 0, false);
    pieces = fill_gaps(pieces, debugged.pieces());
    pieces = fill_gaps(pieces, linkage_tables_of(object, *registers, rules));
    pieces = fill_gaps(sigreturns_of(object, *registers, rules), pieces);
    pieces = fill_gaps(pieces, undescribed_of(object, *registers, rules, pieces));
    UnwindTable table;
    table.rows = rows_of(pieces);
    table.rules = rules.take();
    return table;
}

const argtrace_unwind_rule *rule_at(const UnwindTable &table, std::uint64_t offset) {
    const auto behind = std::ranges::upper_bound(table.rows, offset, {}, &argtrace_unwind_row::offset);
    if (behind == table.rows.begin() || std::prev(behind)->rule == ARGTRACE_UNWIND_NONE)
        return nullptr;
    return &table.rules[std::prev(behind)->rule];
}

} // namespace argtrace::elf
