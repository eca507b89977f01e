# SPDX-License-Identifier: GPL-2.0-only
"""tests/unwinders: what is read of the stacks that argtrace, gdb and perf show, and what they differ in."""

import sys
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "unwinders")]
import objects  # noqa: E402
import stacks  # noqa: E402

GDB = """== 12
0x00007ffff7ea5011 in read () from /lib/libc.so.6

Thread 1 (process 12 "bash"):
#0  0x00007ffff7ea5011 in read () from /lib/x86_64-linux-gnu/libc.so.6
#1  0x00005555555ea65a in inner (a=...) at some.c:3
#2  middle () at some.c:9
#3  <signal handler called>
#4  fault (a=...) at some.c:12
#5  0x00005555555ea700 in ?? ()
#6  0x00005555555ea705 in shapes::Square<short>::area (this=..., unit=...) at classes.cpp:25

Thread 1 (process 12 "bash"):
$1 = 0x7ffff7ea5011
$2 = 0x5555555ea65a
$3 = 0x5555555ea65a
$4 = 0x7ffff7e00050
$5 = 0x5555555ea680
$6 = 0x5555555ea700
$7 = 0x5555555ea705
"""
MAPS = """555555554000-555555700000 r-xp 00000000 08:01 12 /usr/bin/bash
7ffff7dc4000-7ffff7f00000 r-xp 00000000 08:01 13 /usr/lib/libc.so.6
7ffff7f10000-7ffff7f20000 rw-p 00000000 08:01 13 /usr/lib/libc.so.6
7ffffff00000-7ffffff10000 rw-p 00000000 00:00 0 [stack]
"""
WORDS = ["read+0xd", "inner (inlined)", "middle+0xa", "libc.so.6+0x3c050", "fault+0x0", "bash+0x96700", "shapes::Square<short>::area(std::string const&) const+0x4"]


class Symbols:
    """As objects.File."""

    def __init__(self, inlined, **offsets):
        self.offsets = {name: {offset} for name, offset in offsets.items()}
        self.names = {offset: {name for name in offsets if offsets[name] == offset} for offset in offsets.values()}
        self.inlined = inlined

    def functions_at(self, offset):
        return self.inlined.get(offset, [])

    def is_described_at(self, offset):
        return "read" not in self.offsets


FILES = {
    "/usr/bin/bash": Symbols({}, **{"middle": 0x96650, "middle.constprop.0": 0x96650, "fault": 0x96680, "area": 0x96701, "other": 0x96651}),
    "/usr/lib/libc.so.6": Symbols({0xe1010: ["syscall", "read"]}, **{"read": 0xe1004, "__read": 0xe1004, "write": 0xe1004 - 16, "*ABS*+0x9be70@plt": 0xe1002}),
}


class Process(objects.Mapped):
    def __init__(self):
        super().__init__(MAPS, None)

    def file(self, path):
        return FILES.get(path)


