# SPDX-License-Identifier: GPL-2.0-only
"""scripts/check.py: that `make check` leaves no case and no suite out."""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import check
import kernels


def takes(options, case):
    """Whether a kernel with these options of tests/vm/run runs the case of that number, as tests/vm/cases/register.cpp decides."""
    if not options:
        return True
    number, of = (int(word) for word in options[1].split("/"))
    return case % of == number - 1


class SharesOfCases(unittest.TestCase):
    def test_each_case_runs_on_one_kernel(self):
        default = kernels.labels()[0]
        for labels in ([default], [default, "a"], [default, "a", "b"], ["b", default, "a", "c"], kernels.labels_checked()):
            shares = {label: check.share_of_cases(label, labels) for label in labels}
            for case in range(1, 500):
                ran = [label for label in labels if takes(shares[label], case)]
                self.assertEqual(len(ran), 1, (labels, case, ran))


class SharesOfSuites(unittest.TestCase):
    def test_each_suite_runs_on_one_kernel(self):
        default = kernels.labels()[0]
        for labels in ([default], [default, "a"], [default, "a", "b"], ["b", default, "a", "c"], kernels.labels_checked()):
            left_out = {label: ",".join(check.suites_left_out(label, labels)[1:]).split(",") for label in labels}
            for suite in check.suites_on_one_kernel():
                ran = [label for label in labels if suite not in left_out[label]]
                self.assertEqual(len(ran), 1, (labels, suite, ran))

    def test_each_suite_exists(self):
        tests = "".join(path.read_text() for path in (kernels.TOP / "tests/vm/guest").rglob("*.cpp"))
        for suite in check.suites_on_one_kernel():
            self.assertTrue(re.search(rf"\bTEST(_F|_P)?\({suite},", tests), suite)


if __name__ == "__main__":
    unittest.main()
