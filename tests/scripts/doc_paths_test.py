# SPDX-License-Identifier: GPL-2.0-only
"""That the files and folders which README.md and docs/ name in backticks, and link to, are in the tree."""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from kernels import TOP

FILES = ["README.md", "docs/**/*.md"]
SOURCES = r"\.(?:c|h|S|cpp|py|sh|md|scd|table|list|case|mutant|patch|config)"

# Files that are made, and headers of the kernel's and the compiler's.
ELSEWHERE = re.compile(r"(?:[./~]|build/|linux/|asm/)")
FOLDERS = {path.name for path in TOP.iterdir() if path.is_dir()} - {"build", ".git"}
NAMES = {path.name for folder in FOLDERS for path in (TOP / folder).rglob("*")} | {path.name for path in TOP.iterdir()}


def named(text):
    """The words in backticks that name a file or folder: by a path, or a source file by its name alone."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    for span in re.findall(r"`([^`]+)`", text):
        for word in span.split():
            first, slash, _ = word.partition("/")
            if re.fullmatch(r"[\w.*/-]+", word) and not (ELSEWHERE.match(word) and first not in FOLDERS):
                if (slash and first in FOLDERS) or re.search(SOURCES + "$", word):
                    yield word


def is_there(name):
    """Whether the tree has it. NAME, FOLDER and LABEL stand for any name, as * does."""
    pattern = re.sub("NAME|FOLDER|LABEL", "*", name).rstrip("/")
    if "/" not in pattern:
        return any(Path(known).match(pattern) for known in NAMES)
    return any(TOP.glob(pattern))


def links(text):
    return [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"\w+:|#", link)]


class DocPaths(unittest.TestCase):
    def test_what_names_a_file(self):
        self.assertEqual(list(named("`kmod/sink/ring.h`, `tests/vm/run --long LABEL`, `ring.h` and `user/cli`")),
                         ["kmod/sink/ring.h", "tests/vm/run", "ring.h", "user/cli"])
        self.assertEqual(list(named("`build/bin/argtrace`, `/dev/argtrace`, `./dummy.ko`, `linux/fs.h`, `file->f_inode`, `a/b`, kmod/no.c")), [])
        self.assertEqual(list(named("```\nkmod/no.c `kmod/no.c`\n```\n`source/no.c`, `in\nkmod/lane.c`")), ["source/no.c", "kmod/lane.c"])

    def test_what_is_there(self):
        for name in ["kmod/lane.c", "kmod/source", "tests/user/", "lane.h", "user/cli/cmd_NAME.cpp", "kmod/ioctl/*.c", "README.md"]:
            self.assertTrue(is_there(name), name)
        for name in ["kmod/none.c", "kmod/nowhere/", "none.h", "user/cli/none_NAME.cpp", "source/entry.c"]:
            self.assertFalse(is_there(name), name)

    def test_all_are_there(self):
        checked = 0
        missing = []
        for pattern in FILES:
            paths = list(TOP.glob(pattern))
            self.assertTrue(paths, pattern)
            for path in paths:
                text = path.read_text()
                names = list(named(text))
                checked += len(names)
                missing += [f"{path.relative_to(TOP)}: {name}" for name in names if not is_there(name)]
                missing += [f"{path.relative_to(TOP)}: ({link})" for link in links(text) if not (path.parent / link).exists()]
        self.assertEqual(missing, [])
        self.assertGreater(checked, 100)


if __name__ == "__main__":
    unittest.main()
