// SPDX-License-Identifier: GPL-2.0-only
#include "uapi/probe.h"

#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "util/error.h"

namespace argtrace {

namespace {

constexpr std::size_t entry_alignment = 8;
constexpr std::size_t string_table_max = std::numeric_limits<std::uint16_t>::max();
constexpr char forced_mark = '~'; // behind the function's name; in none of a symbol

/// The strings of one probe, each once, NUL-terminated.
class StringTable {
public:
    std::uint16_t add(const std::string &text) {
        if (auto known = offsets_.find(text); known != offsets_.end())
            return known->second;
        if (text.find('\0') != std::string::npos ||
            bytes_.size() + text.size() + 1 > string_table_max)
            return overflow_ = true, 0;
        auto offset = static_cast<std::uint16_t>(bytes_.size());
        bytes_.append(text).push_back('\0');
        offsets_.emplace(text, offset);
        return offset;
    }

    const std::string &bytes() const { return bytes_; }
    bool overflow() const { return overflow_; }

private:
    std::string bytes_;
    std::map<std::string, std::uint16_t> offsets_;
    bool overflow_ = false;
};

std::size_t round_up_to_entry(std::size_t size) {
    return (size + entry_alignment - 1) / entry_alignment * entry_alignment;
}

void append(std::vector<std::byte> &out, const void *data, std::size_t size) {
    auto bytes = static_cast<const std::byte *>(data);
    out.insert(out.end(), bytes, bytes + size);
}

/// The string at `offset`, or nothing when it does not end within the table.
std::optional<std::string> string_at(std::string_view table, std::size_t offset) {
    if (offset >= table.size())
        return std::nullopt;
    auto end = table.find('\0', offset);
    if (end == std::string_view::npos)
        return std::nullopt;
    return std::string(table.substr(offset, end - offset));
}

[[noreturn]] void malformed(std::size_t index, const char *what) {
    throw Error(fmt::format("the module's description of probe {} is malformed: {}", index, what));
}

Argument parse_argument(const std::byte *at, std::string_view table, std::size_t index) {
    argtrace_arg raw;
    std::memcpy(&raw, at, sizeof(raw));
    auto name = string_at(table, raw.name);
    auto type_name = string_at(table, raw.type_name);
    if (!name || !type_name)
        malformed(index, "a name lies outside its strings");
    return {raw.loc,
            raw.index,
            raw.type,
            raw.size,
            raw.offset,
            std::move(*name),
            std::move(*type_name)};
}

} // namespace

void append_schema(std::vector<std::byte> &out, const Probe &probe) {
    StringTable strings;
    strings.add(probe.forced ? probe.function + forced_mark : probe.function);
    std::vector<argtrace_arg> args;
    for (const Argument &argument : probe.args) {
        argtrace_arg raw{};
        raw.loc = argument.loc;
        raw.index = argument.index;
        raw.type = argument.type;
        raw.size = argument.size;
        raw.offset = argument.offset;
        raw.name = strings.add(argument.name);
        raw.type_name = strings.add(argument.type_name);
        args.push_back(raw);
    }
    if (strings.overflow() || args.size() > std::numeric_limits<std::uint16_t>::max())
        throw Error(fmt::format("{}: its prototype is too long to be traced", probe.function));
    if (probe.program.size() > std::numeric_limits<std::uint16_t>::max() ||
        probe.program.size() % entry_alignment != 0)
        throw Error(fmt::format("{}: its expressions are too long to be traced", probe.function));

    std::size_t args_bytes = args.size() * sizeof(argtrace_arg);
    std::size_t used =
        sizeof(argtrace_probe) + args_bytes + strings.bytes().size() + probe.types.size();
    std::size_t padding = round_up_to_entry(used) - used;

    argtrace_probe header{};
    const std::size_t returns_bytes = probe.returns.size() * sizeof(probe.returns[0]);
    const std::size_t returns_padding = round_up_to_entry(returns_bytes) - returns_bytes;
    header.size = static_cast<std::uint32_t>(used + padding + probe.program.size() + returns_bytes + returns_padding);
    header.id = probe.id;
    header.addr = probe.addr;
    header.flags = probe.flags;
    header.nr_args = static_cast<std::uint16_t>(args.size());
    header.strings = static_cast<std::uint16_t>(strings.bytes().size());
    header.types = static_cast<std::uint32_t>(probe.types.size());
    header.program = static_cast<std::uint16_t>(probe.program.size());
    header.kind = probe.kind;

    append(out, &header, sizeof(header));
    append(out, args.data(), args_bytes);
    append(out, strings.bytes().data(), strings.bytes().size());
    append(out, probe.types.data(), probe.types.size());
    out.resize(out.size() + padding);
    append(out, probe.program.data(), probe.program.size());
    append(out, probe.returns.data(), returns_bytes);
    out.resize(out.size() + returns_padding);
}

void append_probe(std::vector<std::byte> &out, const Probe &probe) {
    append_probe(out, probe, probe.addr, ~0u);
}

void append_probe(std::vector<std::byte> &out, const Probe &probe, std::uint64_t addr, std::uint32_t flags) {
    const std::size_t at = out.size();
    append_schema(out, probe);
    argtrace_probe header;
    std::memcpy(&header, &out[at], sizeof(header));
    header.id = 0;
    header.addr = addr;
    header.flags &= flags;
    header.flags &= ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS_MASK | ARGTRACE_PROBE_BY_KERNEL |
                    ARGTRACE_PROBE_BY_REASON_MASK | ARGTRACE_PROBE_RETURNS_MASK | ARGTRACE_PROBE_NEVER_RETURNS | ARGTRACE_PROBE_LOOPS |
                    ARGTRACE_PROBE_GOROUTINES | ARGTRACE_PROBE_WAITS | ARGTRACE_PROBE_IN_MEMORY; // what is passed in
    std::memcpy(&out[at], &header, sizeof(header));
}

std::vector<Probe> parse_probes(std::span<const std::byte> bytes, std::size_t count) {
    std::vector<Probe> probes;
    for (std::size_t i = 0; i < count; ++i) {
        argtrace_probe header;
        if (bytes.size() < sizeof(header))
            malformed(i, "its header is cut off");
        std::memcpy(&header, bytes.data(), sizeof(header));
        if (header.size > bytes.size() || header.size % entry_alignment != 0)
            malformed(i, "its size is wrong");
        std::size_t args_end = sizeof(header) + header.nr_args * sizeof(argtrace_arg);
        std::size_t strings_end = args_end + header.strings;
        if (strings_end > header.size || header.types > header.size - strings_end)
            malformed(i, "its parts are larger than the whole");
        std::size_t program_begin = round_up_to_entry(strings_end + header.types);
        if (header.program % entry_alignment != 0 || header.program > header.size - program_begin)
            malformed(i, "its program is larger than what is left for it");
        const std::size_t returns_begin = program_begin + header.program;
        const std::size_t nr_returns = (header.flags & ARGTRACE_PROBE_RETURNS_MASK) >> ARGTRACE_PROBE_RETURNS_SHIFT;
        if (nr_returns * sizeof(std::int32_t) > header.size - returns_begin)
            malformed(i, "it returns at more places than it has");

        std::string_view table(reinterpret_cast<const char *>(bytes.data()) + args_end,
                               header.strings);
        auto function = string_at(table, 0);
        if (!function)
            malformed(i, "it has no name");
        const bool forced = function->ends_with(forced_mark);
        if (forced)
            function->pop_back();

        Probe probe{header.id, header.addr, header.flags, std::move(*function), {}, {}, forced, {}, header.kind};
        for (std::size_t n = 0; n < header.nr_args; ++n)
            probe.args.push_back(
                parse_argument(bytes.data() + sizeof(header) + n * sizeof(argtrace_arg), table, i));
        auto types = bytes.subspan(strings_end, header.types);
        probe.types.assign(types.begin(), types.end());
        auto program = bytes.subspan(program_begin, header.program);
        probe.program.assign(program.begin(), program.end());
        probe.returns.resize(nr_returns);
        if (nr_returns > 0)
            std::memcpy(probe.returns.data(), bytes.data() + returns_begin, nr_returns * sizeof(std::int32_t));
        probes.push_back(std::move(probe));
        bytes = bytes.subspan(header.size);
    }
    return probes;
}

} // namespace argtrace
