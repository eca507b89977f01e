// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "export/export_file.h"
#include "export/exporter.h"
#include "export/parquet_file.h"
#include "render/caller.h"
#include "render/line.h"
#include "render/value_writer.h"

namespace argtrace {

/// The columns that each call has, and how they get their values.
class ParquetCalls {
public:
    /// What the columns of arguments are: one for all of them, or one for each of a probe's.
    ParquetCalls(ParquetFile &file, const ExportSource &source, CallerNames &callers,
                 const Probe *probe);

    void add(const EventView &view);

private:
    struct Plan {
        std::string module;
        const ProbeFormats *formats = nullptr;
        std::vector<std::string> names; // "name":
        std::size_t result = 0;
    };

    const Plan &plan_of(const Probe &probe);
    void add_json(ParquetColumn &column, const EventView &view, const Value &value,
                  const Format *format);
    void add_typed(ParquetColumn &column, const EventView &view, const Value &value,
                   const Format *format);

    ParquetFile &file_;
    const ExportSource source_;
    CallerNames &callers_;
    ValueWriter values_;
    std::unordered_map<const Probe *, Plan> plans_;
    ParquetColumn *ts_, *utc_, *host_, *kernel_, *cpu_, *tid_, *pid_, *comm_, *func_, *module_,
        *caller_, *flags_, *duration_, *ret_;
    ParquetColumn *args_ = nullptr;          // of all
    std::vector<ParquetColumn *> arguments_; // or one for each; null for the result
    Line line_;
};

/// Calls as rows of a Parquet file, for DuckDB, ClickHouse, Spark, pandas, polars: ts, utc, host,
/// kernel, cpu, tid, pid, comm, func, module, caller, flags, duration, ret and args, which is JSON.
class ParquetExporter : public SerialExporter {
public:
    ParquetExporter(ExportFile &file, WorkerPool &workers, const ExportSource &source);

    void lost(std::uint32_t, std::uint64_t, std::uint64_t calls) override { lost_ += calls; }
    void finish() override;

private:
    void event(const EventView &view) override { calls_.add(view); }
    const ExportSource source_;
    CallerNames callers_;
    ParquetFile file_;
    ParquetCalls calls_;
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
    std::uint64_t lost_ = 0;
    std::uint64_t size_ = 0;
};

} // namespace argtrace
