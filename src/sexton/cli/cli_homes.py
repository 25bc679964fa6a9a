"""Which homes does a command work with, and how are they looked at?"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sexton.cli.terminal import note, progress
from sexton.core.session import NATIVE, check_name
from sexton.errors import NoSuchHome, SextonError
from sexton.homes.home_ports import Home, HomeRecord, Known, Sighting
from sexton.keeper.keeper_context import Estate
from sexton.keeper.observe import Observed, observe_home
from sexton.liveness.process_identity import host
from sexton.settings.settings_values import HomeSetting
from sexton.wiring import Sexton
from sexton.wiring.reaching import listed_at, reachable


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The home a command was restricted to, and how to reach it from here, if it can be."""

    name: str
    setting: HomeSetting | None


def wanted_home(opened: Sexton, value: str) -> Wanted:
    """The home that a name or a path means; a path need not be listed anywhere."""
    check_name("home", value)
    listed = opened.settings.homes
    records = opened.ledger.homes.all()
    for record in records:
        if record.name == value:
            return Wanted(name=value, setting=reachable(record, listed))
    for setting in listed:
        if setting.name == value:
            return Wanted(name=value, setting=setting)
    path = _directory(value)
    if path is None:
        known = ", ".join(record.name for record in records)
        raise NoSuchHome(
            f"no home is called '{value}', and there is no such directory",
            hint=f"Name a directory, or one of: {known}.",
        )
    return _at(path.resolve(), records, listed)


def name_of_home(opened: Sexton, value: str | None) -> str | None:
    """The name of the home that a name or a path means; None if none is meant."""
    return None if value is None else wanted_home(opened, value).name


def _directory(value: str) -> Path | None:
    try:
        path = Path(value).expanduser()
    except RuntimeError:  # '~' of a user who does not exist
        return None
    return path if path.is_dir() else None


def estate_of(opened: Sexton, value: str | None) -> tuple[Estate, str | None]:
    """What to work on: every listed home, or only the one that was named; its name then."""
    if value is None:
        return opened.estate(), None
    wanted = wanted_home(opened, value)
    estate = bare_estate(opened, (wanted.setting,) if wanted.setting else ())
    return estate, next(iter(estate.records), wanted.name)


def bare_estate(opened: Sexton, homes: tuple[HomeSetting, ...] = ()) -> Estate:
    """Our own sessions and the given homes, whatever the settings list."""
    return opened.estate(homes, listed=False)


def observe_all(estate: Estate, *, strict: bool = False) -> frozenset[str]:
    """Look at every home; the names of those that can not be read, which are told unless strict."""
    blind = set()
    for words in estate.unreachable:
        note(f"home not observed: {words}")
    for name, record in estate.records.items():
        try:
            observe_shown(estate, estate.homes[name], record)
        except SextonError as trouble:
            if strict:
                raise
            note(f"home not observed: {name}: {trouble}")
            blind.add(name)
    return frozenset(blind)


def observe_shown(estate: Estate, home: Home, record: HomeRecord) -> Observed:
    """Look at a home, and show on a terminal how it goes."""
    with progress(f"observing {record.name}") as advance, _collecting_seldom():
        return observe_home(estate, _Counting(home, advance), record)


@contextmanager
def _collecting_seldom() -> Iterator[None]:
    """A first look makes values by the hundred thousand, and no cycles among them to look for."""
    usual = gc.get_threshold()
    gc.set_threshold(100_000, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


@dataclass(frozen=True, slots=True)
class _Counting:
    """A home that tells how many sessions it has shown."""

    home: Home
    advance: Callable[[int], None]

    @property
    def name(self) -> str:
        return self.home.name

    def rules(self) -> str | None:
        return self.home.rules()

    def look(self, mark: Mapping[str, Any] | None, known: Known) -> Iterator[Sighting]:
        for sighting in self.home.look(mark, known):
            yield sighting
            self.advance(len(sighting.seen))


def _at(path: Path, records: list[HomeRecord], listed: tuple[HomeSetting, ...]) -> Wanted:
    check_name("home", str(path))
    known = next((each for each in records if (each.path, each.host) == (str(path), host())), None)
    if known is not None:
        return Wanted(name=known.name, setting=reachable(known, listed))
    setting = listed_at(path, listed) or HomeSetting(path=path, name=_name(path))
    return Wanted(name=setting.name, setting=setting)


def _name(path: Path) -> str:
    """What people call it already: the directory's own name without its dot."""
    plain = "".join(c if c.isprintable() and c != " " else "-" for c in path.name.lstrip("."))
    return "home" if plain in ("", NATIVE) else plain
