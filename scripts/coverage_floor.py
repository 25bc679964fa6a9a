"""Prints the branch coverage of each package and fails where one is below its floor.

The floors are what was measured when they were set; raise them when a package gets better. Work
in other processes (crash tests, programs of the command line) does not count.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

FLOORS = {
    "core": 97, "errors": 98, "finalizers": 96, "homes": 94, "keeper": 92, "liveness": 93,
    "notifications": 97, "operations": 96, "processes": 94, "resets": 98, "retention": 95,
    "rules": 98, "sessions": 93, "settings": 98, "spending": 97, "store": 93, "wiring": 93,
}  # fmt: skip
"""Per cent of lines and branches together."""
NO_FLOOR = {
    "sexton": "a few lines that name what there is",
    "cli": "tested as a program",
    "integrations": "run inside another program's process",
    "testing": "used by tests, tested by none",
    "web": "tested from a browser, and its words by golden files",
}
"""Packages without a floor, each with the reason."""


def main(report: str) -> int:
    """Print the table; 1 if a floor is missed."""
    files = json.loads(Path(report).read_text(encoding="utf-8"))["files"]
    covered, wanted = defaultdict[str, int](int), defaultdict[str, int](int)
    for name, file in files.items():
        below = name.partition("sexton/")[2]
        package = below.partition("/")[0] if "/" in below else "sexton"
        summary = file["summary"]
        covered[package] += summary["covered_lines"] + summary["covered_branches"]
        wanted[package] += summary["num_statements"] + summary["num_branches"]
    missed = []
    print("coverage of lines and branches, tests in this process only:")
    for package in sorted(wanted):
        share = 100 * covered[package] / (wanted[package] or 1)
        floor = FLOORS.get(package)
        is_missed = floor is not None and share < floor
        missed += [package] if is_missed else []
        note = "" if floor is None else f"  at least {floor} %{' MISSED' if is_missed else ''}"
        print(f"  {package:14} {share:5.1f} %{note}")
    print(f"  {'all':14} {100 * sum(covered.values()) / (sum(wanted.values()) or 1):5.1f} %")
    unmeasured = (set(FLOORS) | set(NO_FLOOR)) - set(wanted)
    if unmeasured:
        print(f"no file of {', '.join(sorted(unmeasured))} was measured", file=sys.stderr)
    unnamed = set(wanted) - set(FLOORS) - set(NO_FLOOR)
    if unnamed:
        names = ", ".join(sorted(unnamed))
        print(f"{names}: name a floor in FLOORS, or the reason in NO_FLOOR", file=sys.stderr)
    return 1 if missed or unmeasured or unnamed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
