"""Which time zone does this machine live in?"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def local_zone(environ: Mapping[str, str], localtime: Path = Path("/etc/localtime")) -> str:
    """Its name, by TZ or the system's choice; UTC where neither names one."""
    named = environ.get("TZ", "").lstrip(":")
    for candidate in (named, _linked(localtime)):
        if candidate and _exists(candidate):
            return candidate
    return "UTC"


def _linked(localtime: Path) -> str:
    try:
        target = os.readlink(localtime)
    except OSError:
        return ""
    return target.partition("zoneinfo/")[2]


def _exists(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
