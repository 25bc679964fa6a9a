"""How does a process take it when the wall clock jumps?

    clock = WallClock(tmp_path / "clock")
    with Nursery("my_agent", environ=faked_by(find_libfaketime())) as nursery:
        child = nursery.start("my_agent:work", url, environ=clock.environ)
        clock.jump(timedelta(days=2))

Only the wall clock is faked: running time never jumps on a real machine either. Where there is no
libfaketime, an agent that takes a `Clock` can be given a `ShiftedClock` of the same file.

Children of one nursery share a lock of libfaketime: one that is stopped or killed can take all
others with it, so whoever is to suffer that as well is born in another nursery.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from sexton.core.machine_ports import Clock

FILE = "FAKETIME_TIMESTAMP_FILE"
PLACES = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/homebrew/lib")


class WallClock:
    """The wall clock of one process or several, kept in a file as libfaketime reads it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._offset = timedelta()
        self.jump(timedelta())

    @property
    def environ(self) -> dict[str, str]:
        """What a process needs in its environment to live by this clock."""
        return {FILE: str(self.file)}

    def jump(self, by: timedelta) -> None:
        """Set the clock forth or back; whoever reads it sees the old time or the new one."""
        self._offset += by
        written = self.file.with_suffix(".new")
        written.write_text(f"{self._offset.total_seconds():+.0f}", encoding="ascii")
        written.replace(self.file)


class ShiftedClock:
    """A clock as far off as the file of a `WallClock` says."""

    def __init__(self, clock: Clock, file: Path) -> None:
        self._clock = clock
        self._file = file

    def now(self) -> datetime:
        seconds = float(self._file.read_text(encoding="ascii"))
        return self._clock.now() + timedelta(seconds=seconds)

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def elapsed(self) -> float:
        return self._clock.elapsed()

    def sleep(self, seconds: float) -> None:
        self._clock.sleep(seconds)


def find_libfaketime(further: Iterable[str | Path] = ()) -> Path | None:
    """The library, from the system's places or further ones; None if it is not there."""
    for place in (*further, *PLACES):
        for pattern in ("faketime/libfaketime.so.1", "*/faketime/libfaketime.so.1"):
            found = next(Path(place).glob(pattern), None)
            if found is not None:
                return found
    return None


def faked_by(library: Path | None) -> Mapping[str, str]:
    """What a nursery needs in its environment so that its children can get a `WallClock`."""
    if library is None:
        return {}
    preloaded = filter(None, (str(library), os.environ.get("LD_PRELOAD")))
    return {
        "LD_PRELOAD": ":".join(preloaded),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "NO_FAKE_STAT": "1",
    }
