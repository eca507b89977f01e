# SPDX-License-Identifier: GPL-2.0-only
"""How calls as strace shows them differ from the same calls as argtrace shows them (lines.py)."""

import difflib
import itertools
import re

from lines import AnyOf, Change, Count, Flags, Group, Row, Text, Word

# Kinds of differences, and what strace has in each.
KINDS = {
    "name": "a constant's name where argtrace has the number",
    "other name": "another name",
    "no name": "a number where argtrace has a name",
    "pointee": "what a pointer leads to where argtrace has the address",
    "no pointee": "an address where argtrace shows what is there",
    "members": "more or fewer members or elements",
    "text": "another text",
    "sign": "the same bits with another sign or width",
    "number": "another number",
    "change": "a value before and after the call where argtrace has one of them",
    "arguments": "more or fewer arguments",
    "form": "something written in another way",
    "missing": "a call that argtrace has not",
    "added": "no such call",
}


def is_named(value):
    return isinstance(value, (Word, Flags)) or isinstance(value, Group) and bool(value.name) or isinstance(value, Row)


def is_pointee(value):
    return isinstance(value, (Text, Change)) or isinstance(value, Group) and not value.name


def is_same_bits(theirs, ours):
    return any((theirs - ours) % (1 << bits) == 0 for bits in (16, 32, 64))


def kind_of(theirs, ours):
    """That of two values which differ."""
    if isinstance(theirs, int) and isinstance(ours, int):
        return "sign" if is_same_bits(theirs, ours) else "number"
    if isinstance(theirs, Text) and isinstance(ours, Text):
        return "text"
    if isinstance(theirs, Change) and not isinstance(ours, Change):
        return "change"
    if is_pointee(theirs) and isinstance(ours, int):
        return "pointee"
    if isinstance(theirs, int) and is_pointee(ours):
        return "no pointee"
    if is_named(theirs) and isinstance(ours, int):
        return "name"
    if isinstance(theirs, int) and is_named(ours):
        return "no name"
    if is_named(theirs) and is_named(ours):
        return "other name"
    return "form"


def constants(table):
    """name -> the numbers that calls.table gives it."""
    found = {}
    for line in table.splitlines():
        if line.startswith(("flags ", "values ")) and not re.match(r"\w+ \w+ on (?!x86_64\b)", line):
            for name, value in re.findall(r"(?:\s|/)(\w+)=(-?\w+)(?=\s|$)", line.split(":", 1)[1]):
                found.setdefault(name, set()).add(int(value, 8) if re.fullmatch("0[0-7]+", value) else int(value, 0))
    return found


def parts_of(value):
    return value.parts if isinstance(value, Flags) else frozenset([value])


def has_newer_names(theirs, ours, known):
    """Whether strace has a number for what argtrace has names for, which are of this number."""
    left, right = parts_of(theirs) - parts_of(ours), parts_of(ours) - parts_of(theirs)
    if not all(isinstance(part, int) for part in left) or not any(isinstance(part, Word) for part in right):
        return False
    choices = [[part] if isinstance(part, int) else sorted(known.get(getattr(part, "text", None), ())) for part in right]
    bits = 0
    for part in left:
        bits |= part
    for choice in itertools.islice(itertools.product(*choices), 64):
        value = 0
        for part in choice:
            value |= part
        if any((value - bits) % (1 << width) == 0 for width in (32, 64)):
            return True
    return False


def text_differs(theirs, ours):
    length = min(len(theirs.data), len(ours.data))
    if theirs.data[:length] != ours.data[:length]:
        return True
    return len(ours.data) < len(theirs.data) or not theirs.cut and (len(ours.data) > len(theirs.data) or ours.cut)


