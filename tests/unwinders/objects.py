# SPDX-License-Identifier: GPL-2.0-only
"""What lies where in the files that a process has mapped, as nm and readelf say it of these: by that, other names of a place are told from other places."""

import re
import subprocess
from functools import cache
from pathlib import Path


def plain(name):
    """A function without its parameters and namespaces: of lambdas, and of templates, gdb and argtrace show them in different words."""
    # What a compiler has made of a function, as demangling shows it: f() [clone .cold]
    name = re.sub(r" \[clone (\.[^]]*)\]", r"\1", name)
    name = name.removesuffix(" const").replace("operator()", "operator{}").replace("operator<", "operator{").replace("operator->", "operator-")
    depth, kept = 0, ""
    for character in name:
        depth += character in "(<"
        kept += character if depth == 0 else ""
        depth -= character in ")>"
    return kept.split("::")[-1].split()[-1] if kept.strip() else name


def lines_of(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines()


class File:
    """Offsets in it, not the addresses that it would like to have. Entries of linkage tables have the names that binutils make for them."""

    def __init__(self, path):
        self.path = path
        self.segments = [tuple(int(word, 16) for word in line.split()[1:5]) for line in lines_of("readelf", "-lW", path) if line.split()[:1] == ["LOAD"]]
        self.offsets, self.names = {}, {}
        for table in ([], ["-D"]):
            for line in lines_of("nm", "-pC", "--defined-only", "--synthetic", *table, path):
                address, _, name = line.split(maxsplit=2)
                name, offset = plain(re.sub(r"@(?!plt$).*", "", name)), self.offset_of(int(address, 16))
                if offset is not None:
                    self.offsets.setdefault(name, set()).add(offset)
                    self.names.setdefault(offset, set()).add(name)

    def offset_of(self, address):
        return next((address - begin + offset for offset, begin, _, size in self.segments if begin <= address < begin + size), None)

    def address_of(self, offset):
        return next((offset - begin + address for begin, address, _, size in self.segments if begin <= offset < begin + size), None)

    def functions_at(self, offset):
        """Those inlined at an instruction, the innermost first, and the one that it is in, by the debug information."""
        address = self.address_of(offset)
        return [] if address is None else [plain(line) for line in lines_of("addr2line", "-fiC", "-e", self.path, hex(address))[::2]]

    def is_described_at(self, offset):
        """Whether the debug information knows the source of an instruction."""
        address = self.address_of(offset)
        return address is not None and bool(re.search(r":[1-9]", lines_of("addr2line", "-e", self.path, hex(address))[0]))


@cache
def file_at(path):
    return File(path)


class Mapped:
    """What a process has mapped. `maps`: the text of /proc/PID/maps; `find`: what the file is here that the process has by this path, or None."""

    def __init__(self, maps, find):
        self.areas = []
        for line in maps.splitlines():
            addresses, mode, offset, _, _, *path = line.split(maxsplit=5)
            begin, end = (int(word, 16) for word in addresses.split("-"))
            self.areas.append((begin, end, int(offset, 16), "x" in mode, path[0] if path else ""))
        self.find = find

    def at(self, address):
        """(path, offset, whether it is code). What is in no file has no path, and its address as its offset."""
        for begin, end, offset, is_code, path in self.areas:
            if begin <= address < end:
                in_file = path.startswith("/") or path == "[vdso]"
                return (path, address - begin + offset, is_code) if in_file else ("", address, is_code)
        return "", address, False

    def file(self, path):
        found = self.find(path) if path.startswith("/") else None
        return file_at(found) if found else None

    def place(self, address):
        """What argtrace shows of an address that has no name."""
        path, offset, _ = self.at(address)
        return f"{Path(path).name or '[anonymous]'}+0x{offset:x}"

    def is_code(self, address):
        return self.at(address)[2]

    def is_symbol(self, name, path, offset):
        """Whether the file has a symbol of that (plain) name there."""
        file = self.file(path)
        return bool(file) and offset in file.offsets.get(name, ())

    def names(self, path, offset):
        """All (plain) names that the file has for what begins there."""
        file = self.file(path)
        return file.names.get(offset, set()) if file else set()

    def functions_before(self, address):
        """The functions that the instruction before that address is in: File.functions_at()."""
        path, offset, _ = self.at(address)
        file = self.file(path)
        return file.functions_at(offset - 1) if file else []

    def is_described_before(self, address):
        """Whether the debug information knows the instruction before that address."""
        path, offset, _ = self.at(address)
        file = self.file(path)
        return bool(file) and file.is_described_at(offset - 1)
