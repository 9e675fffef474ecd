# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""stack_readers.py perfparser FILE PROGRAM | samply URL PROGRAM - stacks as other programs have read them.

A line for each sample: "TID: function function ", leaf first, of the code in files of this name.

    perfparser  what Hotspot's reader has written to a file
    samply      what samply offers at a URL, with the names that it looks up
"""

import gzip
import json
import struct
import sys
import urllib.request

# of messages in Hotspot's stream
LOCATION, SYMBOL, STRING, SAMPLE = 3, 4, 5, 13


def messages(stream):
    """Pairs of type and content.  Sizes are of this machine, contents big endian."""
    assert stream[:12] == b"QPERFSTREAM\0", "no stream of perfparser"
    at = 16
    while at < len(stream):
        size, = struct.unpack_from("=I", stream, at)
        yield stream[at + 4], stream[at + 5:at + 4 + size]
        at += 4 + size


def perfparser(path, program):
    strings, outer, symbols = {-1: ""}, {}, {}
    with open(path, "rb") as file:
        stream = file.read()
    for kind, content in messages(stream):
        number, = struct.unpack_from(">i", content)
        if kind == STRING:
            strings[number] = content[8:].decode()
        elif kind == LOCATION:
            outer[number], = struct.unpack_from(">i", content, len(content) - 4)
        elif kind == SYMBOL:
            _, name, binary = struct.unpack_from(">3i", content)
            symbols[number] = strings[name], strings[binary]
        elif kind == SAMPLE:
            tid, count = struct.unpack_from(">4xI12xI", content)
            names = []
            for location in struct.unpack_from(f">{count}i", content, 24):
                while location >= 0:
                    name, binary = symbols.get(location, ("", ""))
                    if binary == program:
                        names.append(name)
                    location = outer[location]
            yield tid, names


def fetch(url, body=None):
    with urllib.request.urlopen(url, body) as answer:
        content = answer.read()
    return json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)


def looked_up(url, library, addresses):
    """The functions of a library at these addresses, by the server."""
    if not addresses:
        return {}
    request = {"memoryMap": [[library["debugName"], library["breakpadId"]]],
               "stacks": [[[0, address] for address in addresses]]}
    answer = fetch(f"{url}/symbolicate/v5", json.dumps(request).encode())
    return {address: frame.get("function", "")
            for address, frame in zip(addresses, answer["results"][0]["stacks"][0])}


def frames_of(thread, library):
    """For each frame, its address if it is in the library, or None."""
    of_function = [thread["resourceTable"]["lib"][resource] if resource >= 0 else None
                   for resource in thread["funcTable"]["resource"]]
    frames = thread["frameTable"]
    return [address if of_function[function] == library else None
            for address, function in zip(frames["address"], frames["func"])]


def samply(url, program):
    profile = fetch(f"{url}/profile.json")
    library = [entry["name"] for entry in profile["libs"]].index(program)
    for thread in profile["threads"]:
        frames = frames_of(thread, library)
        names = looked_up(url, profile["libs"][library], [a for a in frames if a is not None])
        stacks, samples = thread["stackTable"], thread["samples"]
        for stack, weight in zip(samples["stack"], samples["weight"]):
            assert weight == 1, f"a sample weighs {weight}"
            found = []
            while stack is not None:
                address = frames[stacks["frame"][stack]]
                if address is not None:
                    found.append(names[address])
                stack = stacks["prefix"][stack]
            yield int(thread["tid"].split(".")[0]), found


def main():
    for tid, names in {"perfparser": perfparser, "samply": samply}[sys.argv[1]](*sys.argv[2:]):
        print(f"{tid}: " + "".join(f"{name} " for name in names))


main()
