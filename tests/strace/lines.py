# SPDX-License-Identifier: GPL-2.0-only
"""Lines of strace and of `argtrace trace -d` as calls that can be compared. Both are brought to one form first, so that a difference is one of
what is shown, and not of how it is written:

- Names of arguments and members are not compared: strace has none for arguments, and some of the kernel's are others than the manual's.
- Comments (but those that count: /* 23 vars */, /* 5 entries */, of which argtrace shows the names) and texts of errors go, and -1 EBADF becomes -EBADF: they repeat what the value says.
- NULL is 0, and numbers are compared by value: which are in hex or octal is a matter of taste. Their sign is not.
- Texts are compared by their bytes, up to where strace cuts them.
- Flags are a set, since their order means nothing, and numbers among them are one, or none if that is 0 (S_IFREG|000).
- Braces and brackets are the same: strace has the one for structures and the other for what a pointer leads to, which may be both.
- Addresses of sockets are what argtrace writes: {"PATH"}, {1.2.3.4:5} and {[::1]:5}, the last without a scope and a flow alone.
- Members that have the same names on both sides belong together, whatever their order. Padding has no meaning.
- Where strace leaves out members or elements (...), those that it shows have to be found.
- [1] => [2] is [1 => 2].
- The path behind a descriptor goes (3</dev/null>): strace shows it only when asked to.
- Of BTRFS_IOC_CLONE or FICLONE one is enough. The stack of clone is behind its flags, where the kernel has it.
- 21<<MAP_HUGE_SHIFT is a number that has a name.
- In sets the SIG of signals may be left out, and SIGRTMIN+1 is SIGRT_1. They are sets like flags.
- strace writes ? ERESTARTSYS where a signal has interrupted the call. Calls that never return, and those of which strace knows only that they
  are (???), or only a number (syscall_0x270f), are left aside, as are lines of signals and of the end.

compare.py has one more: a number of strace's that has a name with argtrace, whose constants are newer, is the same if that has this value."""

import errno
import functools
import operator
import re
from dataclasses import dataclass, field

STRACE, ARGTRACE = "strace", "argtrace"

ESCAPES = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11, "a": 7, "b": 8, "e": 27, "0": 0}

# What strace calls otherwise than the kernel's function of the call.
NAMES = {"sendfile64": "sendfile", "newstat": "stat", "newfstat": "fstat", "newlstat": "lstat", "newuname": "uname", "umount": "umount2",
         "ia32_fstat64": "fstat64"}

SIGNALS = {"HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM", "STKFLT", "CHLD",
           "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS"}
A_SIGNAL = re.compile(r"(RTMIN|RT_\d+|RTMAX|" + "|".join(SIGNALS) + r")\b")


class NoCall(ValueError):
    """A line that is none of a call, or not of one that has ended."""


@dataclass(frozen=True)
class Text:
    data: bytes
    cut: bool = False


@dataclass(frozen=True)
class Word:
    text: str


@dataclass(frozen=True)
class Flags:
    parts: frozenset


@dataclass(frozen=True)
class Group:
    """Of a structure or an array, or with a name of what that is applied to: makedev(0, 1)."""
    items: tuple
    more: bool = False
    name: str = ""
    members: tuple = field(default=(), compare=False)  # what the items are called, or nothing


@dataclass(frozen=True)
class Change:
    """What it was before the call, and after it."""
    before: object
    after: object


@dataclass(frozen=True)
class Count:
    """An address, and how many entries or variables are there: 0x7ffd /* 23 vars */."""
    address: int
    count: int
    what: str


@dataclass(frozen=True)
class Row:
    """Values with something else between them: 1<<CAP_CHOWN."""
    parts: tuple


@dataclass(frozen=True)
class AnyOf:
    """What strace has two names for, or a number and what that means."""
    values: tuple


@dataclass(frozen=True)
class Call:
    name: str
    arguments: tuple
    more: bool
    result: object


TOKEN = re.compile(r"""
    \s*(?:
    (?P<comment>/\*.*?\*/) |
    (?P<arrow>=>|->) |
    (?P<shift><<) |
    (?P<path><(?:[^<>"]|"(?:[^"\\]|\\.)*"|(?<=-)>|<[^<>]*>)*>) |
    (?P<more>\.\.\.) |
    (?P<socket>(?:\d+\.\d+\.\d+\.\d+|\[[0-9a-f:.]+:[0-9a-f:.]*\]):\d+\b) |
    (?P<text>@?"(?:[^"\\]|\\.)*") |
    (?P<char>'(?:[^'\\]|\\.)') |
    (?P<name>(?:\*+\s*)?[A-Za-z_][\w.]*(?:->[\w.]+|\[\w+\])*=(?!>)) |
    (?P<number>[-+]?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?)(?![\w.]*[A-Za-z_])) |
    (?P<error>-E[A-Z0-9]+\b) |
    (?P<word>[A-Za-z_0-9?][\w?%\#]*) |
    (?P<open>[\[({]) |
    (?P<close>[\])}]) |
    (?P<comma>,) |
    (?P<bar>\|) |
    (?P<other>\S)
    )""", re.VERBOSE)


