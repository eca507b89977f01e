# SPDX-License-Identifier: GPL-2.0-only
"""tests/strace: which lines of strace and of argtrace say the same, and what the others differ by."""

import sys
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "strace"), str(Path(__file__).resolve().parents[2] / "scripts")]
import compare
import expected
import lines
import tasks
from lines import ARGTRACE, STRACE, AnyOf, Change, Flags, Group, NoCall, Row, Text, Word

KNOWN = {"A": {1}, "B": {2}, "OLD": {4, 8}, "ALL": {0xffffffff}}


def kinds(strace, argtrace):
    return compare.of_calls(lines.parse(strace, STRACE), lines.parse(argtrace, ARGTRACE), KNOWN)


class Lines(unittest.TestCase):
    def argument(self, text, side=STRACE):
        [value] = lines.parse(f"f({text}) = 0", side).arguments
        return value

    def test_numbers(self):
        for text, value in (("0x1f", 31), ("-1", -1), ("017", 15), ("0", 0), ("4294967295", 0xffffffff), ("NULL", 0), ("'a'", 97)):
            self.assertEqual(self.argument(text), value, text)

    def test_an_address_that_may_be_an_error(self):
        self.assertEqual(self.argument("-EPERM", ARGTRACE), (1 << 64) - 1)

    def test_texts(self):
        self.assertEqual(self.argument(r'"a\0b\n\x1f\377\"\\"'), Text(b"a\0b\n\x1f\xff\"\\"))
        self.assertEqual(self.argument('"a, (b"...'), Text(b"a, (b", True))

    def test_flags_are_a_set(self):
        self.assertEqual(self.argument("B|A|0x10"), Flags(frozenset([Word("A"), Word("B"), 16])))
        self.assertEqual(self.argument("A|0x10|3"), Flags(frozenset([Word("A"), 0x13])))
        self.assertEqual(self.argument("S_IFREG|000"), Word("S_IFREG"))

    def test_names_comments_and_paths_go(self):
        self.assertEqual(self.argument("dfd=3</a b>"), 3)
        self.assertEqual(self.argument("0x6 /* MPOL_??? */"), 6)
        self.assertEqual(self.argument("{a=1, b={c=A /* , } */}}"), Group((1, Group((Word("A"),)))))
        self.assertEqual(self.argument("how->flags=A"), Word("A"))

    def test_groups(self):
        self.assertEqual(self.argument("[1, {2}, ...]"), Group((1, Group((2,))), True))
        self.assertEqual(self.argument("makedev(0x1, 2)"), Group((1, 2), False, "makedev"))
        self.assertEqual(self.argument("[HUP RTMIN]"), Group((Flags(frozenset([Word("SIGHUP"), Word("SIGRTMIN")])),)))
        for argtrace in ("[SIGRT_1, SIGHUP]", "{SIGHUP|SIGRTMIN+1}", "[HUP RT_1]"):
            self.assertEqual(self.argument("[HUP RT_1]"), self.argument(argtrace, ARGTRACE))
        self.assertEqual(self.argument("~[HUP]"), self.argument("~{SIGHUP}", ARGTRACE))
        self.assertEqual(self.argument("[3 4]"), Group((3, 4)))
        self.assertEqual(self.argument("[]"), Group(()))

    def test_others(self):
        self.assertEqual(self.argument("[110 => 24]"), Group((Change(110, 24),)))
        self.assertEqual(self.argument("*pos=0 -> 24", ARGTRACE), Change(0, 24))
        self.assertEqual(self.argument("1<<CAP_CHOWN"), Row((1, Word("<<"), Word("CAP_CHOWN"))))
        self.assertEqual(self.argument("A|21<<MAP_HUGE_SHIFT"), Flags(frozenset([Word("A"), 21 << 26])))

    def test_addresses_of_sockets(self):
        for strace, argtrace in (
                ('{sa_family=AF_UNIX, sun_path="a"}', '{"a"}'), ('{sa_family=AF_UNIX, sun_path=@"a"}', '{"@a"}'),
                ('{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("1.2.3.4")}', "{1.2.3.4:80}"),
                ('{sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=0}', "{[::1]:80}")):
            self.assertEqual(self.argument(strace), self.argument(argtrace, ARGTRACE), strace)
        scope = 'sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=1'
        self.assertNotEqual(self.argument(f"{{sa_family=AF_INET6, sin6_port=htons(80), {scope}}}"), self.argument("{[::1]:80}", ARGTRACE))

    def test_results(self):
        for text, value in (("3", 3), ("-1 EBADF (Bad file descriptor)", Word("-EBADF")), ("0x1 (flags FD_CLOEXEC)", AnyOf((1, Word("FD_CLOEXEC")))),
                            ("0 (Timeout)", 0), ("4294967258 ENOSYS (Not there)", AnyOf((4294967258, Word("-ENOSYS")))), ("? ERESTARTSYS (To be restarted)", Word("-ERESTARTSYS")), ("-1 (errno 600)", -600)):
            self.assertEqual(lines.parse(f"f()    = {text}", STRACE).result, value, text)
        for text, value in (("3", 3), ("-EBADF", Word("-EBADF")), ("0x10 <4.1us>", 16), ("A|B", Flags(frozenset([Word("A"), Word("B")])))):
            self.assertEqual(lines.parse(f"s:f() {text}", ARGTRACE).result, value, text)

    def test_what_is_no_call(self):
        for line in ("+++ exited with 0 +++", "--- SIGUSR1 {si_signo=SIGUSR1} ---", "exit(0) = ?", "", "f(1", "f(???) = 0", "syscall_0x270f(1) = -1 ENOSYS (No such call)"):
            with self.assertRaises(NoCall, msg=line):
                lines.parse(line, STRACE)

    def test_names_of_calls(self):
        self.assertEqual(lines.parse("s:sendfile64(out_fd=1) 0", ARGTRACE).name, "sendfile")
        self.assertEqual(lines.parse("s:ia32:read~(fd=1) 0", ARGTRACE).name, "read")


