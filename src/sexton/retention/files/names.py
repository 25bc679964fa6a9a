"""Is that a place below a session's directory?"""

from __future__ import annotations

from collections.abc import Sequence

DEEPEST = 32
LONGEST = 255


def unfit(path: Sequence[object]) -> str | None:
    """What is wrong with a path that was read from a file, or None if nothing is."""
    if not 0 < len(path) <= DEEPEST:
        return f"lies {len(path)} directories deep"
    for name in path:
        if not isinstance(name, str) or name in {"", ".", ".."} or "/" in name or "\0" in name:
            return "lies outside of its directory"
        if len(name.encode("utf-8", "surrogateescape")) > LONGEST:
            return "has too long a name"
    return None
