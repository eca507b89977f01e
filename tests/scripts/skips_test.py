# SPDX-License-Identifier: GPL-2.0-only
"""scripts/skips.py."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import skips

LIST = """# where test
old  Tracer.has_events
old  Clock.tsc?
new  Tool.switch
"""


class Skips(unittest.TestCase):
    def judged(self, where, skipped, ran):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(LIST)
            file.flush()
            return skips.judge(where, skipped, ran, file.name)

    def test_what_is_listed_is_skipped(self):
        self.assertEqual(self.judged("old", ["Tracer.has_events", "Clock.tsc"], ["Tool.switch"]), [])
        self.assertEqual(self.judged("old", ["Tracer.has_events"], ["Tool.switch", "Clock.tsc"]), [])

    def test_tests_that_were_not_asked_for(self):
        self.assertEqual(self.judged("old", [], ["Other.test"]), [])

    def test_a_skip_more(self):
        self.assertEqual(self.judged("new", ["Tool.switch", "Clock.tsc"], []),
                         ["Clock.tsc was skipped, which tests/skips does not expect of new"])

    def test_a_skip_less(self):
        self.assertEqual(self.judged("old", [], ["Tracer.has_events"]),
                         ["Tracer.has_events ran, though tests/skips expects old to skip it: remove it there"])

    def test_the_output_of_googletest(self):
        text = ("[ RUN      ] Tool.one\n[       OK ] Tool.one (3 ms)\n[ RUN      ] Places/Tool.two/named\n"
                "why\n[  SKIPPED ] Places/Tool.two/named (0 ms)\n[  FAILED  ] Tool.three (1 ms)\n"
                "[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] Places/Tool.two/named\n 1 FAILED TEST\n")
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("old Tool.one\nold Tool.three\n")
            file.flush()
            self.assertEqual([sentence.split()[0] for sentence in skips.judge_gtest("old", text, file.name)],
                             ["Places/Tool.two/named", "Tool.one", "Tool.three"])

    def test_the_list_names_kernels_and_suites(self):
        places = {row[0] for row in skips.kernels.without_comments(skips.PATH)}
        self.assertLessEqual(places, {*skips.kernels.labels(), "user", "user-sanitized", "no-tsc"})


if __name__ == "__main__":
    unittest.main()
