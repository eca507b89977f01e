# SPDX-License-Identifier: GPL-2.0-only
"""Python that waits for ever, in functions of C that functions of Python have called: waits.py KIND."""
import ctypes
import os
import select
import sys
import threading
import time


class Closing:
    def __del__(self):
        time.sleep(100000)


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
def compare(first, second):
    select.select([], [], [])
    return first[0] - second[0]


def generated():
    yield 1
    yield os.read(os.pipe()[0], 1)


def recurse(depth, call):
    return [recurse(depth - 1, call) for _ in range(1)] if depth else call()


def waits_for_lock():
    lock = threading.Lock()
    for _ in range(2):
        lock.acquire()


KINDS = {
    "sleep": lambda: recurse(5, lambda: time.sleep(100000)),
    "del": lambda: recurse(2, Closing),
    "qsort": lambda: ctypes.CDLL(None).qsort((ctypes.c_int * 3)(3, 2, 1), 3, 4, compare),
    "generator": lambda: sorted(generated(), key=lambda value: value),
    "threads": lambda: [threading.Thread(target=waits_for_lock).start() for _ in range(3)],
    "poll": lambda: eval("select.poll().poll()"),
    "child": lambda: os.waitpid(os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "100000"), 0),
}
KINDS[sys.argv[1]]()
