// SPDX-License-Identifier: GPL-2.0-only
#include "support/recording.h"

#include <unistd.h>

#include "support/machine.h"

namespace vmtest {

void Recording::SetUp() {
    need_argtrace();
    need_test_module();
    run({"argtrace", "clear"});
    unlink(trace_path);
}

void Recording::TearDown() {
    run({"argtrace", "clear"});
    unlink(trace_path);
}

std::vector<nlohmann::ordered_json> Recording::report(const std::vector<std::string> &options) {
    std::vector<std::string> words{"argtrace", "report", trace_path, "--json"};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json_lines(outcome.out);
}

nlohmann::ordered_json Recording::totals() {
    return json_lines(run({"argtrace", "status", "--json"}).out).back();
}

} // namespace vmtest
