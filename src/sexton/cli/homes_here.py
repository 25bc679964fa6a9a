"""Which homes did a command look at, which may it change, and which are here but not attached?"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sexton.cli.terminal import note
from sexton.core.session import NATIVE
from sexton.errors import HomeNotFound
from sexton.homes.home_ports import HomeRecord
from sexton.keeper.keeper_context import Estate
from sexton.liveness.process_identity import host
from sexton.settings.settings_values import HomeSetting
from sexton.wiring import Sexton

if TYPE_CHECKING:
    from sexton.cli.examination import HomeReport


def found_homes() -> list[Path]:
    """The Hermes homes of this user on this machine."""
    from sexton.homes.hermes.hermes_places import find_homes

    return find_homes(os.environ, Path.home())


def the_home(named: Path | None, command: str) -> Path:
    """The directory that was named, or the only Hermes home that is here."""
    if named is not None:
        place = named.expanduser().resolve()
        if not place.is_dir():
            raise HomeNotFound(f"{named} is not a directory")
        return place
    found = found_homes()
    if len(found) == 1:
        return found[0]
    several = ", ".join(map(str, found))
    raise HomeNotFound(
        f"there are several Hermes homes: {several}" if found else "no Hermes home was found",
        hint=f"Name the directory: {command} DIRECTORY.",
    )


def attach_command(path: str | Path, *, act: bool = False) -> str:
    """What to type so that the settings list a home."""
    return f"sexton attach {shlex.quote(str(path))}{' --act' if act else ''}"


class Offer(NamedTuple):
    """How a home stands to keepers, what to type to change that, and what it does."""

    now: str
    command: str
    then: str


def offer_of(report: HomeReport) -> Offer | None:
    """What to type so that a home is looked after; None where that is so, or not asked."""
    if report.attached is None or report.path is None or report.act:
        return None
    if report.attached:
        return Offer("only observed", attach_command(report.path, act=True), "allows changes")
    then = "has plan, apply and keep look at it, with --act also change it"
    return Offer("not attached", attach_command(report.path), then)


def is_listed(path: Path, listed: Iterable[HomeSetting]) -> bool:
    """Whether the settings list the home at that path."""
    return any(each.path.expanduser().resolve() == path for each in listed)


def unattached(opened: Sexton, but: Collection[str] = ()) -> list[Path]:
    """The homes on this machine that the settings do not list, whoever has found them."""
    known = [
        Path(each.path)
        for each in opened.ledger.homes.all()
        if each.path is not None and each.host == host() and each.name not in but
    ]
    there = dict.fromkeys((*(each for each in known if each.is_dir()), *found_homes()))
    taken = {each.path for each in opened.ledger.homes.all() if each.name in but}
    return [
        each
        for each in there
        if not is_listed(each, opened.settings.homes) and str(each) not in taken
    ]


def looked_at(estate: Estate, only: str | None = None) -> list[dict[str, Any]]:
    """The homes that a command has looked at, and whether it may change them, for programs."""
    return [
        {"name": name, "path": path, "act": act}
        for name, path, act in _looked_at(estate.homes, estate.records, only)
    ]


def homes_shape(opened: Sexton, estate: Estate, only: str | None = None) -> dict[str, Any]:
    """The same, and how to attach those that nobody looked at."""
    left = unattached(opened, () if only is None else (only,))
    return {
        "homes": looked_at(estate, only),
        "unattached": [
            {"path": str(each), "attach": attach_command(each, act=True)} for each in left
        ],
    }


def note_homes(
    opened: Sexton, estate: Estate, only: str | None = None, blind: Collection[str] = ()
) -> None:
    """Say which homes were looked at, and how the others are attached.

    Of the `blind` ones was told already that they could not be.
    """
    shown = [
        _shown(name, path, act=act)
        for name, path, act in _looked_at(estate.homes, estate.records, only)
        if name not in blind
    ]
    note(f"looked at: {'; '.join(shown)}")
    for name in estate.records if only is not None else ():
        if name != only:
            note(f"not looked at: {name}; '--home {shlex.quote(name)}' asks about it")
    for each in unattached(opened, () if only is None else (only,)):
        how = attach_command(each)
        note(f"not looked at: the Hermes home {each}; '{how}' attaches it, with --act for changes")


def _looked_at(
    homes: Iterable[str], records: Mapping[str, HomeRecord], only: str | None
) -> list[tuple[str, str | None, bool]]:
    names = [each for each in homes if only in (None, each)]
    return [
        (each, records[each].path, records[each].act) if each in records else (each, None, True)
        for each in names
    ]


def _shown(name: str, path: str | None, *, act: bool) -> str:
    if name == NATIVE:
        return "this ledger's own sessions"
    return f"{name} at {path} ({'may be changed' if act else 'only observed'})"
