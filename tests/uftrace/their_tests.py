# SPDX-License-Identifier: GPL-2.0-only
"""uftrace's own tests: what they compile, what they call it with, and the tree that they expect. Each is a Python module with a class TestCase, derived
from a class TestBase of a module `runtest` that is theirs as well. Here that module is ours: it compiles without -pg, and runs nothing."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
import types
from contextlib import contextmanager
from pathlib import Path

# As theirs, without -pg; and with debug information, by which functions have their names.
FLAGS = ["-g", "-fno-inline", "-fno-builtin", "-fno-ipa-cp", "-fno-omit-frame-pointer", "-D_FORTIFY_SOURCE=0"]
COMPILERS = {"C": ("gcc", ".c"), "C++": ("g++", ".cpp")}
# What has uftrace show other functions, or at other times: such a tree is not that of the program.
FILTERS = re.compile(r"(^|\s)(-[DtHZCPUK]|--max-stack|--signal|--kernel)|@(trace|notrace|filter|depth|hide|finish|time|size|kernel)|(^|\s)-k\b")

LEFT_OUT = {"t047_signal2": "what it calls depends on a timer"}


class LeftOut(Exception):
    """Why a test is not one for us."""


class TestBase:
    """The part of theirs that tests override or call."""
    TEST_SUCCESS, TEST_UNSUPP_LANG, TEST_BUILD_FAIL, TEST_SKIP = 0, -1, -2, -7
    default_cflags, feature = [], set()
    supported_lang = {lang: {"cc": compiler, "ext": suffix} for lang, (compiler, suffix) in COMPILERS.items()}
    uftrace_cmd, basedir, objdir = "uftrace", ".", "."

    def __init__(self, name, result, lang="C", cflags="", ldflags="", sort="task", serial=False):
        self.name, self.result, self.lang, self.sort_method, self.serial = name, result, lang, sort, serial
        self.cflags, self.ldflags = cflags, ldflags
        self.subcmd, self.option, self.exearg, self.test_dir, self.debug = "live", "", f"t-{name}", ".", False
        self.sources = Path(".")

    def setup(self):
        pass

    def pr_debug(self, message):
        pass

    def gen_port(self):
        self.port = 0

    def compile(self, compiler, output, flags, source, libraries=()):
        words = [compiler, "-o", output, *FLAGS, *shlex.split(flags), self.sources / source, *libraries]
        words = [str(word) for word in words if word not in ("-pg", "-finstrument-functions")]
        done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise LeftOut(f"it does not compile: {done.stderr.strip().splitlines()[0]}")
        return self.TEST_SUCCESS

    def build(self, name, cflags="", ldflags=""):
        compiler, suffix = COMPILERS[self.lang]
        return self.compile(compiler, f"t-{name}", f"{self.cflags} {cflags}", f"s-{name}{suffix}", shlex.split(f"{self.ldflags} {ldflags}"))

    def build_library(self, lang, output, source, cflags, ldflags):
        compiler, suffix = COMPILERS[lang]
        return self.compile(compiler, output, f"{self.cflags} {cflags} -shared -fPIC", f"s-{source}{suffix}", shlex.split(f"{self.ldflags} {ldflags}"))

    def build_notrace_lib(self, dstname, srcname, cflags="", ldflags=""):
        return self.build_library("C", f"lib{dstname}.so", srcname, cflags, ldflags)

    def build_libabc(self, cflags="", ldflags=""):
        return self.build_library("C", "libabc_test_lib.so", "lib", cflags, ldflags)

    def build_libfoo(self, name, cflags="", ldflags=""):
        return self.build_library("C++", f"lib{name}.so", f"lib{name}", cflags, ldflags)

    def build_libmain(self, exename, srcname, libs, cflags="", ldflags="", instrument=True):
        libraries = [*shlex.split(f"{self.ldflags} {ldflags}"), "-Wl,-rpath,$ORIGIN", "-L.", *(f"-l{name[3:-3]}" for name in libs)]
        return self.compile(COMPILERS[self.lang][0], f"t-{exename}", f"{self.cflags} {cflags}", srcname, libraries)


class Elf:
    """This machine's programs."""
    @staticmethod
    def is_32bit(_):
        return False

    @staticmethod
    def get_elf_machine(_):
        return "x86_64"


TestBase.is_32bit, TestBase.get_elf_machine = Elf.is_32bit, Elf.get_elf_machine


@contextmanager
def inside(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def load(path):
    runtest = types.ModuleType("runtest")
    runtest.TestBase, runtest.Elf = TestBase, Elf
    sys.modules["runtest"] = runtest
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TestCase()


class Test:
    """One of theirs that states the tree of a whole program, compiled in a folder. LeftOut: it is none."""

    def __init__(self, path, folder):
        self.name, self.folder = path.stem, folder
        if self.name in LEFT_OUT:
            raise LeftOut(LEFT_OUT[self.name])
        folder.mkdir(parents=True)
        try:
            with inside(folder):  # some write files there
                case = load(path)
                case.sources = path.parent
                case.setup()
        except (AttributeError, OSError, TypeError) as error:
            raise LeftOut("it asks for uftrace itself") from error
        if case.subcmd != "live" or case.sort_method != "task" or not re.search(r"^# *DURATION +TID +FUNCTION$", str(case.result), re.MULTILINE):
            raise LeftOut("it is about another command or form of uftrace")
        if FILTERS.search(case.option):
            raise LeftOut("it is about uftrace's filters")
        self.result, self.command, self.program, self.options = case.result, shlex.split(case.exearg), case.name, case.option
        with inside(folder):
            try:
                built = case.build(case.name)
            except AttributeError as error:
                raise LeftOut("it asks for uftrace itself") from error
        if built != TestBase.TEST_SUCCESS:
            raise LeftOut("it is not for this machine")
        self.only, self.without = self.chosen("-F"), self.chosen("-N")

    def chosen(self, option):
        """The patterns that functions must match, or must not."""
        words = shlex.split(self.options)
        return [after for word, after in zip(words, words[1:]) if word == option]


def objects(folder):
    """The programs and libraries there."""
    return sorted(path for path in folder.iterdir() if path.read_bytes()[:4] == b"\x7fELF" and path.suffix != ".o")
