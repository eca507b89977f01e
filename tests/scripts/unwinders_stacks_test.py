# SPDX-License-Identifier: GPL-2.0-only
"""tests/unwinders: what is read of the stacks that argtrace, gdb and perf show, and what they differ in."""

import sys
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "unwinders")]
import stacks  # noqa: E402

GDB = """== 12
0x00007ffff7ea5011 in read () from /lib/libc.so.6

Thread 1 (process 12 "bash"):
#0  0x00007ffff7ea5011 in read () from /lib/x86_64-linux-gnu/libc.so.6
#1  0x00005555555ea65a in inner (a=...) at some.c:3
#2  middle () at some.c:9
#3  <signal handler called>
#4  0x00005555555ea700 in ?? ()
#5  0x00005555555ea705 in shapes::Square<short>::area (this=..., unit=...) at classes.cpp:25

Thread 1 (process 12 "bash"):
$1 = 0x7ffff7ea5010 <read+12>
$2 = 0x5555555ea659 <middle+9>
$3 = 0x5555555ea659 <middle+9>
$4 = 0x7ffff7e0004f
$5 = 0x5555555ea6ff
$6 = 0x5555555ea704 <shapes::Square<short>::area(std::string const&) const+3>
"""
WORDS = ["read+0xd", "inner (inlined)", "middle+0xa", "libc.so.6+0x3c050", "bash+0x96700", "shapes::Square<short>::area(std::string const&) const+0x4"]


def place(address):
    return f"libc.so.6+0x{address - 0x7ffff7dc4000:x}" if address > 0x7f0000000000 else f"bash+0x{address - 0x555555554000:x}"


class UnwindersTest(unittest.TestCase):
    def kinds(self, words, text=GDB):
        return [kind for kind, _, _ in stacks.compare(*stacks.of_words(words), stacks.of_gdb(text)[12], place)]

    def test_plain(self):
        for name, expected in (("main", "main"), ("void std::sort<int*, f(int)>(int*, int*)", "sort"), ("shapes::Square<short>::area(std::string const&) const", "area"),
                               ("main::{lambda(int)#1}::operator()(int) const", "operator{}"), ("std::function<int (int)>::operator()(int) const", "operator{}")):
            self.assertEqual(stacks.plain(name), expected)

    def test_frames_that_agree(self):
        self.assertEqual(self.kinds(WORDS), [])

    def test_frames_that_differ(self):
        for at, word, kinds in (
                (0, "read+0xe", ["address"]), (0, "__read+0xd", ["alias"]), (0, "__read+0xe", ["name"]), (0, "write+0xd", ["name"]), (1, "other (inlined)", ["inlined"]), (2, "middle.constprop.0+0xa", ["part"]),
                (3, "libc.so.6+0x3c051", ["name"]), (4, "bash+0x96701", ["no name"]), (5, "shapes::Square<long>::area(std::string const&) const+0x5", ["address"])):
            self.assertEqual(self.kinds([*WORDS[:at], word, *WORDS[at + 1:]]), kinds, word)

    def test_stacks_of_other_lengths(self):
        self.assertEqual(self.kinds([*WORDS, "main+0x1"]), ["deeper"])
        self.assertEqual(self.kinds(WORDS[:-1]), ["missing"])
        self.assertEqual(self.kinds([*WORDS[:-1], "[... no unwind table for bash]"]), ["ends [... no unwind table for bash]"])

    def test_inlined_where_it_has_stopped(self):
        self.assertEqual(self.kinds(["syscall (inlined)", *WORDS]), ["hidden"])

    def test_perf(self):
        ours, _ = stacks.of_words(WORDS)
        theirs = stacks.of_perf("  12 \n\t    fc308 read+0xd\n\t    1 middle+0xa\n\n")[12]
        self.assertEqual(stacks.compare_with_perf(ours, theirs), ([], 3))
        self.assertEqual(len(stacks.compare_with_perf(ours, [*theirs, (1, "nowhere", 1)])[0]), 1)

    def test_map_of_compiled_code(self):
        sizes = stacks.of_map("7f00 10 JS:~inner some.js:1:2\n8f00 20 JS:~outer some.js:3:4\n")
        stack = ["read+0xd", "JS:~inner some.js:1:2+0xc", "Builtins_ArrayMap+0x1", "JS:~outer some.js:3:4+0x1f", "main+0x1"]
        for words, kinds in ((stack, []), (stack[::-1], ["not the chain of calls"]), (stack[:2], ["not the chain of calls"]),
                             ([*stack, "JS:~other some.js:5:6+0x1"], ["not in the map"]), ([*stack, "[... no unwind table for node]"], ["ends [... no unwind table for node]"])):
            self.assertEqual([kind for kind, _, _ in stacks.compare_with_map(words, sizes, ["inner", "outer"])], kinds, words)


if __name__ == "__main__":
    unittest.main()
