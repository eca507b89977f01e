# SPDX-License-Identifier: GPL-2.0-only
"""scripts/check.py: that `make check` leaves no case out."""

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


if __name__ == "__main__":
    unittest.main()
