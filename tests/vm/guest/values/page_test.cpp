// SPDX-License-Identifier: GPL-2.0-only
// The numbers of pages, against page_to_pfn() in argtrace_expressions.ko.
#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "support/architecture.h"
#include "support/command.h"
#include "support/machine.h"

namespace vmtest {
namespace {

using json = nlohmann::ordered_json;

class Pages : public testing::Test {
protected:
    void SetUp() override {
        if (is_arm64)
            GTEST_SKIP() << "no variable of arm64's kernels has the address of its struct pages";
        need_argtrace();
        run({"argtrace", "clear"});
        need_module("argtrace_expressions");
    }

    void TearDown() override {
        if (IsSkipped())
            return;
        run({"argtrace", "clear"});
        EXPECT_EQ(unload_module("argtrace_expressions"), 0);
    }

    /// The calls of ax_page() that are recorded: of five pages, and without one.
    static std::vector<json> events_of(const std::vector<std::string> &words) {
        std::vector<std::string> add{"argtrace", "add"};
        add.insert(add.end(), words.begin(), words.end());
        const Outcome added = run(add);
        EXPECT_EQ(added.status, 0) << added.err;
        std::ofstream("/sys/kernel/debug/argtrace_expressions/pages") << 1;
        const Outcome outcome = run({"argtrace", "trace", "--json", "--duration", "300ms"});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return json_lines(outcome.out);
    }
};

TEST_F(Pages, have_their_numbers) {
    const auto events = events_of({"ax_page(pfn(page) as page, pfn(folio) as folio, pfn)"});
    ASSERT_EQ(events.size(), 6u);
    for (std::size_t i = 0; i < 5; i++) {
        const json args = events[i]["args"];
        const std::uint64_t pfn = args["pfn"];
        EXPECT_GT(pfn, 0u);
        EXPECT_EQ(args["page"], pfn) << args.dump();
        EXPECT_EQ(args["folio"], i < 4 ? pfn - i : pfn) << args.dump();
    }
    EXPECT_TRUE(events[5]["args"]["page"].is_null()) << events[5].dump();
    EXPECT_TRUE(events[5]["args"]["folio"].is_null()) << events[5].dump();
}

TEST_F(Pages, are_told_by_their_numbers) {
    EXPECT_EQ(events_of({"ax_page if pfn(page) == pfn"}).size(), 5u);
}

TEST_F(Pages, are_shown_with_their_numbers) {
    const auto events = events_of({"-d", "ax_page"});
    ASSERT_EQ(events.size(), 6u);
    for (std::size_t i = 0; i < 5; i++)
        EXPECT_EQ(events[i]["args"]["page.pfn"], events[i]["args"]["pfn"]) << events[i].dump();
    EXPECT_TRUE(events[5]["args"]["page.pfn"].is_null()) << events[5].dump();
}

} // namespace
} // namespace vmtest
