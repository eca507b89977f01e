// SPDX-License-Identifier: GPL-2.0-only
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/tracing_options.h"
#include "file/writer.h"
#include "live/tracing.h"
#include "model/counts.h"
#include "record/snapshot_file.h"
#include "render/status.h"
#include "session/live_symbols.h"
#include "util/message.h"
#include "util/units.h"

namespace argtrace {

namespace {

struct SnapshotOptions {
    std::string file = default_trace_file;
    std::string compress; // the level, or empty: not at all
    bool include_self = false;
};

void attach_flight(Session &session) {
    if (!session.attach(default_session))
        throw Error("no functions are traced: `argtrace add --flight FUNC` starts a flight "
                    "recorder, whose content `argtrace snapshot` saves");
    if (!session.is_flight())
        throw Error("the session is no flight recorder: `argtrace record` saves its calls; for "
                    "snapshots, `argtrace clear` and `argtrace add --flight ...`");
}

void print_summary(const argtrace_counts &total, std::uint64_t overwritten, std::uint64_t missed,
                   const TraceWriter &writer, const Session &session) {
    message("{}; {}: {} bytes in {} packets", calls_summary(total, overwritten), writer.name(),
            writer.written(), writer.packets());
    if (missed > 0)
        message("{} packet{} overwritten before {} could be copied, and left out: "
                "the rings fill faster than they are read; a larger --buffer helps",
                missed, missed == 1 ? " was" : "s were", missed == 1 ? "it" : "they");
    print_remedies(session, total, false);
}

void run_snapshot(const SnapshotOptions &options) {
    const std::optional<int> level = parse_compression(options.compress);
    Session session(Device::open());
    attach_flight(session);
    if (!options.include_self)
        session.leave_out_own_calls();
    const std::vector<RingMapping> mappings = session.map_rings();
    std::vector<RingView> rings;
    for (const RingMapping &mapping : mappings)
        rings.push_back(mapping.view());

    // Before anything else: what others do meanwhile, or we ourselves with --include-self, pushes out what is wanted. What has
    // been overwritten comes before the counts, so that it is not more than has been recorded.
    const std::vector<RingSnapshot> snapshots = take_snapshot(rings);
    const InFlightList running = list_calls_in_flight(session);
    const std::uint64_t gone = overwritten_in(mappings);
    const std::vector<argtrace_counts> counts = session.counts(true);

    session.choose_naming({.lines = true});
    const LiveSymbols symbols(session);
    TraceWriter writer(TraceTarget(options.file), level);
    writer.info(describe_session(session));
    MetadataWriter metadata(
        session.attributes().format, [&] { return session.probes(true); }, symbols, writer);
    write_packets(snapshots, metadata, writer);
    metadata.precede(running.calls);
    metadata.finish();
    writer.running(running.head, running.calls);

    const argtrace_counts total = total_of(counts);
    std::vector<CpuLoss> loss;
    for (const RingView &ring : rings)
        loss.push_back({ring.cpu, 0, __atomic_load_n(&ring.control->lost, __ATOMIC_RELAXED)});
    writer.counts(counts);
    writer.loss(loss);
    writer.end();
    writer.flush();
    writer.target().keep(); // an empty buffer is an answer, too

    std::uint64_t missed = 0;
    for (const RingSnapshot &snapshot : snapshots)
        missed += snapshot.missed();
    print_summary(total, gone, missed, writer, session);
}

} // namespace

void setup_snapshot(CLI::App &app) {
    auto options = std::make_shared<SnapshotOptions>();
    CLI::App *command = app.add_subcommand(
        "snapshot", "Save to a file what the flight recorder of `add --flight` holds");
    command->add_option("-o,--output", options->file, "The file, or - for stdout (argtrace.dat)")
        ->type_name("FILE");
    command
        ->add_flag("--compress{1}", options->compress,
                   "Compress with zstd; LEVEL is from 1 (fast, the default) to 19")
        ->type_name("[=LEVEL]");
    add_include_self_option(*command, options->include_self);
    command->footer(
        "Recording continues: snapshots may be taken any number of times, also several at "
        "once. `argtrace report` shows the file, on any machine.\n\n"
        "Examples:\n"
        "  argtrace add --flight --buffer 16M 'ext4_*'\n"
        "  argtrace snapshot -o before.dat\n"
        "  argtrace snapshot -o - | argtrace report -\n"
        "  argtrace clear");
    command->callback([options] { run_snapshot(*options); });
}

} // namespace argtrace
