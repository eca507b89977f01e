// SPDX-License-Identifier: GPL-2.0-only
#include "cases/register.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <stdexcept>

namespace cases {
namespace {

class CaseTest : public testing::Test {
public:
    explicit CaseTest(std::function<void()> body) : body_(std::move(body)) {}
    void TestBody() override { body_(); }

private:
    std::function<void()> body_;
};

void add_test(const std::string &name, const std::function<void()> &body) {
    testing::RegisterTest("Cases", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [body]() -> testing::Test * { return new CaseTest(body); });
}

void add_failure(const std::string &name, const std::string &why) {
    add_test(name, [why] { FAIL() << why; });
}

std::vector<std::filesystem::path> case_files(const std::string &folder) {
    std::vector<std::filesystem::path> files;
    std::error_code none;
    for (const auto &entry : std::filesystem::directory_iterator(folder, none)) {
        if (entry.path().extension() == ".case")
            files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
}

} // namespace

Share parse_share(const char *text) {
    Share share;
    if (!text)
        return share;
    char more = 0;
    if (sscanf(text, "%u/%u%c", &share.number, &share.of, &more) != 2 || share.number == 0 || share.number > share.of)
        throw std::runtime_error("a share of the cases is written as 1/2, not as " + std::string(text));
    share.number--;
    return share;
}

bool register_cases(const std::string &folder, bool with_kernel, const Share &share, const Environment &environment,
                    const std::function<void()> &begin, const std::function<void()> &end) {
    std::set<std::string> names;
    for (const auto &file : case_files(folder)) {
        std::vector<Case> found;
        try {
            found = read_cases(file);
        } catch (const std::runtime_error &error) {
            add_failure(file.stem(), error.what());
            continue;
        }
        for (const Case &test : found) {
            if (test.needs_kernel != with_kernel)
                continue;
            if (!names.insert(test.name).second) {
                add_failure(test.name + "_again",
                            test.file + ": another file has a case " + test.name);
                continue;
            }
            if (names.size() % share.of != share.number)
                continue;
            add_test(test.name, [=] {
                if (const auto why = unmet_need(test))
                    GTEST_SKIP() << *why;
                begin();
                if (!testing::Test::HasFatalFailure()) {
                    if (const auto wrong = run_case(test, environment))
                        ADD_FAILURE() << *wrong;
                }
                end();
            });
        }
    }
    if (names.empty())
        add_failure("are_there", "no case in " + folder);
    return true;
}

} // namespace cases
