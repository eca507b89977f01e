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
#include "cli/process_options.h"
#include "cli/process_watch.h"
#include "cli/tracing.h"
#include "model/counts.h"
#include "render/status.h"
#include "session/live_symbols.h"
#include "util/units.h"

namespace argtrace {

namespace {

struct RecordOptions {
    FunctionOptions functions;
    SessionOptions session;
    ProcessOptions processes;
    std::string file = default_trace_file;
    std::string compress; // the level, or empty: not at all
    std::optional<std::uint64_t> duration;
    std::vector<std::string> command;

    bool own_session() const { return !functions.specs.empty(); }

    /// Only COMMAND and what it starts.
    bool follows_command() const { return processes.follow && !command.empty(); }

    /// The processes given are what ends it.
    bool ends_with_processes() const { return !processes.pids.empty() && command.empty(); }
};

void check_usage(const RecordOptions &options) {
    if ((options.session.given() || options.processes.given()) && !options.own_session())
        throw CLI::ValidationError(
            "-p, --follow, --buffer, --encoding, --clock and --no-caller are chosen when functions "
            "are added: give them to `argtrace add`, or name functions here");
    if (options.functions.given() && !options.own_session())
        throw CLI::ValidationError(
            "--regex, --force, --raw, --btf and --on-load say which functions are "
            "meant: name them here");
    if (options.processes.follow && options.processes.pids.empty() && options.command.empty())
        throw CLI::ValidationError("--follow needs a process whose children are meant: name it "
                                   "with -p, or a COMMAND after --");
}

/// On stderr, so that whoever waits for it knows that from now on no call is missed.
void print_armed(std::size_t functions, const Wanted &wanted, const RecordOptions &options) {
    const std::string until =
        options.command.empty() ? "until Ctrl-C" : fmt::format("until {} ends", options.command[0]);
    if (wanted.on_load) {
        functions = wanted.on_load->probes.size();
        fmt::print(stderr,
                   "argtrace: {} function{} of {} will be recorded to {} when it is loaded, {}\n",
                   functions, functions == 1 ? "" : "s", wanted.on_load->module,
                   trace_name(options.file, false), until);
        return;
    }
    fmt::print(stderr, "argtrace: recording {} function{} to {}, {}\n", functions,
               functions == 1 ? "" : "s", trace_name(options.file, false), until);
}

void print_summary(const argtrace_counts &total, const TraceWriter &writer,
                   const RecordOptions &options, const Session &session) {
    fmt::print(stderr, "argtrace: {}; {}: {} bytes in {} packets\n", calls_summary(total),
               writer.name(), writer.written(), writer.packets());
    print_remedies(session, total, options.own_session());
}

/// The processes of -p, and COMMAND's if it is to be followed; nothing if neither was asked for.
std::optional<ProcessFilter> filter_of(const RecordOptions &options,
                                       const std::optional<ChildCommand> &command) {
    if (!options.processes.given())
        return std::nullopt;
    ProcessFilter filter = options.processes.filter();
    if (options.follows_command())
        filter.pids.push_back(static_cast<std::uint32_t>(command->pid()));
    return filter;
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
    ProcessWatch processes(options.processes.pids);
    Kernel kernel;
    Wanted wanted;
    if (options.own_session()) {
        wanted = resolve_wanted(kernel, options.functions, request);
        session.create("", options.session);
    } else {
        attach_default(session, "record");
    }
    session.become_reader();
    std::optional<ChildCommand> command;
    if (!options.command.empty())
        command.emplace(options.command, options.file == "-");
    if (const auto filter = filter_of(options, command))
        session.set_processes(*filter);

    const std::vector<RingMapping> mappings = session.map_rings();
    std::vector<RingView> rings;
    for (const RingMapping &mapping : mappings)
        rings.push_back(mapping.view());
    const LiveSymbols symbols(session.device());
    TraceInfo info = describe_session(session);
    info.command = options.command;

    StopSignal stop; // from here on Ctrl-C ends in a summary, and there is a file that has an end
    TraceWriter writer(open_trace_to_write(options.file), trace_name(options.file, false), level);
    writer.info(info);
    add_wanted(session, kernel, wanted);
    Recorder recorder(
        rings, session.attributes().format, [&] { return session.probes(true); }, symbols, writer);
    writer.flush();
    print_armed(session.probes(false).size(), wanted, options);
    if (wanted.on_load)
        note_loaded(wanted.on_load->module);
    if (command)
        command->start();

    LiveRecord record(session, recorder, writer, command ? &*command : nullptr,
                      options.ends_with_processes() ? &processes : nullptr);
    const LiveRecord::End end = record.run(options.duration, stop);
    if (options.own_session()) {
        session.remove_all_on_load();
        session.remove_all();
    }
    recorder.collect_rest();
    const argtrace_counts total = finish(writer, session, recorder);
    if (end == LiveRecord::End::removed)
        fmt::print(stderr, "argtrace: the session was removed (`argtrace clear`)\n");
    if (end == LiveRecord::End::ended)
        print_ended(options.processes.pids);
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
    add_on_load_option(*command, options->functions);
    command->add_option("-o,--output", options->file, "The file, or - for stdout (argtrace.dat)")
        ->type_name("FILE");
    command
        ->add_flag("--compress{1}", options->compress,
                   "Compress with zstd; LEVEL is from 1 (fast, the default) to 19")
        ->type_name("[=LEVEL]");
    add_parsed_option(
        *command, "--duration",
        [options](const std::string &text) {
            options->duration = parse_seconds("--duration", text);
        },
        "End after that time; fractions are allowed")
        ->type_name("SECONDS");
    add_process_options(*command, options->processes,
                        "Only calls of COMMAND and of what it starts; with -p also of what that "
                        "process starts from now on");
    add_session_options(*command, options->session);
    command->footer(
        std::string(spec_help) +
        "\n\nWith functions, it traces them while it runs and leaves nothing traced. Without any, "
        "it "
        "records what `argtrace add` has added, beginning with the oldest call in the buffer.\n\n"
        "With a COMMAND, recording begins before it, ends with it, and exits as it does; the calls "
        "of all processes are recorded meanwhile unless -F or -p says otherwise. With -p and no "
        "COMMAND, it ends when those processes have ended. `argtrace report` shows the file, on "
        "any "
        "machine.\n\n"
        "Examples:\n"
        "  argtrace record vfs_read vfs_write\n"
        "  argtrace record -o build.dat 'vmlinux:vfs_*' -- make -j8\n"
        "  argtrace record -F 'vmlinux:vfs_*' -- make -j8\n"
        "  argtrace record -p 1234 'tcp_*' -- sleep 10\n"
        "  argtrace record -o - vfs_open | argtrace report -");
    command->callback([options] { run_record(*options); });
}

} // namespace argtrace
