// SPDX-License-Identifier: GPL-2.0-only
// Tests that record to a file and look at what is in it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/command.h"

namespace vmtest {

/// Removes the session and the file before and after each test.
class Recording : public testing::Test {
protected:
    void SetUp() override;
    void TearDown() override;

    /// The events in the file; the test fails if it cannot be read.
    static std::vector<nlohmann::ordered_json> report(const std::vector<std::string> &options = {});
    /// The last line of status.
    static nlohmann::ordered_json totals();

    static constexpr const char *trace_path = "/tmp/recording.dat";
};

} // namespace vmtest
