"""Where are the files and records of sessions of other agents?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from sexton.engine.removing.means import Means
from sexton.homes.hermes.home import HermesHome
from sexton.homes.hermes.session_files import HermesFileNames
from sexton.ports import Home, HomeRecord
from sexton.system.files.flat import FlatFiles

SESSIONS = "sessions"


def with_files(means: Means, records: Mapping[str, HomeRecord], homes: Mapping[str, Home]) -> Means:
    """The means with the files and records of attached homes."""
    rows = {name: home.records for name, home in homes.items() if isinstance(home, HermesHome)}
    found = {
        name: FlatFiles(Path(record.path, SESSIONS), HermesFileNames())
        for name, record in records.items()
        if record.path is not None
    }
    return replace(means, files={**means.files, **found}, rows=rows) if found else means
