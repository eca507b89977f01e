# SPDX-License-Identifier: GPL-2.0-only
"""Runs several jobs at once, or one command.

The output of each job comes in one piece, under its heading, when it has ended, and stays in a file. Each command is a
process group of its own, so that it can be ended whole when we are.
"""

import concurrent.futures
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

ENDING = signal.SIGHUP, signal.SIGINT, signal.SIGTERM


# Python runs a signal handler when the main thread comes back from what it waits for. A signal that comes right before it begins to
# wait does not end that: so whatever waits looks up now and then.
LOOKS_UP = 0.2  # seconds


class Process(subprocess.Popen):
    """One without input, in a group of its own."""

    def __init__(self, command, **options):
        super().__init__(command, stdin=subprocess.DEVNULL, process_group=0, **options)

    def wait(self, timeout=None):
        while timeout is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return super().wait(LOOKS_UP)
        return super().wait(timeout)


@contextlib.contextmanager
def child(command, **options):
    """A process for the time of a `with`. If that is left early, as when a signal ends us, the process is ended first."""
    process = None
    early = []

    def end(number, _frame):
        # Within Popen() there may be a process that nobody could end yet.
        if process is None:
            early.append(number)
        else:
            raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in ENDING}
    try:
        process = Process(command, **options)
        if early:
            raise SystemExit(128 + early[0])
        yield process
    finally:
        if process:
            _end_groups([process])
        for number, handler in before.items():
            signal.signal(number, handler)


class Job:
    """What a job's function is given: it runs commands, and prints."""

    def __init__(self, jobs, log):
        self._jobs = jobs
        self.log = log
        self._file = open(log, "w", buffering=1, encoding="utf-8", errors="replace") if log else None

    def print(self, text):
        print(text, file=self._file or sys.stdout, flush=True)

    def run(self, *command, output=None):
        """Runs a command to its end and returns its exit status. Its output is the job's, unless it goes to a file."""
        return self._jobs.run_command([str(word) for word in command], output or self._file)

    def run_all(self, commands):
        """Runs commands up to the first that fails; whether none did."""
        return all(self.run(*command) == 0 for command in commands)

    def close(self):
        if self._file:
            self._file.close()


class Jobs:
    """At most `at_once` jobs at a time; by default as many as there are processors. Logs go to `folder`."""

    def __init__(self, folder, at_once=None):
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._pool = concurrent.futures.ThreadPoolExecutor(at_once or os.cpu_count())
        self._futures = []
        self._lock = threading.RLock()  # a second signal may come while stop() has it
        self._print_lock = threading.Lock()
        self._processes = set()
        self._stopping = False
        self.seconds = {}  # of each job that has ended, by its name
        for number in ENDING:
            signal.signal(number, self._on_signal)

    def start(self, heading, name, work):
        """Begins work(job), which says by its result whether all is good, or puts it off until it may begin."""
        self._futures.append(self._pool.submit(self._run, heading, name, work))

    def run_now(self, heading, name, work):
        """Runs work(job) alone or beside those that were started, its output as it comes; whether it was good."""
        print(f"\n{heading}", flush=True)
        # In a thread as all others: a signal handler of the main thread must not find it with the lock.
        with concurrent.futures.ThreadPoolExecutor(1) as alone:
            return _result_of(alone.submit(self._timed, name, work, Job(self, None)))

    def finish(self):
        """Waits for all jobs; whether all of them were good."""
        try:
            results = [_result_of(future) for future in self._futures]
        except BaseException:
            self.stop()
            raise
        self._futures = []
        return all(results)

    def stop(self):
        with self._lock:
            self._stopping = True
            processes = list(self._processes)
        for future in self._futures:
            future.cancel()
        _end_groups(processes)

    def run_command(self, command, output):
        with self._lock:
            if self._stopping:
                return 143
            process = Process(command, stdout=output, stderr=subprocess.STDOUT)
            self._processes.add(process)
        try:
            return process.wait()
        finally:
            with self._lock:
                self._processes.discard(process)

    def _on_signal(self, number, _frame):
        self.stop()
        raise SystemExit(128 + number)

    def _run(self, heading, name, work):
        job = Job(self, self._folder / f"{name}.log")
        good = self._timed(name, work, job)
        if not self._stopping:
            with self._print_lock:
                print(f"\n{heading}\n{job.log.read_text(errors='replace')}", end="", flush=True)
        return good

    def _timed(self, name, work, job):
        begin = time.monotonic()
        try:
            return bool(work(job))
        finally:
            self.seconds[name] = time.monotonic() - begin
            job.close()


def _result_of(future):
    while not future.done():
        concurrent.futures.wait([future], LOOKS_UP)
    return future.result()


def _end_groups(processes):
    """Ends those that have not ended, with all that they have started."""
    processes = [process for process in processes if process.poll() is None]
    for process in processes:
        _kill_group(process, signal.SIGTERM)
    deadline = time.monotonic() + 30
    for process in processes:
        try:
            process.wait(max(0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            _kill_group(process, signal.SIGKILL)


def _kill_group(process, number):
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass
