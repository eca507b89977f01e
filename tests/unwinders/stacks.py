# SPDX-License-Identifier: GPL-2.0-only
"""What argtrace, gdb and perf say of stacks, and in what they differ."""

import json
import re
from collections import namedtuple

# A function, with those that are inlined in it, the innermost first. Of gdb, `address` is where it goes on, and `symbol` and `offset` say the same,
# if a symbol is there. Of argtrace, `symbol` is the name, or that of the file, and there is no address.
Frame = namedtuple("Frame", "names address symbol offset")

SIGNAL = "<signal handler called>"
RESTORERS = [("__restore_rt", 0), ("__restore", 0)]  # what returns from signal handlers

# Differences that are no faults of argtrace, and why.
KINDS = {
    "alias": "the object has both names at this address, and argtrace takes a global one before a weak one",
    "hidden": "gdb does not show functions that are inlined at the very instruction at which the process has stopped",
    "part": "argtrace shows the symbol, gdb the function that a compiler has made it of (.cold, .constprop)",
    "musl": "Debian's musl has neither tables nor frame pointers: argtrace ends there and says so, gdb guesses by the code of functions",
    "unknown": "perf follows a frame pointer into code that has none",
}


def plain(name):
    """A function without its parameters and namespaces: of lambdas, and of templates, gdb and argtrace show them in different words."""
    name = name.removesuffix(" const").replace("operator()", "operator{}").replace("operator<", "operator{").replace("operator->", "operator-")
    depth, kept = 0, ""
    for character in name:
        depth += character in "(<"
        kept += character if depth == 0 else ""
        depth -= character in ")>"
    return kept.split("::")[-1].split()[-1] if kept.strip() else name


def of_words(words):
    """Of argtrace: "f (inlined)", "g+0x1", "libc.so.6+0x2" ..., and how the stack ends if it is incomplete."""
    frames, names = [], []
    for word in words:
        if word.startswith("[...") or word == "...":
            return frames, word
        if word.endswith(" (inlined)"):
            names.append(plain(word.removesuffix(" (inlined)")))
            continue
        symbol, _, offset = word.rpartition("+0x")
        frames.append(Frame([*names, plain(symbol)], None, symbol, int(offset, 16)))
        names = []
    return frames, None


def of_argtrace(lines):
    """task -> its last stack, and the call that it was taken at."""
    tasks = {}
    for line in lines:
        if line.startswith('{"ts"') or '"user_stack"' in line:
            event = json.loads(line)
            if event.get("user_stack"):
                tasks[event["tid"]] = (event["func"], event["user_stack"])
    return tasks


def frames_of_gdb(lines, values):
    """A frame without an address is that which the one before is inlined in."""
    frames = []
    for line, value in zip(lines, values):
        found = re.match(r"#(\d+)\s+(?:(0x[0-9a-f]+) in )?(.*)", line)
        name = found[3]
        if not name.startswith("<"):
            name = re.sub(r"(?: from \S+| at \S+:\d+)$", "", name)
            name = re.sub(r" \([^()]*\)$", "", name)
        address, _, symbol = value.partition(" ")
        if found_symbol := re.match(r"<(.*)\+(\d+)>$", symbol):
            base, offset = found_symbol[1], int(found_symbol[2]) + 1
        else:
            base, offset = symbol.strip("<>") or None, 1
        name = plain(name) if name != SIGNAL else name
        if frames and not found[2] and name != SIGNAL:
            last = frames[-1]
            frames[-1] = last._replace(names=[*last.names, name])
        else:
            frames.append(Frame([name], (int(address, 16) + 1) % (1 << 64), base, offset))
    return frames


def of_gdb(text):
    """task -> its frames. Of each process there is a list of stacks, then one of values, both by threads."""
    tasks = {}
    stacks, values, current = {}, {}, None
    for line in text.splitlines():
        if line.startswith("== "):
            stacks, values = {}, {}
        elif found := re.match(r"Thread \d+ \(.*?(?:LWP|process) (\d+)", line):
            current = int(found[1])
            which = values if current in stacks else stacks
            which[current] = []
        elif current is not None and re.match(r"#\d+ ", line) and current not in values:
            stacks[current].append(line)
        elif current is not None and (found := re.match(r"\$\d+ = (.*)", line)):
            values[current].append(found[1])
            if len(values[current]) == len(stacks[current]):
                tasks[current] = frames_of_gdb(stacks[current], values[current])
    return tasks


