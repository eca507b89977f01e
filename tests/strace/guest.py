# SPDX-License-Identifier: GPL-2.0-only
"""What both comparisons need of the guest, and of what it has printed."""

from guest_archive import gather
from kernels import TOP

BUILD = TOP / "build/strace"
SCRIPTS = TOP / "tests/strace/guest"


def run(label, script, files, folder):
    """Boots the kernel with these files, and unpacks the archive that the script writes to its stdout into the folder."""
    gather(label, SCRIPTS / script, files, folder, memory="3G")


def lines_of(path):
    return path.read_bytes().decode("utf-8", "surrogateescape").split("\n")
