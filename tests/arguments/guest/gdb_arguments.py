# SPDX-License-Identifier: GPL-2.0-only
"""In gdb: stops once at the first instruction of each function in /root/functions, and writes its arguments, as JSON, a line for each function."""

import json

import gdb

for command in ("set pagination off", "set debuginfod enabled off", "set exec-wrapper env -i PYTHONHASHSEED=0",
                "set args -S -B /root/work.py </dev/null >/dev/null 2>/dev/null"):
    gdb.execute(command)


def plain(value):
    """A number; for what has a name that as well; of a struct its members. None: gdb does not know it here."""
    if value.is_optimized_out:
        return None
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        return {field.name: plain(value[field]) for field in kind.fields() if field.name}
    if kind.code == gdb.TYPE_CODE_ENUM:
        return {"number": int(value), "name": str(value)}
    if kind.code == gdb.TYPE_CODE_FLT:
        return float(value)
    return int(value)


def outermost(frame):
    """The function itself, where its first instruction is one of another that was inlined."""
    while frame.type() == gdb.INLINE_FRAME:
        frame = frame.older()
    return frame


def block_of(frame):
    """The function's own block, with its arguments."""
    block, found = frame.block(), None
    while block is not None and not block.is_global and not block.is_static:
        found = block if block.function else found
        block = block.superblock
    return found


def arguments(frame):
    found = {}
    for symbol in block_of(frame):
        if symbol.is_argument:
            try:
                found[symbol.name] = plain(symbol.value(frame))
            except gdb.error as error:
                found[symbol.name] = {"error": str(error)}
    return found


names = {}
for line in open("/root/functions", encoding="utf-8"):
    name = line.strip().rsplit(":", 1)[1]
    breakpoint_ = gdb.Breakpoint(f"*{name}", temporary=True)
    names[int(gdb.parse_and_eval(f"(unsigned long) &{name}"))] = name
gdb.execute("run")
with open("gdb.json", "w", encoding="utf-8") as output:
    while gdb.selected_inferior().pid:
        frame = outermost(gdb.newest_frame())
        output.write(json.dumps({"func": names[frame.pc()], "args": arguments(frame)}) + "\n")
        gdb.execute("continue")
