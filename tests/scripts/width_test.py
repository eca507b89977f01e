# SPDX-License-Identifier: GPL-2.0-only
"""That lines of kmod/ have 100 columns at most, as in the kernel, but for texts that are better found whole."""

import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
LIMIT = 100


def is_text(line):
    """A message, or a row of the table of functions whose returns are not followed, each in one line."""
    return line.count('"') >= 2 or line.lstrip().startswith("REFUSED(")


class Width(unittest.TestCase):
    def test_lines_are_no_wider(self):
        files = [path for path in (TOP / "kmod").rglob("*") if path.suffix in (".c", ".h", ".S")]
        self.assertGreater(len(files), 100)
        wide = [f"{path.relative_to(TOP)}:{number}" for path in sorted(files)
                for number, line in enumerate(path.read_text().expandtabs(8).splitlines(), 1)
                if len(line) > LIMIT and not is_text(line)]
        self.assertEqual(wide, [])


if __name__ == "__main__":
    unittest.main()
