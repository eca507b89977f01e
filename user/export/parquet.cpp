// SPDX-License-Identifier: GPL-2.0-only
#include "export/parquet.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "export/result.h"
#include "export/utf8_text.h"
#include "model/type.h"
#include "render/flags.h"
#include "render/json.h"
#include "util/error.h"
#include "util/fd.h"

namespace argtrace {

namespace {

/// The column for an argument by itself.
ParquetType column_type(const Argument &argument, const Format *format) {
    const TypeInfo &type = type_info(argument.type);
    if (argument.type == ARGTRACE_TYPE_STR || argument.type == ARGTRACE_TYPE_PATH)
        return ParquetType::text;
    if (format && (format->kind == Format::Kind::enumeration ||
                   format->kind == Format::Kind::flags || format->kind == Format::Kind::function))
        return ParquetType::text;
    const bool number = !format || format->kind == Format::Kind::scalar ||
                        format->kind == Format::Kind::device || format->kind == Format::Kind::mode;
    if (!number || type.is_wide() || type.size == 0)
        return ParquetType::json;
    if (type.type_class == TypeClass::boolean)
        return ParquetType::boolean;
    switch (type.size) {
    case 1:
        return type.is_signed ? ParquetType::i8 : ParquetType::u8;
    case 2:
        return type.is_signed ? ParquetType::i16 : ParquetType::u16;
    case 4:
        return type.is_signed ? ParquetType::i32 : ParquetType::u32;
    default:
        return type.is_signed ? ParquetType::i64 : ParquetType::u64;
    }
}

constexpr std::uint64_t part_rows_max = 30000; // of a file: less than a group of rows
constexpr std::size_t rows_size_max = 16 << 20;
constexpr std::uint64_t look = 8192;

std::string lower(std::string text) {
    for (char &one : text)
        one = static_cast<char>(one >= 'A' && one <= 'Z' ? one + ('a' - 'A') : one);
    return text;
}

/// As the value of a key in the name of a folder.
std::string hive_name(std::string_view function) {
    std::string name;
    for (const char one : function) {
        const bool plain = (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') ||
                           (one >= '0' && one <= '9') || one == '_' || one == '.' || one == '-';
        name +=
            plain ? std::string(1, one) : fmt::format("%{:02X}", static_cast<unsigned char>(one));
    }
    return name;
}

std::vector<std::pair<std::string, std::string>> notes_of(const ExportSource &source,
                                                          std::uint64_t lost) {
    return {{"argtrace.info", to_json(source.info, -1)}, {"argtrace.lost", std::to_string(lost)}};
}

} // namespace

ParquetCalls::ParquetCalls(ParquetFile &file, const ExportSource &source, CallerNames &callers,
                           const Probe *probe)
    : file_(file), source_(source), callers_(callers),
      values_(callers, probe ? ValueWriter::Style::text : ValueWriter::Style::json) {
    using enum ParquetType;
    const auto add = [&file](const char *name, ParquetType type) {
        return &file.add_column(name, type);
    };
    ts_ = add("ts", i64);
    utc_ = add("utc", timestamp);
    host_ = add("host", text);
    kernel_ = add("kernel", text);
    cpu_ = add("cpu", u32);
    tid_ = add("tid", u32);
    pid_ = add("pid", u32);
    comm_ = add("comm", text);
    func_ = add("func", text);
    module_ = add("module", text);
    caller_ = add("caller", text);
    flags_ = add("flags", text);
    duration_ = add("duration", i64);
    if (!probe) {
        ret_ = add("ret", json);
        args_ = add("args", json);
        return;
    }
    const ProbeFormats &formats = values_.formats(*probe);
    const auto result = result_index(*probe);
    ret_ = result ? &file.add_column("ret",
                                     column_type(probe->args[*result], formats.argument(*result)))
                  : add("ret", json);
    std::set<std::string, std::less<>> names;
    for (const ParquetColumn &column : file.columns())
        names.insert(lower(column.name()));
    for (std::size_t i = 0; i < probe->args.size(); ++i) {
        if (i == result) {
            arguments_.push_back(nullptr);
            continue;
        }
        std::string name(valid_utf8(probe->args[i].name));
        while (
            !names.insert(lower(name)).second) // readers do not tell large letters from small ones
            name = "arg_" + name;
        arguments_.push_back(
            &file.add_column(name, column_type(probe->args[i], formats.argument(i))));
    }
}

const ParquetCalls::Plan &ParquetCalls::plan_of(const Probe &probe) {
    const auto [found, added] = plans_.try_emplace(&probe);
    Plan &plan = found->second;
    if (!added) [[likely]]
        return plan;
    plan.module = callers_.module(probe.addr);
    plan.formats = &values_.formats(probe);
    plan.result = result_index(probe).value_or(probe.args.size());
    for (const Argument &argument : probe.args) {
        std::string name;
        append_json_string(name, argument.name);
        plan.names.push_back(name + ":");
    }
    return plan;
}

void ParquetCalls::add_json(ParquetColumn &column, const EventView &view, const Value &value,
                            const Format *format) {
    if (!value.captured)
        return;
    line_.clear();
    values_.append(line_, view, value, format);
    column.add(line_.view());
}

void ParquetCalls::add_typed(ParquetColumn &column, const EventView &view, const Value &value,
                             const Format *format) {
    if (!value.captured)
        return;
    if (value.is_text()) {
        const auto bytes = view.bytes_of(value);
        column.add(valid_utf8({reinterpret_cast<const char *>(bytes.data()), bytes.size()}));
    } else if (column.type() == ParquetType::text) {
        line_.clear();
        values_.append(line_, view, value, format);
        column.add(line_.view());
    } else if (column.type() == ParquetType::json) {
        ValueWriter json(callers_, ValueWriter::Style::json);
        line_.clear();
        json.append(line_, view, value, format);
        column.add(line_.view());
    } else {
        column.add(value.low);
    }
}

void ParquetCalls::add(const EventView &view) {
    const Event &event = *view.event;
    const TraceInfo &info = source_.info;
    const Plan &plan = plan_of(*event.probe);
    ts_->add(event.ts);
    utc_->add(event.ts - info.begin_monotonic + info.begin_realtime);
    host_->add(info.host);
    kernel_->add(info.kernel);
    cpu_->add(event.cpu);
    tid_->add(event.tid);
    if (event.tgid != 0 || event.tid == 0)
        pid_->add(event.tgid);
    comm_->add(valid_utf8(event.comm_view()));
    func_->add(event.probe->function);
    if (!plan.module.empty())
        module_->add(plan.module);
    if (event.caller != 0) {
        if (const std::string &name = callers_.name(event.caller); name != CallerNames::unknown)
            caller_->add(name);
    }
    flags_->add(std::string_view(flags_column(event.context, event.preempt)));
    if (event.has_duration())
        duration_->add(event.duration);
    if (args_) {
        if (plan.result < view.values.size())
            add_json(*ret_, view, view.values[plan.result], plan.formats->argument(plan.result));
        line_.clear();
        line_ += '{';
        bool first = true;
        for (std::size_t i = 0; i < view.values.size(); ++i) {
            if (i == plan.result)
                continue;
            if (!std::exchange(first, false))
                line_ += ',';
            line_ += plan.names[i];
            values_.append(line_, view, view.values[i], plan.formats->argument(i));
        }
        line_ += '}';
        args_->add(line_.view());
    } else {
        for (std::size_t i = 0; i < view.values.size(); ++i)
            add_typed(i == plan.result ? *ret_ : *arguments_[i], view, view.values[i],
                      plan.formats->argument(i));
    }
    file_.end_row();
}

ParquetExporter::ParquetExporter(ExportFile &file, WorkerPool &workers, const ExportSource &source)
    : source_(source), callers_(source.symbols), file_(workers),
      calls_(file_, source, callers_, nullptr) {
    file_.set_file(file);
}

void ParquetExporter::finish() {
    file_.finish(notes_of(source_, lost_));
}

/// The rows of one function that are not in a file yet.
struct ParquetFolderExporter::Part {
    Part(WorkerPool &workers, const ExportSource &source, CallerNames &callers, const Probe &probe)
        : rows(workers), calls(rows, source, callers, &probe) {}

