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
#include <random>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzzer.h"
#include "render/json.h"
#include "render/text.h"
#include "report/block_writer.h"
#include "report/in_time_order.h"
#include "trace_chunks.h"
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

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t *data, std::size_t size, std::size_t max);

namespace {

using fuzz::LooseChunk;

/// What is in the file changes, or which chunks it has; never what holds them together.
void change(std::vector<LooseChunk> &chunks, std::mt19937 &random) {
    constexpr std::size_t growth = 64;
    const auto any = [&] { return chunks.begin() + random() % chunks.size(); };
    switch (random() % 16) {
    case 0:
        chunks.erase(any());
        break;
    case 1: {
        const LooseChunk copy = *any();
        chunks.insert(any(), copy);
        break;
    }
    case 2:
        std::iter_swap(any(), any());
        break;
    case 3:
        any()->type = random() % 10;
        break;
    case 4:
        any()->flags ^= 1u << random() % 3;
        break;
    default: {
        fuzz::Bytes &payload = any()->payload;
        const std::size_t size = payload.size();
        payload.resize(size + growth);
        payload.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t *>(payload.data()), size,
                                        size + growth));
        break;
    }
    }
}

/// As an input of at most `max` bytes.
std::size_t give(const fuzz::Bytes &file, std::uint8_t *data, std::size_t max) {
    const std::size_t size = std::min(file.size(), max);
    std::memcpy(data, file.data(), size);
    return size;
}

} // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t *data, std::size_t size,
                                               std::size_t max, unsigned seed) {
    std::mt19937 random(seed);
    auto chunks = fuzz::take_apart(std::as_bytes(std::span(data, size)));
    if (chunks.empty() || random() % 16 == 0) // the seams as well, now and then
        return LLVMFuzzerMutate(data, size, max);
    change(chunks, random);
    return give(fuzz::put_together(chunks), data, max);
}

/// The beginning of one, the rest of the other.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t *one, std::size_t one_size,
                                                 const std::uint8_t *other, std::size_t other_size,
                                                 std::uint8_t *out, std::size_t max,
                                                 unsigned seed) {
    std::mt19937 random(seed);
    auto chunks = fuzz::take_apart(std::as_bytes(std::span(one, one_size)));
    const auto more = fuzz::take_apart(std::as_bytes(std::span(other, other_size)));
    chunks.resize(random() % (chunks.size() + 1));
    const auto from = static_cast<std::ptrdiff_t>(random() % (more.size() + 1));
    chunks.insert(chunks.end(), more.begin() + from, more.end());
    return give(fuzz::put_together(chunks), out, max);
}
