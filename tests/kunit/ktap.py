# SPDX-License-Identifier: GPL-2.0-only
"""Reads KUnit's results (KTAP, Documentation/dev-tools/ktap.rst), as debugfs and the console have them:

    KTAP version 1
    1..1
        KTAP version 1
        # Subtest: argtrace_table            the suite
        1..2                                 its plan
        ok 1 empty_table                     a test
            KTAP version 1
            # Subtest: descriptor            a test with parameters
            ok 1 u8                          counts as one test for each
        ok 2 descriptor
    ok 1 argtrace_table
"""

import re
from dataclasses import dataclass, field


@dataclass
class Test:
    name: str
    verdict: str  # ok, not ok, skipped
    remarks: list  # what it printed before its verdict


@dataclass
class Suite:
    name: str
    planned: int = 0
    ended: int = 0
    tests: list = field(default_factory=list)
    verdict: str = ""  # ok or not ok, when the whole suite has ended

    def failures(self):
        """Sentences, each of which counts as a failure."""
        found = [f"FAILED {self.name}.{test.name}" + "".join(f"\n  {line}" for line in test.remarks)
                 for test in self.tests if test.verdict == "not ok"]
        if self.verdict and self.ended != self.planned:
            found.append(f"{self.name} ran {self.ended} of {self.planned} tests")
        if self.verdict == "not ok" and not found:
            found.append(f"the suite {self.name} is not ok")
        return found

    def count(self, verdict):
        return sum(test.verdict == verdict for test in self.tests)


VERDICT = re.compile(r"( *)(ok|not ok) \d+ (?:- )?(.*)")


class Parser:
    def __init__(self):
        self.suites = {}
        self._suite = None
        self._remarks = []
        self._parameters = []

    def line(self, line):
        subtest = re.fullmatch(r" {4}# Subtest: (\S+)", line)
        plan = re.fullmatch(r" {4}1\.\.(\d+)", line)
        verdict = VERDICT.fullmatch(line)
        if subtest:
            self._suite = self.suites[subtest[1]] = Suite(subtest[1])
            self._remarks, self._parameters = [], []
        elif self._suite and plan:
            self._suite.planned = int(plan[1])
        elif self._suite and verdict:
            self._take(len(verdict[1]), verdict[2], verdict[3])
        elif self._suite and not re.search(r"KTAP version|# (Totals|Subtest|module)|^\s*1\.\.\d+$", line):
            self._remarks.append(line.strip())

    def _take(self, indent, verdict, rest):
        name, _, skip = rest.partition(" # SKIP")
        test = Test(name, "skipped" if skip or rest.endswith("# SKIP") else verdict, self._remarks)
        if indent == 8:
            self._parameters.append(test)
        elif indent == 4:
            self._suite.ended += 1
            # A test with parameters counts only through them, unless it fails although they did not.
            if not self._parameters or (verdict == "not ok" and all(each.verdict != "not ok" for each in self._parameters)):
                self._parameters.append(test)
            self._suite.tests += self._parameters
            self._parameters = []
        elif indent == 0:
            self._suite.verdict = verdict
            self._suite = None
        self._remarks = []


def parse(text):
    """The suites by their names. Lines may begin with the console's time and task."""
    parser = Parser()
    for line in text.splitlines():
        parser.line(re.sub(r"^\[ *\d+\.\d+\](\[ *[TC]\d+\])? ", "", line.rstrip("\r")))
    return parser.suites


@dataclass
class Judgement:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    sentences: list = field(default_factory=list)
    missing: list = field(default_factory=list)  # suites without any result
    skipped_tests: list = field(default_factory=list)
    ran_tests: list = field(default_factory=list)

    def fail(self, sentence):
        self.failed += 1
        self.sentences.append(sentence)

    def take_tests(self, name, suite):
        """Which were skipped, and which ran. A suite that was skipped as a whole is one name."""
        if suite.tests and suite.count("skipped") == len(suite.tests):
            self.skipped_tests.append(name)
            self.sentences.append(f"skipped {name}, all of its {len(suite.tests)} tests")
            return
        self.ran_tests.append(name)
        for test in suite.tests:
            (self.skipped_tests if test.verdict == "skipped" else self.ran_tests).append(f"{name}.{test.name}")
        self.sentences += [f"skipped {name}.{test.name}" for test in suite.tests if test.verdict == "skipped"]

    def skip_suites(self, names):
        """Those that this kernel cannot have, each of which counts as one test of that name."""
        self.skipped += len(names)
        self.skipped_tests += names
        self.sentences += [f"skipped {name}, all of which is for another machine" for name in names]


def judge(expected, results, console):
    """What the expected suites come to. The kernel gives the results of a suite twice, in debugfs when it has ended and on the
    console as it goes: `results` and `console`, as parse() has them. The second is taken where the first is not whole.
    """
    judgement = Judgement()
    for name in expected:
        suite, other = results.get(name), console.get(name)
        if not (suite and suite.verdict) and other and other.verdict:
            judgement.sentences.append(f"{name}: debugfs has {'only a part' if suite else 'none'} of its results; these are the console's")
            suite = other
        suite = suite or other
        if not suite:
            judgement.missing.append(name)
            continue
        judgement.passed += suite.count("ok")
        judgement.skipped += suite.count("skipped")
        judgement.take_tests(name, suite)
        for sentence in suite.failures():
            judgement.fail(sentence)
        if not suite.verdict:
            after = f"after {suite.tests[-1].name}" if suite.tests else "in its first test"
            judgement.fail(f"the suite {name} did not end: it stopped {after}")
    if judgement.missing:
        judgement.failed += len(judgement.missing)
        judgement.sentences.append(f"no results of {', '.join(judgement.missing)}")
    return judgement
