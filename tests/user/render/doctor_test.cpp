// SPDX-License-Identifier: GPL-2.0-only
#include "render/doctor.h"

#include <gtest/gtest.h>

namespace argtrace {
namespace {

TEST(RenderDoctor, OneLineACheck) {
    const std::vector<Finding> findings{{"clock", Health::ok, "good"},
                                        {"module", Health::missing, "not loaded", "modprobe argtrace"},
                                        {"types", Health::unseen, "\"?\""}};
    std::string text, json;
    append_findings(text, findings);
    EXPECT_EQ(text, "ok       clock         good\n"
                    "missing  module        not loaded; modprobe argtrace\n"
                    "unseen   types         \"?\"\n");
    append_findings_json(json, findings);
    EXPECT_EQ(json, "{\"check\":\"clock\",\"health\":\"ok\",\"says\":\"good\",\"remedy\":null}\n"
                    "{\"check\":\"module\",\"health\":\"missing\",\"says\":\"not loaded\",\"remedy\":\"modprobe argtrace\"}\n"
                    "{\"check\":\"types\",\"health\":\"unseen\",\"says\":\"\\\"?\\\"\",\"remedy\":null}\n"
                    "{\"works\":false,\"ok\":1,\"limited\":0,\"missing\":1,\"unseen\":1}\n");
}

} // namespace
} // namespace argtrace