    ParquetFile rows;
    ParquetCalls calls;
};

ParquetFolderExporter::ParquetFolderExporter(std::string folder, WorkerPool &workers,
                                             const ExportSource &source, std::size_t parts_max)
    : folder_(std::move(folder)), workers_(workers), source_(source), parts_max_(parts_max),
      callers_(source.symbols) {}

ParquetFolderExporter::~ParquetFolderExporter() = default;

void ParquetFolderExporter::finish_part(const Probe &probe, Part &part) {
    const std::string folder = fmt::format("{}/func={}", folder_, hive_name(probe.function));
    const std::string path = fmt::format("{}/part-{}.parquet", folder, numbers_[probe.function]++);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        throw Error(fmt::format("{}: cannot be made: {}", folder, std::strerror(errno)));
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd)
        throw Error(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
    ExportFile file(fd.get(), path, workers_);
    part.rows.set_file(file);
    part.rows.finish(notes_of(source_, lost_));
    size_ += file.size();
}

/// Writes the parts with the most rows where all together are too many.
void ParquetFolderExporter::make_room() {
    std::vector<std::pair<std::size_t, const Probe *>> sizes;
    std::size_t all = 0;
    for (const auto &[probe, part] : parts_) {
        sizes.emplace_back(part->rows.size(), probe);
        all += sizes.back().first;
    }
    if (all < rows_size_max && parts_.size() < parts_max_)
        return;
    std::sort(sizes.rbegin(), sizes.rend());
    sizes.resize(sizes.size() / 2 + 1);
    for (const auto &[size, probe] : sizes) {
        finish_part(*probe, *parts_.at(probe));
        parts_.erase(probe);
    }
}

void ParquetFolderExporter::event(const EventView &view) {
    const Probe &probe = *view.event->probe;
    std::unique_ptr<Part> &part = parts_[&probe];
    if (!part)
        part = std::make_unique<Part>(workers_, source_, callers_, probe);
    part->calls.add(view);
    if (part->rows.rows() >= part_rows_max) {
        finish_part(probe, *part);
        parts_.erase(&probe);
    }
    if (++events_ % look == 0 || parts_.size() > parts_max_)
        make_room();
}

void ParquetFolderExporter::finish() {
    for (const auto &[probe, part] : parts_)
        finish_part(*probe, *part);
    parts_.clear();
}

} // namespace argtrace
