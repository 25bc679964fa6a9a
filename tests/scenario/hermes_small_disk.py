"""A program that looks after a Hermes home on a disk that is full, then one that can only be read.

It is started in a mount namespace of its own, with a small disk mounted, the home to be copied onto
it, and the folder of its ledger. It tells one JSON object per state of the disk.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sexton.errors import LedgerError
from sexton.store.opening import open_ledger
from tests.scenario.hermes_house import House

BALLAST = "ballast"


def main(home: Path, ledgers: Path, disk: Path) -> None:
    """What an apply does to the home in each state of the disk."""
    place = Path(shutil.copytree(home, disk / "home"))
    house = House(f"sqlite:///{ledgers / 'ledger.db'}", place)
    reap, garbage = house.plan(), house.garbage()
    for state in ("full", "read only", "usable"):
        _turn(disk, state)
        before = _everything(place)
        told: dict[str, Any] = {}
        for name, plan in (("reap", reap), ("garbage", garbage)):
            outcomes = house.sexton.apply(plan, f"{state} {name}", observed=True)
            told[name] = [[each.action.kind, each.result, each.detail] for each in outcomes]
        same = _everything(place) == before
        try:
            open_ledger(f"sqlite:///{disk / 'sexton' / 'ledger.db'}").close()
        except LedgerError as refused:
            told["ledger"] = [type(refused).__name__, refused.hint]
        sys.stdout.write(json.dumps({"state": state, "same": same, **told}) + "\n")
        sys.stdout.flush()
    house.sexton.close()


def _turn(disk: Path, state: str) -> None:
    if state == "full":
        with suppress(OSError), (disk / BALLAST).open("wb", buffering=0) as ballast:
            while True:
                ballast.write(b"\0" * 4096)
        return
    if state == "usable":
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
        return
    (disk / BALLAST).unlink()
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)


def _everything(place: Path) -> Mapping[str, bytes]:
    return {
        str(each.relative_to(place)): each.read_bytes()
        for each in sorted(place.rglob("*"))
        if each.is_file() and not each.name.endswith("-shm")
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
    os._exit(0)
