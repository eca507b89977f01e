# SPDX-License-Identifier: GPL-2.0-only
"""That the kernels which argtrace is tested on are named in scripts/kernels.list alone."""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import kernels
from kernels import TOP

FILES = ["Makefile", "README.md", ".ci/run", "docs/*.md", "scripts/*", "scripts/guest/*", "bench/*", "bench/guest/*", "tests/*/run",
         "tests/data/make"]
# The headers of Debian's suites, and the summary that links to each kernel's tables.
EXCEPT = {"scripts/kernels.list", "tests/deb/run", "docs/performance.md"}


def strays(text, labels):
    """The labels that are numbers of kernels. "Linux 6.12 brought ..." is a statement about Linux, not a choice of ours."""
    numbers = "|".join(re.escape(label) for label in labels if label[0].isdigit())
    return re.findall(rf"(?<![\w.-])(?<!Linux )(?<!QEMU )(?:{numbers})(?![\w-]|\.\d)", text)


class KernelNames(unittest.TestCase):
    def test_what_is_a_stray(self):
        self.assertEqual(strays("tests/vm/run 6.12, 6.1.", ["6.12", "6.1", "kasan"]), ["6.12", "6.1"])
        self.assertEqual(strays("since Linux 6.12, 6.12.3, 16.1, QEMU 7.2, x-6.1", ["6.12", "6.1", "7.2"]), [])

    def test_there_are_none(self):
        found = []
        for pattern in FILES:
            paths = [path for path in TOP.glob(pattern) if path.is_file()]
            self.assertTrue(paths, pattern)
            for path in paths:
                name = str(path.relative_to(TOP))
                if name not in EXCEPT:
                    found += [f"{name}: {stray}" for stray in strays(path.read_text(), kernels.labels())]
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