def of_perf(text):
    """task -> the words of its last stack: (address, symbol, offset)."""
    tasks, current = {}, None
    for line in text.splitlines():
        if found := re.match(r"\s*(\d+)\s*$", line):
            current = tasks[int(found[1])] = []
        elif current is not None and (found := re.match(r"\s+([0-9a-f]+) (.*?)(?:\+0x([0-9a-f]+))?$", line)):
            current.append((int(found[1], 16), found[2], int(found[3], 16) if found[3] else None))
    return tasks


def difference(ours, theirs, place, is_innermost):
    """What two frames do not agree in, or nothing. place(address) is what argtrace shows of an address that has no name."""
    name, other = ours.names[-1], theirs.names[-1]
    is_same_place = f"{ours.symbol}+0x{ours.offset:x}" == place(theirs.address)
    if other == SIGNAL:
        return None if is_same_place or (ours.symbol, ours.offset) in RESTORERS else "name"
    if other == "??":
        return None if is_same_place else "no name"
    if name != other and other in (re.sub(r"(\.(cold|constprop|isra|part|lto_priv)(\.\d+)?)+$", "", name), re.sub(r"\.\d+$", "", name)):
        return "part"
    if name != other:
        bare, other_bare = name.strip("_"), other.strip("_").removesuffix("_impl")
        return "alias" if bare == other_bare and theirs.offset == ours.offset else "name"
    if ours.names != theirs.names:
        return "hidden" if is_innermost and ours.names[-len(theirs.names):] == theirs.names else "inlined"
    return None if theirs.offset == ours.offset and plain(theirs.symbol) == plain(ours.symbol) else "address"


def compare(ours, end, theirs, place):
    """[(kind, frame of argtrace, frame of gdb)] of what differs."""
    found = [(kind, own, other) for at, (own, other) in enumerate(zip(ours, theirs)) if (kind := difference(own, other, place, at == 0))]
    if len(ours) > len(theirs):
        found.append(("deeper", ours[len(theirs)], None))
    elif len(ours) < len(theirs) and end != "...":
        # Where musl has called main(), or a function of a thread.
        in_musl = end and re.search(r"no unwind (rule|table) (in|for) (libc\.so|stacks_musl_static)\]", end)
        found.append(("musl" if in_musl else f"ends {end}" if end else "missing", None, theirs[len(ours)]))
    return found


def of_map(text):
    """name -> sizes of the code that has it, in the map of a JIT compiler."""
    sizes = {}
    for line in text.splitlines():
        _, size, name = line.split(maxsplit=2)
        sizes.setdefault(name, []).append(int(size, 16))
    return sizes


def compare_with_map(words, sizes, chain):
    """[(kind, frame of argtrace, nothing)] of frames that the map has not, and of a chain of functions that call one another and are not on the stack."""
    found = []
    compiled = [(name, int(offset, 16)) for name, _, offset in (word.rpartition("+0x") for word in words) if name.startswith("JS:")]
    for name, offset in compiled:
        if not any(0 < offset <= size for size in sizes.get(name, [])):
            found.append(("not in the map", Frame([name], None, name, offset), None))
    called = [name for name, _ in compiled]
    places = [next((at for at, name in enumerate(called) if function in name), None) for function in chain]
    if None in places or places != sorted(places):
        found.append(("not the chain of calls", None, None))
    if words[-1].startswith("["):
        found.append((f"ends {words[-1]}", None, None))
    return found


def compare_with_perf(ours, theirs):
    """[(kind, frame of argtrace, frame of perf)], and how many frames perf has not found. It follows frame pointers, so that it passes over the callers
    of functions that have none, and over what a signal has interrupted."""
    found, skipped, at = [], 0, 0
    for frame in theirs:
        _, symbol, offset = frame
        if symbol == "[unknown]":
            found.append(("unknown", None, frame))
            continue
        begin = at
        while at < len(ours) and (ours[at].symbol, ours[at].offset) != (symbol, offset):
            at += 1
        if at == len(ours):
            return [*found, ("not in argtrace's", ours[begin] if begin < len(ours) else None, frame)], skipped
        skipped += at - begin
        at += 1
    return found, skipped + len(ours) - at
