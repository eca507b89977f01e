// SPDX-License-Identifier: GPL-2.0-only
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/child_command.h"
#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/function_options.h"
#include "cli/live_record.h"
#include "cli/options.h"
#include "cli/tracing.h"
#include "render/status.h"
#include "session/counts.h"
#include "spec/resolve.h"
#include "util/units.h"

namespace argtrace {

namespace {

struct RecordOptions {
    FunctionOptions functions;
    SessionOptions session;
    std::string file = default_trace_file;
    std::string compress; // the level, or empty: not at all
    std::optional<std::uint64_t> duration;
    std::vector<std::string> command;

    bool own_session() const { return !functions.specs.empty(); }
};

void check_usage(const RecordOptions &options) {
    if (options.session.given() && !options.own_session())
        throw CLI::ValidationError(
            "--buffer, --encoding and --no-caller are chosen when functions "
            "are added: give them to `argtrace add`, or name functions here");
    if (options.functions.given() && !options.own_session())
        throw CLI::ValidationError("--regex, --force, --raw and --btf say which functions are "
                                   "meant: name them here");
}

/// On stderr, so that whoever waits for it knows that from now on no call is missed.
void print_armed(std::size_t functions, const RecordOptions &options) {
    const std::string until =
        options.command.empty() ? "until Ctrl-C" : fmt::format("until {} ends", options.command[0]);
    fmt::print(stderr, "argtrace: recording {} function{} to {}, {}\n", functions,
               functions == 1 ? "" : "s", trace_name(options.file, false), until);
}

void print_summary(const argtrace_counts &total, const TraceWriter &writer,
                   const RecordOptions &options, const Session &session) {
    fmt::print(stderr, "argtrace: {}; {}: {} bytes in {} packets\n", calls_summary(total),
               writer.name(), writer.written(), writer.packets());
    print_remedies(session, total, options.own_session());
}

/// What the file ends with.
argtrace_counts finish(TraceWriter &writer, const Session &session, const Recorder &recorder) {
    const std::vector<argtrace_counts> counts = session.counts(true);
    argtrace_counts total{};
    for (const argtrace_counts &one : counts)
        add_counts(total, one);
    writer.counts(counts);
    writer.loss(recorder.loss());
    writer.end();
    writer.flush();
    return total;
}

void run_record(const RecordOptions &options) {
    check_usage(options);
    const std::optional<int> level = parse_compression(options.compress);
    const Request request = make_request(options.functions);
    Session session(Device::open());
    Kernel kernel;
    use_btf(kernel, options.functions);
    std::vector<Probe> probes;
    if (options.own_session()) {
        Resolved resolved = resolve(kernel, request);
        probes = std::move(resolved.probes);
        print_left(resolved.left);
        session.create("", options.session);
    } else {
        attach_default(session, "record");
    }
    session.become_reader();
    TraceWriter writer(open_trace_to_write(options.file), trace_name(options.file, false), level);
    std::optional<ChildCommand> command;
    if (!options.command.empty())
        command.emplace(options.command, options.file == "-");

    const std::vector<RingMapping> mappings = session.map_rings();
    std::vector<RingView> rings;
    for (const RingMapping &mapping : mappings)
        rings.push_back(mapping.view());
    const Symbols *symbols = symbols_of(kernel);
    TraceInfo info = describe_session(session);
    info.command = options.command;
    writer.info(info);

    StopSignal stop; // from here on Ctrl-C ends in a summary
    if (auto refused = session.add(probes))
        throw explain_refusal(kernel, probes[*refused]);
    Recorder recorder(
        rings, session.attributes().format, [&] { return session.probes(true); }, symbols, writer);
    writer.flush();
    print_armed(session.probes(false).size(), options);
    if (command)
        command->start();

    LiveRecord record(session, recorder, writer, command ? &*command : nullptr);
    const LiveRecord::End end = record.run(options.duration, stop);
    if (options.own_session())
        session.remove_all();
    recorder.collect_rest();
    const argtrace_counts total = finish(writer, session, recorder);
    if (end == LiveRecord::End::removed)
        fmt::print(stderr, "argtrace: the session was removed (`argtrace clear`)\n");
    print_summary(total, writer, options, session);
    if (command)
        throw ExitStatus{command->finish()};
}

} // namespace

void setup_record(CLI::App &app, const std::vector<std::string> &words) {
    auto options = std::make_shared<RecordOptions>();
    options->command = words;
    CLI::App *command =
        app.add_subcommand("record", "Record calls to a file, until Ctrl-C or a command ends");
    add_function_options(*command, options->functions,
                         "Functions, see below; without any, those of `add`");
    command->add_option("-o,--output", options->file, "The file, or - for stdout (argtrace.dat)")
        ->type_name("FILE");
    command->add_flag("--compress{1}", options->compress,
                      "Compress with zstd; --compress=LEVEL from 1 (fast, the default) to 19");
    add_parsed_option(
        *command, "--duration",
        [options](const std::string &text) {
            options->duration = parse_seconds("--duration", text);
        },
        "End after that time; fractions are allowed")
        ->type_name("SECONDS");
    add_session_options(*command, options->session);
    command->footer(
        std::string(spec_help) +
        "\n\nWith functions it traces them as long as it runs and leaves nothing behind. Without, "
        "it\nrecords what `argtrace add` has added, from the oldest call that is in the buffer.\n"
        "With a command it begins before it and ends with it, and exits as it does.\n"
        "`argtrace report` shows the file, on any machine.\n\n"
        "Examples:\n"
        "  argtrace record vfs_read vfs_write\n"
        "  argtrace record -o build.dat 'vmlinux:vfs_*' -- make -j8\n"
        "  argtrace record -o - vfs_open | argtrace report -");
    command->callback([options] { run_record(*options); });
}

} // namespace argtrace
