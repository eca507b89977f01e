// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "export/export_file.h"
#include "export/exporter.h"
#include "render/caller.h"
#include "render/line.h"
#include "render/value_writer.h"
#include "util/fd.h"

namespace argtrace {

/// trace-cmd's file, version 6 (trace-cmd.dat.v6(5)), for `trace-cmd report` and KernelShark: an
/// event type for each function, with fields of its arguments' types, in the pages of ftrace's ring
/// buffer. Formats stand before events there, so that pages wait in temporary files until all
/// functions are known.
class TraceDatExporter : public SerialExporter {
public:
    /// Temporary files are made in that folder.
    TraceDatExporter(ExportFile &file, std::string folder, const ExportSource &source);

    void lost(std::uint32_t cpu, std::uint64_t ts, std::uint64_t calls) override;
    void finish() override;
    std::string left_out() const override;

private:
    void event(const EventView &view) override;
    struct Field {
        bool is_text = false;
        bool is_absent = false;
        std::uint8_t bytes = 0; // of a number
        std::size_t offset = 0;
        const Format *format = nullptr;
    };

    struct EventType {
        std::uint16_t id = 0;
        std::size_t size = 0; // of the fields that are always there
        std::vector<Field> fields;
    };

    struct Cpu {
        std::string page; // what the page that is being made has
        std::uint64_t begin = 0;
        std::uint64_t last = 0;
        std::uint64_t lost = 0; // before this page
        std::uint64_t pages = 0;
        Fd file;
    };

    const EventType *type_of(const Probe &probe);
    void note_caller(CodePlace place);
    void make_record(const EventView &view, const EventType &type);
    void end_page(Cpu &cpu);

    ExportFile &file_;
    std::string folder_;
    const ExportSource source_;
    CallerNames callers_;
    ValueWriter values_;
    std::unordered_map<const Probe *, EventType> types_;
    std::vector<std::string> formats_;
    std::map<std::uint32_t, Cpu> cpus_;
    std::map<std::uint64_t, std::string> symbols_; // lines of kallsyms, by address
    std::unordered_map<CodePlace, bool, CodePlace::Hash> seen_callers_;
    std::map<std::uint32_t, std::string> comms_; // by thread
    std::uint64_t cut_ = 0;                      // texts that are not whole
    std::uint64_t unnamed_ = 0;                  // calls of functions beyond what numbers there are
    std::string record_;
    Line line_;
};

} // namespace argtrace
