"""A throw-away ledger for the tests of an agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sexton.settings.loader import load_mapping
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.testing.manual_clock import ManualClock
from sexton.wiring import Sexton


@contextmanager
def house(
    settings: Mapping[str, Any] | None = None, *, clock: ManualClock | None = None
) -> Iterator[Sexton]:
    """Sexton on an empty ledger with a clock that only the test moves; no file is left of it.

    `settings` are laid out like `sexton.yaml`, and are in force. Neither the settings of the person
    who runs the test nor `SEXTON_*` variables are read. `clock` is `.clock` of what is given.
    """
    with TemporaryDirectory(prefix="sexton-", ignore_cleanup_errors=True) as place:
        chosen = load_mapping(settings, {}, Path(place)) if settings else Settings()
        ledger = open_ledger(str(Path(place, "ledger.db")))
        with Sexton(ledger, chosen, clock=clock or ManualClock()) as opened:
            opened.publish()
            yield opened
