"""Where on this machine are Hermes homes?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

DATABASE = "state.db"


def find_homes(environ: Mapping[str, str], home_dir: Path) -> list[Path]:
    """The homes Hermes would use for this user: the one named, the usual one, their profiles."""
    found: dict[Path, None] = {}
    for root in _roots(environ, home_dir):
        for place in (root, *_profiles(root)):
            if _is_file(place / DATABASE):
                found[place.resolve()] = None
    return list(found)


def _roots(environ: Mapping[str, str], home_dir: Path) -> Iterator[Path]:
    named = environ.get("HERMES_HOME", "").strip()
    if named:
        path = home_dir / named[2:] if named.startswith("~/") else Path(named)
        yield path
        if path.parent.name == "profiles":
            yield path.parent.parent
    yield home_dir / ".hermes"


def _profiles(root: Path) -> list[Path]:
    try:
        return sorted((root / "profiles").iterdir())
    except OSError:
        return []


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
