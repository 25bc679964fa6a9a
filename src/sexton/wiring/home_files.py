"""Where are the files and records of sessions, our own and those of other agents?"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sexton.core.session import NATIVE
from sexton.homes.hermes.session_files import HermesFileNames
from sexton.homes.home_ports import Home, HomeRecord
from sexton.retention.files.flat_directory import FlatFiles
from sexton.retention.files.own_directories import OwnFiles
from sexton.store.ledger import Ledger
from sexton.store.opening import sqlite_path
from sexton.wiring.places import data_place

if TYPE_CHECKING:
    from sexton.retention.removal_context import Means

SESSIONS = "sessions"


def beside(ledger: Ledger, kind: str) -> Path:
    """A directory beside a ledger's file; for one on a server, in this platform's place."""
    if ledger.is_shared:
        return Path(data_place(os.environ), f"{ledger.id}.{kind}")
    path = Path(sqlite_path(ledger.url)).absolute()
    return path.with_name(f"{path.name}.{kind}")


def own_files(ledger: Ledger) -> OwnFiles:
    """The files of our own sessions."""
    return OwnFiles(beside(ledger, "files"), NATIVE)


def with_files(means: Means, records: Mapping[str, HomeRecord], homes: Mapping[str, Home]) -> Means:
    """The means with the files and records of attached homes."""
    from sexton.homes.hermes.home import HermesHome  # noqa: PLC0415  # it loads YAML

    rows = {name: home.records for name, home in homes.items() if isinstance(home, HermesHome)}
    found = {
        name: FlatFiles(Path(record.path, SESSIONS), HermesFileNames())
        for name, record in records.items()
        if record.path is not None
    }
    return replace(means, files={**means.files, **found}, rows=rows) if found else means
