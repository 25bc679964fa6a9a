"""Garbage goes into the trash, and nothing else does; what went comes back as it was."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

import pytest

from sexton.core.plan import ArchiveSession, Plan, Reason, Result, TrashSession
from sexton.core.record import replace
from sexton.core.session import Relation, State
from sexton.errors import NothingToUndo, SessionRemoved, VaultDamaged, VaultMissing, VaultOutdated
from sexton.finalizers.policy import Owing
from sexton.keeper.apply import apply
from sexton.keeper.plan_file import read_plan, write_plan
from sexton.retention.garbage import Collection
from sexton.retention.model import VaultState, WantedFiles
from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import HomeSetting
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from sexton.wiring.removal_wiring import read_removed
from tests.golden import golden
from tests.scenario.collecting_scene import DAY, House, going, results
from tests.scenario.hermes_home import HermesScene

DONE, SKIPPED, RECORDED = Result.DONE, Result.SKIPPED, Result.RECORDED


@pytest.fixture
def house(engine_url: str, tmp_path: Path) -> Iterator[House]:
    made = House(engine_url, tmp_path)
    yield made
    made.sexton.close()


def test_what_is_empty_or_trivial_and_old_goes_and_the_rest_stays(house: House) -> None:
    empty, trivial, long = house.over(0), house.over(5), house.over(6)
    house.later(2)
    young = house.over(1)
    assert going(house.sexton.plan(gc=True)) == {empty}
    house.later(5)
    receipt, outcomes = house.collect()
    assert results(outcomes) == {DONE: 2}
    states = house.states()
    assert {id for id, state in states.items() if state is State.TRASHED} == {empty, trivial}
    assert states[long] is states[young] is State.ENDED
    assert len(house.sexton.ledger.journal.page(None, receipt, None, 10)) == 2
    assert len(house.copies()) == 1


def test_age_counts_from_the_last_activity_not_from_the_start(house: House) -> None:
    with house.opened(1, "talk") as session:
        house.later(90)
        session.append(role="user", content="again")
        session.end()
    house.later(6)
    assert going(house.sexton.plan(gc=True)) == set()


def test_open_pinned_and_unfinalized_sessions_stay_and_the_plan_says_why(
    engine_url: str, tmp_path: Path
) -> None:
    house = House(engine_url, tmp_path, rulebook=Rulebook(finalizers=(Owing(name="memory"),)))
    owing, pinned = house.over(1), house.over(0)
    house.sexton.ledger.book.mark(house.sexton.find(pinned).ref, pinned=True)
    with house.opened(0) as session:
        house.later()
        plan = house.sexton.plan(gc=True)
        assert plan.actions == ()
        held = {each.seen.id: each.holding.code for each in plan.held}
        assert held == {owing: "unfinalized", pinned: "pinned"}
        assert house.state(session.id) is State.OPEN
    house.sexton.close()


def test_a_substantial_child_outlives_its_parent_and_lineage_stays_whole(house: House) -> None:
    parent = house.over(1)
    child = house.over(50, parent=parent, relation="subagent")
    grandchild = house.over(2, parent=child, relation="branch")
    house.later()
    assert results(house.collect()[1]) == {DONE: 2}
    assert house.state(child) is State.ENDED
    tombstone = house.sexton.find(parent)
    assert (tombstone.state, tombstone.message_count) == (State.TRASHED, 1)
    assert house.sexton.find(child).parent == parent
    assert house.sexton.find(grandchild).parent == child


def test_a_parent_stays_while_a_child_is_open(house: House) -> None:
    parent = house.over(1)
    with house.opened(1, parent=parent):
        house.later()
        plan = house.sexton.plan(gc=True)
    assert plan.actions == ()
    assert [each.holding.code for each in plan.held] == ["open_child"]


def compressed(house: House) -> tuple[str, str]:
    """A conversation that was compressed once, of two sessions with twelve messages each."""
    with house.sexton.worker() as worker:
        session = worker.session("talk", source="chat")
        first = session.id
        session.append_many([{"role": "user", "content": f"{n}"} for n in range(12)])
        session.compress(lambda _: "in short", keep_tail=2)
        session.end()
        return first, session.id


def test_a_compressed_conversation_goes_as_one_or_not_at_all(house: House) -> None:
    first, second = compressed(house)
    house.later()
    assert house.sexton.plan(gc=True).actions == ()
    plan = house.sexton.plan(gc={"trivial_max": 100})
    assert going(plan) == {first, second}
    house.sexton.ledger.book.mark(house.sexton.find(first).ref, pinned=True)
    assert results(house.sexton.apply(plan)) == {SKIPPED: 2}
    house.sexton.ledger.book.mark(house.sexton.find(first).ref, pinned=False)
    assert results(house.sexton.apply(plan)) == {DONE: 2}
    assert len(house.copies()) == 1


def test_only_one_source_goes_if_only_one_is_asked_for(house: House) -> None:
    chat, cron = house.over(1), house.over(1, source="cron")
    house.later()
    assert going(house.sexton.plan(gc={"source": "cron"})) == {cron}
    assert going(house.sexton.plan(gc=Collection(source="chat"))) == {chat}


def test_a_session_that_was_used_between_plan_and_apply_is_left_alone(
    engine_url: str, tmp_path: Path
) -> None:
    house = House(engine_url, tmp_path)
    pinned, other = house.over(1), house.over(1)
    house.later()
    plan = house.sexton.plan(gc=True)
    house.sexton.ledger.book.mark(house.sexton.find(pinned).ref, pinned=True)
    ledger = house.sexton.ledger
    written = write_plan(plan, ledger.plan_key())
    outcomes = house.sexton.apply(read_plan(written, ledger.id, ledger.plan_key()))
    assert {each.action.seen.id: each.result for each in outcomes} == {pinned: SKIPPED, other: DONE}
    [skipped] = [each for each in outcomes if each.result is SKIPPED]
    golden("outcomes", "skipped: pinned meanwhile", skipped.detail)
    assert len(house.everything()[pinned][2]) == 1
    house.sexton.close()


def test_a_session_that_was_revived_between_plan_and_apply_is_left_alone(house: House) -> None:
    with house.opened(1, "talk") as session:
        found = house.sexton.find(session.id)
        house.sexton.ledger.book.end_now(found, "reaped:test", house.clock.now())
        house.later()
        plan = house.sexton.plan(gc=True)
        assert going(plan) == {session.id}
        session.revive()
        [outcome] = house.sexton.apply(plan)
        assert outcome.result is SKIPPED
        golden("outcomes", "skipped: open again", outcome.detail)
        session.append(role="user", content="still here")
        assert house.copies() == []


def test_the_same_plan_applied_again_does_nothing_more(house: House) -> None:
    house.over(1)
    house.later()
    plan = house.sexton.plan(gc=True)
    assert results(house.sexton.apply(plan)) == {DONE: 1}
    [outcome] = house.sexton.apply(plan)
    assert outcome.result is SKIPPED
    golden("outcomes", "skipped: trashed already", outcome.detail)
    assert len(house.copies()) == 1


def test_two_collectors_at_once_remove_each_session_once(engine_url: str, tmp_path: Path) -> None:
    house = House(engine_url, tmp_path)
    for number in range(60):
        house.over(number % 5)
    house.later()
    before = house.everything()
    plan = house.sexton.plan(gc=True)
    others = [Sexton(open_ledger(engine_url), house.sexton.settings, clock=house.clock)]
    others.append(house.sexton)
    found: list[Result] = []
    threads = [
        Thread(
            target=lambda each=each: found.extend(o.result for o in each.apply(plan, f"{id(each)}"))
        )
        for each in others
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [DONE] * 60 + [SKIPPED] * 60
    files = [file for each in others for file in each.ledger.vault.of_receipt(f"{id(each)}")]
    assert len(files) == len(house.copies())
    assert {file.state for file in files} == {VaultState.KEPT}
    for each in others:
        if each.ledger.vault.of_receipt(f"{id(each)}"):
            each.undo(f"{id(each)}")
    assert house.everything() == before
    others[0].close()
    house.sexton.close()


def test_an_undo_brings_back_everything_as_it_was_with_children_and_files(house: House) -> None:
    parent = house.over(3, "talk", title="a title")
    child = house.over(2, parent=parent, relation="subagent")
    stays = house.over(50, parent=parent)
    file = house.files.directory(child) / "notes" / "a.bin"
    file.parent.mkdir()
    file.write_bytes(os.urandom(100_000))
    content, stamp = file.read_bytes(), file.stat().st_mtime_ns
    house.later()
    before = house.everything()
    receipt, outcomes = house.collect()
    assert results(outcomes) == {DONE: 2}
    assert not file.exists()
    back = house.sexton.undo(receipt)
    assert [(each.sessions, each.left, each.files) for each in back] == [(2, 0, 1)]
    assert house.everything() == before
    assert (file.read_bytes(), file.stat().st_mtime_ns) == (content, stamp)
    assert house.copies() == []
    assert house.sexton.ledger.vault.of_receipt(receipt) == []
    assert house.state(stays) is State.ENDED


def test_any_text_comes_back_exactly(house: House) -> None:
    with house.sexton.worker() as worker:
        session = worker.session(None, source="chat")
        contents = ["\0", "\ud800", 'a\nb\\"', {"a": [1, None]}, None, "💥" * 3]
        for content in contents:
            session.append(role="user", content=content)
        session.end()
    house.later()
    receipt, _ = house.collect(trivial_max=10)
    house.sexton.undo(receipt)
    assert [each.content for each in session.messages()] == contents


def test_a_removed_session_says_where_it_is(house: House) -> None:
    with house.opened(2, "talk") as session:
        session.end()
        house.later()
        receipt, _ = house.collect()
        with pytest.raises(SessionRemoved) as refused:
            list(session.messages())
        assert f"sexton undo {receipt}" in refused.value.hint
        with pytest.raises(SessionRemoved):
            house.sexton.worker().resume(session.id)
        with pytest.raises(SessionRemoved):
            session.append(role="user", content="more")


def test_trash_is_emptied_by_a_keeper_after_its_grace_and_not_before(house: House) -> None:
    garbage = house.over(2, title="a secret")
    house.later()
    receipt, _ = house.collect()
    house.later(6.9)
    house.sexton.sweep()
    assert house.state(garbage) is State.TRASHED
    house.later(0.2)
    house.sexton.sweep()
    purged = house.sexton.find(garbage)
    assert (purged.state, purged.title, purged.message_count) == (State.PURGED, None, 2)
    assert house.copies() == []
    with pytest.raises(NothingToUndo):
        house.sexton.undo(receipt)


def test_a_wall_clock_that_jumps_does_not_empty_the_trash(house: House) -> None:
    garbage = house.over(1)
    house.later()
    house.collect()
    house.clock.set(house.clock.now() + 30 * DAY)
    house.sexton.sweep()
    assert house.state(garbage) is State.TRASHED


def test_a_pin_keeps_what_is_in_the_trash(house: House) -> None:
    garbage = house.over(1)
    house.later()
    house.collect()
    house.sexton.ledger.book.mark(house.sexton.find(garbage).ref, pinned=True)
    house.later(30)
    house.sexton.sweep()
    assert house.state(garbage) is State.TRASHED
    assert len(house.copies()) == 1


def test_without_the_vaults_directory_nothing_is_removed(house: House) -> None:
    first = house.over(1)
    house.later()
    receipt, _ = house.collect()
    away = house.vault.rename(house.vault.with_name("away"))
    second = house.over(1)
    house.later()
    with pytest.raises(VaultMissing):
        house.sexton.apply(house.sexton.plan(gc=True))
    assert house.state(second) is State.ENDED
    assert len(house.sexton.ledger.vault.page(WantedFiles(), 0, 9)) == 1  # nothing is half begun
    with pytest.raises(VaultMissing):
        house.sexton.undo(receipt)
    assert house.state(first) is State.TRASHED
    away.rename(house.vault)
    assert house.sexton.undo(receipt)[0].sessions == 1


def test_a_vault_that_moved_with_its_settings_is_found_again(
    engine_url: str, tmp_path: Path
) -> None:
    house = House(engine_url, tmp_path)
    garbage = house.over(1)
    house.later()
    receipt, _ = house.collect()
    elsewhere = tmp_path / "elsewhere"
    settings = replace(
        house.sexton.settings, archive=replace(house.sexton.settings.archive, directory=elsewhere)
    )
    moved = Sexton(open_ledger(engine_url), settings, clock=house.clock)
    assert moved.undo(receipt)[0].sessions == 1  # where it was written
    receipt, _ = house.collect()
    shutil.move(house.vault, elsewhere)
    assert moved.undo(receipt)[0].sessions == 1  # where the settings say it is now
    assert house.state(garbage) is State.ENDED
    moved.close()
    house.sexton.close()


def test_a_damaged_copy_is_refused_and_the_trash_stays_as_it_is(house: House) -> None:
    garbage = house.over(1)
    house.later()
    receipt, _ = house.collect()
    [name] = house.copies()
    copy = house.vault / name
    copy.write_bytes(copy.read_bytes()[:-1] + b"x")
    with pytest.raises(VaultDamaged):
        house.sexton.undo(receipt)
    [file] = house.sexton.ledger.vault.of_receipt(receipt)
    assert file.state is VaultState.KEPT
    assert house.state(garbage) is State.TRASHED


def test_a_copy_of_a_newer_sexton_is_not_restored_but_given_out(
    engine_url: str, tmp_path: Path
) -> None:
    house = House(engine_url, tmp_path)
    garbage = house.over(2)
    house.later()
    receipt, _ = house.collect()
    older = replace(house.sexton.ledger, schema=house.sexton.ledger.schema - 1)
    with pytest.raises(VaultOutdated) as refused:
        Sexton(older, house.sexton.settings, clock=house.clock).undo(receipt)
    exported = Path(str(refused.value).rpartition(" ")[2])
    assert exported.stat().st_mode & 0o777 == 0o600
    assert "word 1" in exported.read_text()
    assert house.state(garbage) is State.TRASHED
    house.sexton.close()


def test_a_session_with_a_file_that_can_not_be_put_away_stays(house: House) -> None:
    linked, other = house.over(1), house.over(1)
    (house.files.directory(linked) / "link").symlink_to("/etc/passwd")
    house.later()
    outcomes = {each.action.seen.id: each for each in house.collect()[1]}
    assert (outcomes[linked].result, outcomes[other].result) == (SKIPPED, DONE)
    assert "'link'" in outcomes[linked].detail


def test_archived_sessions_share_a_file_by_tree_and_their_work_can_still_be_done(
    engine_url: str, tmp_path: Path
) -> None:
    house = House(engine_url, tmp_path)
    parent = house.over(3)
    child = house.over(2, parent=parent, relation="subagent")
    alone = house.over(4)
    house.later()
    plan = archiving(house, [parent, child], [alone])
    assert results(house.sexton.apply(plan, "archived")) == {DONE: 3}
    assert len(house.copies()) == 2
    assert {house.state(id) for id in (parent, child, alone)} == {State.ARCHIVED}
    house.later(1000)
    house.sexton.sweep()
    assert house.state(alone) is State.ARCHIVED
    back = house.sexton.undo("archived")
    assert sorted(each.sessions for each in back) == [1, 2]
    house.sexton.close()


def archiving(house: House, *trees: list[str]) -> Plan:
    """A plan to archive sessions, those of a tree together."""
    plan = house.sexton.plan(gc={"trivial_max": 10})
    known = {each.seen.id: each for each in plan.actions}
    actions = []
    for tree in trees:
        for id in tree:
            found = known[id]
            assert isinstance(found, TrashSession)
            actions.append(
                ArchiveSession(
                    seen=found.seen,
                    reason=Reason("asked", "asked for"),
                    source=found.source,
                    size=found.size,
                    tree=tree[0],
                )
            )
    return replace(plan, actions=tuple(actions))


def test_a_keeper_does_not_collect_in_a_hermes_home_that_is_only_observed(
    scene: HermesScene, tmp_path: Path
) -> None:
    scene.start("trivial")
    scene.say("trivial", "hello")
    scene.end("trivial")
    scene.start("open")
    house = House(f"sqlite:///{tmp_path / 'ledger.db'}", tmp_path)
    house.clock.set(datetime.now(UTC))
    house.sexton.settings = replace(
        house.sexton.settings, homes=(HomeSetting(path=scene.path, name="work"),)
    )
    house.sexton.sweep()
    house.later()
    plan = house.sexton.plan("work", gc=True)
    assert going(plan) == {"trivial"}
    before = scene.sql("SELECT * FROM messages")
    estate = house.sexton.estate()
    assert estate.removing is not None
    alone = dataclasses.replace(
        estate, removing=dataclasses.replace(estate.removing, unattended=True)
    )
    assert results(list(apply(alone, plan, "receipt"))) == {RECORDED: 1}
    assert house.state("work/trivial") is State.ENDED
    assert scene.sql("SELECT * FROM messages") == before
    allowed = house.sexton.apply(plan, observed=True)
    assert results(allowed) == {DONE: 1}, "but at a person's word"
    assert house.state("work/trivial") is State.TRASHED
    assert scene.sql("SELECT * FROM messages") == []
    house.sexton.close()


def test_work_of_an_archived_session_reads_the_archive(engine_url: str, tmp_path: Path) -> None:
    house = House(engine_url, tmp_path)
    id = house.over(3)
    house.later()
    house.sexton.apply(archiving(house, [id]))
    found = read_removed(house.sexton, house.sexton.find(id), 1, 3)
    assert [(each.seq, each.content) for each in found] == [(2, "word 1"), (3, "word 2")]
    house.sexton.close()


def test_relations_are_all_known_to_the_plan(house: House) -> None:
    parent = house.over(1)
    children = [house.over(1, parent=parent, relation=each.value) for each in Relation]
    house.later()
    assert going(house.sexton.plan(gc=True)) == {parent, *children}
