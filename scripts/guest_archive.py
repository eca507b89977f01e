# SPDX-License-Identifier: GPL-2.0-only
"""Checks that gather in a VM, and compare here: what the guest has gathered comes out as an archive."""

import io
import subprocess
import sys
import tarfile
from pathlib import Path

from kernels import TOP


def gather(label, script, files, folder, whole_files=(), memory="2G", seconds=1800):
    """Boots the kernel with these files, with the debug information of `whole_files`, and unpacks the archive that the script writes to its stdout
    into the folder. Exits if the guest fails."""
    command = [TOP / "scripts/vm", "--kernel", label, "--mem", memory, "--timeout", seconds]
    for file in [script, *files]:
        command += ["--file", file]
    for file in whole_files:
        command += ["--whole-file", file]
    done = subprocess.run([str(word) for word in command + ["--", "bash", f"/root/{script.name}"]], stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"{Path(sys.argv[0]).resolve().relative_to(TOP)}: the guest ended with status {done.returncode}")
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder)


def fetched(script):
    """The folder that a script prints which brings something into the cache. Exits if it fails, which it has explained."""
    done = subprocess.run([script], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(1)
    return Path(done.stdout.strip())
