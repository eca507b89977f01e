# SPDX-License-Identifier: GPL-2.0-only
"""When an argument is the same in gdb, as gdb_arguments.py writes it, and in argtrace's JSON."""


def same(gdb, argtrace):
    """Numbers that are addresses are texts in argtrace's JSON, and those of an enumeration have their names."""
    if gdb is None:
        return True  # what the debug information does not say, the calling convention may
    if argtrace is None:
        return False
    if isinstance(gdb, dict) and set(gdb) == {"number", "name"}:
        return argtrace in (gdb["number"], gdb["name"])
    if isinstance(gdb, dict):
        return isinstance(argtrace, dict) and gdb.keys() == argtrace.keys() and all(same(gdb[name], argtrace[name]) for name in gdb)
    if isinstance(argtrace, str) and argtrace.startswith("0x"):
        return int(argtrace, 16) == gdb & (1 << 64) - 1
    return gdb == argtrace


def difference(gdb, argtrace):
    """What differs between the arguments of a call, as texts."""
    if list(gdb) != list(argtrace):
        yield f"gdb has the arguments {', '.join(gdb)}, argtrace {', '.join(argtrace)}"
        return
    for name in gdb:
        if not same(gdb[name], argtrace[name]):
            yield f"{name} is {gdb[name]} in gdb, {argtrace[name]} in argtrace"
