# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# depths.py ROUNDS [DEPTH] - compute at the end of calls that lead 12 times, or DEPTH, from Python
# through C to Python.
import sys


def deep(depth, rounds):
    if depth:
        return sorted([depth - 1], key=lambda n: deep(n, rounds))
    total = 0
    for i in range(rounds * 1000):
        total ^= i * 3
    return total


deep(int(sys.argv[2]) if len(sys.argv) > 2 else 12, int(sys.argv[1]))
