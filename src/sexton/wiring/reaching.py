"""How are the homes reached that a ledger knows and the settings need not list?"""

from __future__ import annotations

import logging
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from sexton.errors import SextonError
from sexton.homes.home_ports import HomeRecord
from sexton.keeper.keeper_context import Estate
from sexton.liveness.process_identity import host
from sexton.settings.settings_values import HomeSetting

if TYPE_CHECKING:
    from sexton.wiring import Sexton

log = logging.getLogger("sexton.homes")


def reachable(record: HomeRecord, listed: tuple[HomeSetting, ...]) -> HomeSetting | None:
    """How to open a known home here; None for the native one and those of other hosts."""
    if record.path is None or record.host != host():
        return None
    path = Path(record.path)
    return listed_at(path, listed) or HomeSetting(
        path=path, name=record.name, kind=record.kind, act=record.act
    )


def listed_at(path: Path, listed: tuple[HomeSetting, ...]) -> HomeSetting | None:
    """The home of the settings that is at a path."""
    return next((each for each in listed if each.path.expanduser().resolve() == path), None)


def everywhere(opened: Sexton) -> Estate:
    """What to work with so that every home of this machine is reached that the ledger knows.

    One that can not be read is left out.
    """
    listed = opened.settings.homes
    wanted = (reachable(each, listed) for each in opened.ledger.homes.all())
    found = []
    for setting in wanted:
        if setting is None or setting in listed:
            continue
        try:
            opened.attach(setting)
        except SextonError as trouble:
            log.debug("%s: %s", setting.name, trouble)
        else:
            found.append(setting)
    return opened.estate(found)


def reaching(opened: Sexton, names: Collection[str]) -> Estate:
    """What to work with so that these homes are reached, listed or not, as far as they are here."""
    listed = opened.settings.homes
    records = [each for each in opened.ledger.homes.all() if each.name in names]
    homes = [reachable(each, listed) for each in records]
    return opened.estate([each for each in homes if each is not None and each not in listed])
