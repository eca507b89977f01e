// SPDX-License-Identifier: GPL-2.0-only
#include "export/trace_dat.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "export/append_bytes.h"
#include "model/type.h"
#include "model/unfinished.h"
#include "render/stack.h"
#include "util/error.h"
#include "util/temporary_file.h"
#include "util/utf8_text.h"

namespace argtrace {

namespace {

constexpr std::size_t ring_page = 4096;
constexpr std::size_t page_head = 16;
constexpr std::size_t page_room = ring_page - page_head;
constexpr std::size_t text_max = 3000; // of one event, whose page it has to fit
constexpr std::uint16_t first_id = 1000;
constexpr std::size_t types_max = 0xffff - first_id;
constexpr std::size_t callers_max = 1 << 16;

// What a page and the head of a record look like, as the kernel tells it in events/header_page and
// header_event.
constexpr std::string_view header_page = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                                         "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                                         "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                                         "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
constexpr std::string_view header_event = "# compressed entry header\n"
                                          "\ttype_len    :    5 bits\n"
                                          "\ttime_delta  :   27 bits\n"
                                          "\tarray       :   32 bits\n"
                                          "\n"
                                          "\tpadding     : type == 29\n"
                                          "\ttime_extend : type == 30\n"
                                          "\ttime_stamp : type == 31\n"
                                          "\tdata max type_len  == 28\n";

enum : std::uint32_t { type_len_max = 28, type_extend = 30, type_stamp = 31 };
constexpr unsigned delta_bits = 27, stamp_bits = delta_bits + 32;
constexpr std::uint64_t missed_events = 1u << 31, missed_stored = 1u << 30;

// Where fields are that each event has.
constexpr std::size_t caller_at = 8, duration_at = 16, unreadable_at = 24, arguments_at = 32;

std::string field_line(std::string_view declaration, std::size_t offset, std::size_t size,
                       bool is_signed) {
    return fmt::format("\tfield:{};\toffset:{};\tsize:{};\tsigned:{};\n", declaration, offset, size,
                       is_signed ? 1 : 0);
}

/// A name as it may stand in a format.
std::string identifier_of(std::string_view name, std::set<std::string> &taken) {
    std::string safe;
    for (const char one : name) {
        const bool letter = (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || one == '_';
        const bool digit = one >= '0' && one <= '9';
        if (safe.empty() && digit)
            safe += '_';
        safe += letter || digit ? one : '_';
    }
    if (safe.empty())
        safe = "_";
    while (!taken.insert(safe).second)
        safe += '_';
    return safe;
}

bool is_plain_number(const TypeInfo &type, const Format *format) {
    return !type.is_wide() && type.size > 0 && type.type_class != TypeClass::floating && // its format has none
           (!format || format->kind == Format::Kind::scalar ||
            format->kind == Format::Kind::device || format->kind == Format::Kind::mode);
}

void append_text(std::string &out, std::string_view text) {
    out += text;
    out += '\0';
}

/// Behind its size.
template<typename Size>
void append_sized(std::string &out, std::string_view text) {
    append_bytes(out, static_cast<Size>(text.size()));
    out += text;
}

} // namespace

TraceDatExporter::TraceDatExporter(ExportFile &file, std::string folder, const ExportSource &source)
    : file_(file), folder_(std::move(folder)), source_(source), callers_(source.symbols),
      values_(callers_, ValueWriter::Style::text) {}

const TraceDatExporter::EventType *TraceDatExporter::type_of(const Probe &probe) {
    const auto known = types_.find(&probe);
    if (known != types_.end()) [[likely]]
        return &known->second;
    if (types_.size() == types_max)
        return nullptr;
    EventType &type = types_[&probe];
    type.id = static_cast<std::uint16_t>(first_id + types_.size() - 1);
    const ProbeFormats &formats = values_.formats(probe);
    std::set<std::string> names{"caller",      "duration",     "unreadable",
                                "common_type", "common_flags", "common_preempt_count",
                                "common_pid"};
    std::string fields = field_line("u64 caller", caller_at, 8, false) +
                         field_line("s64 duration", duration_at, 8, true) +
                         field_line("u64 unreadable", unreadable_at, 8, false);
    std::string print, values;
    std::size_t offset = arguments_at;
    for (std::size_t i = 0; i < probe.args.size(); ++i) {
        const Argument &argument = probe.args[i];
        Field field;
        field.format = formats.argument(i);
        field.is_absent = argument.loc == ARGTRACE_LOC_NONE;
        if (!field.is_absent) {
            const TypeInfo &info = type_info(argument.type);
            const std::string name = identifier_of(argument.name, names);
            field.is_text = argument.type == ARGTRACE_TYPE_STACK || !is_plain_number(info, field.format);
            // Readers take smaller numbers for unsigned ones.
            const unsigned size = info.is_signed ? std::max<unsigned>(info.size, 4) : info.size;
            field.bytes = static_cast<std::uint8_t>(field.is_text ? 4 : size);
            offset = (offset + field.bytes - 1) / field.bytes * field.bytes;
            field.offset = offset;
            offset += field.bytes;
            print += print.empty() ? "" : ", ";
            if (field.is_text) {
                fields +=
                    field_line(fmt::format("__data_loc char[] {}", name), field.offset, 4, false);
                print += fmt::format("{}=%s", name);
                values += fmt::format(", __get_str({})", name);
            } else {
                fields +=
                    field_line(fmt::format("{}{} {}", info.is_signed ? 's' : 'u', 8 * size, name),
                               field.offset, size, info.is_signed);
                const bool address = info.type_class == TypeClass::address;
                print += fmt::format("{}={}%{}{}", name, address ? "0x" : "", size == 8 ? "ll" : "",
                                     address          ? 'x'
                                     : info.is_signed ? 'd'
                                                      : 'u');
                values += fmt::format(", REC->{}", name);
            }
        }
        type.fields.push_back(field);
    }
    print += print.empty() ? "" : " ";
    type.size = (offset + 3) / 4 * 4;
    std::set<std::string> none;
    formats_.push_back(fmt::format(
        "name: {}\nID: {}\nformat:\n{}{}{}{}\n{}\nprint fmt: \"{}duration=%lld <- %pS\"{}, "
        "REC->duration, (void *)REC->caller\n",
        identifier_of(probe.function, none), type.id,
        field_line("unsigned short common_type", 0, 2, false),
        field_line("unsigned char common_flags", 2, 1, false),
        field_line("unsigned char common_preempt_count", 3, 1, false),
        field_line("int common_pid", 4, 4, true), fields, print, values));
    return &type;
}

void TraceDatExporter::note_caller(CodePlace place) {
    if (seen_callers_.size() >= callers_max || !seen_callers_.emplace(place, true).second)
        return;
    const auto symbol = source_.symbols.find(place);
    if (symbol)
        symbols_.emplace(
            symbol->addr,
            symbol->module.empty()
                ? fmt::format("{:016x} T {}\n", symbol->addr, symbol->name)
                : fmt::format("{:016x} T {}\t[{}]\n", symbol->addr, symbol->name, symbol->module));
}

/// The record in ftrace's layout: fields, then texts.
void TraceDatExporter::make_record(const EventView &view, const EventType &type) {
    const Event &event = *view.event;
    record_.assign(type.size, '\0');
    const auto put = [this](std::size_t at, auto value) {
        std::memcpy(&record_[at], &value, sizeof(value));
    };
    put(0, type.id);
    put(2, event.context);
    put(3, static_cast<std::uint8_t>(std::min<unsigned>(event.preempt, 0xf)));
    put(4, event.tid);
    put(caller_at, event.caller);
    put(duration_at, event.has_duration() ? event.duration : ~std::uint64_t{0});
    std::uint64_t unreadable = 0;
    for (std::size_t i = 0; i < view.values.size(); ++i) {
        const Field &field = type.fields[i];
        const Value &value = view.values[i];
        if (field.is_absent)
            continue;
        if (!value.captured)
            unreadable |= std::uint64_t{1} << std::min<std::size_t>(i, 63);
        if (!field.is_text) {
            if (value.captured)
                std::memcpy(&record_[field.offset], &value.low, field.bytes);
            continue;
        }
        line_.clear();
        if (value.captured && value.type == ARGTRACE_TYPE_STACK)
            line_ += stack_in_line(callers_, value);
        else
            values_.append(line_, view, value, field.format);
        std::string_view text = line_.view();
        if (value.captured && value.is_text()) {
            const auto bytes = view.bytes_of(value);
            text = valid_utf8({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
            text = text.substr(0, text.find('\0'));
        }
        const std::string_view whole = text;
        text = text.substr(0, text_max - std::min(text_max, record_.size() - type.size));
        cut_ += text.size() < whole.size();
        put(field.offset, static_cast<std::uint32_t>((text.size() + 1) << 16 | record_.size()));
        append_text(record_, text);
    }
    put(unreadable_at, unreadable);
    record_.resize((record_.size() + 3) / 4 * 4);
}

void TraceDatExporter::event(const EventView &view) {
    const Event &event = *view.event;
    const EventType *type = type_of(*event.probe);
    if (!type) {
        ++unnamed_;
        return;
    }
    if (event.caller != 0)
        note_caller(event.caller_place());
    std::string &comm = comms_[event.tid];
    if (comm != event.comm_view())
        comm = event.comm_view();
    make_record(view, *type);

    constexpr std::size_t extend = 8, heads = 8;
    Cpu &cpu = cpus_[event.cpu == unknown_cpu ? 0 : event.cpu];
    // Times go back where a call comes behind those that it made: the page then tells a time anew.
    const bool back = event.ts < cpu.last;
    if (cpu.page.size() + extend + heads + record_.size() > page_room ||
        (back && event.ts >> stamp_bits))
        end_page(cpu);
    if (cpu.page.empty())
        cpu.begin = cpu.last = event.ts;
    const bool stamped = event.ts < cpu.last;
    std::uint64_t delta = stamped ? event.ts : event.ts - cpu.last;
    cpu.last = event.ts;
    if (stamped || delta >> delta_bits) {
        append_bytes(cpu.page, static_cast<std::uint32_t>((stamped ? type_stamp : type_extend) |
                                                          (delta & ((1u << delta_bits) - 1)) << 5));
        append_bytes(cpu.page, static_cast<std::uint32_t>(delta >> delta_bits));
        delta = 0;
    }
    if (record_.size() <= 4 * type_len_max) {
        append_bytes(cpu.page, static_cast<std::uint32_t>(record_.size() / 4 | delta << 5));
    } else {
        append_bytes(cpu.page, static_cast<std::uint32_t>(delta << 5));
        append_bytes(cpu.page, static_cast<std::uint32_t>(record_.size() + 4));
    }
    cpu.page += record_;
}

void TraceDatExporter::end_page(Cpu &cpu) {
    if (cpu.page.empty())
        return;
    if (!cpu.file)
        cpu.file = open_temporary(folder_);
    std::string page;
    append_bytes(page, cpu.begin);
    const bool stored = cpu.lost > 0 && cpu.page.size() + 8 <= page_room;
    append_bytes(page,
                 static_cast<std::uint64_t>(cpu.page.size() | (cpu.lost > 0 ? missed_events : 0) |
                                            (stored ? missed_stored : 0)));
    page += cpu.page;
    if (stored)
        append_bytes(page, cpu.lost);
    page.resize(ring_page);
    errno = ENOSPC; // if it takes only some of it
    if (::write(cpu.file.get(), page.data(), page.size()) != static_cast<ssize_t>(page.size()))
        throw Error(fmt::format("{}: a temporary file there cannot be written: {}", folder_, std::strerror(errno)));
    ++cpu.pages;
    cpu.page.clear();
    cpu.lost = 0;
}

void TraceDatExporter::lost(std::uint32_t cpu, std::uint64_t, std::uint64_t calls) {
    end_page(cpus_[cpu]);
    cpus_[cpu].lost += calls; // before the next page; of none that follows nothing can be said
}

void TraceDatExporter::finish() {
    const std::uint32_t cpus =
        std::max(source_.info.cpus, cpus_.empty() ? std::uint32_t{1} : cpus_.rbegin()->first + 1);
    std::string out = "\x17\x08\x44tracing";
    append_text(out, "6");
    out += '\0';   // little-endian
    out += '\x08'; // bytes of a long
    append_bytes(out, static_cast<std::uint32_t>(ring_page));
    append_text(out, "header_page");
    append_sized<std::uint64_t>(out, header_page);
    append_text(out, "header_event");
    append_sized<std::uint64_t>(out, header_event);
    append_bytes(out, std::uint32_t{0}); // events of ftrace itself
    append_bytes(out, static_cast<std::uint32_t>(formats_.empty() ? 0 : 1));
    if (!formats_.empty()) {
        append_text(out, "argtrace");
        append_bytes(out, static_cast<std::uint32_t>(formats_.size()));
        for (const std::string &format : formats_)
            append_sized<std::uint64_t>(out, format);
    }
    std::string symbols, tasks;
    for (const auto &[address, line] : symbols_)
        symbols += line;
    if (!symbols.empty()) // readers find a symbol by the one behind it
        symbols += "ffffffffffffffff T argtrace_end\n";
    for (const auto &[tid, comm] : comms_)
        tasks += fmt::format("{} {}\n", tid, valid_utf8(comm));
    append_sized<std::uint32_t>(out, symbols);
    append_sized<std::uint32_t>(out, ""); // formats of trace_printk()
    append_sized<std::uint64_t>(out, tasks);
    append_bytes(out, cpus);
    append_text(out, "options  ");
    constexpr std::uint16_t option_clock = 4, option_uname = 5;
    append_bytes(out, option_clock);
    append_sized<std::uint32_t>(out, std::string_view("[mono]\0", 7));
    append_bytes(out, option_uname);
    append_sized<std::uint32_t>(out, fmt::format("Linux {} {} {}", source_.info.host,
                                                 source_.info.kernel, source_.info.machine) +
                                         '\0');
    append_bytes(out, std::uint16_t{0});
    append_text(out, "flyrecord");
    const std::size_t table = out.size() + cpus * 16;
    std::uint64_t offset = (table + ring_page - 1) / ring_page * ring_page;
    const std::uint64_t data = offset;
    for (std::uint32_t number = 0; number < cpus; ++number) {
        const auto cpu = cpus_.find(number);
        if (cpu != cpus_.end())
            end_page(cpu->second);
        const std::uint64_t size = cpu == cpus_.end() ? 0 : cpu->second.pages * ring_page;
        append_bytes(out, offset);
        append_bytes(out, size);
        offset += size;
    }
    out.resize(data);
    file_.write(out);
    std::string part(64 * ring_page, '\0');
    for (auto &[number, cpu] : cpus_) {
        if (!cpu.file)
            continue;
        for (std::uint64_t at = 0, size = cpu.pages * ring_page; at < size;) {
            const ssize_t got = ::pread(cpu.file.get(), part.data(), part.size(), static_cast<off_t>(at));
            if (got <= 0)
                throw Error(fmt::format("{}: a temporary file there cannot be read", folder_));
            file_.write(std::string_view(part).substr(0, static_cast<std::size_t>(got)));
            at += static_cast<std::uint64_t>(got);
        }
        cpu.file = Fd();
    }
    file_.finish();
}

std::string TraceDatExporter::left_out() const {
    std::string left_out;
    if (unnamed_ > 0)
        left_out = fmt::format("{} calls are not in it: it has room for {} functions", unnamed_, types_max);
    if (cut_ > 0)
        left_out += fmt::format("{}{} texts are cut: those of a call have {} bytes", left_out.empty() ? "" : ", ", cut_, text_max);
    return left_out;
}

} // namespace argtrace
