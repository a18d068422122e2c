#!/usr/bin/env python3
"""Compares the output of two builds of karman bit for bit.

    scripts/same_bits.py record KARMAN FILE.json CASE.toml …   runs the cases on the CPU, two threads, and writes a
                                                               digest of each array of their checkpoints and fields
    scripts/same_bits.py compare A.json B.json                 lists differences; exits with 1 if there is any

A case without `[checkpoint]` gets one at its end. Names of arrays may differ; their bits may not. Needs only
Python.
"""
import collections
import hashlib
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def of_checkpoint(data):
    """Digest of each array of a safetensors file."""
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    for name, array in header.items():
        if name != "__metadata__":
            begin, end = (8 + length + place for place in array["data_offsets"])
            yield name, digest(data[begin:end])


def of_fields(data):
    """Digest of each array of a VTU file whose data are appended, raw, in zlib blocks."""
    header = "<Q" if b'header_type="UInt64"' in data[:2000] else "<I"
    size = struct.calcsize(header)
    first = data.index(b"_", data.index(b"<AppendedData")) + 1
    for array in re.finditer(rb'<DataArray[^>]*Name="([^"]*)"[^>]*offset="(\d+)"', data):
        start = first + int(array.group(2))
        (blocks,) = struct.unpack_from(header, data, start)
        lengths = struct.unpack_from("<" + header[1] * blocks, data, start + 3 * size)
        at, raw = start + (3 + blocks) * size, b""
        for length in lengths:
            raw += zlib.decompress(data[at : at + length])
            at += length
        yield array.group(1).decode(), digest(raw)


def with_checkpoint(text):
    """The case on two threads of the CPU, with a checkpoint at its end."""
    end = re.search(r"(?m)^end\s*=\s*([\d.eE+-]+)", text)
    if end and not re.search(r"(?m)^\[checkpoint\]", text):
        text += f"\n[checkpoint]\nevery = {end.group(1)}\n"
    if re.search(r"(?m)^\[run\]", text):
        text = re.sub(r"(?m)^(threads|backend)\s*=.*\n", "", text)
        return re.sub(r"(?m)^\[run\].*$", '[run]\nthreads = 2\nbackend = "cpu"', text)
    return text + '\n[run]\nthreads = 2\nbackend = "cpu"\n'


def record(karman, out, cases):
    found = {}
    for case in map(pathlib.Path, cases):
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder) / "cases"
            shutil.copytree(case.parent, here)
            copy = here / case.name
            copy.write_text(with_checkpoint(copy.read_text()))
            run = subprocess.run([karman, "run", "-q", copy.name], cwd=here, capture_output=True, text=True)
            arrays = []
            for file in sorted((here / case.stem).glob("**/*")):
                read = {".safetensors": of_checkpoint, ".vtu": of_fields}.get(file.suffix)
                arrays += [[file.suffix, *array] for array in read(file.read_bytes())] if read else []
            found[str(case)] = {"exit": run.returncode, "arrays": arrays}
            print(f"{case}: exit {run.returncode}, {len(arrays)} arrays", flush=True)
    pathlib.Path(out).write_text(json.dumps(found, indent=0) + "\n")


def compare(a, b):
    a, b = (json.loads(pathlib.Path(file).read_text()) for file in (a, b))
    differs = False
    for case in a.keys() | b.keys():
        if case not in a or case not in b or a[case]["exit"] != b[case]["exit"]:
            print(f"{case}: not in both, or another exit status")
            differs = True
            continue
        count = [collections.Counter((kind, bits) for kind, _, bits in of[case]["arrays"]) for of in (a, b)]
        names = {(kind, bits): name for of in (a, b) for kind, name, bits in of[case]["arrays"]}
        for where, extra in (("first", count[0] - count[1]), ("second", count[1] - count[0])):
            for key in extra:
                print(f"{case}: only in the {where}: {key[0]} {names[key]}")
                differs = True
    print("differences, see above" if differs else f"the same bits in {len(a)} cases")
    return int(differs)


if __name__ == "__main__":
    command, *rest = sys.argv[1:] or [""]
    if command == "record" and len(rest) > 2:
        record(str(pathlib.Path(rest[0]).resolve()), rest[1], rest[2:])
    elif command == "compare" and len(rest) == 2:
        sys.exit(compare(*rest))
    else:
        sys.exit(__doc__)
