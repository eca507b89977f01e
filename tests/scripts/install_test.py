# SPDX-License-Identifier: GPL-2.0-only
"""`make install` and `make uninstall`, of files that stand for what has been built."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILT = ["build/bin/argtrace", "build/kmod/test/argtrace.ko", "build/man/argtrace.1", "build/man/argtrace.dat.5"]
INSTALLED = {
    "lib/modules/test/updates/argtrace.ko": "build/kmod/test/argtrace.ko",
    "usr/bin/argtrace": "build/bin/argtrace",
    "usr/lib/udev/rules.d/60-argtrace.rules": "packaging/debian/argtrace.udev",
    "usr/share/bash-completion/completions/argtrace": "packaging/completion/argtrace.bash",
    "usr/share/man/man1/argtrace.1": "build/man/argtrace.1",
    "usr/share/man/man5/argtrace.dat.5": "build/man/argtrace.dat.5",
    "usr/share/zsh/site-functions/_argtrace": "packaging/completion/_argtrace",
}


class Install(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree, self.root = Path(folder.name) / "tree", Path(folder.name) / "root"
        self.tree.mkdir()
        shutil.copy(TOP / "Makefile", self.tree)
        shutil.copytree(TOP / "packaging", self.tree / "packaging")
        for name in BUILT:
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / name).write_text(name)

    def make(self, target):
        # -o all: as if everything had been built.
        done = subprocess.run(["make", "-C", self.tree, "-o", "all", target, f"DESTDIR={self.root}", "PREFIX=/usr", "KREL=test",
                               "KDIR=/"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def files(self):
        return {str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file()}

    def test_installs_all_and_uninstalls_it(self):
        self.make("install")
        self.assertEqual(self.files(), set(INSTALLED))
        for installed, source in INSTALLED.items():
            self.assertEqual((self.root / installed).read_bytes(), (self.tree / source).read_bytes(), installed)
        self.make("uninstall")
        self.assertEqual(self.files(), set())


if __name__ == "__main__":
    unittest.main()