class Comparison(unittest.TestCase):
    def test_the_same(self):
        for strace, argtrace in (
                ("openat(AT_FDCWD, \"a\\n\", O_RDONLY|O_CLOEXEC) = 3", r's:openat(dfd=AT_FDCWD, filename="a\x0a", flags=O_CLOEXEC|O_RDONLY) 3 <4us>'),
                ("f([{iov_base=0x10, iov_len=1}], NULL) = -1 EBADF (Bad file descriptor)", "s:f(vec={{iov_base=0x10, iov_len=1}}, b=0x0) -EBADF"),
                ("f(\"ab\"...) = 0", 's:f(a="abc") 0'),
                ("f(\"ab\"...) = 0", 's:f(a="abc"...) 0'),
                ("f({a=1, c=3, ...}) = 0", "s:f(x={a=1, b=2, c=3}) 0"),
                ("f({c=3, a=1, ...}) = 0", "s:f(x={a=1, b=2, c=3}) 0"),
                ("f({c=3, a=1}) = 0", "s:f(x={a=1, c=3, __pad0=7}) 0"),
                ("f({c={d=1}, a=[1, 2]}) = 0", "s:f(x={a={1, 2}, c={d=1}}) 0"),
                ("f(0x6 /* A_??? */) = 0x2 (flags B)", "s:f(OLD|B) B"),
                ("f(A or B) = 0", "s:f(B) 0"),
                ("wait4(1, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], 0, NULL) = 1",
                 "s:wait4(upid=1, stat_addr=[{WIFEXITED(s) && WEXITSTATUS(s) == 3}], options=0, ru=NULL) 1"),
                ("mknod(\"a\", S_IFCHR, makedev(0x1, 0x3)) = 0", 's:mknod(filename="a", mode=S_IFCHR, dev=makedev(0x1, 0x3)) 0'),
                ("f(3, AT_FDCWD, -1, 4) = 5", "s:f(a=3<socket:[77]>, b=AT_FDCWD</a b>, c=-1, d=4<anon_inode:[eventfd]>) 5</x>"),
                ("f({sa_handler=SIG_DFL, sa_mask=[HUP], sa_flags=A}, [RTMIN]) = 0", "s:f(a={sa_handler=SIG_DFL, sa_flags=A, sa_mask=[HUP]}, b=[RT_0]) 0"),
                ("execve(\"a\", [\"a\", \"b\"], 0x7ff /* 9 vars */) = 0", 's:execve(filename="a", argv=["a", "b"], envp=0x7ff /* 9 vars */) 0'),
                ("getdents64(3, 0x7ff /* 2 entries */, 9) = 48", 's:getdents64(fd=3, dirent=[".", ".."], count=9) 48'),
                ("getdents64(3, 0x7ff /* 3 entries */, 9) = 48", 's:getdents64(fd=3, dirent=[".", "..", ...], count=9) 48'),
                ("clone(child_stack=NULL, flags=A) = 1", "s:clone(clone_flags=A, newsp=0x0) 1"),
                ("f(A|0x2) = 1", "s:f(B|A) 1")):
            self.assertEqual(kinds(strace, argtrace), [], strace)

    def test_kinds(self):
        for strace, argtrace, kind in (
                ("A", "1", "name"), ("A|B", "3", "name"), ("A", "B", "other name"), ("5", "A", "no name"), ("A|4", "A|B", "other name"),
                ("[1]", "0x10", "pointee"), ("\"a\"", "0x10", "pointee"), ("0x10", "{1}", "no pointee"), ("\"a\"", "\"b\"", "text"),
                ("\"abc\"", "\"ab\"...", "text"), ("\"ab\"...", "\"a\"...", "text"), ("\"ab\"", "\"abc\"", "text"),
                ("-1", "4294967295", "sign"), ("1", "2", "number"), ("{1, 2}", "{1}", "members"), ("{1, 3, ...}", "{1, 2}", "number"),
                ("[1 => 2]", "{1}", "change"), ("[1]", "\"a\"", "form"), ("1, 2", "1", "arguments"), ("makedev(1, 2)", "0x102", "name")):
            self.assertEqual(kinds(f"f({strace}) = 0", f"s:f({argtrace}) 0"), [kind], strace)
            self.assertIn(kind, compare.KINDS)
        self.assertEqual(kinds("f(0x7ff /* 1 entry */) = 0", 's:f(a=[".", ".."]) 0'), ["members"])
        self.assertEqual(kinds("f(0x7ff /* 3 entries */) = 0", 's:f(a=[".", ".."]) 0'), ["members"])
        self.assertEqual(kinds("f(0x7ff /* 9 vars */) = 0", "s:f(a=0x7ff /* 8 vars */) 0"), ["form"])
        self.assertEqual(kinds("f() = 1", "s:f() 2"), ["number"])
        self.assertEqual(kinds("f({b=1, a=2}) = 0", "s:f(x={a=1, b=2}) 0"), ["number", "number"])
        self.assertEqual(kinds("f({b=1}) = 0", "s:f(x={a=1, b=1}) 0"), ["members"])

    def test_names_are_paired(self):
        def rows(*names):
            return lines.calls([f"{name} = 0" for name in names], STRACE)

        self.assertEqual([kinds for _, _, kinds in compare.compare(rows("f(1)", "g(1)"), rows("f(1)", "g(2)"), KNOWN)], [[], ["number"]])
        self.assertEqual([kinds for _, _, kinds in compare.compare(rows("f(1)", "g(1)"), rows("f(1)", "f(2)", "g(1)"), KNOWN)], [[], ["added"], []])
        self.assertEqual([kinds for _, _, kinds in compare.compare(rows("f(1)", "g(1)"), rows("f(1)"), KNOWN)], [[], ["missing"]])

    def test_constants(self):
        self.assertEqual(compare.constants("# A=1\nflags x else hex: 3/A=0 3/B=0x10 7/@y\nvalues y: C=-100 D=010\nflags z: A=1\ns:a(b: x = A)"),
                         {"A": {0, 1}, "B": {16}, "C": {-100}, "D": {8}})


