# SPDX-License-Identifier: GPL-2.0-only
"""Ordinary commands (the file `commands`), which strace and argtrace trace at the same time, so that both see the same values."""

import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import compare
import guest
import tasks

FOLDER = guest.BUILD / "ordinary"
HERE = Path(__file__).resolve().parent
OPTIONS = {"calls32": ["-m32", "-nostdlib", "-static", "-fno-pic", "-no-pie", "-fno-stack-protector"]}
PYTHON_PACKAGES = ["collections", "encodings", "importlib", "json", "re"]


def names():
    return [found[1] for line in (HERE / "commands").read_text().splitlines() if (found := re.match(r"(\w+)", line))]


def python_with_modules(folder):
    """The distribution's Python, and what it imports as one file: the guest has no folder with its modules."""
    python = Path("/usr/bin/python3")
    say = "import sysconfig; print(sysconfig.get_path('stdlib'))"
    modules = Path(subprocess.run([python, "-c", say], check=True, stdout=subprocess.PIPE, text=True).stdout.strip())
    with zipfile.ZipFile(folder / "python.zip", "w") as archive:
        for file in sorted([*modules.glob("*.py"), *(file for name in PYTHON_PACKAGES for file in (modules / name).rglob("*.py"))]):
            archive.write(file, file.relative_to(modules))
    return [python, folder / "python.zip"]


def run(label):
    strace = shutil.which("strace")
    if not strace:
        sys.exit("tests/strace/run: strace is not installed: `scripts/bootstrap strace` does it")
    shutil.rmtree(FOLDER, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="argtrace-strace.") as temporary:
        programs = []
        for source in sorted((HERE / "programs").glob("*.c")):
            programs.append(Path(temporary) / source.stem)
            subprocess.run(["cc", "-O2", "-Wall", "-Werror", "-pthread", *OPTIONS.get(source.stem, []), "-o", programs[-1], source], check=True)
        programs += python_with_modules(Path(temporary))
        guest.run(label, "ordinary.bash", [strace, HERE / "commands", guest.SCRIPTS / "commands.bash", *programs], FOLDER)


def compared(known):
    """command -> rows of compare(), of all its tasks; no other figures; calls that only one of both has."""
    ours = tasks.of_argtrace(guest.lines_of(FOLDER / "argtrace.out"))
    found, wrong = {}, []
    for name in names():
        rows = []
        for _, theirs, own in tasks.pairs(guest.lines_of(FOLDER / f"{name}.strace"), ours):
            rows += compare.compare(theirs, own, known)
        found[name] = rows
        alone = [left or right for left, right, _ in rows if left is None or right is None]
        if alone or not rows:
            wrong.append(f"{name}: {len(alone)} calls of {len(rows)} are not in both, as {alone[0] if alone else 'there are none'}")
    return found, 0, wrong
