# SPDX-License-Identifier: GPL-2.0-only
"""tests/mutants: that a mutant changes what it says, and one that does not fit the tree any more is noticed."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "mutants"))
import suites
from mutant import Mutant, Stale, paths_of_all

MUTANT = """# One more.
# And worse.
vm: 6.12 Tool.*:Clock.*
user: Line.*
@@ user/a.cpp
 int f() {
-    return 1;
+    return 2;
@@ user/a.cpp
+// here
 int g() {
"""


class Mutants(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        (self.top / "user").mkdir()
        self.write("user/a.cpp", "int f() {\n    return 1;\n}\nint g() {\n    return 1;\n}\n")

    def write(self, name, text):
        (self.top / name).write_text(text)

    def test_those_in_the_tree_fit_it(self):
        top = Path(__file__).resolve().parents[2]
        paths = paths_of_all()
        self.assertTrue(paths)
        for path in paths:
            with self.subTest(path.name):
                self.assertTrue(Mutant.parse(path).changed(top))

    def mutant(self, text=MUTANT):
        self.write("one.mutant", text)
        return Mutant.parse(self.top / "one.mutant")

    def stale(self, text):
        with self.assertRaises(Stale) as context:
            self.mutant(text).changed(self.top)
        return str(context.exception)

    def test_what_it_says(self):
        mutant = self.mutant()
        self.assertEqual((mutant.name, mutant.about), ("one", "One more. And worse."))
        self.assertEqual(mutant.suites, [("vm", "6.12 Tool.*:Clock.*"), ("user", "Line.*")])
        self.assertEqual(mutant.changed(self.top),
                         {"user/a.cpp": "int f() {\n    return 2;\n}\n// here\nint g() {\n    return 1;\n}\n"})

    def test_what_no_longer_fits(self):
        self.assertIn("has 0 times, not once", self.stale(MUTANT.replace("return 1", "return 3")))
        self.assertIn("has 2 times, not once", self.stale(MUTANT.replace(" int f() {\n", "")))
        self.assertIn("has 0 times, not once", self.stale(MUTANT.replace(" int f() {", " nt f() {")))
        self.write("user/b.cpp", "int f() {\n    return 1;\n}\n")
        self.assertIn("there is no user/c.cpp (its lines are in user/a.cpp)", self.stale(MUTANT.replace("a.cpp", "c.cpp")))

    def test_what_is_no_mutant(self):
        self.assertIn("no suite", self.stale(MUTANT.replace("vm:", "#").replace("user:", "#")))
        self.assertIn("means nothing", self.stale("usr: Line.*\n" + MUTANT))
        self.assertIn("begins with none", self.stale(MUTANT + "x\n"))

    def test_those_of_the_tree_can_be_read(self):
        for path in paths_of_all():
            Mutant.parse(path)

    def test_where_they_are(self):
        folder = Path(__file__).resolve().parents[1] / "mutants"
        names = [path.name for path in paths_of_all()]
        self.assertEqual(sorted(set(names)), names)
        for path in paths_of_all():
            with self.subTest(path.name):
                changed = Path(Mutant.parse(path).hunks[0].path)
                self.assertEqual(path.parent.relative_to(folder), changed.parent)

    def test_the_tests_that_noticed(self):
        text = ("[  FAILED  ] Tool.one (3 ms)\n[  FAILED  ] 2 tests, listed below:\n[  FAILED  ] Tool.one\n"
                "[  FAILED  ] P/Tool.two/1, where GetParam() = 5\n")
        self.assertEqual(suites.verdict(1, suites.failed_googletests(text)), ["Tool.one", "P/Tool.two/1"])
        self.assertEqual(suites.verdict(0, []), [])
        self.assertEqual(suites.verdict(None, []), ["it did not end"])


if __name__ == "__main__":
    unittest.main()
