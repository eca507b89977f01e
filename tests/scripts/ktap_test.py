# SPDX-License-Identifier: GPL-2.0-only
"""tests/kunit/ktap.py."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "kunit"))
import ktap


def suite(name, *tests, planned=None, verdict="ok"):
    """The results of a suite; a test is "ok NAME", "not ok NAME", or a line of its own."""
    lines, number = [], 0
    for test in tests:
        if test.startswith(("ok ", "not ok ")):
            number += 1
            word, test_name = test.split(" ", 1) if test.startswith("ok") else ("not ok", test[7:])
            lines.append(f"    {word} {number} {test_name}")
        else:
            lines.append(test)
    end = [f"{verdict} 1 {name}"] if verdict else []
    return "\n".join(["KTAP version 1", "1..1", "    KTAP version 1", f"    # Subtest: {name}",
                      f"    1..{number if planned is None else planned}", *lines, *end, ""])


def on_console(text):
    return "".join(f"[{number + 0.25:12.6f}][ T{number + 80}] {line}\n" for number, line in enumerate(text.splitlines()))


def judged(names, results, console=""):
    return ktap.judge(names, ktap.parse(results), ktap.parse(console))


def counts(judgement):
    return judgement.passed, judgement.failed, judgement.skipped


class Ktap(unittest.TestCase):
    def test_suites_that_passed(self):
        judgement = judged(["a", "b"], suite("a", "ok one", "ok two") + suite("b", "ok three"))
        self.assertEqual(counts(judgement), (3, 0, 0))
        self.assertEqual(judgement.sentences, [])

    def test_a_failure_says_what_the_test_printed(self):
        text = suite("a", "ok one", "    # two: EXPECTATION FAILED at x.c:3", "    Expected 1 == 2", "not ok two", verdict="not ok")
        judgement = judged(["a"], text)
        self.assertEqual(counts(judgement), (1, 1, 0))
        self.assertEqual(judgement.sentences,
                         ["FAILED a.two\n  # two: EXPECTATION FAILED at x.c:3\n  Expected 1 == 2"])

    def test_parameters_count_as_tests(self):
        text = suite("a", "        KTAP version 1", "        # Subtest: many", "        ok 1 u8", "        not ok 2 u16",
                     "not ok many", "ok one", verdict="not ok")
        judgement = judged(["a"], text)
        self.assertEqual(counts(judgement), (2, 1, 0))
        self.assertEqual(judgement.sentences, ["FAILED a.u16"])

    def test_a_test_that_fails_beside_its_parameters(self):
        text = suite("a", "        ok 1 u8", "not ok many", verdict="not ok")
        self.assertEqual(counts(judged(["a"], text)), (1, 1, 0))

    def test_skipped(self):
        judgement = judged(["a"], suite("a", "ok one # SKIP no such thing here", "ok two"))
        self.assertEqual(counts(judgement), (1, 0, 1))
        self.assertEqual(judgement.sentences, ["skipped a.one"])

    def test_suites_of_another_machine_are_skipped_tests(self):
        judgement = judged(["a"], suite("a", "ok one"))
        judgement.skip_suites(["b", "c"])
        self.assertEqual(counts(judgement), (1, 0, 2))
        self.assertEqual(judgement.skipped_tests, ["b", "c"])
        self.assertEqual(len(judgement.sentences), 2)

    def test_a_suite_that_is_skipped_as_a_whole_is_one_name(self):
        judgement = judged(["a", "b"], suite("a", "ok one # SKIP why", "ok two # SKIP why") + suite("b", "ok one", "ok two # SKIP why"))
        self.assertEqual(counts(judgement), (1, 0, 3))
        self.assertEqual(judgement.skipped_tests, ["a", "b.two"])
        self.assertEqual(judgement.ran_tests, ["b", "b.one"])
        self.assertEqual(judgement.sentences, ["skipped a, all of its 2 tests", "skipped b.two"])

    def test_fewer_tests_than_planned(self):
        self.assertEqual(judged(["a"], suite("a", "ok one", planned=2)).sentences, ["a ran 1 of 2 tests"])

    def test_a_suite_that_is_not_ok_for_no_reason(self):
        self.assertEqual(counts(judged(["a"], suite("a", "ok one", verdict="not ok"))), (1, 1, 0))

    def test_the_console_has_what_debugfs_lost(self):
        both = suite("a", "ok one") + suite("b", "ok two", "ok three")
        for text in suite("a", "ok one"), suite("a", "ok one") + suite("b", "ok two", planned=2, verdict=""):
            judgement = judged(["a", "b"], text, on_console(both))
            self.assertEqual(counts(judgement), (3, 0, 0))
            self.assertEqual(len(judgement.sentences), 1)

    def test_a_suite_without_any_result(self):
        judgement = judged(["a", "b", "c"], suite("b", "ok one"))
        self.assertEqual(counts(judgement), (1, 2, 0))
        self.assertEqual(judgement.sentences, ["no results of a, c"])
        self.assertEqual(judgement.missing, ["a", "c"])

    def test_a_kernel_that_ended_in_a_suite(self):
        console = suite("a", "ok one") + suite("b", "ok two", planned=2, verdict="")
        judgement = judged(["a", "b", "c"], "", on_console(console))
        self.assertEqual(counts(judgement), (2, 2, 0))
        self.assertIn("the suite b did not end: it stopped after two", judgement.sentences)
        self.assertIn("no results of c", judgement.sentences)

    def test_other_messages_on_the_console(self):
        console = on_console("argtrace: loaded\n" + suite("a", "ok one") + "1..5 of something\nok then\n")
        self.assertEqual(counts(judged(["a"], "", console)), (1, 0, 0))


if __name__ == "__main__":
    unittest.main()
