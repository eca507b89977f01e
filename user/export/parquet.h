// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "export/export_file.h"
#include "export/exporter.h"
#include "export/parquet_file.h"
#include "export/parquet_rows.h"
#include "render/caller.h"
#include "render/line.h"
#include "render/value_writer.h"
#include "util/worker_pool.h"

namespace argtrace {

/// The columns that the calls of one function have, with one for each argument, and how they get
/// their values.
class ParquetCalls {
public:
    ParquetCalls(ParquetFile &file, const ExportSource &source, CallerNames &callers,
                 const Probe &probe);

    void add(const EventView &view);

private:
    void add_typed(ParquetColumn &column, const EventView &view, const Value &value,
                   const Format *format);

    ParquetFile &file_;
    const ExportSource source_;
    CallerNames &callers_;
    ValueWriter values_;
    const ProbeFormats &formats_;
    std::string module_name_;
    std::optional<std::size_t> result_;
    ParquetColumn *ts_, *utc_, *host_, *kernel_, *cpu_, *tid_, *pid_, *comm_, *func_, *module_,
        *caller_, *flags_, *duration_, *ret_;
    std::vector<ParquetColumn *> arguments_; // null for the result
    Line line_;
};

/// Calls as rows of a Parquet file, for DuckDB, ClickHouse, Spark, pandas, polars: ts, utc, host,
/// kernel, cpu, tid, pid, comm, func, module, caller, flags, duration, ret and args, which is JSON.
///
/// A worker encodes a group of rows.
class ParquetExporter : public Exporter {
public:
    /// The workers stay the caller's.
    ParquetExporter(ExportFile &file, WorkerPool &workers, const ExportSource &source);
    ~ParquetExporter() override;

    void take(EventBlock block) override;
    void lost(std::uint32_t, std::uint64_t, std::uint64_t calls) override { lost_ += calls; }
    void finish() override;

private:
    struct Waiting {
        std::future<std::vector<ParquetGroup>> groups;
        std::size_t size = 0; // as group_size_
    };

    void submit();
    void write_first();

    WorkerPool &workers_;
    const ExportSource source_;
    ParquetFile file_;
    std::vector<std::unique_ptr<ParquetRows>> rows_; // by worker
    EventBlock group_;
    std::size_t group_size_ = 0; // bytes of the batches of which it has calls
    std::deque<Waiting> groups_;
    std::size_t waiting_size_ = 0; // of all of them
    std::uint64_t lost_ = 0;
};

/// A folder with the calls of each function in files of their own, func=NAME/part-N.parquet, where
/// each argument is a column of its type.
class ParquetFolderExporter : public SerialExporter {
public:
    /// The calls of at most `parts_max` functions wait to be written.
    ParquetFolderExporter(std::string folder, WorkerPool &workers, const ExportSource &source,
                          std::size_t parts_max = 2000);
    ~ParquetFolderExporter() override;

    void lost(std::uint32_t, std::uint64_t, std::uint64_t calls) override { lost_ += calls; }
    void finish() override;
    std::uint64_t size() const override { return size_; }

private:
    void event(const EventView &view) override;
    struct Part;

    void finish_part(const Probe &probe, Part &part);
    void make_room();

    std::string folder_;
    WorkerPool &workers_;
    const ExportSource source_;
    std::size_t parts_max_;
    CallerNames callers_;
    std::unordered_map<const Probe *, std::unique_ptr<Part>> parts_;
    std::unordered_map<std::string, unsigned> numbers_; // of parts, by function
    std::uint64_t events_ = 0;
    std::uint64_t lost_ = 0; // that no part has told of
    std::uint64_t size_ = 0;
};

} // namespace argtrace
