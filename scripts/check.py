# SPDX-License-Identifier: GPL-2.0-only
"""Builds everything and runs all test suites; scripts/check runs this.

  user            the unit tests, through ctest, and the cases that need no kernel
  user-sanitized  most unit tests again, built with sanitizers by scripts/sanitized
  kunit           the KUnit tests, on a kernel whose configuration is like that of one in use
  kunit-kasan     the same on a kernel that checks every access to memory and every lock
  fuzz            each fuzzer with a number of inputs, through scripts/fuzz; with --all four times as many
  cost            what a traced call costs, in instructions, through bench/gate
  stress          a fuzzer of /dev/argtrace, random calls under -d, and processes that use all of argtrace at once, on the kernel kasan too
  no-tsc          the tests of clocks on the oldest kernel, which does not trust its time stamp counter here unless told to
  many-cpus       what is kept for each possible processor, on the oldest kernel, which believes that 255 might come
  checkpatch      the module's sources by the kernel's checkpatch.pl
  vm-host         scripts/vm as its caller sees it: output that is read late, and signals
  vm-LABEL        the VM tests on that kernel, through tests/vm/run, with its share of the cases and of tests/vm/on_one_kernel, or those of
                  tests/vm/in_part where scripts/kernels.list says so; with --all all of them, some tests for longer, and on kasan too,
                  and those of tests/vm/in_part on some kernels more
  kunit-arm64     with --all: the KUnit tests on a kernel of arm64
  faults          with --all: faults put into the module that the kernel kasan must report, through tests/vm/faults/run
  *-loaded        with --all: suites once more, on processors that others keep busy, through scripts/beside_load
  mutants         with --all: plausible bugs in the tool that the unit tests must notice, through tests/mutants/run
  viewers         with --all: other tools read what `argtrace export` writes, through tests/viewers/run
  peers           with --all: bpftrace, strace and the block layer say the same of the same calls, through tests/peers/run
  strace          with --all: `argtrace trace -d` shows what strace shows, through tests/strace/run
  uftrace         with --all: trees of user functions are those that uftrace's own tests expect, through tests/uftrace/run
  go-VERSION      with --all: the VM tests of Go with programs of other versions of Go, through tests/go/run
  arguments       with --all: gdb finds the arguments that argtrace finds, through tests/arguments/run
  postgresql      with --all: USDT probes of PostgreSQL say what its own log says, through tests/postgresql/run
  unwinders       with --all: gdb, and perf by frame pointers, find the frames that argtrace finds, through tests/unwinders/run
  branches        with --all: where indirect branches are tracked, and where returns go through thunks, through tests/branches/run
  stressors       with --all: stress-ng while all functions are followed, on each kernel, through tests/stressors/run
  deb             with --all: the packages in systems of their own, through tests/deb/run

results.py says how suites report. What each of them printed stays in build/check/NAME.log.
"""

import concurrent.futures
import os
import shutil
import sys
import xml.etree.ElementTree

import kernels
import results
import skips
from jobs import Jobs
from kernels import TOP

OUT = TOP / "build/check"

BESIDE_LOAD = TOP / "scripts/beside_load",

# Not for the sanitizers: tests of compilers, signals at each instruction, and what the fuzzer `trace` does better.
UNWATCHED = "SysvX8664Compiler.*:UnwindOfShapes.IsGlibcsAtEachInstruction*:GeneratedPrototypes.*:TraceDamage.Changed*"


def compile_all(job):
    return job.run_all([
        ["make", "-s", "-C", TOP, "tool"],
        ["cmake", "--build", TOP / "build/user", "-j", os.cpu_count()],
        [TOP / "scripts/sanitized", "argtrace_tests", "fuzzers"],
    ])


def make(label, *targets):
    return lambda job: job.run("make", "-s", "-C", TOP, *targets, f"KERNEL={label}") == 0


def make_modules(label):
    """With the tool and the tests as well where this machine's cannot be taken to that kernel."""
    return make(label, *(["arm64-tests"] if kernels.is_arm64(label) else []), "module", "test-modules")


def get_kernels(labels):
    """Fetches them; those that are built here are built again where their configuration has changed."""
    return lambda job: all(job.run("sh", "-c", '"$0" "$1" >/dev/null', TOP / "scripts/kernel", label) == 0
                           for label in labels)


def build(seconds, labels, everything):
    own = ["kasan", "kunit"] + (["kunit-arm64"] if everything else [])
    with_modules = sorted(set(labels) | {"kasan"})
    # Fetching and unpacking kernels leaves processors idle.
    jobs = Jobs(OUT)
    jobs.start("-- kernels", "kernels", get_kernels(sorted(set(with_modules) | set(own))))
    compiled = jobs.run_now("-- tool and tests", "tool and tests", compile_all)
    fetched = jobs.finish()
    seconds.update(jobs.seconds)
    if not (compiled and fetched):
        return False
    # make compiles the files of a module one after the other.
    jobs = Jobs(OUT)
    for label in with_modules:
        jobs.start(f"-- modules for {label}", f"modules for {label}", make_modules(label))
    for label in own:
        jobs.start(f"-- KUnit tests for {label}", f"KUnit tests for {label}", make(label, "kunit-module"))
    good = jobs.finish()
    seconds.update(jobs.seconds)
    return good


