# SPDX-License-Identifier: GPL-2.0-only
"""The suites that may notice a mutant: how each is built and run in the copy of the tree, and what it says.

Each has build(), which is False where the tree does not compile, and run(), the tests that failed: an empty list is a
mutant that was not noticed."""

import os
import re
import shlex
import signal
import subprocess

import kernels

# In seconds: a mutant may make a loop endless. Guests have a limit of their own.
UNIT_TIMEOUT = 300
KUNIT_TIMEOUT = 700
VM_TIMEOUT = 1600


class Tree:
    """A copy of the tree that is built again and again. `log` gets what its commands print."""

    def __init__(self, top, log):
        self.top = top
        self.log = log

    def run(self, command, timeout=None):
        """The status and the output; status None: it had to be stopped."""
        self.log.write(f"\n$ {shlex.join(command)}\n".encode())
        # In a session of its own, so that whatever it has started ends with it.
        with subprocess.Popen(command, cwd=self.top, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, start_new_session=True, env=_environment()) as process:
            try:
                output, _ = process.communicate(timeout=timeout)
                status = process.returncode
            except BaseException as problem:
                os.killpg(process.pid, signal.SIGTERM)
                output, _ = process.communicate()
                if not isinstance(problem, subprocess.TimeoutExpired):
                    raise
                status = None
        self.log.write(output)
        self.log.flush()
        return status, output.decode(errors="replace")

    def make(self, *targets):
        return self.run(["make", "-s", *targets])[0] == 0

    def configure(self):
        # One file is one compilation, so that a mutant compiles no more than it changes; but the tests, which no mutant changes, are
        # compiled as elsewhere, so that ccache has them. The tests of conventions are compiled beside the tool, not by CMake.
        return self.run(["bash", "-c", "set -e; . scripts/lib.sh; compile_through_ccache; cmake -S . -B build/user "
                         "-DARGTRACE_UNITY=TESTS -DCMAKE_BUILD_TYPE=RelWithDebInfo"])[0] == 0

    def cmake(self, *targets):
        return self.run(["cmake", "--build", "build/user", "-j", str(os.cpu_count()), "--target", *targets])[0] == 0


def _environment():
    """Without what make, our caller, would have its own makes do."""
    hidden = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "ARGTRACE_RESULTS")
    return {name: value for name, value in os.environ.items() if name not in hidden}


def failed_googletests(output):
    return list(dict.fromkeys(re.findall(r"^\[  FAILED  \] (\S+?),?(?: .*)?$", output, re.MULTILINE)))


def _ran_googletests(output):
    return sum(int(count) for count in re.findall(r"^\[==========\] (\d+) tests? .* ran\.", output, re.MULTILINE))


def verdict(status, failed):
    """What failed; where no test says so, how it ended."""
    # googletest's summary counts "N tests" in lines of the same look.
    failed = [name for name in failed if "." in name]
    if failed or status == 0:
        return failed
    return ["it did not end" if status is None else f"it ended with status {status}"]


class User:
    """Unit tests; Cases, the end-to-end cases that need no kernel, are another such program."""
    target, program = "argtrace_tests", "build/user/tests/user/argtrace_tests"

    def __init__(self, tree, what):
        self.tree, self.filter = tree, what

    def build(self):
        return self.tree.cmake(self.target)

    def run(self):
        status, output = self.tree.run([self.program, f"--gtest_filter={self.filter}"], UNIT_TIMEOUT)
        failed = verdict(status, failed_googletests(output))
        return failed if failed or _ran_googletests(output) else ["no test is called that"]


class Cases(User):
    target, program = "argtrace_cases", "build/user/tests/vm/argtrace_cases"


class Kunit:
    def __init__(self, tree, what):
        self.tree = tree
        self.label, _, self.suite = what.partition(" ")

    def build(self):
        return self.tree.make("kunit-module", f"KERNEL={self.label}")

    def run(self):
        status, output = self.tree.run(["tests/kunit/run", *(["--suite", self.suite] if self.suite else []), self.label],
                                     KUNIT_TIMEOUT)
        failed = re.findall(r"^kunit: FAILED (\S+)", output, re.MULTILINE)
        failed += re.findall(r"^kunit: (the suite .*|no results of .*)", output, re.MULTILINE)
        return failed or ([] if status == 0 else [f"it ended with status {status}"])


class Vm:
    def __init__(self, tree, what):
        self.tree = tree
        self.label, _, self.filter = what.partition(" ")

    def build(self):
        if kernels.is_arm64(self.label):
            return self.tree.make("arm64-tests", "module", "test-modules", f"KERNEL={self.label}")
        return (self.tree.make("tool", "module", "test-modules", f"KERNEL={self.label}") and
                self.tree.cmake("argtrace_vm_tests"))

    def run(self):
        status, output = self.tree.run(["tests/vm/run", "--filter", self.filter, self.label], VM_TIMEOUT)
        return verdict(status, failed_googletests(output))


CLASSES = {"user": User, "cases": Cases, "kunit": Kunit, "vm": Vm}
