"""How much room is left on a disk."""

from __future__ import annotations

import os
from pathlib import Path

from sexton.core.record import record


@record
class Space:
    """How much a disk holds and how much of that is free for this user; files are counted, too."""

    total: int
    free: int
    free_files: int | None = None


def space_at(path: Path) -> Space:
    """The room where a path is, or would be if it were made."""
    place = path.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    facts = os.statvfs(place)
    return Space(
        total=facts.f_blocks * facts.f_frsize,
        free=facts.f_bavail * facts.f_frsize,
        free_files=facts.f_favail if facts.f_files else None,
    )
