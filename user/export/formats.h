// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "export/export_file.h"
#include "export/exporter.h"

namespace argtrace {

enum class ExportFormat { perfetto, flame, folded, pprof, parquet, trace_dat, ctf };

/// What flame graphs, folded stacks and profiles are made of: the stacks that were recorded, or calls within each other.
enum class ExportFrames { stack, duration };

/// Reads what --to takes. Throws Error, which lists them all, for a name that is none.
ExportFormat parse_export_format(std::string_view name);

/// Whether that takes the name.
bool is_export_format(std::string_view name);

/// The format that the file's name ends like. Throws Error where it ends like none.
ExportFormat export_format_of(std::string_view path);

/// "perfetto|folded|...".
std::string export_format_names();

/// As --to takes it.
std::string_view export_name(ExportFormat format);

/// What the names of its files end in.
std::string_view export_suffix(ExportFormat format);

/// Whether a file of that name is compressed.
ExportFile::Compression export_compression(ExportFormat format, std::string_view path);

/// Whether it is made of the stacks in which calls were made, or of what stands for them.
bool is_made_of_stacks(ExportFormat format);

/// Makes the exporter of a format that is a folder: ctf, or parquet with files for each function.
std::unique_ptr<Exporter> make_folder_exporter(ExportFormat format, const std::string &folder,
                                               WorkerPool &workers, const ExportSource &source);

/// Makes that of one which is a file, for a file of that name; file and source stay the caller's. `frames` is for what is made
/// of stacks.
std::unique_ptr<Exporter> make_exporter(ExportFormat format, std::string_view path,
                                        ExportFile &file, WorkerPool &workers,
                                        const ExportSource &source, ExportFrames frames);

} // namespace argtrace