def names_of(tests):
    """The tests that were skipped and those that ran, of a JUnit report."""
    skipped, ran = [], []
    for test in tests.iter("testcase"):
        (ran if test.find("skipped") is None and test.get("status") != "disabled" else skipped).append(test.get("name"))
    return skipped, ran


def unit_tests(name, beside=()):
    """What ctest knows. `beside` is what runs it."""
    summary, log = OUT / f"{name}.xml", OUT / f"{name}.ctest"

    def work(job):
        with open(log, "w") as file:
            status = job.run(*beside, "ctest", "--test-dir", TOP / "build/user", "-j", os.cpu_count(), "--output-on-failure",
                             "--output-junit", summary, output=file)
        text = log.read_text(errors="replace")
        job.print(text if status else "\n".join(text.splitlines()[-3:]))
        if not summary.exists():
            return False
        tests = xml.etree.ElementTree.parse(summary).getroot()
        failed, skipped = int(tests.get("failures")), int(tests.get("skipped")) + int(tests.get("disabled"))
        passed = int(tests.get("tests")) - failed - skipped
        strange = skips.judge(name.removesuffix("-loaded"), *names_of(tests))
        for sentence in strange:
            job.print(f"{name}: {sentence}")
        results.append(name, passed, failed + len(strange), skipped)
        return status == 0 and not strange

    return work


def sanitized_tests(name):
    """In as many processes as there are processors: one for each test, as ctest has them, would begin for longer than it tests."""
    tests = TOP / "build/sanitize/tests/user"
    shards = os.cpu_count()
    logs = [OUT / f"{name}.{number}" for number in range(shards)]

    def work(job):
        def run_shard(number):
            with open(logs[number], "w") as file:
                return job.run("env", "-C", tests, f"GTEST_TOTAL_SHARDS={shards}", f"GTEST_SHARD_INDEX={number}", tests / "argtrace_tests",
                               f"--gtest_filter=-{UNWATCHED}", output=file)

        with concurrent.futures.ThreadPoolExecutor(shards) as pool:
            statuses = list(pool.map(run_shard, range(shards)))
        text = "".join(log.read_text(errors="replace") for log in logs)
        if any(statuses):
            job.print(text)
        return skips.conclude_gtest(name, name, max(statuses, key=bool), text, job.print)

    return work


def command(*words):
    return lambda job: job.run(*words) == 0


def others_than_default(labels):
    return [label for label in labels if label != kernels.labels()[0]]


def share_of_cases(label, labels):
    """Each case runs on one kernel: every second one on the default, and the others on the other kernels in turn."""
    others = others_than_default(labels)
    if not others:
        return []
    return ["--cases", f"{2 * others.index(label) + 1}/{2 * len(others)}" if label in others else "2/2"]


def suites_on_one_kernel():
    return [row[0] for row in kernels.without_comments(TOP / "tests/vm/on_one_kernel")]


def suites_left_out(label, labels):
    """Of these suites those that run on another kernel."""
    others = others_than_default(labels) or labels
    left_out = [suite for number, suite in enumerate(suites_on_one_kernel()) if others[number % len(others)] != label]
    return ["--without", ",".join(left_out)] if left_out else []


def suites_in_part(everything):
    return [row[0] for row in kernels.without_comments(TOP / "tests/vm/in_part") if everything or row[1] == "yes"]


def filter_in_part(everything):
    """Those suites for tests/vm/run, the ones with parameters as well."""
    return ["--filter", ":".join(f"{suite}.*:*/{suite}.*" for suite in suites_in_part(everything))]


def versions_of_go():
    return [row[0] for row in kernels.without_comments(TOP / "tests/go/versions")]


