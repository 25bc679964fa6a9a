"""What does a small JSON file of a Hermes home say, however broken it is?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LARGEST = 16_000_000
LARGEST_MOMENT = 1e15


def read_json(file: Path, largest: int = LARGEST) -> Any:
    """The document in a plain file; None if there is none, or none that can be used."""
    try:
        if not file.is_file():
            return None
        with file.open("rb") as stream:
            content = stream.read(largest + 1)
    except OSError:
        return None
    if len(content) > largest:
        return None
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def moment(value: object) -> float | None:
    """Seconds since 1970; None for anything else, such as a number that no float can hold."""
    if isinstance(value, int | float) and abs(value) <= LARGEST_MOMENT:
        return float(value)
    return None
