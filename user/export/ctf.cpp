// SPDX-License-Identifier: GPL-2.0-only
#include "export/ctf.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>

#include "export/append_bytes.h"
#include "model/type.h"
#include "model/unfinished.h"
#include "render/flags.h"
#include "render/stack.h"
#include "util/error.h"
#include "util/fd.h"
#include "util/nanoseconds.h"
#include "util/output.h"
#include "util/utf8_text.h"

namespace argtrace {

namespace {

constexpr std::uint32_t packet_magic = 0xc1fc1fc1;
constexpr std::size_t packet_size = 256 * 1024;

struct PacketHead {
    std::uint32_t magic = packet_magic;
    std::uint32_t stream = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t content_bits = 0;
    std::uint64_t packet_bits = 0;
    std::uint64_t discarded = 0;
    std::uint32_t cpu = 0;
} __attribute__((packed));

constexpr const char metadata_head[] = R"(/* CTF 1.8 */

typealias integer {{ size = 8; align = 8; signed = false; }} := u8;
typealias integer {{ size = 16; align = 8; signed = false; }} := u16;
typealias integer {{ size = 32; align = 8; signed = false; }} := u32;
typealias integer {{ size = 64; align = 8; signed = false; }} := u64;
typealias integer {{ size = 8; align = 8; signed = true; }} := s8;
typealias integer {{ size = 16; align = 8; signed = true; }} := s16;
typealias integer {{ size = 32; align = 8; signed = true; }} := s32;
typealias integer {{ size = 64; align = 8; signed = true; }} := s64;
typealias integer {{ size = 64; align = 8; signed = false; base = 16; }} := address;
typealias floating_point {{ exp_dig = 8; mant_dig = 24; align = 8; }} := f32;
typealias floating_point {{ exp_dig = 11; mant_dig = 53; align = 8; }} := f64;

trace {{
	major = 1;
	minor = 8;
	byte_order = le;
	packet.header := struct {{ u32 magic; u32 stream_id; }};
}};

env {{
	domain = "kernel";
	tracer_name = "argtrace";
	hostname = "{host}";
	sysname = "Linux";
	kernel_release = "{kernel}";
}};

clock {{
	name = monotonic;
	description = "CLOCK_MONOTONIC; with the offset, CLOCK_REALTIME";
	freq = 1000000000;
	offset_s = {seconds};
	offset = {nanoseconds};
}};
typealias integer {{ size = 64; align = 8; signed = false; map = clock.monotonic.value; }} := time;

stream {{
	id = 0;
	packet.context := struct {{
		time timestamp_begin;
		time timestamp_end;
		u64 content_size;
		u64 packet_size;
		u64 events_discarded;
		u32 cpu_id;
	}};
	event.header := struct {{ u32 id; time timestamp; }};
	event.context := struct {{ u32 _pid; u32 _tid; string _procname; string _flags; s64 _duration; string _caller; }};
}};
)";

/// Ends in a NUL, and has none.
void put_text(std::string &out, std::string_view text) {
    out += text.substr(0, text.find('\0'));
    out += '\0';
}

std::string quoted(std::string_view text) {
    std::string safe;
    for (const char one : valid_utf8(text)) {
        if (one == '"' || one == '\\')
            safe += '\\';
        safe += (one & 0xe0) == 0 ? '?' : one;
    }
    return safe;
}

/// A name as it may stand in metadata; readers take the underscore off, which keeps keywords apart.
std::string identifier(std::string_view name, std::set<std::string> &taken) {
    std::string safe = "_";
    for (const char one : name) {
        const bool plain = (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') ||
                           (one >= '0' && one <= '9') || one == '_';
        safe += plain ? one : '_';
    }
    while (!taken.insert(safe).second)
        safe += '_';
    return safe;
}

bool is_number(const TypeInfo &type, const Format *format) {
    return !type.is_wide() && type.size > 0 &&
           (!format || format->kind == Format::Kind::scalar ||
            format->kind == Format::Kind::device || format->kind == Format::Kind::mode);
}

std::string number_type(const TypeInfo &type) {
    if (type.type_class == TypeClass::address)
        return "address";
    if (type.type_class == TypeClass::floating)
        return type.name;
    return fmt::format("{}{}", type.is_signed ? 's' : 'u', 8 * type.size);
}

} // namespace

CtfExporter::CtfExporter(std::string folder, const ExportSource &source)
    : folder_(std::move(folder)), callers_(source.symbols),
      values_(callers_, ValueWriter::Style::text) {
    const TraceInfo &info = source.info;
    const std::uint64_t offset = info.begin_realtime - info.begin_monotonic;
    metadata_ = fmt::format(metadata_head, fmt::arg("host", quoted(info.host)),
                            fmt::arg("kernel", quoted(info.kernel)),
                            fmt::arg("seconds", offset / nanoseconds_per_second),
                            fmt::arg("nanoseconds", offset % nanoseconds_per_second));
}

void CtfExporter::write_file(const std::string &path, std::string_view bytes, bool append) {
    const Fd fd(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_EXCL), 0600));
    if (!fd)
        throw Error(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
    Output output(fd.get());
    (void)output.write(bytes); // a file always has a reader
    size_ += bytes.size();
}