def suites(labels, everything):
    """(name, work) of those that run beside each other, the longest first, so that all end at about the same time."""
    vm_run = TOP / "tests/vm/run"
    if everything:
        yield "stressors", command(TOP / "tests/stressors/run")
        yield "deb", lambda job: job.run_all([[TOP / "scripts/deb"], [TOP / "tests/deb/run"]])
    for label in reversed(labels):
        share = ["--long"] if everything else share_of_cases(label, labels) + suites_left_out(label, labels)
        yield f"vm-{label}", command(vm_run, *share, label)
    for label in kernels.labels_checked_in_part(everything):
        all_suites = everything and not kernels.is_checked_in_part_by_all(label)
        yield f"vm-{label}", command(vm_run, *(["--long"] if all_suites else filter_in_part(everything)), label)
    if everything:
        yield "faults", command(TOP / "tests/vm/faults/run")
        yield "mutants", command(TOP / "tests/mutants/run", "--user-only")
        yield "vm-loaded", command(*BESIDE_LOAD, vm_run, "--suite", "vm-loaded", labels[0])
        yield "kunit-kasan-loaded", command(*BESIDE_LOAD, TOP / "tests/kunit/run", "--results", "kunit-kasan-loaded", "kasan")
        yield "kunit-loaded", command(*BESIDE_LOAD, TOP / "tests/kunit/run", "--results", "kunit-loaded")
        yield "kunit-arm64", command(TOP / "tests/kunit/run", "kunit-arm64")
        yield "user-loaded", unit_tests("user-loaded", beside=BESIDE_LOAD)
        yield "viewers", command("make", "-s", "-C", TOP, "check-viewers")
        yield "branches", command(TOP / "tests/branches/run")
        yield "peers", command(TOP / "tests/peers/run")
        yield "strace", command("make", "-s", "-C", TOP, "check-strace")
        yield "uftrace", command("make", "-s", "-C", TOP, "check-uftrace")
        yield "go", command("make", "-s", "-C", TOP, "check-go")
        yield "arguments", command("make", "-s", "-C", TOP, "check-arguments")
        yield "postgresql", command("make", "-s", "-C", TOP, "check-postgresql")
        yield "unwinders", command("make", "-s", "-C", TOP, "check-unwinders")
    yield "stress", command(vm_run, "--suite", "stress", "--filter", "IoctlFuzz.*:ProgramFuzz.*:HostileCalls.*:Stress.*", "--steps", 40, "kasan")
    yield "no-tsc", command(vm_run, "--suite", "no-tsc", "--without-tsc", "--filter", "Clock.*",
                            kernels.oldest_checked())
    yield "many-cpus", command(vm_run, "--suite", "many-cpus", "--many-cpus", "--filter", "ManyCpus.*",
                               kernels.oldest_checked())
    yield "kunit-kasan", command(TOP / "tests/kunit/run", "kasan")
    yield "kunit", command(TOP / "tests/kunit/run")
    yield "vm-host", command(TOP / "tests/vm/host_test")
    yield "checkpatch", command(TOP / "tests/checkpatch/run")
    yield "fuzz", command(TOP / "scripts/fuzz", "inputs", 20000 if everything else 5000)
    yield "cost", command(TOP / "bench/gate")


def run_suites(seconds, labels, everything):
    """The names of those that failed."""
    broken = []

    def suite(name, work):
        def watched(job):
            if not work(job):
                broken.append(name)
            return True
        return f"== {name}", name, watched

    # These keep all processors busy, the others one each.
    jobs = Jobs(OUT)
    jobs.run_now(*suite("user", unit_tests("user")))
    jobs.run_now(*suite("user-sanitized", sanitized_tests("user-sanitized")))
    seconds.update(jobs.seconds)
    # Two more than there are processors, since a virtual machine waits for a fifth of its time.
    jobs = Jobs(OUT, os.cpu_count() + 2)
    for name, work in suites(labels, everything):
        jobs.start(*suite(name, work))
    jobs.finish()
    seconds.update(jobs.seconds)
    return broken


def tests_seconds():
    """The GoogleTest suites in the logs of our suites."""
    seconds = {}
    for log in OUT.glob("*.log"):
        for suite, value in results.gtest_seconds(log.read_text(errors="replace")).items():
            seconds[f"{log.stem}: {suite}"] = value
    return seconds


def ends_of_logs(names):
    lines = []
    for name in names:
        for log in (OUT / f"{name}.log", OUT / f"{name}.ctest"):
            if log.exists():
                lines += [*results.last_lines(name, log.read_text(errors="replace")), ""]
    return lines


def main():
    everything = sys.argv[1:] == ["--all"]
    labels = kernels.labels_checked(everything) + (["kasan"] if everything else [])
    expected = ["user", "user-sanitized", "kunit", "kunit-kasan", "fuzz", "cost", "stress", "no-tsc", "many-cpus", "vm-host", "checkpatch",
                *(f"vm-{label}" for label in labels + kernels.labels_checked_in_part(everything))]
    if everything:
        expected += ["faults", "mutants", "viewers", "peers", "strace", "uftrace", "arguments", "postgresql", "unwinders", "branches", "stressors", "deb", "user-loaded", "kunit-loaded",
                     "kunit-kasan-loaded", "kunit-arm64", "vm-loaded", *(f"go-{version}" for version in versions_of_go())]
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    path = OUT / "results"
    path.touch()
    os.environ["ARGTRACE_RESULTS"] = str(path)

    seconds = {}
    print("\n== build", flush=True)
    # What did not build cannot be tested; the suites then count as failed.
    broken = run_suites(seconds, labels, everything) if build(seconds, labels + kernels.labels_checked_in_part(everything), everything) else ["build"]
    lines, good = results.summary(expected, results.read(path), broken)
    print("\n".join(["", *results.slowest("the ten slowest steps", seconds), "",
                     *results.slowest("the ten slowest suites within them", tests_seconds()), "", *ends_of_logs(broken), *lines]))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