# What a comment counts, that there may be more of.
COUNTED = re.compile(r"/\* (\d+)(?: or more)? (var|entr)(?:s|y|ies)?(?:, unterminated)? \*/")


def number(word):
    sign = -1 if word.startswith("-") else 1
    digits = word.lstrip("+-")
    if "." in digits:
        return Word(word)
    if re.fullmatch("0[0-7]+", digits):
        return sign * int(digits, 8)
    return sign * int(digits, 16 if digits.startswith("0x") else 10)


def unescaped(text):
    """The bytes of what stands between quotes."""
    data = bytearray()
    at = 0
    while at < len(text):
        if text[at] != "\\":
            data += text[at].encode("utf-8", "surrogateescape")
            at += 1
        elif found := re.compile(r"\\x([0-9a-fA-F]{1,2})").match(text, at):
            data.append(int(found[1], 16))
            at = found.end()
        elif found := re.compile(r"\\([0-7]{1,3})").match(text, at):
            data.append(int(found[1], 8) & 0xff)
            at = found.end()
        else:
            letter = text[at + 1:at + 2]
            data += bytes([ESCAPES[letter]]) if letter in ESCAPES else letter.encode("utf-8", "surrogateescape")
            at += 2
    return bytes(data)


class Parser:
    def __init__(self, text, side):
        self.text = text
        self.side = side
        self.at = 0
        self.kind = self.token = ""
        self.step()

    def step(self):
        self.counted = None
        while True:
            found = TOKEN.match(self.text, self.at)
            if not found:
                self.kind, self.token = "end", ""
                return
            self.begin, self.at = found.start(found.lastgroup), found.end()
            if found.lastgroup != "comment":
                self.kind, self.token = found.lastgroup, found[found.lastgroup]
                return
            self.counted = COUNTED.fullmatch(found["comment"]) or self.counted

    def items(self):
        """What is between brackets, up to the closing one: values, their names, and whether there are more that are not shown."""
        values, names, more = [], [], False
        while self.kind not in ("close", "end"):
            if self.kind == "comma":
                self.step()
            elif self.kind == "more":
                more = True
                self.step()
            else:
                name = self.token.rstrip("=").strip("* ") if self.kind == "name" else ""
                value = self.value()
                if value is not None:
                    values.append(value)
                    names.append(name)
        if self.kind == "end":
            raise NoCall("a bracket is not closed")
        self.step()
        return tuple(values), tuple(names), more

    def value(self):
        if self.kind == "name":
            self.step()
        before, alternatives = None, [[]]
        while self.kind not in ("comma", "close", "end", "more"):
            if self.kind == "bar":
                alternatives.append([])
                self.step()
            elif self.kind == "arrow":
                before, alternatives = joined(alternatives), [[]]
                self.step()
            elif self.kind == "path":
                self.step()
            else:
                alternatives[-1].append(self.part())
        value = joined(alternatives)
        if isinstance(before, Group) and isinstance(value, Group) and len(before.items) == len(value.items) == 1:
            return Group((Change(before.items[0], value.items[0]),))
        return value if before is None else Change(before, value)

    def part(self):
        kind, token = self.kind, self.token
        self.step()
        if kind == "text":
            cut = self.kind == "more"
            if cut:
                self.step()
            return Text(unescaped(token.replace('"', "", 1)[:-1]), cut)
        if kind == "char":
            return unescaped(token[1:-1])[0]
        if kind == "number" and self.counted:
            return Count(number(token), int(self.counted[1]), self.counted[2])
        if kind == "number":
            return number(token)
        if kind == "error":
            # An address so near to the end of the address space that it might be an error.
            code = getattr(errno, token[1:], None)
            return Word(token) if code is None else (1 << 64) - code
        if kind == "open":
            return self.group(*self.items())
        if kind == "word":
            if token == "NULL":
                return 0
            if self.kind == "open" and self.token == "(":
                self.step()
                items, names, more = self.items()
                return Group(items, more, token, names)
            return Word(token)
        if kind == "name":
            return self.part() if self.kind not in ("comma", "close", "end", "more", "bar", "arrow") else Word(token)
        return Word(token)

    def group(self, items, names, more):
        """In a set of signals strace has blanks between them."""
        if len(items) == 1 and isinstance(items[0], Row) and all(isinstance(part, (Word, int)) for part in items[0].parts):
            items, names = items[0].parts, ()
        if items and all(isinstance(item, Word) and A_SIGNAL.fullmatch(item.text) for item in items):
            items = tuple(Word("SIGRTMIN" if item.text == "RT_0" else "SIG" + item.text) for item in items)
        if items and all(isinstance(item, Word) and item.text.startswith("SIG") for item in items):
            return Group((joined([[item] for item in items]),))
        address = socket_address(items) if self.side == STRACE and len(items) > 1 and not more else None
        return address or Group(tuple(items), more, members=names)


