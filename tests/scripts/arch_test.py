# SPDX-License-Identifier: GPL-2.0-only
"""What the module knows of an architecture is in kmod/arch/, and files elsewhere include it by arch/NAME.h alone."""

import re
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]

# Registers by their names and as members, instructions, and what the kernel calls by the names of one architecture.
KNOWLEDGE = re.compile(r"""
    \b(r[abcd]x|r[sd]i|r[sb]p|r8|r9|r1[0-5]|orig_ax|e[abcd]x)\b
  | (->|\.)(ax|bx|cx|dx|si|di|cs|ss|r8|r9|r1[0-5])\b
  | \bpt_regs\b | \basm\b(?!/) | \b__asm__\b | \brdtsc(_ordered)?\b | \bMCOUNT_INSN_SIZE\b | \b__START_KERNEL_map\b | \bMODULES_(VADDR|END)\b
  | \bX86_\w+ | \bCONFIG_X86\w* | \bCONFIG_ARM64\w* | \bin_ia32_syscall\b | \bunwind_\w+ | "arch/x86/ | <asm/
""", re.VERBOSE)

# <asm/local.h> and the like are the same everywhere.
GENERIC = re.compile(r"#include <asm/(local|sections|barrier|unaligned|byteorder)\.h>")


def code_of(path):
    """The lines of a file with their numbers, without comments."""
    text = path.read_text()
    text = re.sub(r"/\*.*?\*/", lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.DOTALL)
    text = re.sub(r"//[^\n]*", "", text)
    return list(enumerate(text.splitlines(), 1))


def knowledge_in(path):
    return [f"{path.name}:{number}: {line.strip()}" for number, line in code_of(path)
            if KNOWLEDGE.search(line) and not GENERIC.search(line)]


class Architecture(unittest.TestCase):
    def test_knowledge_is_recognised(self):
        for line in ("regs->di = 1;", "x.orig_ax", "const struct pt_regs *regs", 'asm volatile("incb")', "rdtsc()",
                     '#include "arch/x86/regs.h"', "#include <asm/unwind.h>", "if (ip < MODULES_VADDR)", "#ifdef CONFIG_X86_64"):
            self.assertTrue(KNOWLEDGE.search(line), line)
        for line in ("place.sp += 8;", "argtrace_regs_argument(regs, 0)", '#include "arch/regs.h"', "returns->body", "plan->code"):
            self.assertFalse(KNOWLEDGE.search(line), line)

    def test_knowledge_is_in_arch_alone(self):
        files = [path for path in (TOP / "kmod").rglob("*") if path.suffix in (".c", ".h", ".S")]
        outside = [path for path in files if path.relative_to(TOP / "kmod").parts[0] != "arch"]
        self.assertGreater(len(outside), 80)
        self.assertEqual([fault for path in sorted(outside) for fault in knowledge_in(path)], [])

    def test_every_interface_is_there(self):
        interfaces = {path.name for path in (TOP / "kmod/arch").glob("*.h")}
        self.assertGreater(len(interfaces), 8)
        for architecture in (path for path in (TOP / "kmod/arch").iterdir() if path.is_dir()):
            self.assertEqual(interfaces - {path.name for path in architecture.glob("*.h")}, set(), architecture.name)


if __name__ == "__main__":
    unittest.main()
