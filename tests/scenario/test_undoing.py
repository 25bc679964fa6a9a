"""What was removed comes back whole, whoever else is at it and whatever became of its copies."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from sexton.core.plan import Result
from sexton.core.record import replace as changed
from sexton.core.session import NATIVE, State
from sexton.errors import LedgerUnreachable, VaultBusy, VaultDamaged, VaultError, VaultMissing
from sexton.keeper.apply import apply
from sexton.retention.files.own_directories import OwnFiles
from sexton.retention.model import FileContent, Intent, Release, VaultKind
from sexton.retention.purge import empty, empty_expired
from sexton.retention.recover import recover
from sexton.retention.store import LedgerRemoval
from sexton.retention.undo import files_to_undo, removed_with, undo
from sexton.retention.vault.directory import FileVault
from sexton.settings.loader import load
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from tests.crash.checking import tell
from tests.scenario.collecting_scene import House


@pytest.fixture
def house(engine_url: str, tmp_path: Path) -> Iterator[House]:
    made = House(engine_url, tmp_path)
    yield made
    made.sexton.close()


class Interrupted(OwnFiles):
    """Files that somebody wants back while they are on their way out."""

    def __init__(self, house: House, url: str) -> None:
        super().__init__(house.files.place, NATIVE)
        self._house = house
        self._url = url
        self.refused: list[VaultBusy] = []

    def remove(self, seen: Mapping[str, Sequence[FileContent]]) -> int:
        settings, clock = self._house.sexton.settings, self._house.clock
        with Sexton(open_ledger(self._url), settings, clock=clock) as other:
            try:
                other.undo("receipt")
            except VaultBusy as refused:
                self.refused.append(refused)
        return super().remove(seen)


def test_nothing_is_brought_back_while_it_is_still_on_its_way_out(
    house: House, engine_url: str
) -> None:
    id = house.over(2)
    file = house.files.directory(id) / "notes.txt"
    file.write_text("important")
    house.later()
    before = house.everything()
    files = Interrupted(house, engine_url)
    estate = house.sexton.estate()
    means = replace(house.means, files={NATIVE: files})
    plan = house.sexton.plan(gc=True)
    assert len(list(apply(replace(estate, removing=means), plan, "receipt"))) == 1
    assert len(files.refused) == 1
    assert (house.state(id), file.exists()) == (State.TRASHED, False)
    assert house.sexton.undo("receipt")[0].files == 1
    assert (house.everything(), file.read_text()) == (before, "important")


class Stuck(OwnFiles):
    """Files that can not be removed."""

    def remove(self, seen: Mapping[str, Sequence[FileContent]]) -> int:
        raise VaultError(f"the files of {len(seen)} sessions can not be removed")


def test_what_can_not_be_removed_to_the_end_can_still_be_brought_back(house: House) -> None:
    id = house.over(1)
    (house.files.directory(id) / "notes.txt").write_text("important")
    house.later()
    before, plan = house.everything(), house.sexton.plan(gc=True)
    means = replace(house.means, files={NATIVE: Stuck(house.files.place, NATIVE)})
    estate = replace(house.sexton.estate(), removing=means)
    with pytest.raises(VaultError):
        list(apply(estate, plan, "receipt"))
    assert recover(means, estate.evidence, "again") == 0
    [back] = undo(means, files_to_undo(means, "receipt"), "back")
    assert (back.sessions, back.trouble, house.everything()) == (1, None, before)


class Unconfirmed:
    """A ledger that lets files go and does not live to say so."""

    def __init__(self, removal: LedgerRemoval) -> None:
        self._removal = removal

    def __getattr__(self, name: str) -> Any:
        return getattr(self._removal, name)

    def release(self, release: Release, now: datetime) -> None:
        self._removal.release(release, now)
        raise LedgerUnreachable("the ledger does not answer")


def test_if_it_is_not_known_whether_files_may_go_their_copy_stays(house: House) -> None:
    id = house.over(9)
    file = house.files.directory(id) / "notes.txt"
    file.write_text("important")
    house.later()
    plan = house.sexton.plan()
    ledger = house.sexton.ledger
    unsure: Any = Unconfirmed(ledger.removal)
    means = replace(house.means, ledger=changed(ledger, removal=unsure))
    with pytest.raises(LedgerUnreachable):
        list(apply(replace(house.sexton.estate(), removing=means), plan, "receipt"))
    assert (file.exists(), len(house.copies())) == (True, 1)
    house.sexton.sweep()
    assert (file.exists(), len(house.copies())) == (False, 1)
    house.sexton.undo("receipt")
    assert (file.read_text(), house.copies()) == ("important", [])


class Stubborn(FileVault):
    """A vault from which nothing can be removed."""

    def remove(self, name: str) -> None:
        raise VaultError(f"{name} can not be removed")


def test_it_is_told_once_that_a_file_waits_for_its_disk(
    house: House, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    house.over(1)
    house.later()
    house.collect()
    house.vault.rename(tmp_path / "unmounted")
    house.later()
    with caplog.at_level(logging.WARNING, "sexton.removing"):
        for _ in range(3):
            house.sexton.sweep()
    assert len([each for each in caplog.messages if "waits" in each]) == 1
    (tmp_path / "unmounted").rename(house.vault)
    house.sexton.sweep()
    assert house.copies() == []


def test_what_came_back_is_told_also_if_its_copy_can_not_be_removed(house: House) -> None:
    id = house.over(1)
    house.later()
    receipt, _ = house.collect()
    files = house.sexton.ledger.vault.of_receipt(receipt)
    means = replace(house.means, vault=Stubborn(house.vault))
    [back] = undo(means, files, "again")
    assert (back.sessions, back.trouble, house.state(id)) == (1, None, State.ENDED)
    house.sexton.sweep()
    assert house.copies() == []


def test_a_damaged_copy_keeps_none_of_the_others_from_coming_back(house: House) -> None:
    ids = {source: house.over(1, source=source) for source in ("a", "b", "c")}
    house.later()
    receipt, _ = house.collect()
    files = {each.source: each for each in house.sexton.ledger.vault.of_receipt(receipt)}
    (house.vault / files["a"].name).write_bytes(b"rubbish")
    with pytest.raises(VaultDamaged):
        house.sexton.undo(receipt)
    states = {source: house.state(id) for source, id in ids.items()}
    assert states == {"a": State.TRASHED, "b": State.ENDED, "c": State.ENDED}


def test_a_vault_that_vanished_is_not_made_anew_however_many_files_lie_elsewhere(
    house: House, engine_url: str, tmp_path: Path
) -> None:
    far = [Intent(**FAR, name=f"{number}") for number in range(101)]
    for each in far:
        house.sexton.ledger.removal.intend(each, house.clock.now())
    house.over(1)
    house.later()
    house.collect()
    house.vault.rename(tmp_path / "unmounted")
    house.over(1)
    house.later()
    with Sexton(open_ledger(engine_url), house.sexton.settings, clock=house.clock) as other:
        plan = other.plan(gc=True)
        with pytest.raises(VaultMissing):
            other.apply(plan)
    assert not house.vault.exists()


def test_nothing_in_the_trash_is_given_up_while_its_vault_is_away(
    house: House, tmp_path: Path
) -> None:
    id = house.over(1)
    house.later()
    receipt, _ = house.collect()
    house.vault.rename(tmp_path / "unmounted")
    files = house.sexton.ledger.vault.of_receipt(receipt)
    house.later(days=30)
    assert empty_expired(house.means, "receipt") == 0
    with pytest.raises(VaultMissing):
        list(empty(house.means, files, "receipt"))
    assert house.state(id) is State.TRASHED
    (tmp_path / "unmounted").rename(house.vault)
    house.sexton.undo(receipt)
    assert house.state(id) is State.ENDED


FAR: Mapping[str, Any] = {
    "kind": VaultKind.ARCHIVE,
    "home": NATIVE,
    "source": "chat",
    "host": "far away",
    "place": "/far",
    "worker": "somebody",
    "receipt": "another",
}


def test_a_machine_that_got_another_name_still_has_its_trash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    house = House(url, tmp_path)
    [first, second] = [house.over(1, source=each) for each in ("chat", "cron")]
    house.later()
    receipt, _ = house.collect()
    house.sexton.close()
    monkeypatch.setattr("sexton.wiring.removal_wiring.host", lambda: "renamed")
    renamed = Sexton(open_ledger(url), house.sexton.settings, clock=house.clock)
    [chat, _] = renamed.ledger.vault.of_receipt(receipt)
    means = renamed.estate().removing
    assert means is not None
    [back] = undo(means, [chat], "again")
    assert (back.trouble, renamed.find(first).state) == (None, State.ENDED)
    house.later()
    renamed.sweep()
    assert renamed.find(second).state is State.PURGED
    renamed.close()


def test_empty_directories_go_and_come_back_as_well(house: House) -> None:
    deep, bare = house.over(1), house.over(1)
    (house.files.directory(deep) / "out" / "by day").mkdir(parents=True)
    (house.files.directory(deep) / "notes.txt").write_text("a note")
    house.files.directory(bare)
    before = listing(house)
    house.later()
    receipt, _ = house.collect()
    assert listing(house) == []
    house.sexton.undo(receipt)
    assert listing(house) == before
    house.later()
    receipt = house.sexton.sweep().receipt  # the files alone are old enough, too
    assert [each for each in listing(house) if house.files.owner(deep) in each] == []
    house.sexton.undo(receipt)
    assert listing(house) == before


def listing(house: House) -> list[str]:
    return sorted(str(each) for each in house.files.place.rglob("*"))


def test_a_session_whose_row_does_not_tell_how_much_was_said_in_it_stays(
    house: House, engine_url: str
) -> None:
    id = house.over(9)
    tell(engine_url, f"UPDATE sessions SET message_count = 1 WHERE id = '{id}'")
    house.later()
    [outcome] = house.collect()[1]
    assert (outcome.result, house.state(id)) == (Result.SKIPPED, State.ENDED)
    assert (len(house.everything()[id][2]), house.copies()) == (9, [])


STRANGE = ("../../etc/passwd", "/", "..", "a*b?[c]", "x" * 4096, "-rf", " ", "é\u202e\n", "%00")


def test_whatever_ids_look_like_each_session_comes_back_as_itself(
    house: House, engine_url: str
) -> None:
    for strange in STRANGE:
        quoted = strange.replace("'", "''")
        tell(engine_url, f"UPDATE sessions SET id = '{quoted}' WHERE id = '{house.over(1)}'")
        (house.files.directory(strange) / "own.txt").write_text(strange)
    house.later()
    before = house.everything()
    receipt, outcomes = house.collect()
    assert ({each.action.seen.id for each in outcomes}, listing(house)) == (set(STRANGE), [])
    house.sexton.undo(receipt)
    assert house.everything() == before
    for strange in STRANGE:
        assert (house.files.directory(strange) / "own.txt").read_text() == strange


ARCHIVING = "retention: {classes: [{sources: [cron, sub], rows: archive, rows_max_age: 30d}]}"


@pytest.fixture
def archiving(engine_url: str, tmp_path: Path) -> Iterator[House]:
    """A house where cron sessions and what they start are archived after a month."""
    file = tmp_path / "sexton.yaml"
    file.write_text(ARCHIVING)
    made = House(engine_url, tmp_path, rulebook=load(file, {}).rulebook)
    made.over(source="chat")
    yield made
    made.sexton.close()


def test_a_tree_that_is_archived_together_is_in_one_file(archiving: House) -> None:
    parent = archiving.over(3, source="cron")
    child = archiving.over(9, source="sub", parent=parent, relation="subagent")
    grandchild = archiving.over(1, source="sub", parent=child, relation="subagent")
    alone = archiving.over(2, source="cron")
    archiving.later(31)
    archiving.sexton.sweep()
    files = {id: file_of(archiving, id) for id in (parent, child, grandchild, alone)}
    assert files[parent] == files[child] == files[grandchild] != files[alone]
    assert len(archiving.copies()) == 2


def test_a_session_is_restored_with_its_children_wherever_they_are(archiving: House) -> None:
    parent = archiving.over(3, source="cron")
    archiving.later(10)
    child = archiving.over(9, source="sub", parent=parent, relation="subagent")
    other = archiving.over(1, source="cron")
    before = archiving.everything()
    archiving.later(25)
    archiving.sexton.sweep()
    archiving.later(10)
    archiving.sexton.sweep()
    assert len({file_of(archiving, id) for id in (parent, child, other)}) == 3
    files, wanted = removed_with(archiving.sexton.ledger, archiving.sexton.find(parent))
    back = list(undo(archiving.means, files, "back", wanted))
    assert [(each.sessions, each.left) for each in back] == [(1, 0), (1, 0)]
    after = archiving.everything()
    assert {id: after[id] for id in (parent, child)} == {id: before[id] for id in (parent, child)}
    assert archiving.state(other) is State.ARCHIVED


def test_one_session_comes_back_from_the_trash_and_the_others_stay_there(house: House) -> None:
    wanted, other = house.over(2), house.over(1)
    house.later()
    receipt, _ = house.collect()
    files, refs = removed_with(house.sexton.ledger, house.sexton.find(wanted))
    [back] = undo(house.means, files, "back", refs)
    assert (back.sessions, back.left) == (1, 0)
    assert (house.state(wanted), house.state(other)) == (State.ENDED, State.TRASHED)
    assert house.sexton.undo(receipt)[0].sessions == 1


def file_of(house: House, id: str) -> str:
    found = house.sexton.ledger.vault.of_session(house.sexton.find(id).ref)
    assert found is not None
    return found.name
