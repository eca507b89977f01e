# SPDX-License-Identifier: GPL-2.0-only
"""That no two functions of kmod/ have one name, static or not: an oops names a function, and that is to be its place."""

import collections
import pathlib
import re
import unittest

KMOD = pathlib.Path(__file__).resolve().parents[2] / "kmod"

# A definition begins a line and has a body. Attributes and types come before its name.
DEFINITION = re.compile(r"^(?![ \t#/*}])[\w \t*]*?\b(\w+)\((?:[^;{}]|\n)*?\)\s*\n\{", re.M)
# Those that macros define: DEFINE_CALLBACK(name, ...) and the like, at the start of a line.
BY_MACRO = re.compile(r"^(DEFINE_(?:RECORD|CALLBACK|SYSCALL_CALLBACK|UPROBE_\w+|RECORD_\w+))\((\w+),", re.M)


def functions_in(text):
    """The names of the functions that a source file defines, each as often as it does."""
    # The branches of a condition define the same function once, whichever is compiled.
    text = re.sub(r"^#(?:else|elif)\b.*?^#endif", "", text, flags=re.M | re.S)
    # A macro that defines a function names a parameter.
    text = re.sub(r"^#\s*define\b(?:[^\n]*\\\n)*[^\n]*\n", "", text, flags=re.M)
    named = [name for name in DEFINITION.findall(text) if not name.startswith("DEFINE_")]
    return named + [name for _, name in BY_MACRO.findall(text)]


class StaticNames(unittest.TestCase):
    def test_what_is_a_function(self):
        self.assertEqual(functions_in("static int a(void)\n{\n}\n\nint b(int x,\n      int y)\n{\n\tc();\n}\n"), ["a", "b"])
        self.assertEqual(functions_in("static int a(void);\nstruct x y = {\n\t.z = a,\n};\n"), [])
        self.assertEqual(functions_in("#define DEFINE_CALLBACK(name, x)\t\\\nvoid name(void)\t\\\n{\t\\\n}\n\n"
                                      "DEFINE_CALLBACK(one, 1)\nDEFINE_CALLBACK(two, 2)\n"), ["one", "two"])
        self.assertEqual(functions_in("#ifdef X\nvoid a(void)\n{\n}\n#else\nvoid a(void)\n{\n}\n#endif\n"), ["a"])

    def test_each_is_unique(self):
        architectures = {path.name for path in (KMOD / "arch").iterdir() if path.is_dir()}
        for architecture in architectures:
            others = {KMOD / "arch" / other for other in architectures - {architecture}}
            places = collections.defaultdict(list)
            for path in sorted(KMOD.rglob("*.[ch]")):
                if path.parent in others:
                    continue
                for name in functions_in(path.read_text()):
                    places[name].append(str(path.relative_to(KMOD.parent)))
            self.assertGreater(len(places), 600, "not the tree that was meant")
            self.assertEqual({name: where for name, where in places.items() if len(where) > 1}, {}, architecture)


if __name__ == "__main__":
    unittest.main()
