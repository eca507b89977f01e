# SPDX-License-Identifier: GPL-2.0-only
"""That no file has the marks that git leaves where two changes meet: the manual once had both sides of one."""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from kernels import TOP

MARK = re.compile(rb"^(?:<{7}|>{7}|\|{7}) ", re.MULTILINE)


class MergeMarkers(unittest.TestCase):
    def test_what_is_a_mark(self):
        self.assertTrue(MARK.search(b"a\n<<<<<<< HEAD\nb\n"))
        self.assertTrue(MARK.search(b">>>>>>> 0123456\n"))
        self.assertFalse(MARK.search(b"a <<<<<<< HEAD\n"))

    def test_there_are_none(self):
        files = [path for top in TOP.iterdir() if top.name not in ("build", ".git")
                 for path in ([top] if top.is_file() else top.rglob("*")) if path.is_file()]
        self.assertGreater(len(files), 500)
        found = [str(path.relative_to(TOP)) for path in files if MARK.search(path.read_bytes())]
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
