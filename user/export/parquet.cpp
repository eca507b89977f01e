// SPDX-License-Identifier: GPL-2.0-only
#include "export/parquet.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "export/result.h"
#include "model/type.h"
#include "model/unfinished.h"
#include "render/flags.h"
#include "render/json.h"
#include "render/load_value.h"
#include "render/stack.h"
#include "util/error.h"
#include "util/fd.h"
#include "util/utf8_text.h"

namespace argtrace {

namespace {

/// The column for an argument by itself.
ParquetType column_type(const Argument &argument, const Format *format) {
    const bool scalar_in_bytes = argument.type == ARGTRACE_TYPE_BYTES && format &&
                                 format->kind == Format::Kind::scalar; // of only()
    const TypeInfo &type = type_info(scalar_in_bytes ? format->type : argument.type);
    if (argument.type == ARGTRACE_TYPE_STR || argument.type == ARGTRACE_TYPE_PATH)
        return ParquetType::text;
    if (argument.type == ARGTRACE_TYPE_STACK)
        return ParquetType::json;
    if (format && (format->has_names() || format->kind == Format::Kind::function))
        return ParquetType::text;
    const bool number = !format || format->kind == Format::Kind::scalar ||
                        format->kind == Format::Kind::device || format->kind == Format::Kind::mode;
    if (!number || type.is_wide() || type.size == 0)
        return ParquetType::json;
    if (type.type_class == TypeClass::boolean)
        return ParquetType::boolean;
    if (type.type_class == TypeClass::floating)
        return type.size == 4 ? ParquetType::f32 : ParquetType::f64;
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

constexpr std::uint64_t part_rows_max = 30000; // of a file, which has one group of rows
constexpr std::size_t rows_size_max = 16 << 20;
constexpr std::uint64_t look = 8192;

/// What each call has.
constexpr std::array<std::pair<std::string_view, ParquetType>, 13> common_columns{{
    {"ts", ParquetType::i64},
    {"utc", ParquetType::timestamp},
    {"host", ParquetType::text},
    {"kernel", ParquetType::text},
    {"cpu", ParquetType::u32},
    {"tid", ParquetType::u32},
    {"pid", ParquetType::u32},
    {"comm", ParquetType::text},
    {"func", ParquetType::text},
    {"module", ParquetType::text},
    {"caller", ParquetType::text},
    {"flags", ParquetType::text},
    {"duration", ParquetType::i64},
}};

// The batches that hold the calls of a group of rows take at most so many bytes; they stay until it is encoded.
constexpr std::size_t group_size_max = 8 << 20;

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

/// The first columns of each file.
ParquetCalls::ParquetCalls(ParquetFile &file, const ExportSource &source, CallerNames &callers,
                           const Probe &probe)
    : file_(file), source_(source), callers_(callers),
      values_(callers, ValueWriter::Style::text), formats_(values_.formats(probe)),
      module_name_(callers.module(code_place(probe))), result_(result_index(probe)) {
    std::vector<ParquetColumn *> columns;
    for (const auto &[name, type] : common_columns)
        columns.push_back(&file.add_column(std::string(name), type));
    std::size_t next = 0;
    for (ParquetColumn **column : {&ts_, &utc_, &host_, &kernel_, &cpu_, &tid_, &pid_, &comm_,
                                   &func_, &module_, &caller_, &flags_, &duration_})
        *column = columns[next++];
    ret_ = &file.add_column("ret", result_ ? column_type(probe.args[*result_],
                                                         formats_.argument(*result_))
                                           : ParquetType::json);
    std::set<std::string, std::less<>> names;
    for (const ParquetColumn &column : file.columns())
        names.insert(lower(column.name()));
    for (std::size_t i = 0; i < probe.args.size(); ++i) {
        if (i == result_) {
            arguments_.push_back(nullptr);
            continue;
        }
        std::string name(valid_utf8(probe.args[i].name));
        while (
            !names.insert(lower(name)).second) // readers do not tell large letters from small ones
            name = "arg_" + name;
        arguments_.push_back(
            &file.add_column(name, column_type(probe.args[i], formats_.argument(i))));
    }
}

void ParquetCalls::add_typed(ParquetColumn &column, const EventView &view, const Value &value,
                             const Format *format) {
    if (!value.captured || is_absent(value, format))
        return;
    if (value.type == ARGTRACE_TYPE_STACK) {
        line_.clear();
        append_json_stack(line_, callers_, value);
        if (line_.view() != "null") // the recording does not have it
            column.add(line_.view());
    } else if (value.is_text()) {
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
    } else if (value.type == ARGTRACE_TYPE_BYTES) {
        if (const Value number = load_value(*format, view.bytes_of(value)); number.captured)
            column.add(number.low);
    } else {
        column.add(value.low);
    }
}

void ParquetCalls::add(const EventView &view) {
    const Event &event = *view.event;
    const TraceInfo &info = source_.info;
    ts_->add(event.ts);
    utc_->add(realtime_of(info, event.ts));
    host_->add(valid_utf8(info.host));
    kernel_->add(valid_utf8(info.kernel));
    if (event.cpu != unknown_cpu)
        cpu_->add(event.cpu);
    tid_->add(event.tid);
    if (event.tgid != 0 || event.tid == 0)
        pid_->add(event.tgid);
    comm_->add(valid_utf8(event.comm_view()));
    func_->add(valid_utf8(event.probe->function));
    if (!module_name_.empty())
        module_->add(module_name_);
    if (event.caller != 0) {
        if (const std::string &name = callers_.name(event.caller_place()); name != CallerNames::unknown)
            caller_->add(name);
    }
    flags_->add(std::string_view(flags_column(event.context, event.preempt)));
    if (event.has_duration())
        duration_->add(event.duration);
    for (std::size_t i = 0; i < view.values.size(); ++i)
        add_typed(i == result_ ? *ret_ : *arguments_[i], view, view.values[i],
                  formats_.argument(i));
    file_.end_row();
}

ParquetExporter::ParquetExporter(ExportFile &file, WorkerPool &workers, const ExportSource &source)
    : workers_(workers), source_(source) {
    file_.set_file(file);
    for (const auto &[name, type] : common_columns)
        file_.add_column(std::string(name), type);
    file_.add_column("ret", ParquetType::json);
    file_.add_column("args", ParquetType::json);
    for (unsigned i = 0; i < workers.size(); ++i)
        rows_.push_back(std::make_unique<ParquetRows>(source.symbols, source.info));
}

ParquetExporter::~ParquetExporter() {
    for (Waiting &waiting : groups_)
        waiting.groups.wait();
}

void ParquetExporter::take(EventBlock block) {
    for (std::size_t taken = 0; taken < block.events.size();) {
        const auto first = block.events.begin() + static_cast<std::ptrdiff_t>(taken);
        const std::size_t count = std::min(block.events.size() - taken,
                                           ParquetRows::rows_max - group_.events.size());
        group_.events.insert(group_.events.end(), first,
                             first + static_cast<std::ptrdiff_t>(count));
        for (const auto &batch : block.batches) {
            if (std::find(group_.batches.begin(), group_.batches.end(), batch) !=
                group_.batches.end())
                continue;
            group_size_ += size_of(*batch);
            group_.batches.push_back(batch);
        }
        taken += count;
        if (group_.events.size() == ParquetRows::rows_max || group_size_ >= group_size_max)
            submit();
    }
}

/// Has the rows encoded, and writes those before them meanwhile.
void ParquetExporter::submit() {
    if (group_.events.empty())
        return;
    auto group = std::make_shared<EventBlock>(std::exchange(group_, {}));
    const std::size_t size = std::exchange(group_size_, 0);
    groups_.push_back({workers_.submit([this, group](unsigned worker) { return rows_[worker]->encode(*group); }), size});
    group.reset();
    waiting_size_ += size;
    while (groups_.size() > workers_.size() || (waiting_size_ > waiting_size_max && groups_.size() > 1))
        write_first();
}

void ParquetExporter::write_first() {
    const std::vector<ParquetGroup> groups = groups_.front().groups.get();
    waiting_size_ -= groups_.front().size;
    groups_.pop_front();
    for (const ParquetGroup &group : groups)
        file_.write_group(group);
}

void ParquetExporter::finish() {
    submit();
    while (!groups_.empty())
        write_first();
    file_.finish(notes_of(source_, lost_));
}

/// The rows of one function that are not in a file yet.
struct ParquetFolderExporter::Part {
    Part(const ExportSource &source, CallerNames &callers, const Probe &probe)
        : calls(rows, source, callers, probe) {}

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
    part.rows.finish(notes_of(source_, std::exchange(lost_, 0)));
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
    // Before the call is added, so that there is always a part to come, which tells of losses.
    if (++events_ % look == 0 || parts_.size() > parts_max_)
        make_room();
    const Probe &probe = *view.event->probe;
    std::unique_ptr<Part> &part = parts_[&probe];
    if (part && part->rows.rows() >= part_rows_max) {
        finish_part(probe, *part);
        part.reset();
    }
    if (!part)
        part = std::make_unique<Part>(source_, callers_, probe);
    part->calls.add(view);
}

void ParquetFolderExporter::finish() {
    for (const auto &[probe, part] : parts_)
        finish_part(*probe, *part);
    parts_.clear();
}

} // namespace argtrace
