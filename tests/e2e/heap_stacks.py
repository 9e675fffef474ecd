#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""heap_stacks PROFILE - the stacks of a heap profile of jemalloc or gperftools, a line each.

A frame is its file and the offset there, as places differ between runs.
"""

import os
import re
import sys


def mappings(lines):
    for line in lines:
        found = re.match(r"([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \S+ *(.*)", line)
        if found:
            start, end, offset = (int(number, 16) for number in found.groups()[:3])
            yield start, end, offset, os.path.basename(found[4])


def place(address, maps):
    for start, end, offset, name in maps:
        if start <= address < end:
            return f"{name}+{address - start + offset:x}"
    return f"{address:x}"


def main():
    with open(sys.argv[1], encoding="utf-8") as profile:
        stacks, _, maps = profile.read().partition("MAPPED_LIBRARIES:")
    maps = list(mappings(maps.splitlines()))
    chains = {line.partition("@")[2] for line in stacks.splitlines() if "@" in line}
    frames = {" ".join(place(int(word, 16), maps) for word in re.findall(r"0x[0-9a-f]+", chain))
              for chain in chains}
    print(*sorted(filter(None, frames)), sep="\n")


main()
