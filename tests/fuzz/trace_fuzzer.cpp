// SPDX-License-Identifier: GPL-2.0-only
//
// A trace file, read and shown as `argtrace report` does it. Sums would turn nearly every changed
// file away before anything of it is looked at, and compressed packets would hardly ever be met:
// so files are taken apart, a chunk is changed, and they are put together again with the sums of
// what they are then. What is found is thus a file that `argtrace report` takes.

#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzzer.h"
#include "render/json.h"
#include "render/text.h"
#include "report/block_writer.h"
#include "report/in_time_order.h"
#include "trace_mutator.h"
#include "util/error.h"
#include "util/fd.h"

using namespace argtrace;

namespace {

enum class View { text, json, stats, some };

const BlockWriter::MakeRenderer make_renderer[] = {
    [](CallerNames &callers) { return std::make_unique<TextRenderer>(callers, true); },
    [](CallerNames &callers) { return std::make_unique<JsonRenderer>(callers, true); },
};

/// Everything that is asked of a file in one way of looking at it.
void report(int fd, View view) {
    static WorkerPool workers(0);
    static const Fd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    EventFilter filter;
    if (view == View::some) {
        filter.functions = {parse_spec("at_*", PatternSyntax::glob)};
        filter.comms = {"sh"};
        filter.cpus = {{0, 1}};
    }
    DecodeJob job;
    job.filter = &filter;
    job.events = view != View::stats;
    job.widths = view != View::json;
    TraceReader reader(fd, "fuzzed", workers, job);
    Output output(null.get());
    std::optional<BlockWriter> writer; // to make it takes longer than many an input
    const auto take = [&](const TimeOrder::Packet &packet, const Event &event) {
        if (!writer)
            writer.emplace(workers, reader.symbols(), make_renderer[view == View::json], output);
        return writer->event(packet, event);
    };
    read_in_time_order(reader, take);
    if (writer)
        (void)writer->flush();
    if (!reader.complete() && reader.fault_count() == 0) // what is wrong has a name
        std::abort();
    for (const FileFault &fault : reader.faults()) {
        if (describe(fault.status).empty())
            std::abort();
    }
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const Fd file(::memfd_create("trace", MFD_CLOEXEC));
    if (!file || ::write(file.get(), data, size) != static_cast<ssize_t>(size))
        std::abort();
    ::lseek(file.get(), 0, SEEK_SET);
    try {
        report(file.get(), static_cast<View>(size % 4));
    } catch (const Error &) {
    }
    return 0;
}
