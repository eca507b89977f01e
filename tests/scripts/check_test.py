# SPDX-License-Identifier: GPL-2.0-only
"""scripts/check.py: that `make check` leaves no case and no suite out."""

import re
import sys
import unittest
from pathlib import Path
from unittest import mock

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
        for suite in check.suites_on_one_kernel() + check.suites_in_part(True):
            self.assertTrue(re.search(rf"\bTEST(_F|_P)?\({suite},", tests), suite)


class KernelsInPart(unittest.TestCase):
    def words(self, name, everything):
        """What the suite of that name would run."""
        labels = kernels.labels_checked(everything)
        with mock.patch.object(check, "command", lambda *words: words):
            return [work for suite, work in check.suites(labels, everything) if suite == name]

    def test_some_suites_run_there_and_all_of_them_with_all(self):
        self.assertTrue(kernels.labels_checked_in_part())
        self.assertTrue(check.suites_in_part(False))
        self.assertLess(len(check.suites_in_part(False)), len(check.suites_in_part(True)))
        for label in kernels.labels_checked_in_part():
            [(_, option, pattern, last)] = self.words(f"vm-{label}", False)
            self.assertEqual((option, last), ("--filter", label))
            for suite in check.suites_in_part(False):
                self.assertIn(f"{suite}.*", pattern.split(":"))
                self.assertIn(f"*/{suite}.*", pattern.split(":"))
            [(_, *words)] = self.words(f"vm-{label}", True)
            self.assertEqual(words, ["--long", label])

    def test_with_all_there_are_more_of_which_some_run_no_others(self):
        more = [label for label in kernels.labels_checked_in_part(True) if kernels.is_checked_in_part_by_all(label)]
        self.assertTrue(more)
        self.assertFalse(set(more) & set(kernels.labels_checked_in_part()))
        for label in more:
            self.assertEqual(self.words(f"vm-{label}", False), [])
            [(_, *words)] = self.words(f"vm-{label}", True)
            self.assertEqual(words, [*check.filter_in_part(True), label])

    def test_the_others_do_not_change_their_shares(self):
        self.assertFalse(set(kernels.labels_checked_in_part(True)) & set(kernels.labels_checked(True)))

    def test_what_a_kernel_of_arm64_runs_is_built(self):
        for is_arm64, targets in ((True, {"arm64-tests", "module", "test-modules"}), (False, {"module", "test-modules"})):
            job = mock.Mock()
            job.run.return_value = 0
            with mock.patch.object(kernels, "is_arm64", return_value=is_arm64):
                self.assertTrue(check.make_modules("x")(job))
            [call] = job.run.call_args_list
            self.assertEqual(set(call.args) & {"arm64-tests", "module", "test-modules"}, targets)
            self.assertIn("KERNEL=x", call.args)


if __name__ == "__main__":
    unittest.main()
