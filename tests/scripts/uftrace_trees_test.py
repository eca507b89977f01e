# SPDX-License-Identifier: GPL-2.0-only
"""tests/uftrace: trees of calls, as uftrace's tests and argtrace show them."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "uftrace"))
import trees  # noqa: E402


class Names(unittest.TestCase):
    def test_have_no_parameters(self):
        for name, short in (("main", "main"), ("foo(int, char const*)", "foo"), ("ns::A::bar() const", "ns::A::bar"), ("void f<int>(int)", "f"),
                            ("std::vector<int, std::allocator<int> >::at(unsigned long)", "std::vector::at"), ("compar.2414", "compar"),
                            ("Foo::operator()(int)", "Foo::operator()"), ("bool operator< <int>(A<int> const&)", "operator<"),
                            ("foo(void (*)(int))", "foo"), ("f[abi:cxx11](int)", "f")):
            self.assertEqual(trees.short(name), short, name)


class Trees(unittest.TestCase):
    WANTED = {"main", "a", "b", "c"}

    def of_uftrace(self, *lines):
        return trees.shown(trees.of_uftrace("\n".join(lines), self.WANTED))

    def of_argtrace(self, *lines):
        return trees.shown(trees.of_argtrace("\n".join(lines), self.WANTED))

    def test_begin_with_main(self):
        self.assertEqual(self.of_uftrace(" 1.2 us [ 1] | a();", "        [ 1] | main() {", "        [ 1] |   b(2) = 3;", " 2.0 us [ 1] | } = 1; /* main */",
                                         " 2.0 us [ 1] | c();"), "main { b }, c")

    def test_end_with_an_empty_line(self):
        self.assertEqual(self.of_uftrace("        [ 1] | main() {", "", "task: 1", "[0] main"), "main")

    def test_leave_out_what_nobody_asks_for(self):
        self.assertEqual(self.of_uftrace("        [ 1] | main() {", "        [ 1] |   qsort() {", "        [ 1] |     a();", "        [ 1] |   } /* qsort */",
                                         "        [ 1] |   b();"), "main { a, b }")

    def test_have_what_is_left_without_a_line_that_ends_it(self):
        self.assertEqual(self.of_uftrace("        [ 1] | main() {", "        [ 1] |   a() {", "        [ 1] |     longjmp() {", "        [ 1] |   } /* _setjmp */",
                                         "        [ 1] |   b();", "        [ 1] | } /* main */"), "main { a, b }")

    def test_are_of_tasks(self):
        self.assertEqual(self.of_uftrace("        [ 1] | main() {", "        [ 1] |   fork() {", "        [ 2] |   } /* fork */", "        [ 2] |   a() {",
                                         "        [ 2] |     b();", "        [ 2] |   } /* a */", "        [ 2] | } /* main */", "        [ 1] |   } /* fork */",
                                         "        [ 1] |   c();"), "a { b } | main { c }")

    def test_of_argtrace_are_the_same(self):
        head = "TIME       COMM   TID  CPU FLAGS  DURATION  FUNCTION"
        at = len(head) - len("FUNCTION")
        row = lambda tid, text: f"1.0        t-abc  {tid}    0   ....".ljust(at) + text  # noqa: E731
        self.assertEqual(self.of_argtrace(head, row(1, "u:t-abc:a(x=1)"), row(1, "u:t-abc:main(argc=1) {"), row(1, "  u:t-abc:b(s=\"} = {\") {"),
                                          row(1, "    u:t-abc:c() = 7"), row(1, "  } = 1"), row(1, "  u:lib.so:printf() {"), row(1, "    u:t-abc:a()"),
                                          row(1, "  }"), row(1, "} = 0"), row(2, "u:t-abc:c()")), "c | main { b { c }, a }")

    def test_are_filtered(self):
        tasks = [[("main", [("a", [("b", [])]), ("ns::c", [("a", [])])])]]
        self.assertEqual(trees.shown(trees.filtered(tasks, ["a"], [], {"a"})), "a { b }, a")
        self.assertEqual(trees.shown(trees.filtered(tasks, ["absent"], [".*ns::.*"], {"a"})), "main { a { b } }")
        self.assertEqual(trees.shown(trees.filtered(tasks, [], ["a"], {"a"})), "main { ns::c }")


if __name__ == "__main__":
    unittest.main()
