# SPDX-License-Identifier: GPL-2.0-only
"""That comments begin as sentences do: "Of a call that ..." and "Who ..." send the reader to the code to find out what is meant."""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from kernels import TOP

FOLDERS = ["kmod", "include", "user", "tests", "bench"]
SUFFIXES = {".c", ".h", ".cpp", ".S"}

# A comment at the end of a line of code begins with it; one on a line of its own, unless it goes on from the line above.
BEGINS = re.compile(r"(?://[/!]?<?|/\*+<?)[ \t]*(?:\n[ \t]*\*[ \t]*)?(Of|Who|Whose|Nor)\b")
GOES_ON = re.compile(r"\n[ \t]*//[^\n]*\n[ \t]*$")


def fragments(text):
    """The numbers of the lines where a comment begins with one of these words."""
    return [text.count("\n", 0, match.start(1)) + 1 for match in BEGINS.finditer(text)
            if not (match[0].startswith("//") and GOES_ON.search("\n" + text[:match.start()]))]


class Comments(unittest.TestCase):
    def test_what_is_a_fragment(self):
        self.assertEqual(fragments("/* Of a call. */\n"), [1])
        self.assertEqual(fragments("/*\n * Who is asked.\n */\n"), [2])
        self.assertEqual(fragments("int a; ///< Whose it is.\n"), [1])
        self.assertEqual(fragments("// Some lines,\n// Of which this is one.\n"), [])
        self.assertEqual(fragments("/*\n * Some lines,\n * Nor this one.\n */\n/* Office hours */\n"), [])

    def test_there_are_none(self):
        found = []
        for folder in FOLDERS:
            paths = [path for path in (TOP / folder).rglob("*") if path.suffix in SUFFIXES and path.is_file()]
            self.assertTrue(paths, folder)
            for path in paths:
                found += [f"{path.relative_to(TOP)}:{line}" for line in fragments(path.read_text())]
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
