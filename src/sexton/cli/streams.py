"""What if standard input, output or error are closed, or can not be written?"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Any


class OutputLost(Exception):
    """Standard output can not be written; said once, what follows goes nowhere."""


class _Output(io.FileIO):
    """Standard output: the first write that fails is told, so that the command ends."""

    _lost = False

    def write(self, data: Any, /) -> int | None:  # type: ignore[override]  # None: would block
        if self._lost:
            return len(data)
        try:
            return super().write(data)
        except BrokenPipeError:
            self._lost = True
            raise
        except OSError as problem:
            self._lost = True
            raise OutputLost(f"the output can not be written: {problem.strerror}") from None


class _Remarks(io.FileIO):
    """Standard error: remarks that nobody can get are no reason to fail; the exit code remains."""

    def write(self, data: Any, /) -> int | None:  # type: ignore[override]  # None: would block
        try:
            return super().write(data)
        except OSError:
            return len(data)


def prepare_streams() -> None:
    """Make this process's standard streams usable, whatever it was started with."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is taken: no database ever gets the number of an output.
            os.open(os.devnull, os.O_RDWR)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115  # until the process ends
    sys.stdout = _text(_Output(1, "w", closefd=False), sys.stdout)
    sys.stderr = _text(_Remarks(2, "w", closefd=False), sys.stderr)


def settle_output() -> None:
    """Write what is still waiting; where another trouble is told, this one is not."""
    with suppress(OutputLost, BrokenPipeError):
        sys.stdout.flush()


def _text(raw: io.FileIO, former: Any) -> io.TextIOWrapper:
    by_line = former is not None and (former.line_buffering or former.write_through)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=former.encoding if former else "utf-8",
        # A terminal that lacks a character shows its code; it is no reason to fail.
        errors="backslashreplace",
        line_buffering=by_line,
    )
