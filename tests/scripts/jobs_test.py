# SPDX-License-Identifier: GPL-2.0-only
"""scripts/jobs.py, in a process of its own, as that is ended by signals."""

import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def started(body, folder):
    """Runs `body`, which has `jobs`."""
    program = f"import sys\nsys.path.insert(0, {str(SCRIPTS)!r})\nfrom jobs import Jobs\njobs = Jobs({folder!r}, 2)\n{body}"
    return subprocess.Popen([sys.executable, "-B", "-c", program], stdout=subprocess.PIPE, text=True)


class TestJobs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_output_comes_in_one_piece_under_its_heading(self):
        process = started("""
for name in "ab":
    jobs.start("== " + name, name, lambda job, name=name: job.run("sh", "-c", f"for i in 1 2 3; do echo {name}$i; sleep 0.1; done") == 0)
print(jobs.finish())
""", self.folder)
        out = process.communicate()[0]
        self.assertIn("\n== a\na1\na2\na3\n", out)
        self.assertIn("\n== b\nb1\nb2\nb3\n", out)
        self.assertTrue(out.endswith("True\n"))
        self.assertEqual((Path(self.folder) / "a.log").read_text(), "a1\na2\na3\n")

    def test_one_failure_is_the_result(self):
        process = started("""
jobs.start("== a", "a", lambda job: job.run("false") == 0)
jobs.start("== b", "b", lambda job: job.run("true") == 0)
print(jobs.finish(), sorted(jobs.seconds))
""", self.folder)
        self.assertTrue(process.communicate()[0].endswith("False ['a', 'b']\n"))

    def test_no_more_than_so_many_at_once(self):
        process = started("""
for number in range(4):
    jobs.start(f"== {number}", str(number), lambda job: job.run("sh", "-c", "date +%s%N; sleep 0.3; date +%s%N") == 0)
jobs.finish()
""", self.folder)
        process.communicate()
        times = [[int(word) for word in (Path(self.folder) / f"{number}.log").read_text().split()] for number in range(4)]
        for begin, _ in times:
            self.assertLessEqual(sum(first <= begin < last for first, last in times), 2)

    def test_signals_end_all_of_it(self):
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            process = started("""
for name in "abc":
    jobs.start("== " + name, name, lambda job, name=name: job.run("sh", "-c", f"echo $$ >FOLDER/{name}.pid; sleep 100 & wait") == 0)
jobs.finish()
""".replace("FOLDER", self.folder), self.folder)
            pids = [Path(self.folder) / f"{name}.pid" for name in "ab"]
            while not all(path.exists() and path.read_text() for path in pids):
                time.sleep(0.02)
            process.send_signal(number)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 128 + number)
            for path in pids:
                self.assertFalse(Path(f"/proc/{path.read_text().strip()}").exists())
                path.unlink()
            self.assertFalse((Path(self.folder) / "c.pid").exists())

    def test_a_signal_ends_the_child_first(self):
        path = Path(self.folder) / "pid"
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            process = started(f"""
from jobs import child
with child(["sh", "-c", "echo $$ >{path}; sleep 100 & wait"]) as one:
    one.wait()
""", self.folder)
            while not path.exists() or not path.read_text():
                time.sleep(0.02)
            process.send_signal(number)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 128 + number)
            self.assertFalse(Path(f"/proc/{path.read_text().strip()}").exists())
            path.unlink()

    def test_a_signal_that_comes_while_the_child_is_started(self):
        path = Path(self.folder) / "pid"
        process = started(f"""
import os, signal
import jobs as module
from jobs import child

class Process(module.Process):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        os.kill(os.getpid(), signal.SIGTERM)

module.Process = Process
with child(["sh", "-c", "echo $$ >{path}; exec sleep 100"]) as one:
    print("not ended")
""", self.folder)
        out, _ = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (128 + signal.SIGTERM, ""))

    def test_a_signal_ends_a_job_that_runs_now(self):
        path = Path(self.folder) / "pid"
        process = started(f"""
jobs.run_now("== now", "now", lambda job: job.run("sh", "-c", "echo $$ >{path}; sleep 100 & wait") == 0)
""", self.folder)
        while not path.exists() or not path.read_text():
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertFalse(Path(f"/proc/{path.read_text().strip()}").exists())

    def test_a_child_that_ends_is_no_more_than_that(self):
        process = started("""
from jobs import child
with child(["sh", "-c", "exit 7"]) as one:
    print(one.wait())
""", self.folder)
        self.assertEqual(process.communicate()[0], "7\n")


if __name__ == "__main__":
    unittest.main()