class Tasks(unittest.TestCase):
    STRACE = ["7 execve(1) = 0", "7 f(1, <unfinished ...>", "8 g() = 1", "7 <... f resumed>2) = 3", "8 h( <unfinished ...>", "7 exit(0) = ?",
              "8 <... h resumed>) = 0", "8 i(1, <unfinished ...>", "8 +++ killed by SIGKILL +++", ""]

    def test_halves_are_put_together(self):
        self.assertEqual(tasks.of_strace(self.STRACE)[0], {"7": ["execve(1) = 0", "f(1, 2) = 3", "exit(0) = ?"],
                                                           "8": ["g() = 1", "h() = 0", "+++ killed by SIGKILL +++"]})

    def test_pairs_leave_out_the_first_execve(self):
        argtrace = tasks.of_argtrace(["7  s:f(a=1, b=2) 3", "8  s:g() 1", "8 s:h() 0", "8 s:i(a=1) 2", "9 s:f() 0", ""])
        found = [(task, [line for _, line in theirs], [line for _, line in ours]) for task, theirs, ours in tasks.pairs(self.STRACE, argtrace)]
        self.assertEqual(found, [("7", ["f(1, 2) = 3"], ["s:f(a=1, b=2) 3"]), ("8", ["g() = 1", "h() = 0"], ["s:g() 1", "s:h() 0"])])


class Programs(unittest.TestCase):
    def test_those_without_other_options_are_selected(self):
        text = "# comment\naccept\t-a22\nclock\t-a37 -e trace=a,b\nplain\nmembarrier\nverbose -v\nscript +x.sh\nall -e trace=%file\n"
        self.assertEqual(expected.selected(text), {"accept": ["accept"], "clock": ["a", "b"], "plain": ["plain"]})

    def test_lines_are_those_of_the_task_that_executes_the_program(self):
        text = ['1  s:execve(filename="/bin/bash", argv=0x1) 0', '2  s:sendfile64(a=1) 0', '2  s:execve(filename="../sendfile", argv=0x1) 0',
                "2  s:sendfile64(a=2) 0", "3  s:sendfile64(a=3) 0", "2  s:close(fd=1) 0", '2  s:execve(filename="../other", argv=0x1) 0', ""]
        self.assertEqual(expected.ours_by_program(text, {"sendfile": ["sendfile"]}), {"sendfile": ["s:sendfile64(a=2) 0"]})


if __name__ == "__main__":
    unittest.main()
