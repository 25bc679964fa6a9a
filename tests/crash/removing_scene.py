"""A house whose sessions are put away and brought back by processes that are killed meanwhile."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from sexton.core.plan import ArchiveSession, Plan, TrashSession
from sexton.core.record import replace
from sexton.core.session import Session, State
from sexton.errors import VaultError
from sexton.keeper.apply import new_receipt
from sexton.retention.model import (
    AWAY,
    HERE,
    Holds,
    StoredMessage,
    VaultFile,
    VaultState,
    WantedFiles,
)
from sexton.retention.recover import recover
from sexton.retention.removal_context import Means
from sexton.sessions.model import Filter
from sexton.settings.settings_values import ArchiveSettings, Settings, TrashSettings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton

ALL = 100_000
MONTHS = timedelta(days=60)
EVERYTHING: Mapping[str, Any] = {"trivial_max": ALL}
LONG = 2500
"""Messages of a session whose messages do not go at once."""
HALF_WAY = ".sexton-"
"""How the names of files begin that are being removed or put back."""


class Truth(NamedTuple):
    """What there is of a session, wherever it is."""

    row: Mapping[str, Any]
    messages: list[StoredMessage]
    files: Mapping[str, bytes]


def settings(place: Path) -> Settings:
    """Where everything of a house is."""
    return Settings(
        archive=ArchiveSettings(directory=place / "vault"),
        trash=TrashSettings(grace=timedelta(0)),  # what came back may go again at once
    )


def furnish(url: str, place: Path, chance: random.Random) -> dict[str, Truth]:
    """Sessions that ended two months ago: short and long, with children, chains and files."""
    clock = ManualClock(datetime.now(UTC) - MONTHS)
    with Sexton(open_ledger(url), settings(place), clock=clock) as house, house.worker() as worker:
        means = means_of(house)
        ids: list[str] = []
        for number in range(12):
            parent = chance.choice(ids) if ids and chance.random() < 0.4 else None
            session = worker.session(None, source="chat", parent=parent)
            said = LONG if number == 3 else chance.randrange(5)
            session.append_many(_said(chance, said))
            if number == 5:
                session.append_many(_said(chance, 12))
                ids.append(session.id)
                session.compress(lambda _: "in short", keep_tail=2)
            session.end()
            ids.append(session.id)
        for id in chance.sample(ids, 3):
            directory = means.files["native"].directory(id)  # type: ignore[attr-defined]
            for number in range(2):
                (directory / f"{number}.bin").write_bytes(chance.randbytes(5000))
    with Sexton(open_ledger(url), settings(place)) as house:
        return truth(house)


def _said(chance: random.Random, count: int) -> list[dict[str, Any]]:
    return [{"role": "user", "content": f"{chance.random()} \ud800 \0"} for _ in range(count)]


def means_of(house: Sexton) -> Means:
    """What a house removes with."""
    found = house.estate().removing
    assert found is not None
    return found


def truth(house: Sexton) -> dict[str, Truth]:
    """All there is of every session, where it is now."""
    return {each.id: _truth(house, each) for each in sessions(house)}


def sessions(house: Sexton) -> list[Session]:
    return house.ledger.index.page(Filter(), None, ALL)


def _truth(house: Sexton, session: Session) -> Truth:
    stored = json.loads(house.ledger.removable.rows([session.ref])[session.ref].row)
    row = {name: value for name, value in stored.items() if name not in ("state", "vault")}
    if session.state in HERE:
        said = house.ledger.removable.messages([session.ref]).get(session.ref, [])
        return Truth(row, said, _files(house, session.id))
    means = means_of(house)
    file = house.ledger.vault.of_session(session.ref)
    assert file is not None, f"{session.id} is {session.state} and nowhere"
    try:
        means.vault.verify(file.name, file.written)
    except VaultError as trouble:
        raise AssertionError(f"{session.id} is lost: {trouble}") from None
    for content in means.vault.read(file.name, file.written)[1]:
        if content.row["id"] == session.id:
            said = list(content.messages)
            files = {"/".join(each.path): b"".join(each.chunks()) for each in content.files}
            return Truth(row, said, files)
    raise AssertionError(f"{session.id} is not in {file.name}")


def _files(house: Sexton, id: str) -> dict[str, bytes]:
    """The files of a session that is here: in their place, or put away by themselves."""
    files = means_of(house).files["native"]
    owner = files.owner(id)
    found = files.of([owner]).get(owner)
    contents = found.contents if found else ()
    here = {"/".join(each.path): b"".join(each.chunks()) for each in contents}
    away = _put_away(house, owner)
    left = {name: data for name, data in here.items() if not name.startswith(HALF_WAY)}
    assert all(away.get(name, data) == data for name, data in left.items())
    return away | left


def _put_away(house: Sexton, owner: str) -> dict[str, bytes]:
    """The files of a session in copies that hold nothing else."""
    vault = means_of(house).vault
    found: dict[str, bytes] = {}
    for file in _copies(house):
        for content in vault.read(file.name, file.written)[1]:
            if content.owner == owner:
                found |= {"/".join(each.path): b"".join(each.chunks()) for each in content.files}
    return found


def _copies(house: Sexton) -> list[VaultFile]:
    return [
        each
        for each in house.ledger.vault.page(WantedFiles(), 0, ALL)
        if each.holds is Holds.FILES
        if each.state in (VaultState.CLEARING, VaultState.KEPT, VaultState.RESTORING)
    ]


def check(house: Sexton, known: Mapping[str, Truth], *, purging: bool = False) -> None:
    """Every session is in exactly one place, with all that belongs to it."""
    for each in sessions(house):
        if each.state is State.PURGED:
            assert purging, f"{each.id} was purged"
            assert house.ledger.vault.of_session(each.ref) is None
        else:
            assert _truth(house, each) == known[each.id], f"{each.id} is not as it was"


def check_tidy(house: Sexton) -> None:
    """Nothing half done is left, and no file that nobody knows."""
    means = means_of(house)
    rows = house.ledger.vault.page(WantedFiles(), 0, ALL)
    assert {each.state for each in rows} <= {VaultState.KEPT}
    names = sorted(name for name, _ in means.vault.names())
    assert names == sorted(each.name for each in rows)
    listed = sorted(os.listdir(means.place)) if os.path.exists(means.place) else []
    assert listed == names
    away = {each.id: each.ref for each in sessions(house) if each.state in AWAY}
    assert house.ledger.removable.messages(list(away.values())) == {}
    files = means.files["native"]
    owners = {files.owner(id) for id in away}
    found = list(files.scan())
    assert not [each for each in found if each.owner in owners]
    assert not [each for each in found if each.path[-1].startswith(HALF_WAY)]
    for file in _copies(house):
        copied = {each.owner for each in means.vault.read(file.name, file.written)[1]}
        assert not [each for each in found if each.owner in copied]


def mend(house: Sexton) -> int:
    """Complete what the dead began."""
    estate = house.estate()
    assert estate.removing is not None
    return recover(estate.removing, estate.evidence, new_receipt())


def archiving(house: Sexton) -> Plan:
    """A plan to archive everything, each session with what belongs to it in a file."""
    plan = house.plan(gc=EVERYTHING)
    actions = []
    for action in plan.actions:
        assert isinstance(action, TrashSession)
        actions.append(
            ArchiveSession(
                seen=action.seen,
                reason=action.reason,
                source=action.source,
                size=action.size,
                conversation=action.conversation,
                tree=action.conversation,
            )
        )
    return replace(plan, actions=tuple(actions))
