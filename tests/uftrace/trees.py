# SPDX-License-Identifier: GPL-2.0-only
"""Trees of calls, of each task: (name, [trees within]). From what uftrace's tests state, and from what `argtrace report --tree` prints."""

import re
import subprocess

# What compilers add to a program, which nothing is compiled from.
START_FILES = {"_init", "_fini", "_start", "frame_dummy", "register_tm_clones", "deregister_tm_clones", "__do_global_dtors_aux", "_dl_relocate_static_pie"}


def without_brackets(text, opening, closing):
    """Without what is between them, and themselves."""
    depth, kept = 0, ""
    for letter in text:
        depth += letter == opening
        if depth == 0:
            kept += letter
        depth -= letter == closing and depth > 0
    return kept


def short(name):
    """A function's name as uftrace shows it: without parameters, arguments of templates and what it returns."""
    operator = re.search(r"\boperator\s*(\(\)|[^\w\s(]+|\w[\w ]*)", name)
    if operator:
        return without_brackets(name[:operator.start()], "<", ">").split(" ")[-1] + operator[0]
    name = re.sub(r"\[abi:\w+\]| \[clone .*\]|\.\d+$", "", name).replace("(anonymous namespace)", "{anonymous}")
    name = without_brackets(without_brackets(name, "<", ">"), "(", ")")
    return re.sub(r" const$", "", name.strip()).split(" ")[-1]


def functions_of(objects):
    """The functions that these files define, by their short names."""
    found = set()
    for path in objects:
        listed = subprocess.run(["nm", "--defined-only", "-C", path], check=True, stdout=subprocess.PIPE, text=True).stdout
        found |= {short(line.split(" ", 2)[2]) for line in listed.splitlines() if line.split(" ", 2)[1] in "tTwWiu"}
    return found - START_FILES


def gathered(lines, wanted):
    """From (task, indentation, text) of lines as in C. Functions that nobody asks for are left out, and what is within them moves up. What is further
    in than a line before is within it: a function that has been left by longjmp() has no line of its own that ends it."""
    roots, open_ = {}, {}
    for task, indentation, text in lines:
        stack, siblings = open_.setdefault(task, []), roots.setdefault(task, [])
        while stack and stack[-1][0] >= indentation:
            stack.pop()
        if text.startswith("}"):
            continue
        name = short(re.split(r" \{$|;$| = ", text)[0])
        for _, within in stack:
            siblings = within if within is not None else siblings
        tree = (name, [])
        if name in wanted:
            siblings.append(tree)
        stack.append((indentation, tree[1] if name in wanted else None))
    return [trees for trees in roots.values() if trees]


def of_uftrace(text, wanted):
    """From main() on, up to an empty line, behind which they state what is left open."""
    lines, began = [], False
    for line in text.splitlines():
        began = began or " | main()" in line
        if began and not line.strip():
            break
        found = re.match(r"[^\[|]*\[ *(\d+)\] \|( *)(.*?)\s*$", line)
        if began and found and not found[3].startswith("/*"):
            lines.append((int(found[1]), len(found[2]), found[3]))
    return gathered(lines, wanted)


def of_argtrace(text, wanted):
    """The same of a tree with columns: the task's is named TID, and the last one FUNCTION."""
    lines, columns = [], None
    for line in text.splitlines():
        if "TID" in line and "FUNCTION" in line:
            columns = (line.split().index("TID"), line.index("FUNCTION"))
            continue
        if not columns or not line[:columns[1]].strip():
            continue
        text = re.sub(r"^(\s*)u:[^:]+:", r"\1", line[columns[1]:]).rstrip()
        lines.append((int(line.split()[columns[0]]), len(text) - len(text.lstrip()), text.lstrip()))
    begin = next((i for i, (_, _, text) in enumerate(lines) if re.match(r"main\b", text)), 0)
    return gathered(lines[begin:], wanted)


def matches(name, patterns):
    """As uftrace has them: names, or regular expressions if there is more in them."""
    return any(re.search(pattern, name) if re.search(r"[^\w:]", pattern) else pattern == name for pattern in patterns)


def without(trees, patterns):
    """Without the calls of these functions, and what is within them."""
    return [(name, without(within, patterns)) for name, within in trees if not matches(name, patterns)]


def only(trees, patterns):
    """The calls of these functions, and what is within them."""
    found = []
    for name, within in trees:
        found += [(name, within)] if matches(name, patterns) else only(within, patterns)
    return found


def filtered(tasks, only_in, without_in, wanted):
    """As uftrace's -F and -N. What -F has of no function has no effect there."""
    only_in = [pattern for pattern in only_in if any(matches(name, [pattern]) for name in wanted)]
    chosen = [without(only(trees, only_in) if only_in else trees, without_in) for trees in tasks]
    return [trees for trees in chosen if trees]


def shown(tasks):
    """In one line, in an order that does not depend on which task came first."""
    def text(trees):
        return ", ".join(name + (f" {{ {text(within)} }}" if within else "") for name, within in trees)
    return " | ".join(sorted(map(text, tasks)))
