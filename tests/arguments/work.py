# SPDX-License-Identifier: GPL-2.0-only
"""What Python does while its functions are looked at: nothing that depends on the time, or on where files are."""

import json

table = json.loads('{"a": [1, 2.5, null, true, -7e300], "b": "text", "c": {"d": "\\u00e4"}}')
print(json.dumps(table, sort_keys=True), sorted({"k%d" % i: i for i in range(20)}.items())[:3], "%.3f %r" % (2.5, 1e-9), int("12") ** 30 // 7)


class Shape:
    def __init__(self, name, width):
        self.name, self.width = name, width

    def __eq__(self, other):
        return self.width == other.width


print([Shape("a", i) == Shape("b", i % 3) for i in range(6)], bytes(range(8)).hex(), complex(1, 2) * 3j, {1, 2} | {3}, round(2.675, 2))
