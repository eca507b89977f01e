# SPDX-License-Identifier: GPL-2.0-only
"""bench/gate: what it makes of a figure."""

import importlib.machinery
import importlib.util
import sys
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("gate", str(TOP / "bench/gate"))
gate = importlib.util.module_from_spec(importlib.util.spec_from_loader("gate", LOADER))
LOADER.exec_module(gate)


class Gate(unittest.TestCase):
    def verdict(self, *words):
        return gate.judge(*words)[0].split(":")[0]

    def test_what_is_good(self):
        for figure in "100", "105", "104.99", "80", "80.01":
            self.assertEqual(self.verdict(figure, "100"), "good", figure)

    def test_what_is_not(self):
        self.assertEqual(self.verdict("105.1", "100"), "too much")
        self.assertEqual(self.verdict("79.9", "100"), "too little")
        self.assertEqual(self.verdict("0", "100"), "too little")
        self.assertEqual(self.verdict(None, "100"), "not measured")

    def test_a_least_of_its_own(self):
        self.assertEqual(self.verdict("0.2", "95", "0.1"), "good")
        self.assertEqual(self.verdict("0.05", "95", "0.1"), "too little")
        self.assertEqual(gate.judge("99", "95", "0.1")[1:], (0.1, 95 * 1.05))

    def test_what_the_guest_prints(self):
        self.assertEqual(gate.figures("recorded 124.50\nbytes 56\n"), {"recorded": "124.50", "bytes": "56"})

    def test_what_is_expected_is_what_the_guest_measures(self):
        names = [row[0] for row in gate.kernels.without_comments(TOP / "bench/expected")]
        program = (TOP / gate.PROGRAM).read_text()
        for name in names:
            self.assertIn(f'echo "{name} ', program)


if __name__ == "__main__":
    unittest.main()
