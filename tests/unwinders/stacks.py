# SPDX-License-Identifier: GPL-2.0-only
"""What argtrace, gdb and perf say of stacks, and in what they differ."""

import json
import re
from collections import namedtuple

from objects import plain

# A function, with those that are inlined in it, the innermost first. Of gdb, `address` is where it goes on, and there is no more. Of argtrace, `symbol` is
# the name, or that of the file, and there is no address.
Frame = namedtuple("Frame", "names address symbol offset")

SIGNAL = "<signal handler called>"

# Differences that are no faults of argtrace, why, and what is asked of each.
KINDS = {
    # The symbol tables have both names at one place; inlined functions and the place itself are the same.
    "alias": "the object has both names at this address, and argtrace takes a global one before a weak one",
    # In the innermost frame, where argtrace shows what addr2line finds at the system call's instruction, and gdb some of that, the outermost last.
    "hidden": "gdb looks at the instruction behind the system call, and there nothing is inlined, or begins to be, which it does not show",
    # The place and the inlined functions are the same, and the symbol is the function's name and what compilers add.
    "part": "argtrace shows the symbol, gdb the function that a compiler has made it of (.cold, .constprop)",
    # argtrace shows the place, and no name, and nm makes the same name for the entry.
    "linkage": "gdb makes a name for an entry of a linkage table whose function has none, which argtrace does not",
    # argtrace's last frame is in musl, of which there is no debug information, as there is of the program; and nothing that gdb has behind it is code.
    "musl": "Debian's musl has neither tables nor frame pointers: argtrace ends there and says so, gdb guesses by the code of functions",
    # gdb's frame before is in musl, and neither this one nor those behind it are code. That argtrace's are, its module has seen: each is behind a call.
    "guess": "in a program that musl is linked to, gdb guesses, and is led to what is no code, where argtrace has followed musl's instructions",
}

LINKAGE_ENTRY = 16  # bytes


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
        name = plain(name) if name != SIGNAL else name
        # At the beginning of a line, gdb shows no address either of what has not called but been interrupted.
        if frames and not found[2] and SIGNAL not in (name, frames[-1].names[0]):
            last = frames[-1]
            frames[-1] = last._replace(names=[*last.names, name])
        else:
            frames.append(Frame([name], int(value, 16), None, None))
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
    """task -> the frames of its last stack: (offset in the file, symbol and offset there, path)."""
    tasks, current = {}, None
    for line in text.splitlines():
        if found := re.match(r"\s*(\d+)\s*$", line):
            current = tasks[int(found[1])] = []
        elif current is not None and (found := re.match(r"\s+([0-9a-f]+) (.*) \((.*)\)$", line)):
            current.append((int(found[1], 16), found[2], found[3]))
    return tasks


def is_at(frame, path, offset, mapped):
    """Whether argtrace's frame is that place in a file."""
    return (frame.symbol, frame.offset) == (path.rpartition("/")[2], offset) or mapped.is_symbol(frame.names[-1], path, offset - frame.offset)


def is_part(name, whole):
    return whole in (re.sub(r"(\.(cold|constprop|isra|part|lto_priv)(\.\d+)?)+$", "", name), re.sub(r"(?<=\.part)\.\d+$", "", name))


def difference(ours, theirs, mapped, is_innermost):
    """What two frames do not agree in, or nothing."""
    path, offset, _ = mapped.at(theirs.address)
    is_unnamed = f"{ours.symbol}+0x{ours.offset:x}" == mapped.place(theirs.address)
    if not is_unnamed and not is_at(ours, path, offset, mapped):
        return "address"
    *inlined, name = ours.names
    *other_inlined, other = theirs.names
    if other == SIGNAL or theirs.names == ours.names:
        return None
    if other == "??":
        return None if is_unnamed else "no name"
    if is_unnamed and any(other in mapped.names(path, offset - back) for back in range(LINKAGE_ENTRY) if other.endswith("@plt")):
        return "linkage"
    if inlined != other_inlined:
        is_cut = ours.names[-len(theirs.names):] == theirs.names
        return "hidden" if is_innermost and is_cut and mapped.functions_before(theirs.address) == ours.names else "inlined"
    if is_part(name, other):
        return "part"
    return "alias" if other in mapped.names(path, offset - ours.offset) else "name"


def ends_in_musl(end, last, rest, mapped):
    """`last`: gdb's frame that is argtrace's last, `rest`: those behind it."""
    if not re.search(r"no unwind (rule|table) (in|for) (libc\.so|stacks_musl_static)\]", end):
        return False
    return not mapped.is_described_before(last.address) and not any(mapped.is_code(frame.address) for frame in rest)


def is_guess(theirs, at, mapped):
    """Whether gdb has come from undescribed code to what is none."""
    return at > 0 and not mapped.is_described_before(theirs[at - 1].address) and not any(mapped.is_code(frame.address) for frame in theirs[at:])


def compare(ours, end, theirs, mapped):
    """[(kind, frame of argtrace, frame of gdb)] of what differs."""
    for at in range(min(len(ours), len(theirs))):
        if is_guess(theirs, at, mapped):
            return [*compare(ours[:at], "...", theirs[:at], mapped), ("guess", ours[at], theirs[at])]
    found = [(kind, own, other) for at, (own, other) in enumerate(zip(ours, theirs)) if (kind := difference(own, other, mapped, at == 0))]
    if len(ours) > len(theirs):
        found.append(("deeper", ours[len(theirs)], None))
    elif len(ours) < len(theirs) and end != "...":
        rest = theirs[len(ours):]
        in_musl = end and ours and ends_in_musl(end, theirs[len(ours) - 1], rest, mapped)
        found.append(("musl" if in_musl else f"ends {end}" if end else "missing", None, rest[0]))
    elif end and end != "...":
        found.append((f"ends {end}", None, None))
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


def compare_with_perf(ours, theirs, mapped):
    """[(kind, frame of argtrace, frame of perf)], and how many frames perf has not found. It follows frame pointers, so that it passes over the callers
    of functions that have none, and over what a signal has interrupted."""
    skipped, at = 0, 0
    for frame in theirs:
        offset, _, path = frame
        begin = at
        while at < len(ours) and not is_at(ours[at], path, offset, mapped):
            at += 1
        if at == len(ours):
            return [("not in argtrace's", ours[begin] if begin < len(ours) else None, frame)], skipped
        skipped += at - begin
        at += 1
    return [], skipped + len(ours) - at
