# SPDX-License-Identifier: GPL-2.0-only
"""scripts/kernels.list, for scripts in Python. lib.sh has the same for those in bash."""

import os
import shlex
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


def without_comments(path):
    """The words of each line that says something."""
    lines = (line.split("#")[0].split() for line in Path(path).read_text().splitlines())
    return [words for words in lines if words]


def rows():
    return without_comments(os.environ.get("ARGTRACE_KERNELS_LIST") or TOP / "scripts/kernels.list")


def labels():
    return [row[0] for row in rows()]


def labels_checked(everything=False):
    """Those that `make check` covers, or `make check-all`."""
    return [row[0] for row in rows() if row[5] == "yes" or (everything and row[5] == "all")]


def labels_checked_in_part(everything=False):
    """Those on which `make check` runs the suites of tests/vm/in_part, and `make check-all` all; with it also those on which it runs
    no more than these."""
    return [row[0] for row in rows() if row[5] == "part" or (everything and row[5] == "all-part")]


def is_checked_in_part_by_all(label):
    return any(row[0] == label and row[5] == "all-part" for row in rows())


def oldest_checked():
    """The oldest kernel that `make check` covers."""
    return min(labels_checked(), key=lambda label: [int(number) for number in label.split(".")])


def parts(label):
    """What scripts/kernel prints, which fetches the kernel first where it is missing."""
    text = subprocess.run([TOP / "scripts/kernel", label], check=True, stdout=subprocess.PIPE, text=True).stdout
    return dict(word.split("=", 1) for line in text.splitlines() for word in shlex.split(line))


def is_sanitizer(label):
    """Whether the kernel checks every access to memory, which makes it slow."""
    return "CONFIG_KASAN=y" in Path(parts(label)["CONFIG"]).read_text().splitlines()


def is_arm64(label):
    return parts(label)["MACHINE"] == "aarch64"


def build_vm_tests(label):
    """What tests/vm/run takes to that kernel."""
    if is_arm64(label):
        subprocess.run(["make", "-s", "-C", TOP, "arm64-tests", "module", "test-modules", f"KERNEL={label}"], check=True)
        return
    subprocess.run(["make", "-s", "-C", TOP, "tool", "module", "test-modules", f"KERNEL={label}"], check=True)
    subprocess.run(["cmake", "--build", TOP / "build/user", "-j", str(os.cpu_count()), "--target", "argtrace_vm_tests"],
                   check=True, stdout=subprocess.DEVNULL)