def differences(theirs, ours, known):
    """The kinds by which two values differ; empty if they are the same."""
    if isinstance(theirs, AnyOf):
        return min((differences(value, ours, known) for value in theirs.values), key=len)
    if isinstance(theirs, Text) and isinstance(ours, Text):
        return ["text"] if text_differs(theirs, ours) else []
    if isinstance(theirs, Group) and isinstance(ours, Group) and theirs.name == ours.name:
        return of_items(theirs.items, theirs.more, in_their_order(theirs, ours), ours.more, "members", known)
    if isinstance(theirs, Change) and isinstance(ours, Change):
        return differences(theirs.before, ours.before, known) + differences(theirs.after, ours.after, known)
    if isinstance(theirs, Count) and theirs.what == "entr" and isinstance(ours, Group):
        return [] if len(ours.items) == theirs.count or ours.more and len(ours.items) < theirs.count else ["members"]
    if isinstance(theirs, Row) and isinstance(ours, Row) and len(theirs.parts) == len(ours.parts):
        return [kind for pair in zip(theirs.parts, ours.parts) for kind in differences(*pair, known)]
    return [] if theirs == ours or has_newer_names(theirs, ours, known) else [kind_of(theirs, ours)]


PADDING = re.compile(r"_*(pad|padding|unused|reserved|resv|res)_?\d*$")


def in_their_order(theirs, ours):
    """The items of ours without padding, those first that are called as theirs; of a structure that strace does not show whole no others."""
    names = ours.members or ("",) * len(ours.items)
    left = [(name, item) for name, item in zip(names, ours.items) if name in theirs.members or not PADDING.match(name)]
    by_name = dict(left)
    if not theirs.members or not set(theirs.members) <= set(by_name) or len(set(theirs.members)) < len(theirs.members):
        return [item for _, item in left]
    others = [] if theirs.more else [item for name, item in left if name not in theirs.members]
    return [by_name[name] for name in theirs.members] + others


def of_items(theirs, theirs_more, ours, ours_more, kind, known):
    if theirs_more and len(ours) >= len(theirs):
        # Those that strace shows are somewhere among ours.
        at = 0
        for item in theirs:
            while at < len(ours) and differences(item, ours[at], known):
                at += 1
            at += 1
        if at <= len(ours):
            return []
    found = [] if len(theirs) == len(ours) or theirs_more and len(ours) > len(theirs) else [kind]
    if len(theirs) == len(ours) and ours_more and not theirs_more:
        found.append(kind)
    for pair in zip(theirs, ours):
        found += differences(*pair, known)
    return found


def of_calls(theirs, ours, known):
    found = of_items(theirs.arguments, theirs.more, ours.arguments, ours.more, "arguments", known)
    return found + differences(theirs.result, ours.result, known)


def blocks(left, right):
    """[(whether they are the same, of the left, of the right)] of two lists."""
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    return [(tag == "equal", slice(i1, i2), slice(j1, j2)) for tag, i1, i2, j1, j2 in matcher.get_opcodes()]


def pairs(theirs, ours):
    """[(their call or None, ours or None)] in order, those of one name beside each other. If there are more of the one, those that are the same
    anchor the others."""
    def names(calls):
        return [call.name for call, _ in calls]

    if names(theirs) == names(ours):
        return list(zip(theirs, ours))
    found = []
    for _, left, right in blocks([str(call) for call, _ in theirs], [str(call) for call, _ in ours]):
        for is_same, inner_left, inner_right in blocks(names(theirs[left]), names(ours[right])):
            ones, others = theirs[left][inner_left], ours[right][inner_right]
            found += zip(ones, others) if is_same else [*((one, None) for one in ones), *((None, other) for other in others)]
    return found


def compare(theirs, ours, known):
    """[(their line or None, our line or None, kinds)] of a program. `known`: the names of constants."""
    rows = []
    for left, right in pairs(theirs, ours):
        if left is None or right is None:
            rows.append((left and left[1], right and right[1], ["added" if left is None else "missing"]))
        else:
            rows.append((left[1], right[1], of_calls(left[0], right[0], known)))
    return rows
