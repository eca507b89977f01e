# SPDX-License-Identifier: GPL-2.0-only
"""Never ends, for UserStacksOfPrograms: recursion, generators, callbacks from C, and calls of libraries.

work.py modules: the files of the modules that this takes, which the guest has to be given.
"""
import ctypes
import json
import os
import re
import sys
import zlib


class Node:
    def __init__(self, value):
        self.value = value
        self.left = self.right = None

    def add(self, value):
        side = "left" if value < self.value else "right"
        if getattr(self, side):
            getattr(self, side).add(value)
        else:
            setattr(self, side, Node(value))

    def __iter__(self):
        for node in (self.left, self, self.right):
            if node is self:
                yield self.value
            elif node:
                yield from node


class Closing:
    def __del__(self):
        os.getppid()


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
def compare(first, second):
    os.getppid()
    return first[0] - second[0]


def work(number):
    tree = Node(500)
    for i in range(60):
        tree.add((i * 7919 + number) % 1000)
    values = sorted(tree, key=lambda value: -value)
    text = json.dumps({"values": values, "names": [str(value) for value in values]})
    assert json.loads(text)["values"] == values
    some = (ctypes.c_int * 8)(*values[:8])
    ctypes.CDLL(None).qsort(some, 8, 4, compare)
    Closing()
    os.write(1, b"%d %d\n" % (len(re.findall(r"(\d+)5", text)), len(zlib.compress(text.encode()))))
    print(number, eval(f"{number} + 1"), flush=True)


if sys.argv[1:] == ["modules"]:
    work(0)
    print(*(module.__file__ for module in sys.modules.values() if getattr(module, "__file__", None)), sep="\n", file=sys.stderr)
    sys.exit()
print("ready", flush=True)
os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
round_number = 0
while True:
    round_number += 1
    list(map(work, [round_number]))