class UnwindersTest(unittest.TestCase):
    def kinds(self, words, text=GDB):
        return [kind for kind, _, _ in stacks.compare(*stacks.of_words(words), stacks.of_gdb(text)[12], Process())]

    def test_plain(self):
        for name, expected in (("main", "main"), ("void std::sort<int*, f(int)>(int*, int*)", "sort"), ("shapes::Square<short>::area(std::string const&) const", "area"),
                               ("f(int) [clone .part.0] [clone .cold]", "f.part.0.cold"), ("main::{lambda(int)#1}::operator()(int) const", "operator{}"), ("std::function<int (int)>::operator()(int) const", "operator{}")):
            self.assertEqual(objects.plain(name), expected)

    def test_frames_that_agree(self):
        self.assertEqual(self.kinds(WORDS), [])

    def test_frames_that_differ(self):
        for at, word, kinds in (
                (0, "read+0xe", ["address"]), (0, "__read+0xd", ["alias"]), (0, "__read+0xe", ["address"]), (0, "write+0x1d", ["name"]), (0, "recv+0xd", ["address"]),
                (1, "other (inlined)", ["inlined"]), (2, "middle.constprop.0+0xa", ["part"]), (2, "middle.constprop.0+0xb", ["address"]), (2, "other+0x9", ["name"]),
                (3, "libc.so.6+0x3c051", ["address"]), (4, "fault+0x1", ["address"]), (5, "bash+0x96701", ["address"]), (5, "fault+0x80", ["no name"]),
                (6, "shapes::Square<long>::area(std::string const&) const+0x5", ["address"])):
            self.assertEqual(self.kinds([*WORDS[:at], word, *WORDS[at + 1:]]), kinds, word)

    def test_a_part_with_another_inlined_function(self):
        self.assertEqual(self.kinds([WORDS[0], "other (inlined)", "middle.constprop.0+0xa", *WORDS[3:]]), ["inlined"])

    def test_stacks_of_other_lengths(self):
        self.assertEqual(self.kinds([*WORDS, "main+0x1"]), ["deeper"])
        self.assertEqual(self.kinds(WORDS[:-1]), ["missing"])
        self.assertEqual(self.kinds([*WORDS[:-1], "[... no unwind table for bash]"]), ["ends [... no unwind table for bash]"])
        self.assertEqual(self.kinds([*WORDS, "[... no unwind table for bash]"]), ["ends [... no unwind table for bash]"])

    def test_functions_that_are_inlined_where_it_has_stopped(self):
        self.assertEqual(self.kinds(["syscall (inlined)", *WORDS]), ["hidden"])
        self.assertEqual(self.kinds(["write (inlined)", *WORDS]), ["inlined"])
        self.assertEqual(self.kinds([WORDS[0], "syscall (inlined)", *WORDS[1:]]), ["inlined"])

    def musl(self, end, last, behind):
        """A stack that ends as `end` says: `last`, its last frame, and `behind`, what gdb has behind that."""
        ours = [stacks.Frame(["look"], None, "look", 0), stacks.Frame(["libc.so"], None, "libc.so", 0)]
        theirs = [stacks.Frame(["??"], address, None, None) for address in [0, last, *behind]]
        return [kind for kind, _, _ in stacks.compare(ours, end, theirs, Process())][len(ours):]

    def test_the_end_in_musl(self):
        end, musl, program = "[... no unwind rule in libc.so]", 0x7ffff7ea5000, 0x5555555ea700
        self.assertEqual(self.musl(end, musl, [0, 0x7ffffff00100]), ["musl"])
        self.assertEqual(self.musl(end, program, [0]), [f"ends {end}"])
        self.assertEqual(self.musl(end, musl, [0, program]), [f"ends {end}"])
        self.assertEqual(self.musl(None, musl, [0]), ["missing"])
        other = "[... no unwind rule in libfoo.so]"
        self.assertEqual(self.musl(other, musl, [0]), [f"ends {other}"])

    def test_what_gdb_guesses_behind_musl(self):
        end, musl, program, data = "[... no unwind rule in libc.so]", 0x7ffff7ea5000, 0x5555555ea700, 0x7ffff7f10000
        ours = [stacks.Frame([name], None, name, 0) for name in ("look", "wait", "main", "start")]

        def kinds(*addresses):
            theirs = [stacks.Frame(["??"], address, None, None) for address in addresses]
            return [kind for kind, _, _ in stacks.compare(ours, end, theirs, Process())]
        self.assertEqual(kinds(0, musl, 0), ["address", "address", "guess"])
        self.assertEqual(kinds(0, musl, data, 0), ["address", "address", "guess"])
        self.assertEqual(kinds(0, program, 0), ["address", "address", "address", "deeper"])
        self.assertEqual(kinds(0, musl, data, program), ["address"] * 4 + [f"ends {end}"])

    def test_entries_of_linkage_tables(self):
        text = GDB.replace("in read ()", "in *ABS*+0x9be70@plt ()")
        self.assertEqual(self.kinds(["libc.so.6+0xe1011", *WORDS[1:]], text), ["linkage"])
        self.assertEqual(self.kinds(WORDS, text), ["name"])
        self.assertEqual(self.kinds(["libc.so.6+0xe1011", *WORDS[1:]], text.replace("9be70", "9be80")), ["name"])

    def test_perf(self):
        ours, _ = stacks.of_words(WORDS)
        theirs = stacks.of_perf("  12 \n\t    e1011 read+0xd (/usr/lib/libc.so.6)\n\t    9665a middle+0xa (/usr/bin/bash)\n\t  96700 [unknown] (/usr/bin/bash)\n\n")[12]
        self.assertEqual(stacks.compare_with_perf(ours, theirs, Process()), ([], 3))
        self.assertEqual(stacks.compare_with_perf(ours, theirs[:2] + [(0x3c050, "[unknown]", "/usr/lib/libc.so.6")], Process()), ([], 3))
        for wrong in (0x96708, "[unknown]", "/usr/bin/bash"), (0x9665a, "middle+0xa", "/usr/bin/bash"):
            self.assertEqual([kind for kind, _, _ in stacks.compare_with_perf(ours, [*theirs, wrong], Process())[0]], ["not in argtrace's"])

    def test_map_of_compiled_code(self):
        sizes = stacks.of_map("7f00 10 JS:~inner some.js:1:2\n8f00 20 JS:~outer some.js:3:4\n")
        stack = ["read+0xd", "JS:~inner some.js:1:2+0xc", "Builtins_ArrayMap+0x1", "JS:~outer some.js:3:4+0x1f", "main+0x1"]
        for words, kinds in ((stack, []), (stack[::-1], ["not the chain of calls"]), (stack[:2], ["not the chain of calls"]),
                             ([*stack, "JS:~other some.js:5:6+0x1"], ["not in the map"]), ([*stack, "[... no unwind table for node]"], ["ends [... no unwind table for node]"])):
            self.assertEqual([kind for kind, _, _ in stacks.compare_with_map(words, sizes, ["inner", "outer"])], kinds, words)


if __name__ == "__main__":
    unittest.main()
