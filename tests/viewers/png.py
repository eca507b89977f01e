# SPDX-License-Identifier: GPL-2.0-only
"""Pixels of a PNG, as browsers write them."""

import struct
import zlib


def unfilter(kind, line, above, size):
    """One line of bytes, `size` a pixel, whose filter is undone in place; see the standard, clause 9."""
    for i in range(len(line)):
        left = line[i - size] if i >= size else 0
        corner = above[i - size] if i >= size else 0
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = above[i]
        elif kind == 3:
            guess = (left + above[i]) // 2
        elif kind == 4:
            first = left + above[i] - corner
            guess = min((left, above[i], corner), key=lambda one: abs(first - one))
        else:
            return
        line[i] = line[i] + guess & 255


def read(path):
    """(width, height, rows of (red, green, blue))"""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is no PNG"
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        part = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", part)
            assert depth == 8 and colour in (2, 6) and not interlaced, f"{path}: depth {depth}, colour {colour}"
        elif kind == b"IDAT":
            packed += part
        at += 12 + length
    size = 3 if colour == 2 else 4
    lines, above, rows = zlib.decompress(packed), bytes(width * size), []
    for number in range(height):
        begin = number * (width * size + 1)
        line = bytearray(lines[begin + 1:begin + 1 + width * size])
        unfilter(lines[begin], line, above, size)
        rows.append([tuple(line[i:i + 3]) for i in range(0, len(line), size)])
        above = line
    return width, height, rows
