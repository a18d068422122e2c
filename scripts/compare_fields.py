#!/usr/bin/env python3
"""Largest difference of a field in two VTU files of karman, over the range of the first.

usage: compare_fields.py A.vtu B.vtu [FIELD]     (field: temperature)
"""
import re
import struct
import sys
import zlib


def field(path, name):
    """The Float64 array of this name: raw appended data in zlib blocks."""
    data = open(path, "rb").read()
    header = "<Q" if b'header_type="UInt64"' in data[:2000] else "<I"
    size = struct.calcsize(header)
    place = re.search(rb'<DataArray[^>]*Name="' + name.encode() + rb'"[^>]*offset="(\d+)"', data)
    if place is None:
        sys.exit(f"{path} has no field {name}")
    start = data.index(b"_", data.index(b"<AppendedData")) + 1 + int(place.group(1))
    blocks, _, _ = struct.unpack_from("<" + header[1] * 3, data, start)
    lengths = struct.unpack_from("<" + header[1] * blocks, data, start + 3 * size)
    at, raw = start + (3 + blocks) * size, b""
    for length in lengths:
        raw += zlib.decompress(data[at : at + length])
        at += length
    return struct.unpack(f"<{len(raw) // 8}d", raw)


if __name__ == "__main__":
    a, b = (field(path, (sys.argv + ["temperature"])[3]) for path in sys.argv[1:3])
    assert len(a) == len(b), f"{len(a)} and {len(b)} values"
    spread = max(a) - min(a)
    print(f"{max(abs(x - y) for x, y in zip(a, b)) / spread:.3e} of the range, {len(a)} values")
