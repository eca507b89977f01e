# SPDX-License-Identifier: GPL-2.0-only
"""A mutant: a plausible bug, as a file that says what to change and who should notice.

It lies in the folder of the file that it changes first: tests/mutants/kmod/sink has those of kmod/sink. Its name is that of
its file, and no two have the same, whatever their folders.

    # The types of arguments that were chosen by name are those of the first parameters.
    user: Resolve.*
    @@ user/spec/resolve.cpp
    -        wanted.parameters.push_back(i);
    +        wanted.parameters.push_back(wanted.parameters.size());

Comments come first, then one line for each suite that should notice it:

    user: FILTER          the unit tests that match, as in --gtest_filter
    cases: FILTER         the end-to-end cases that need no kernel
    kunit: LABEL [SUITE]  the KUnit tests on that kernel, or one suite of them
    vm: LABEL FILTER      the VM tests on that kernel that match

`survives: REASON` instead says why nothing can notice it, or what does not notice it yet.

A change is a hunk of a unified diff without line numbers: what is there, in lines that begin with ' ' or '-', must occur
in the file exactly once, and ' ' and '+' replace it. A mutant may have several hunks.
"""

import dataclasses
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
SUITES = ("user", "cases", "kunit", "vm")  # the quickest first


def paths_of_all(folder=HERE):
    """Their files, by name."""
    return sorted(folder.rglob("*.mutant"), key=lambda path: path.name)


class Stale(Exception):
    """The mutant does not fit the tree, or is not written as it should be."""


@dataclasses.dataclass
class Hunk:
    path: str
    before: str = ""
    after: str = ""


@dataclasses.dataclass
class Mutant:
    name: str
    about: str = ""
    survives: str = ""
    suites: list = dataclasses.field(default_factory=list)  # (suite, what of it)
    hunks: list = dataclasses.field(default_factory=list)

    @classmethod
    def parse(cls, path):
        mutant = cls(path.stem)
        for line in path.read_text().splitlines():
            if line.startswith("@@ "):
                mutant.hunks.append(Hunk(line[3:].strip()))
            elif mutant.hunks:
                mutant._change(line)
            else:
                mutant._describe(line)
        if not mutant.hunks or not (mutant.suites or mutant.survives):
            raise Stale("it changes nothing, or names no suite that should notice")
        return mutant

    def _describe(self, line):
        key, _, value = line.partition(":")
        value = value.strip()
        if line.startswith("#"):
            self.about = f"{self.about} {line[1:].strip()}".strip()
        elif key in SUITES and value:
            self.suites.append((key, value))
        elif key == "survives" and value:
            self.survives = value
        elif line:
            raise Stale(f"the line '{line}' means nothing")

    def _change(self, line):
        hunk = self.hunks[-1]
        if line[:1] not in ("", " ", "-", "+"):
            raise Stale(f"the line '{line}' begins with none of ' ', '-' and '+'")
        if line[:1] != "+":
            hunk.before += line[1:] + "\n"
        if line[:1] != "-":
            hunk.after += line[1:] + "\n"

    def paths(self):
        return sorted({hunk.path for hunk in self.hunks})

    def changed(self, top):
        """The text of each file it changes, {path: text}."""
        texts = {}
        for hunk in self.hunks:
            if hunk.path not in texts:
                if not (top / hunk.path).is_file():
                    raise Stale(f"there is no {hunk.path}{_elsewhere(top, hunk)}")
                texts[hunk.path] = (top / hunk.path).read_text()
            # Whole lines: what is there begins where a line does.
            text = "\n" + texts[hunk.path]
            found = text.count("\n" + hunk.before)
            if found != 1:
                where = _elsewhere(top, hunk) if not found else ""
                raise Stale(f"{hunk.path} has {found} times, not once:{where}\n{hunk.before.rstrip()}")
            texts[hunk.path] = text.replace("\n" + hunk.before, "\n" + hunk.after)[1:]
        return texts


def _elsewhere(top, hunk):
    """Where the lines have moved, for the one who mends the mutant."""
    folder = pathlib.PurePath(hunk.path).parts[0]
    for path in sorted((top / folder).rglob("*.[ch]*")):
        if path.is_file() and hunk.before in path.read_text(errors="replace"):
            return f" (its lines are in {path.relative_to(top)})"
    return ""
