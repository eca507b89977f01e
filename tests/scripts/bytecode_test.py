# SPDX-License-Identifier: GPL-2.0-only
"""That our programs in Python leave no compiled files in the tree, from where they might be committed or installed."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from kernels import TOP

FOLDERS = [".ci", "bench", "docs", "packaging", "scripts", "tests"]


def first_line(path):
    with open(path, "rb") as file:
        return file.readline()


class Bytecode(unittest.TestCase):
    def test_programs_write_none(self):
        programs = [path for folder in FOLDERS for path in (TOP / folder).rglob("*")
                    if path.is_file() and path.suffix != ".pyc" and first_line(path).startswith(b"#!") and b"python" in first_line(path)]
        self.assertGreater(len(programs), 3)
        self.assertEqual([str(path.relative_to(TOP)) for path in programs
                          if first_line(path).strip() != b"#!/usr/bin/env -S python3 -B"], [])


if __name__ == "__main__":
    unittest.main()
