// SPDX-License-Identifier: GPL-2.0-only
#include "render/tree.h"

#include <cstring>
#include <deque>

#include <gmock/gmock.h>

#include "report/symbol_table.h"
#include "support/packet_builder.h"

namespace argtrace {
namespace {

using test::argument;

class TreeTest : public testing::Test {
protected:
    const Probe &probe(const char *function, bool result = true) {
        Probe probe;
        probe.function = function;
        probe.flags = ARGTRACE_PROBE_RETURN;
        probe.args = {argument("count", ARGTRACE_TYPE_U64)};
        if (result) {
            probe.args.push_back(argument("ret", ARGTRACE_TYPE_S32));
            probe.args.back().loc = ARGTRACE_LOC_RETURN;
        }
        probes.push_back(std::move(probe));
        return probes.back();
    }

    void call(const Probe &probe, std::uint64_t begin, std::uint64_t duration, std::uint64_t result,
              std::uint8_t context = 0) {
        Event event;
        event.ts = begin;
        event.duration = duration;
        event.probe = &probe;
        event.tid = 145;
        event.cpu = 1;
        event.context = context;
        std::memcpy(event.comm.data(), "dd", 2);
        std::vector<Value> values{{7, 0, ARGTRACE_TYPE_U64, true}};
        if (has_result(probe))
            values.push_back({result, 0, ARGTRACE_TYPE_S32, true});
        renderer.event(out, {&event, values});
    }

    std::deque<Probe> probes;
    SymbolTable symbols;
    CallerNames callers{symbols};
    TreeRenderer renderer{callers, true, {}, 1000000};
    std::string out;
};

TEST_F(TreeTest, ShowsWhatWasCalledInWhat) {
    renderer.begin(out, 5000000000);
    const Probe &outer = probe("vfs_read");
    const Probe &inner = probe("rw_verify_area", false);
    call(inner, 5000000100, 311, 0, ARGTRACE_CTX_HARDIRQ);
    call(outer, 5000000000, 1834, static_cast<std::uint64_t>(-2));
    EXPECT_TRUE(renderer.waiting());
    renderer.end(out);
    EXPECT_FALSE(renderer.waiting());
    EXPECT_EQ(out,
              "TIME            COMM            TID  CPU FLAGS  DURATION  FUNCTION\n"
              "5.000000000     dd              145  1   ....             vfs_read(count=7) {\n"
              "5.000000100     dd              145  1   ..h.      311ns    rw_verify_area(count=7)\n"
              "5.000001834     dd              145  1   ....     1.83us  } = -ENOENT\n");
}

TEST_F(TreeTest, WaitsForTheCallAround) {
    const Probe &one = probe("f");
    call(one, 5000000000, 1000, 0);
    EXPECT_EQ(out, "");
    renderer.advance(out, 5000500000);
    EXPECT_EQ(out, "") << "half of --max-wait";
    renderer.advance(out, 5002000000);
    EXPECT_THAT(out, testing::EndsWith("f(count=7) = 0\n"));
    EXPECT_FALSE(renderer.waiting());
    out.clear();
    // Events themselves tell the time, too.
    call(one, 6000000000, 1000, 0);
    call(one, 7000000000, 1000, 0);
    EXPECT_THAT(out, testing::HasSubstr("6.000000000"));
    EXPECT_THAT(out, testing::Not(testing::HasSubstr("7.000000000")));
}

} // namespace
} // namespace argtrace
