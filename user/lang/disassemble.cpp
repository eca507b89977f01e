// SPDX-License-Identifier: GPL-2.0-only
#include "lang/disassemble.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace argtrace::lang {

namespace {

constexpr std::uint64_t every_mask = ~std::uint64_t{0};

// From the measured building blocks: an argument tested 15, with two loads 38.
constexpr std::uint32_t insn_cost = 15;
constexpr std::uint32_t load_cost = 11;
constexpr std::uint32_t shift_cost = 2;
constexpr std::uint32_t text_cost = 30;
constexpr std::uint32_t strs_cost = 300; // four texts
constexpr std::uint32_t path_cost = 280; // four names
constexpr std::uint32_t file_cost = 60;

std::string_view source_name(std::uint8_t source) {
    constexpr std::array<std::string_view, 15> names{"const",  "reg", "stack", "slot", "task",
                                                     "caller", "cpu", "time",  "ret",  "duration",
                                                     "stack id", "identity", "user stack id", "vector", "result"};
    return source < names.size() ? names[source] : "?";
}

std::string_view alu_name(std::uint8_t alu) {
    constexpr std::array<std::string_view, 14> names{"+", "-",  "*",  "/",  "%",  "&", "|",
                                                     "^", "<<", ">>", "==", "!=", "<", "<="};
    return alu < names.size() ? names[alu] : "?";
}

std::string_view match_name(std::uint64_t match) {
    constexpr std::array<std::string_view, 5> names{"is", "begins with", "ends with", "contains",
                                                    "matches"};
    return match < names.size() ? names[match] : "?";
}

std::string number(std::uint64_t value) {
    return value < 1024 ? fmt::format("{}", value) : fmt::format("{:#x}", value);
}

std::string with_offset(const std::string &text, std::int32_t offset) {
    if (offset == 0)
        return text;
    return offset < 0 ? fmt::format("{} - {}", text, -std::int64_t{offset})
                      : fmt::format("{} + {}", text, offset);
}

std::string_view identity_name(std::uint8_t identity) {
    constexpr std::array<std::string_view, 3> names{"uid", "gid", "cgroup"};
    return identity < names.size() ? names[identity] : "?";
}

std::string source_text(const argtrace_insn &insn) {
    if (insn.source == ARGTRACE_SOURCE_IDENTITY)
        return std::string(identity_name(insn.index));
    if (insn.source == ARGTRACE_SOURCE_CONST)
        return number(
            insn.action == ARGTRACE_DO_TEST || insn.action == ARGTRACE_DO_TEXT ? 0 : insn.span);
    if (insn.source == ARGTRACE_SOURCE_RETURN && insn.index >= ARGTRACE_RETURN_VECTOR)
        return fmt::format("ret vector{}", insn.index - ARGTRACE_RETURN_VECTOR);
    const bool indexed = insn.source == ARGTRACE_SOURCE_REG || insn.source == ARGTRACE_SOURCE_SLOT || insn.source == ARGTRACE_SOURCE_VECTOR ||
                         insn.source == ARGTRACE_SOURCE_RESULT;
    return indexed ? fmt::format("{}{}", source_name(insn.source), insn.index)
                   : std::string(source_name(insn.source));
}

std::string value_text(const argtrace_insn &insn) {
    std::string text = source_text(insn);
    for (unsigned i = 0; i < insn.loads; i++) {
        const bool last = i + 1u == insn.loads;
        text = fmt::format("{}[{}]", insn.flags & ARGTRACE_INSN_USER(i) ? "user" : "", with_offset(text, insn.offset[i]));
        if (last && insn.width < 8)
            text += fmt::format(".{}", insn.width);
    }
    if (insn.loads < 3 && insn.action != ARGTRACE_DO_TEST)
        text = with_offset(text, insn.offset[insn.loads]);
    if (insn.flags & ARGTRACE_INSN_SWAP)
        text = fmt::format("swap({})", text);
    if (insn.shl)
        text = fmt::format("{} << {}", text, insn.shl);
    if (insn.shr)
        text = fmt::format("{} {} {}", text, insn.flags & ARGTRACE_INSN_SIGNED ? ">>>" : ">>",
                           insn.shr);
    if (insn.mask != every_mask)
        text = fmt::format("{} & {:#x}", text, insn.mask);
    return text;
}

std::string target_text(std::uint8_t target, std::size_t at) {
    if (target == ARGTRACE_ACCEPT)
        return "accept";
    if (target == ARGTRACE_REJECT)
        return "reject";
    return target == at + 1 ? "next" : fmt::format("{}", target);
}

std::string literal_text(const Program &program, const argtrace_insn &insn) {
    const auto size = static_cast<std::uint32_t>(insn.span);
    if (insn.base > program.data.size() || size > program.data.size() - insn.base)
        return "?";
    std::string text = "\"";
    for (std::size_t i = 0; i < size; i++) {
        const auto c = static_cast<unsigned char>(program.data[insn.base + i]);
        if (c == '"' || c == '\\')
            text += fmt::format("\\{}", static_cast<char>(c));
        else if (c < ' ' || c > '~')
            text += fmt::format("\\x{:02x}", c);
        else
            text += static_cast<char>(c);
    }
    return text + '"';
}

std::string targets_text(const argtrace_insn &insn, std::size_t at) {
    return fmt::format("{}, else {}", target_text(insn.then, at), target_text(insn.other, at));
}

std::string insn_text(const Program &program, std::size_t at) {
    const argtrace_insn &insn = program.insns[at];
    const std::string value = value_text(insn);
    const char *take = program.sink == ARGTRACE_SINK_RECORD ? "record" : "take";
    const char *sign = insn.flags & ARGTRACE_INSN_SIGNED ? "signed " : "";
    const char *data = insn.flags & ARGTRACE_INSN_USER_DATA ? "user " : "";
    const bool is_output = insn.action >= ARGTRACE_DO_OUT;
    const char *moment = insn.flags & ARGTRACE_INSN_RETURN                ? ", at return"
                         : is_output && insn.then & ARGTRACE_OUT_AGAIN ? ", or else at return"
                                                                       : "";
    switch (insn.action) {
    case ARGTRACE_DO_TEST:
        if (insn.span == 0)
            return fmt::format("if {} == {}: {}", value, number(insn.base), targets_text(insn, at));
        return fmt::format("if {} in {}..{}: {}", value, number(insn.base),
                           number(insn.base + insn.span), targets_text(insn, at));
    case ARGTRACE_DO_TEXT:
        return fmt::format("if {}text at {}, {} bytes, {} {}: {}", data, value, insn.arg,
                           match_name(insn.span >> 32), literal_text(program, insn),
                           targets_text(insn, at));
    case ARGTRACE_DO_JUMP:
        return fmt::format("go to {}", target_text(insn.then, at));
    case ARGTRACE_DO_SET:
        return fmt::format("slot{} = {}", insn.arg, value);
    case ARGTRACE_DO_FILE:
        return fmt::format("slot{} = file of descriptor {}", insn.arg, value);
    case ARGTRACE_DO_ALU:
        return fmt::format("slot{} = slot{} {}{}.{} {}", insn.arg, insn.arg, sign,
                           alu_name(insn.then), insn.other, value);
    case ARGTRACE_DO_OUT:
        return fmt::format("{} {} bytes of {}{}", take, insn.arg, value, moment);
    case ARGTRACE_DO_STR:
        return fmt::format("{} {}text at {}, at most {} bytes{}", take, data, value, insn.arg, moment);
    case ARGTRACE_DO_BUF:
        return fmt::format("{} {}slot{} {}bytes at {}, at most {}{}", take,
                           insn.other == ARGTRACE_BUF_SIGNED ? "signed " : "", insn.base, data, value, insn.arg, moment);
    case ARGTRACE_DO_MEM:
        return fmt::format("{} {} {}bytes at {}{}", take, insn.arg, data, value, moment);
    case ARGTRACE_DO_WORDS:
        return fmt::format("{} {} bytes of {}{}{}", take, insn.arg, value, insn.arg > 8 ? fmt::format(" and slot{}", insn.base) : "", moment);
    case ARGTRACE_DO_STRS:
        return fmt::format("{} {}texts that pointers at {} lead to, at most {} bytes{}", take, data, value, insn.arg, moment);
    case ARGTRACE_DO_PATH:
        return fmt::format("{} path of {} {}{}", take,
                           insn.arg == ARGTRACE_PATH_OF_DENTRY ? "dentry"
                           : insn.arg == ARGTRACE_PATH_OF_NODE ? "node"
                                                               : "path",
                           value, moment);
    default:
        return "?";
    }
}

ProgramCost cost_between(const Program &program, std::size_t begin, std::size_t end) {
    ProgramCost cost;
    for (std::size_t i = begin; i < end; i++) {
        const argtrace_insn &insn = program.insns[i];
        cost.instructions += insn_cost + load_cost * insn.loads;
        cost.loads += insn.loads;
        if (insn.shl || insn.shr)
            cost.instructions += shift_cost;
        switch (insn.action) {
        case ARGTRACE_DO_TEXT:
        case ARGTRACE_DO_STR:
        case ARGTRACE_DO_BUF:
        case ARGTRACE_DO_MEM:
            cost.instructions += text_cost;
            cost.loads++;
            break;
        case ARGTRACE_DO_STRS:
            cost.instructions += strs_cost;
            cost.loads += 8;
            break;
        case ARGTRACE_DO_FILE:
            cost.instructions += file_cost;
            cost.loads += 4;
            break;
        case ARGTRACE_DO_PATH:
            cost.instructions += path_cost;
            cost.loads++;
            break;
        default:
            break;
        }
    }
    return cost;
}

} // namespace

ProgramCost filter_cost(const Program &program) {
    return cost_between(program, 0, std::size_t{program.nr_filter} + program.nr_return);
}

ProgramCost values_cost(const Program &program) {
    return cost_between(program, std::size_t{program.nr_filter} + program.nr_return,
                        program.insns.size());
}

std::string describe(const ProgramCost &cost) {
    const std::string reads = cost.loads == 0   ? "reads no memory"
                              : cost.loads == 1 ? "reads memory once"
                                                : fmt::format("reads memory {} times", cost.loads);
    return fmt::format("{}; about {} instructions", reads, cost.instructions);
}

std::vector<std::string> disassemble(const Program &program) {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < program.insns.size(); i++)
        lines.push_back(fmt::format("{:>3}  {}", i, insn_text(program, i)));
    if (program.sink == ARGTRACE_SINK_COUNT)
        lines.emplace_back("     count the call");
    else if (program.sink == ARGTRACE_SINK_MAP)
        lines.push_back(fmt::format("     add it to map {}", program.map));
    return lines;
}

} // namespace argtrace::lang