const CtfExporter::EventClass &CtfExporter::class_of(const Probe &probe) {
    const auto [found, added] = classes_.try_emplace(&probe);
    EventClass &one = found->second;
    if (!added) [[likely]]
        return one;
    one.id = static_cast<std::uint32_t>(classes_.size() - 1);
    const ProbeFormats &formats = values_.formats(probe);
    std::set<std::string> names;
    std::string fields;
    for (std::size_t i = 0; i < probe.args.size(); ++i) {
        const Argument &argument = probe.args[i];
        Field field;
        field.format = formats.argument(i);
        if (argument.loc != ARGTRACE_LOC_NONE) {
            const TypeInfo &type = type_info(argument.type);
            const std::string name = identifier(argument.name, names);
            const bool number = argument.type != ARGTRACE_TYPE_STACK && is_number(type, field.format);
            field.kind = number ? Kind::number : Kind::text;
            field.bytes = type.size;
            field.is_optional =
                argument.loc != ARGTRACE_LOC_REG && argument.loc != ARGTRACE_LOC_REG_PAIR;
            const std::string type_name = number ? number_type(type) : "string";
            if (field.is_optional) {
                const std::string length = identifier(name + "_length", names);
                fields += fmt::format(" u8 {}; {} {}[{}];", length, type_name, name, length);
            } else {
                fields += fmt::format(" {} {};", type_name, name);
            }
        }
        one.fields.push_back(field);
    }
    metadata_ += fmt::format("\nevent {{\n\tname = \"{}\";\n\tid = {};\n\tstream_id = 0;\n"
                             "\tfields := struct {{{} }};\n}};\n",
                             quoted(probe.function), one.id, fields);
    return one;
}

CtfExporter::Stream &CtfExporter::stream_of(std::uint32_t cpu, std::uint64_t ts) {
    std::deque<Stream> &streams = streams_[cpu];
    for (Stream &stream : streams) {
        if (stream.end <= ts)
            return stream;
    }
    Stream &stream = streams.emplace_back();
    stream.cpu = cpu;
    stream.path = fmt::format("{}/{}", folder_, cpu == unknown_cpu ? "running" : fmt::format("cpu{}", cpu));
    if (streams.size() > 1)
        stream.path += fmt::format("_{}", streams.size());
    stream.begin = stream.end = ts;
    return stream;
}

void CtfExporter::put_value(std::string &out, const Field &field, const EventView &view,
                            const Value &value) {
    if (field.kind == Kind::absent)
        return;
    if (field.is_optional) {
        const bool is_there = value.captured && !is_absent(value, field.format);
        out += static_cast<char>(is_there);
        if (!is_there)
            return;
    }
    if (field.kind == Kind::number) {
        out.append(reinterpret_cast<const char *>(&value.low), field.bytes);
    } else if (value.is_text()) {
        const auto bytes = view.bytes_of(value);
        put_text(out, valid_utf8({reinterpret_cast<const char *>(bytes.data()), bytes.size()}));
    } else if (value.type == ARGTRACE_TYPE_STACK) {
        put_text(out, stack_in_line(callers_, value));
    } else {
        line_.clear();
        values_.append(line_, view, value, field.format);
        put_text(out, line_.view());
    }
}

void CtfExporter::event(const EventView &view) {
    const Event &event = *view.event;
    const EventClass &one = class_of(*event.probe);
    Stream &stream = stream_of(event.cpu, event.ts);
    std::string &out = stream.events;
    if (out.empty())
        stream.begin = event.ts;
    stream.end = event.ts;
    append_bytes(out, one.id);
    append_bytes(out, event.ts);
    append_bytes(out, event.tgid);
    append_bytes(out, event.tid);
    put_text(out, valid_utf8(event.comm_view()));
    put_text(out, flags_column(event.context, event.preempt));
    append_bytes(out, event.has_duration() ? event.duration : ~std::uint64_t{0});
    put_text(out, event.caller != 0 ? std::string_view(callers_.name(event.caller_place())) : "");
    for (std::size_t i = 0; i < view.values.size(); ++i)
        put_value(out, one.fields[i], view, view.values[i]);
    if (out.size() >= packet_size)
        write_packet(stream);
}

void CtfExporter::write_packet(Stream &stream) {
    PacketHead packet;
    packet.begin = stream.begin;
    packet.end = stream.end;
    packet.content_bits = packet.packet_bits = 8 * (sizeof(packet) + stream.events.size());
    packet.discarded = stream.lost;
    packet.cpu = stream.cpu;
    std::string bytes(reinterpret_cast<const char *>(&packet), sizeof(packet));
    bytes += stream.events;
    write_file(stream.path, bytes, true);
    stream.events.clear();
    stream.begin = stream.end;
}

/// Between two packets of the CPU's first stream, which readers compare.
void CtfExporter::lost(std::uint32_t cpu, std::uint64_t ts, std::uint64_t calls) {
    std::deque<Stream> &streams = streams_[cpu];
    if (streams.empty())
        (void)stream_of(cpu, ts);
    Stream &stream = streams.front();
    write_packet(stream);
    stream.begin = stream.end = std::max(stream.end, ts);
    stream.lost += calls;
    write_packet(stream); // if nothing follows
}

void CtfExporter::finish() {
    for (auto &[cpu, streams] : streams_) {
        for (Stream &stream : streams) {
            if (!stream.events.empty())
                write_packet(stream);
        }
    }
    write_file(folder_ + "/metadata", metadata_, false);
}

} // namespace argtrace
