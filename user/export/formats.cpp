// SPDX-License-Identifier: GPL-2.0-only
#include "export/formats.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "export/call_tree.h"
#include "export/ctf.h"
#include "export/flame.h"
#include "export/folded.h"
#include "export/parquet.h"
#include "export/perfetto.h"
#include "export/pprof.h"
#include "export/stack_tree.h"
#include "export/trace_dat.h"
#include "render/pprof.h"
#include "util/error.h"
#include "util/near_match.h"
#include "util/temporary_file.h"

namespace argtrace {

namespace {

struct FormatName {
    ExportFormat format;
    std::string_view name;
    std::string_view suffix;
    std::string_view other_suffix; // empty: there is none
};

constexpr std::array format_names{
    FormatName{ExportFormat::perfetto, "perfetto", ".pftrace", ".pftrace.gz"},
    FormatName{ExportFormat::flame, "flame", ".svg", ".html"},
    FormatName{ExportFormat::folded, "folded", ".folded", ""},
    FormatName{ExportFormat::pprof, "pprof", pprof_suffix, ""},
    FormatName{ExportFormat::parquet, "parquet", ".parquet", ""},
    FormatName{ExportFormat::trace_dat, "trace.dat", ".trace.dat", ""},
    FormatName{ExportFormat::ctf, "ctf", ".ctf", ""},
};

const FormatName &find(ExportFormat format) {
    std::size_t i = 0;
    while (format_names[i].format != format)
        ++i;
    return format_names[i];
}

std::unique_ptr<FrameTree> make_tree(ExportFrames frames, const Symbols &symbols) {
    if (frames == ExportFrames::stack)
        return std::make_unique<StackTree>(symbols);
    return std::make_unique<CallTree>(symbols);
}

std::string listed(std::string_view separator) {
    std::string list;
    for (const FormatName &one : format_names)
        list += fmt::format("{}{}", list.empty() ? "" : separator, one.name);
    return list;
}

} // namespace

ExportFormat parse_export_format(std::string_view name) {
    std::vector<std::string_view> names;
    for (const FormatName &one : format_names) {
        if (one.name == name)
            return one.format;
        names.push_back(one.name);
    }
    const std::string_view near = near_match(name, names);
    throw Error(fmt::format("--to: there is no format '{}'{}; the formats are {}", name,
                            near.empty() ? "" : fmt::format(" (did you mean {}?)", near),
                            listed(", ")));
}

bool is_export_format(std::string_view name) {
    return std::ranges::find(format_names, name, &FormatName::name) != std::end(format_names);
}

ExportFormat export_format_of(std::string_view path) {
    // Its usual name; others that end in .dat are our own files.
    if (path.substr(path.rfind('/') + 1) == "trace.dat")
        return ExportFormat::trace_dat;
    for (const FormatName &one : format_names) {
        if (path.ends_with(one.suffix) ||
            (!one.other_suffix.empty() && path.ends_with(one.other_suffix)))
            return one.format;
    }
    throw Error(fmt::format("{}: its name ends like that of no format: name one with --to ({})",
                            path, listed(", ")));
}

std::string export_format_names() {
    return listed("|");
}

std::string_view export_name(ExportFormat format) {
    return find(format).name;
}

std::string_view export_suffix(ExportFormat format) {
    return find(format).suffix;
}

ExportFile::Compression export_compression(ExportFormat format, std::string_view path) {
    return format == ExportFormat::perfetto && path.ends_with(".gz")
               ? ExportFile::Compression::gzip
               : ExportFile::Compression::none;
}

std::unique_ptr<Exporter> make_folder_exporter(ExportFormat format, const std::string &folder,
                                               WorkerPool &workers, const ExportSource &source) {
    if (format == ExportFormat::ctf)
        return std::make_unique<CtfExporter>(folder, source);
    return std::make_unique<ParquetFolderExporter>(folder, workers, source);
}

bool is_made_of_stacks(ExportFormat format) {
    return format == ExportFormat::flame || format == ExportFormat::folded || format == ExportFormat::pprof;
}

std::unique_ptr<Exporter> make_exporter(ExportFormat format, std::string_view path,
                                        ExportFile &file, WorkerPool &workers,
                                        const ExportSource &source, ExportFrames frames) {
    switch (format) {
    case ExportFormat::perfetto:
        return std::make_unique<PerfettoExporter>(file, workers, source);
    case ExportFormat::flame:
        return std::make_unique<FlameExporter>(
            file, source,
            path.ends_with(".html") ? FlameGraph::Page::html : FlameGraph::Page::svg,
            make_tree(frames, source.symbols));
    case ExportFormat::folded:
        return std::make_unique<FoldedExporter>(file, make_tree(frames, source.symbols));
    case ExportFormat::pprof:
        if (frames == ExportFrames::stack)
            return std::make_unique<PprofStackExporter>(file, source);
        return std::make_unique<PprofTreeExporter>(file, source, make_tree(frames, source.symbols));
    case ExportFormat::parquet:
        return std::make_unique<ParquetExporter>(file, workers, source);
    case ExportFormat::trace_dat:
        return std::make_unique<TraceDatExporter>(file, folder_for_temporary(std::string(path)), source);
    case ExportFormat::ctf: // a folder
        break;
    }
    return nullptr;
}

} // namespace argtrace
