# SPDX-License-Identifier: GPL-2.0-only
"""Runs several jobs at once.

The output of each job comes in one piece, under its heading, when it has ended, and stays in a file. Each command is a
process group of its own, so that it can be ended whole when we are.
"""

import concurrent.futures
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path


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
        self._lock = threading.Lock()
        self._print_lock = threading.Lock()
        self._processes = set()
        self._stopping = False
        self.seconds = {}  # of each job that has ended, by its name
        for number in signal.SIGHUP, signal.SIGINT, signal.SIGTERM:
            signal.signal(number, self._on_signal)

    def start(self, heading, name, work):
        """Begins work(job), which says by its result whether all is good, or puts it off until it may begin."""
        self._futures.append(self._pool.submit(self._run, heading, name, work))

    def run_now(self, heading, name, work):
        """Runs work(job) alone or beside those that were started, its output as it comes; whether it was good."""
        print(f"\n{heading}", flush=True)
        return self._timed(name, work, Job(self, None))

    def finish(self):
        """Waits for all jobs; whether all of them were good."""
        try:
            results = [future.result() for future in self._futures]
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
        for process in processes:
            _kill_group(process, signal.SIGTERM)
        deadline = time.monotonic() + 30
        for process in processes:
            try:
                process.wait(max(0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                _kill_group(process, signal.SIGKILL)

    def run_command(self, command, output):
        with self._lock:
            if self._stopping:
                return 143
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                       process_group=0)
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


def _kill_group(process, number):
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass
