"""Where are the files of sessions of other agents?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from sexton.engine.removing.means import Means
from sexton.homes.hermes.session_files import HermesFileNames
from sexton.ports import HomeRecord
from sexton.system.files.flat import FlatFiles

SESSIONS = "sessions"


def with_files(means: Means, records: Mapping[str, HomeRecord]) -> Means:
    """The means with the files of attached homes."""
    found = {
        name: FlatFiles(Path(record.path, SESSIONS), HermesFileNames())
        for name, record in records.items()
        if record.path is not None
    }
    return replace(means, files={**means.files, **found}) if found else means
