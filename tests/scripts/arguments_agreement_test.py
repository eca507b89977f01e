# SPDX-License-Identifier: GPL-2.0-only
"""tests/arguments: when an argument is the same in gdb and in argtrace."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "arguments"))
import agreement  # noqa: E402


class Arguments(unittest.TestCase):
    def test_that_are_the_same(self):
        for gdb, argtrace in ((3, 3), (-1, -1), (16, "0x10"), (-1, "0xffffffffffffffff"), (2.5, 2.5), ({"number": 1, "name": "Add"}, "Add"),
                              ({"number": 1, "name": "Add"}, 1), ({"x": 1, "p": 32}, {"x": 1, "p": "0x20"}), (None, 7)):
            self.assertTrue(agreement.same(gdb, argtrace), (gdb, argtrace))

    def test_that_differ(self):
        for gdb, argtrace in ((3, 4), (16, "0x11"), (2.5, 2.25), ({"number": 1, "name": "Add"}, "Sub"), ({"x": 1}, {"x": 2}), ({"x": 1}, {"y": 1}),
                              ({"x": 1}, 1), (7, None)):
            self.assertFalse(agreement.same(gdb, argtrace), (gdb, argtrace))

    def test_must_have_the_same_names(self):
        self.assertEqual(list(agreement.difference({"a": 1, "b": 2}, {"a": 1})), ["gdb has the arguments a, b, argtrace a"])
        self.assertEqual(list(agreement.difference({"a": 1}, {"a": 2})), ["a is 1 in gdb, 2 in argtrace"])


if __name__ == "__main__":
    unittest.main()
