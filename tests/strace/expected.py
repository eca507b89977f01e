# SPDX-License-Identifier: GPL-2.0-only
"""strace's test programs, which print the lines that strace has to print of their calls."""

import re
import tarfile
import tempfile
from pathlib import Path

import compare
import guest
import lines

from guest_archive import fetched

FOLDER = guest.BUILD / "expected"
FETCH = Path(__file__).resolve().parent / "fetch"
LEFT_OUT = {
    "membarrier": "it knows the commands of its time, and refuses a kernel that has more",
}
SKIPPED = 77  # the exit status of a program whose call this kernel has not


def selected(text):
    """program -> the calls that are traced of it, of those in gen_tests.in that take no options but -a and -e trace=NAME,..."""
    found = {}
    for line in text.splitlines():
        match = re.fullmatch(r"(\w\S*)((?:\s+(?:-a ?\d+|-e ?trace=[a-z0-9_,]+))*)\s*", line)
        if match and match[1] not in LEFT_OUT:
            names = re.search(r"trace=(\S+)", match[2])
            found[match[1]] = names[1].split(",") if names else [match[1]]
    return found


def kernel_names(calls):
    """The functions that the kernel may have for them."""
    return {*calls, *(own for own, name in lines.NAMES.items() if name in calls)}


def run(label):
    folder = fetched(FETCH)
    programs = selected((folder / "gen_tests.in").read_text())
    with tempfile.TemporaryDirectory(prefix="argtrace-strace.") as temporary:
        files = {name: Path(temporary) / name for name in ("programs.tar", "programs.list", "calls.list")}
        with tarfile.open(files["programs.tar"], "w") as archive:
            for program in programs:
                archive.add(folder / program, program)
        files["programs.list"].write_text("".join(f"{program}\n" for program in programs))
        names = {"execve", *(name for calls in programs.values() for name in kernel_names(calls))}
        files["calls.list"].write_text("".join(f"s:{name}\n" for name in sorted(names)))
        guest.run(label, "expected.bash", [*files.values(), guest.SCRIPTS / "programs.bash"], FOLDER)


def ours_by_program(text, programs):
    """Those of the task that executes the program: strace does not follow its children."""
    found, task = {}, {}
    for line in text:
        tid, _, rest = line.partition(" ")
        rest = rest.strip()
        begun = re.match(r's:execve\(filename="\.\./([^"]+)".* 0$', rest)
        if begun and begun[1] in programs:
            task[tid] = begun[1]
            found[begun[1]] = []
        elif tid in task:
            name = re.match(r"s:(\w+)", rest)[1]
            if name in kernel_names(programs[task[tid]]):
                found[task[tid]].append(rest)
    return found


def compared(known):
    """program -> rows of compare(), of those that strace has lines of; how many have none; what is wrong with the programs."""
    programs = selected((fetched(FETCH) / "gen_tests.in").read_text())
    ours = ours_by_program(guest.lines_of(FOLDER / "argtrace.out"), programs)
    found, wrong = {}, []
    for program in programs:
        status = int((FOLDER / "status" / program).read_text())
        if status not in (0, SKIPPED):
            said = (FOLDER / "errors" / program).read_text(errors="replace").strip()
            wrong.append(f"{program} ended with status {status}: {said}")
        if status == 0 and (theirs := lines.calls(guest.lines_of(FOLDER / "printed" / program), lines.STRACE)):
            found[program] = compare.compare(theirs, lines.calls(ours.get(program, []), lines.ARGTRACE), known)
    return found, len(programs) - len(found), wrong
