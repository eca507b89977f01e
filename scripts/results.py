# SPDX-License-Identifier: GPL-2.0-only
"""How suites report what they counted, and what it adds up to.

A suite that has run appends one line "NAME PASSED FAILED SKIPPED" to the file $ARGTRACE_RESULTS. One that is expected and has
no such line, or counts no test, did not work, and that is a failure like any other.
"""

import os
import re
from pathlib import Path


def append(name, passed, failed, skipped):
    path = os.environ.get("ARGTRACE_RESULTS")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{name} {passed} {failed} {skipped}\n")


def read(path):
    """The lines of each suite: {name: [(passed, failed, skipped), ...]}."""
    found = {}
    for line in Path(path).read_text().splitlines():
        match = re.fullmatch(r"(\S+) (\d+) (\d+) (\d+)", line)
        if match:
            found.setdefault(match[1], []).append(tuple(int(number) for number in match.groups()[1:]))
    return found


def summary(expected, found, broken):
    """The lines to print, the total last, and whether all is good. `broken` names suites that ended with a failure."""
    lines = [f"{'suite':<16} {'passed':>8} {'failed':>8} {'skipped':>8}"]
    remarks = []
    total = [0, 0, 0]
    for name in expected:
        counts = found.get(name, [])
        if len(counts) != 1:
            lines.append(f"{name:<16} left {len(counts)} results instead of one: counted as a failure")
            total[1] += 1
            continue
        passed, failed, skipped = counts[0]
        lines.append(f"{name:<16} {passed:8} {failed:8} {skipped:8}")
        if passed + failed == 0:
            remarks.append(f"the suite {name} ran no test: counted as a failure")
            failed = 1
        elif name in broken and failed == 0:
            remarks.append(f"the suite {name} failed without counting a failure: counted as one")
            failed = 1
        total = [sum(pair) for pair in zip(total, (passed, failed, skipped))]
    for name in sorted(set(broken) - set(expected)):
        remarks.append(f"{name} failed: counted as a failure")
        total[1] += 1
    lines += ["", *remarks, f"{total[0]} passed, {total[1]} failed, {total[2]} skipped"]
    return lines, total[1] == 0


def gtest_counts(text):
    """How many tests passed, failed and were skipped, by the summaries of GoogleTest programs: the sums of "[  WORD  ] N tests"."""
    return [sum(int(number) for number in re.findall(rf"^\[ +{word} +\] (\d+) tests?[.,]", text, re.MULTILINE))
            for word in ("PASSED", "FAILED", "SKIPPED")]


def gtest_seconds(text):
    """How long each suite of a GoogleTest program took, from its output."""
    suites = re.findall(r"^\[-+\] \d+ tests? from (\S+) \((\d+) ms total\)", text, re.MULTILINE)
    return {name: int(milliseconds) / 1000 for name, milliseconds in suites}


def slowest(title, seconds, count=10):
    """The lines of a table of the longest, the longest first."""
    longest = sorted(seconds.items(), key=lambda item: -item[1])[:count]
    return [f"{title:<48} {'s':>6}", *(f"  {name:<46} {value:6.0f}" for name, value in longest)] if longest else []


def failures(text, count=20):
    """The tests that failed, as GoogleTest, ctest and KTAP have them in their output, each once."""
    pattern = r"\[  FAILED  \] \S+\.\S+|.*\*\*\*Failed.*|.*\(Failed\)$|\s*not ok \d+ .*"
    found = dict.fromkeys(re.match(pattern, line)[0].strip(" ,\t") for line in text.splitlines() if re.match(pattern, line))
    return list(found)[:count]


def said(text, test, count=12):
    """What GoogleTest has printed of a test that failed, "[  FAILED  ] SUITE.NAME": its first lines."""
    name = test.removeprefix("[  FAILED  ] ")
    within = re.search(rf"^\[ RUN      \] {re.escape(name)}\n(.*?)^\[  FAILED  \] {re.escape(name)}\b", text, re.MULTILINE | re.DOTALL)
    return within[1].splitlines()[:count] if within else []


def last_lines(name, text, count=12):
    """What to print of a suite that failed: its last lines, which tests did, and why: the rest may be far above by then."""
    return [f"the end of {name}:", *(f"  {line}" for line in text.splitlines()[-count:]),
            *(line for test in failures(text) for line in [f"failed in {name}: {test}", *(f"  {line}" for line in said(text, test))])]
