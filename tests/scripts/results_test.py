# SPDX-License-Identifier: GPL-2.0-only
"""scripts/results.py and scripts/kernels.py."""

import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import kernels
import results


class Results(unittest.TestCase):
    def last(self, expected, found, broken=()):
        lines, good = results.summary(expected, found, list(broken))
        return lines[-1], good

    def test_what_suites_append_is_read(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, ARGTRACE_RESULTS=f"{folder}/results"):
            results.append("a", 3, 0, 1)
            results.append("b", 1, 2, 0)
            self.assertEqual(results.read(f"{folder}/results"), {"a": [(3, 0, 1)], "b": [(1, 2, 0)]})

    def test_the_total_is_the_last_line(self):
        self.assertEqual(self.last(["a", "b"], {"a": [(3, 0, 1)], "b": [(2, 0, 0)]}), ("5 passed, 0 failed, 1 skipped", True))
        self.assertEqual(self.last(["a"], {"a": [(3, 2, 0)]}), ("3 passed, 2 failed, 0 skipped", False))

    def test_a_suite_without_its_one_result_is_a_failure(self):
        self.assertEqual(self.last(["a", "b"], {"a": [(3, 0, 0)]}), ("3 passed, 1 failed, 0 skipped", False))
        self.assertEqual(self.last(["a"], {"a": [(3, 0, 0), (3, 0, 0)]}), ("0 passed, 1 failed, 0 skipped", False))

    def test_a_suite_without_tests_is_a_failure(self):
        self.assertEqual(self.last(["a"], {"a": [(0, 0, 5)]}), ("0 passed, 1 failed, 5 skipped", False))

    def test_a_failure_that_was_not_counted(self):
        self.assertEqual(self.last(["a"], {"a": [(3, 0, 0)]}, ["a"]), ("3 passed, 1 failed, 0 skipped", False))
        self.assertEqual(self.last(["a"], {"a": [(3, 2, 0)]}, ["a"]), ("3 passed, 2 failed, 0 skipped", False))
        self.assertEqual(self.last(["a"], {"a": [(3, 0, 0)]}, ["build"]), ("3 passed, 1 failed, 0 skipped", False))

    def test_counts_of_several_programs(self):
        text = ("[  PASSED  ] 12 tests.\n[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] A.b\n"
                "[  PASSED  ] 1 test.\n[  FAILED  ] 2 tests, listed below:\n[  FAILED  ] A.c\n")
        self.assertEqual(results.gtest_counts(text), [13, 2, 1])

    def test_the_slowest_suites(self):
        text = ("[----------] 2 tests from Scale\n[----------] 2 tests from Scale (68012 ms total)\n"
                "[----------] 1 test from Tool (7 ms total)\n")
        seconds = results.gtest_seconds(text)
        self.assertEqual(seconds, {"Scale": 68.012, "Tool": 0.007})
        lines = results.slowest("the slowest", seconds, 1)
        self.assertEqual([line.split() for line in lines[1:]], [["Scale", "68"]])

    def test_the_end_of_a_failed_suite(self):
        text = "\n".join(f"line {number}" for number in range(100))
        self.assertEqual(results.last_lines("kunit", text, 2), ["the end of kunit:", "  line 98", "  line 99"])
        self.assertEqual(results.last_lines("kunit", ""), ["the end of kunit:"])

    def test_what_failed_is_named_once(self):
        text = ("[ RUN      ] Cases.one\n[  FAILED  ] Cases.one (4975 ms)\n[       OK ] Cases.two (3 ms)\n[  FAILED  ] 1 test, listed below:\n"
                "[  FAILED  ] Cases.one\n[  FAILED  ] A/B.c/1, where GetParam() = 1 (5 ms)\n    not ok 3 fetches\n\t1135 - UserFunctions.IsSaid (Failed)\n")
        self.assertEqual(results.failures(text), ["[  FAILED  ] Cases.one", "[  FAILED  ] A/B.c/1", "not ok 3 fetches",
                                                  "1135 - UserFunctions.IsSaid (Failed)"])
        self.assertEqual(results.last_lines("vm-6.12", text, 1)[-4], "failed in vm-6.12: [  FAILED  ] Cases.one")

    def test_why_it_failed_stands_behind_it(self):
        text = ("[ RUN      ] A.one\n[       OK ] A.one (1 ms)\n[ RUN      ] A.two\na.cpp:9: Failure\nActual: 1\n[  FAILED  ] A.two (3 ms)\n"
                "[ RUN      ] A.three\nnoise\n[       OK ] A.three (1 ms)\n[  FAILED  ] A.two\n")
        self.assertEqual(results.last_lines("vm", text, 1)[2:], ["failed in vm: [  FAILED  ] A.two", "  a.cpp:9: Failure", "  Actual: 1"])
        self.assertEqual(results.said(text, "[  FAILED  ] A.two", 1), ["a.cpp:9: Failure"])
        self.assertEqual(results.said(text, "not ok 3 fetches"), [])


class Kernels(unittest.TestCase):
    def test_the_list(self):
        with tempfile.NamedTemporaryFile("w") as file, mock.patch.dict(os.environ, ARGTRACE_KERNELS_LIST=file.name):
            file.write("# label source suite image headers check\nx deb s i h yes # the first\n\ny deb s i h all\nz src s i h no\nw deb s i h part\nv deb s i h all-part\n")
            file.flush()
            self.assertEqual(kernels.labels(), ["x", "y", "z", "w", "v"])
            self.assertEqual(kernels.labels_checked(), ["x"])
            self.assertEqual(kernels.labels_checked(True), ["x", "y"])
            self.assertEqual(kernels.labels_checked_in_part(), ["w"])
            self.assertEqual(kernels.labels_checked_in_part(True), ["w", "v"])


if __name__ == "__main__":
    unittest.main()
