# SPDX-License-Identifier: GPL-2.0-only
"""tests/skips, the list of the tests that are skipped: a test that skips itself elsewhere, or that no longer does, is a failure."""

import re

import kernels
import results

PATH = kernels.TOP / "tests/skips"


def pinned(where, path=PATH):
    """{test: whether it is always skipped there}"""
    rows = (row for row in kernels.without_comments(path) if row[0] == where)
    return {row[1].removesuffix("?"): not row[1].endswith("?") for row in rows}


def judge(where, skipped, ran, path=PATH):
    """A sentence for each test that was skipped and should not have been, or the other way round."""
    expected = pinned(where, path)
    sentences = [f"{test} was skipped, which tests/skips does not expect of {where}" for test in sorted(set(skipped) - set(expected))]
    return sentences + [f"{test} ran, though tests/skips expects {where} to skip it: remove it there"
                        for test in sorted(set(ran) & {test for test, always in expected.items() if always})]


def judge_gtest(where, text, path=PATH):
    """The same for the output of a GoogleTest program."""
    def tests(word):
        return re.findall(rf"^\[ +{word} +\] (\w[\w/]*\.[\w/]+)", text, re.MULTILINE)

    return judge(where, tests("SKIPPED"), tests("OK") + tests("FAILED"), path)


def conclude_gtest(name, where, status, text, say):
    """Counts the results of a suite of GoogleTest programs that have ended with that status, and says whether all is good."""
    passed, failed, skipped = results.gtest_counts(text)
    if status and not failed:
        say(f"{name}: ended with status {status}: counted as a failure")
        failed = 1
    for sentence in judge_gtest(where, text):
        say(f"{name}: {sentence}")
        failed += 1
    results.append(name, passed, failed, skipped)
    return status == 0 and failed == 0
