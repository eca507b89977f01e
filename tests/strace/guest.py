# SPDX-License-Identifier: GPL-2.0-only
"""What both comparisons need of the guest, and of what it has printed."""

import io
import subprocess
import sys
import tarfile

from kernels import TOP

BUILD = TOP / "build/strace"
SCRIPTS = TOP / "tests/strace/guest"


def run(label, script, files, folder):
    """Boots the kernel with these files, and unpacks the archive that the script writes to its stdout into the folder."""
    command = [TOP / "scripts/vm", "--kernel", label, "--mem", "3G", "--timeout", 1800]
    for file in [SCRIPTS / script, *files]:
        command += ["--file", file]
    done = subprocess.run([str(word) for word in command + ["--", "bash", f"/root/{script}"]], stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"tests/strace/run: the guest ended with status {done.returncode}")
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder)


def lines_of(path):
    return path.read_bytes().decode("utf-8", "surrogateescape").split("\n")
