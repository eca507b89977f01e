# SPDX-License-Identifier: GPL-2.0-only
"""That functions which never return are on the list of kmod/source/returns/refused.h, as the kernels' own objtool has them."""

import os
import re
import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import kernels
from kernels import TOP

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "argtrace/kernels"
KNOWN = "do_exit"  # on the list of every objtool
SHT_RELA, SHT_NOBITS, R_X86_64_RELATIVE = 4, 8, 8


def refused():
    text = (TOP / "kmod/source/returns/refused.h").read_text()
    return re.findall(r"^\tREFUSED\((\w+), ARGTRACE_RETURN_", text, re.MULTILINE)


class Elf:
    """The pointers in the data of a 64-bit executable that is loaded anywhere, and what they point to."""

    def __init__(self, data):
        self.data = data
        offset, = struct.unpack_from("<Q", data, 0x28)
        count, = struct.unpack_from("<H", data, 0x3c)
        self.sections = [struct.unpack_from("<IIQQQQ", data, offset + 64 * i) for i in range(count)]
        self.pointers = {}
        for _, kind, _, _, start, size in self.sections:
            if kind != SHT_RELA:
                continue
            for at in range(start, start + size, 24):
                place, info, addend = struct.unpack_from("<QQq", data, at)
                if info & 0xffffffff == R_X86_64_RELATIVE:
                    self.pointers[place] = addend

    def text_at(self, address):
        for _, kind, _, begin, start, size in self.sections:
            if begin and kind != SHT_NOBITS and begin <= address < begin + size:
                at = start + address - begin
                return self.data[at:self.data.index(b"\0", at)].decode("ascii", "replace")
        return ""


def noreturns(path):
    """The names in the array of objtool that has KNOWN; empty: this is not it, but what starts the one of an architecture."""
    elf = Elf(path.read_bytes())
    names = {place: elf.text_at(address) for place, address in elf.pointers.items()}

    def is_name(place):
        return re.fullmatch(r"[a-zA-Z_]\w+", names.get(place, ""))

    for known in (place for place, name in names.items() if name == KNOWN):
        begin, end = known, known
        while is_name(begin - 8):
            begin -= 8
        while is_name(end):
            end += 8
        found = [names[place] for place in range(begin, end, 8)]
        if len(found) > 10:
            return found
    return []


class Noreturns(unittest.TestCase):
    def test_the_list_is_read(self):
        self.assertIn(KNOWN, refused())
        self.assertEqual(refused(), sorted(refused()))

    def test_all_of_objtools_are_refused(self):
        tools = {label: [path for path in (CACHE / label).glob("usr/lib/linux-kbuild-*/tools/objtool/objtool*")
                         if path.name in ("objtool", "objtool.real-x86")] for label in kernels.labels()}
        if not any(tools.values()):
            self.skipTest("no kernel is in the cache")
        for label, paths in tools.items():
            if paths:
                found = {name for path in paths for name in noreturns(path)}
                self.assertTrue(found, f"{label}: {paths}")
                self.assertEqual(found - set(refused()), set(), label)


if __name__ == "__main__":
    unittest.main()