def socket_address(items):
    """What argtrace writes, of a structure that is one; None of others."""
    family, *rest = items
    if family == Word("AF_UNIX") and len(rest) == 1 and isinstance(rest[0], Text):
        return Group((rest[0],))
    if isinstance(family, Word) and isinstance(rest[0], Group) and rest[0].name == "htons":
        port, rest = rest[0].items[0], rest[1:]
        if family == Word("AF_INET") and rest[0].name == "inet_addr":
            return Group((Word(f"{rest[0].items[0].data.decode()}:{port}"),))
        if family == Word("AF_INET6") and rest[0] == Group((0,), False, "htonl") and rest[1].name == "inet_pton" and rest[2:] == [0]:
            return Group((Word(f"[{rest[1].items[1].data.decode()}]:{port}"),))
    return None


def row(parts):
    """Parts that stand behind each other."""
    if Word("or") in parts[1:-1]:
        at = parts.index(Word("or"))
        return AnyOf((row(parts[:at]), row(parts[at + 1:])))
    if len(parts) == 3 and isinstance(parts[0], int) and parts[2] == Word("MAP_HUGE_SHIFT"):
        return parts[0] << 26
    if len(parts) == 2 and parts[0] == Word("SIGRTMIN") and isinstance(parts[1], int):
        return Word(f"SIGRT_{parts[1]}")
    return parts[0] if len(parts) == 1 else Row(tuple(parts))


def joined(alternatives):
    """What is between bars; None if there is nothing."""
    rows = [row(parts) for parts in alternatives if parts]
    if len(rows) < 2:
        return rows[0] if rows else None
    numbers = functools.reduce(operator.or_, (part for part in rows if isinstance(part, int)), 0)
    flags = frozenset(part for part in [*rows, numbers] if part == numbers != 0 or not isinstance(part, int))
    return Flags(flags) if len(flags) > 1 else next(iter(flags), 0)


def strace_result(text):
    """= 3, = -1 EBADF (Bad file descriptor), = 0x1 (flags FD_CLOEXEC)"""
    if error := re.match(r"\? (ERESTART\w+)", text):
        return Word("-" + error[1])
    if text.startswith("?"):
        raise NoCall("it has not returned")
    if error := re.match(r"-1 (E[A-Z0-9]+)", text):
        return Word("-" + error[1])
    if error := re.match(r"-1 \(errno (\d+)\)", text):
        return -int(error[1])
    if both := re.match(r"(\d+) (E[A-Z0-9]+) ", text):
        return AnyOf((int(both[1]), Word("-" + both[2])))
    plain, _, said = text.partition(" (")
    value = Parser(plain, STRACE).value()
    meaning = re.fullmatch(r"(?:flags )?(.*)\)", said)
    if meaning and re.match(r"flags |[A-Z]+_", said):
        return AnyOf((value, Parser(meaning[1], STRACE).value()))
    return value


def argtrace_result(text):
    if error := re.match(r"-E[A-Z0-9_]+\b", text):
        return Word(error[0])
    return Parser(re.sub(r"\s*<[\d.]+ ?[a-zµ]*>.*$", "", text), ARGTRACE).value()


def parse(line, side):
    """A Call; NoCall if the line has none."""
    found = re.match(r"(?:s:)?(?:ia32:)?(\w+)~?\(", line)
    if not found or found[1].startswith("syscall_") or "???" in line[:found.end() + 4]:
        raise NoCall(line)
    parser = Parser(line, side)
    parser.at = found.end()
    parser.step()
    arguments, _, more = parser.items()
    if side == STRACE and found[1] == "clone" and len(arguments) > 1:
        arguments = (arguments[1], arguments[0], *arguments[2:])
    rest = line[parser.begin:].strip() if parser.kind != "end" else ""
    if side == STRACE and not rest.startswith("="):
        raise NoCall(line)
    rest = rest.removeprefix("=").strip()
    result = strace_result(rest) if side == STRACE else argtrace_result(rest)
    return Call(NAMES.get(found[1], found[1]), arguments, more, result)


def calls(lines, side):
    """[(call, line)] of those lines that have one."""
    found = []
    for line in lines:
        try:
            found.append((parse(line, side), line))
        except NoCall:
            pass
    return found
