# SPDX-License-Identifier: GPL-2.0-only
"""bench/tables.py, and that the summary of docs/performance.md has the figures of the tables."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import tables

RUN = """Linux 9.9.9, pread64 of /dev/null untraced: 500 instructions

## calls

| vfs_read traced by | instructions | / floor | / argtrace | clock | bytes |
|---|--:|--:|--:|---|--:|
| **argtrace** | 124 | 3.3 | 1.00 | TSC | 56 |
| function tracer, func-args | absent: Linux 6.15 or later | | | | |
"""


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        patch = mock.patch.object(tables, "FOLDER", Path(folder.name))
        patch.start()
        self.addCleanup(patch.stop)

    def test_a_run_replaces_its_own_tables(self):
        (tables.FOLDER / "9.9.md").write_text(tables.file_text("9.9", {"calls": "old", "start": "kept"}))
        sections = tables.read_sections(tables.update("9.9", RUN))
        self.assertEqual(list(sections), ["calls", "start"])
        self.assertEqual(sections["start"], "kept")
        self.assertTrue(sections["calls"].startswith("Linux 9.9.9, pread64"))
        self.assertIn("| **argtrace** | 124 |", sections["calls"])
        self.assertNotIn("old", sections["calls"])

    def test_a_run_without_tables_writes_nothing(self):
        with self.assertRaises(SystemExit):
            tables.update("9.9", "Linux 9.9.9\n")

    def test_the_least_of_several_passes(self):
        lines = ["## calls\n", "\n", "| vfs_read traced by |\n",
                 "untraced\t-\t-\t0.00\t\n", "floor\t-\t-\t40.25\t\n", "argtrace\tTSC\t56\t130.00\t\n",
                 "func-args\tabsent: too old\n", "bpftrace\tnone\t-\t900.50\t (7 events lost)\n",
                 "untraced\t-\t-\t0.50\t\n", "floor\t-\t-\t38.00\t\n", "argtrace\tTSC\t56\t124.50\t\n",
                 "func-args\tabsent: too old\n", "bpftrace\tnone\t-\t1000.00\t\n", "\n", "## words\n"]
        self.assertEqual("".join(tables.with_rows(lines)), """## calls

| vfs_read traced by |
| floor | 38 | 1.0 | 0.31 | - | - |
| argtrace | 124 | 3.3 | 1.00 | TSC | 56 |
| func-args | absent: too old | | | | |
| bpftrace (7 events lost) | 900 | 23.7 | 7.23 | none | - |

## words
""")

    def test_the_summary(self):
        text = tables.summary({"9.9": {"calls": RUN}})
        self.assertIn("| **argtrace** | 124 |", text)
        self.assertIn("| function tracer, func-args | - |", text)


class Page(unittest.TestCase):
    def test_the_summary_is_that_of_the_tables(self):
        self.assertEqual(tables.PAGE.read_text(), tables.page_text(), "run python3 bench/tables.py")

    def test_pages_are_as_they_would_be_written(self):
        for path in sorted(tables.FOLDER.glob("*.md")):
            self.assertEqual(path.read_text(), tables.file_text(path.stem, tables.read_sections(path.read_text())))


if __name__ == "__main__":
    unittest.main()
