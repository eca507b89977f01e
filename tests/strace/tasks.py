# SPDX-License-Identifier: GPL-2.0-only
"""What strace -f and argtrace have printed of several tasks, by task."""

import re

import lines


def of_strace(text):
    """task -> its lines, and the tasks that ended within a call. A call that others came between has its two halves put together."""
    tasks, unfinished = {}, {}
    for line in text:
        task, _, rest = line.partition(" ")
        rest = rest.strip()
        if not task.isdigit():
            continue
        tasks.setdefault(task, [])
        if begun := re.fullmatch(r"(.*?),?\s*<unfinished \.\.\.>", rest):
            unfinished[task] = begun[1]
            continue
        if resumed := re.match(r"<\.\.\. \w+ resumed>\s*(?:, )?(.*)", rest):
            begun = unfinished.pop(task)
            is_first = begun.endswith("(") or resumed[1].startswith((")", " "))
            rest = begun + ("" if is_first else ", ") + resumed[1]
        tasks[task].append(rest)
    return tasks, set(unfinished)


def of_argtrace(text):
    """task -> its lines."""
    tasks = {}
    for line in text:
        task, _, rest = line.partition(" ")
        if task.isdigit():
            tasks.setdefault(task, []).append(rest.strip())
    return tasks


def pairs(strace, argtrace):
    """[(task, calls of strace, calls of argtrace)]. The first call of the first task is the execve by which strace becomes the command: it is
    still called strace then, and its calls are left out. The last call of a task that another one has ended may have returned, which strace does
    not see."""
    tasks, unfinished = of_strace(strace)
    found = []
    for number, (task, lines_of_strace) in enumerate(tasks.items()):
        theirs = lines.calls(lines_of_strace[number == 0:], lines.STRACE)
        ours = lines.calls(argtrace.get(task, []), lines.ARGTRACE)
        found.append((task, theirs, ours[:len(theirs)] if task in unfinished and len(ours) == len(theirs) + 1 else ours))
    return found
