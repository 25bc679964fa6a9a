"""Sessions of a real Hermes home are ended from outside, and Hermes goes on with them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace as changed
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sexton.core.plan import ReapSession, Reason, Result
from sexton.core.record import replace
from sexton.errors import HomeRefused, LedgerUnreachable, NothingToUndo
from sexton.homes.hermes.acting import TooLong, changing
from sexton.homes.hermes.findings.finding import Finding
from sexton.homes.hermes.hermes_ending import TOGETHER, Ending
from sexton.homes.hermes.holders import Census
from sexton.homes.hermes.home import HermesHome
from sexton.homes.hermes.ownership import Ownership
from sexton.keeper.apply import apply
from sexton.keeper.preconditions import as_seen
from sexton.keeper.propose import survey
from sexton.keeper.recheck import TAKEN_UP
from sexton.liveness.evidence import Verdict
from sexton.liveness.model import Worker
from sexton.liveness.standing import samples
from sexton.store.journal import Entry, Journal
from sexton.testing import ManualClock
from sexton.wiring.diagnosing import diagnose
from sexton.wiring.removal_wiring import undo_receipt
from sexton.wiring.visitor import visit
from tests.golden import golden
from tests.scenario.hermes_home import HermesScene, in_local_words
from tests.scenario.hermes_house import DAY, House, ends, is_sound, make_older, reasons
from tests.surface.visitor import visiting
from tests.unit.hermes_holding import holding, ticks

TALK = "agent:main:telegram:dm:7"


@pytest.fixture
def house(tmp_path: Path, scene: HermesScene) -> Iterator[House]:
    opened = House(f"sqlite:///{tmp_path / 'ledger.db'}", scene.path)
    yield opened
    opened.sexton.close()


def test_what_nobody_owns_is_reaped_and_a_conversation_is_not(
    house: House, scene: HermesScene
) -> None:
    scene.start("left")
    scene.say("left", "Good morning")
    scene.start("child", "subagent", parent_session_id="left")
    scene.start("talk", "telegram", session_key=TALK)
    scene.start("asked", "api_server")
    scene.start("over")
    scene.end("over")
    last = scene.sql("SELECT MAX(timestamp) FROM messages")[0][0]
    scene.close()
    house.clock.advance(timedelta(minutes=1))  # Hermes has a clock of its own
    done = house.swept()
    assert done == {"left": "done reaped:owner_gone", "child": "done reaped:owner_gone"}
    assert list(done) == ["child", "left"], "children first"
    assert ends(scene) == {
        "left": "reaped", "child": "reaped", "talk": None, "asked": None, "over": "cli_close",
    }  # fmt: skip
    ended = scene.sql("SELECT ended_at FROM sessions WHERE id = 'left'")[0][0]
    assert ended == pytest.approx(last, abs=1e-5)
    told = house.ledger.journal.page(house.session("left"), None, None, 10)
    assert [(each.action, each.result) for each in told] == [("reap", "done")]
    golden("journal", "reaped: its owner is gone", told[0].reason.text)
    assert (scene.path / "state.db-wal").stat().st_size, "the log is left to Hermes"
    assert house.swept() == {}
    assert house.session("left").end_reason == "reaped"
    assert is_sound(scene.database)


def test_what_is_about_to_be_reaped_is_named_before_and_told_when_it_is_done(
    house: House, scene: HermesScene
) -> None:
    names = [f"left-{number}" for number in range(TOGETHER + 2)]
    for name in names:
        scene.start(name)
    scene.close()
    assert house.swept().keys() == set(names)
    told = [each for each in house.ledger.journal.page(None, None, None, 500) if each.home]
    meant: set[str | None] = set()
    for each in reversed(told):
        if each.result == "intended":
            assert not meant, "the ones before are told of first"
            meant = set(each.sessions)
        else:
            meant.remove(each.session)
    assert not meant


def test_beside_an_unattributed_process_only_a_person_ends_what_is_suspect(
    house: House, scene: HermesScene
) -> None:
    scene.start("left")
    scene.start("recent")
    make_older(scene, DAY, "left")
    assert house.swept() == {}
    assert house.sexton.estate().owners("work")["left"].verdict is Verdict.SUSPECT
    counted = {each.name: each.value for each in house.ledger.gauges.since(house.clock.now() - DAY)}
    assert counted["suspect"] == 1, "as the overview counts them"
    with visiting(house.sexton) as visitor:
        told = visitor.fetch("/v1/overview")
        assert (told["suspect"], told["homes"][1]["suspect"], told["unproven"]) == (1, 1, 1)
        lines = visitor.fetch("/v1/history")["lines"]
        assert [lines[name][-1]["value"] for name in ("suspect", "unproven")] == [1, 1]
    plan = house.plan()
    assert reasons(plan) == {"left": "reaped:suspect"}, "the other one may well be its own"
    golden("plan", "a suspect beside a process of Hermes", plan.actions[0].reason.text)
    assert house.apply(plan) == {"left": "done"}
    assert ends(scene) == {"left": "reaped", "recent": None}
    scene.ask("reopen_session", "left")
    assert ends(scene)["left"] is None, "Hermes takes it up again as the same session"


def test_a_session_that_was_used_since_it_was_seen_is_left_alone(
    house: House, scene: HermesScene
) -> None:
    scene.start("left")
    scene.start("other")
    scene.close()
    plan = house.plan()
    scene.say("left", "I am back")
    scene.close()
    assert house.apply(plan) == {"left": "skipped", "other": "done"}
    assert ends(scene) == {"left": None, "other": "reaped"}


def test_whoever_comes_after_the_plan_keeps_everything_open(
    house: House, scene: HermesScene
) -> None:
    scene.start("left")
    scene.close()
    plan = house.plan()
    with holding(scene.database, "hermes_cli", []):
        assert house.apply(plan) == {"left": "skipped"}
    assert house.apply(plan) == {"left": "done"}


def test_a_terminal_that_opens_after_the_plan_keeps_a_large_chat_open(
    tmp_path: Path, scene: HermesScene
) -> None:
    """A keeper applies the plan of its own sweep, which may take minutes, without planning anew."""
    house = House(f"sqlite:///{tmp_path / 'ledger.db'}", scene.path, max_messages=3)
    with house.sexton:
        scene.start("talk", "telegram", session_key=TALK)
        for number in range(4):
            scene.say("talk", f"{number}")
        scene.close()
        house.clock.advance(timedelta(minutes=1))  # beyond what Hermes has written by its own clock
        house.observe()
        estate = house.sexton.estate()
        plan = survey(estate).plan
        assert reasons(plan) == {"talk": "max_messages"}
        with holding(scene.database, "hermes", ["--resume", "talk"]):
            (outcome,) = apply(estate, plan, "first", just_made=True)
            assert (outcome.result, outcome.detail) == (Result.SKIPPED, TAKEN_UP)
            assert ends(scene) == {"talk": None}
            scene.close()
        (outcome,) = apply(estate, plan, "second", just_made=True)
        assert outcome.result is Result.DONE
        assert ends(scene) == {"talk": "session_reset"}


def test_a_front_end_that_stays_open_holds_back_only_chats_that_may_be_used_in_it(
    tmp_path: Path, scene: HermesScene
) -> None:
    """Its gateway notes when a chat was used; what was said later was said somewhere else."""
    house = House(f"sqlite:///{tmp_path / 'ledger.db'}", scene.path, max_messages=1)
    used = house.clock.now() + timedelta(minutes=5)  # after what Hermes writes by its own clock
    for id, said in (("chat", used), ("taken", used + timedelta(minutes=10))):
        key = f"agent:main:telegram:dm:{id}"
        scene.start(id, "telegram", session_key=key)
        scene.say(id, "Good morning")
        scene.ask("append_message", id, "assistant", "Good morning")
        scene.sql("UPDATE messages SET timestamp = ? WHERE session_id = ?", said.timestamp(), id)
        route(scene, key, id, used)
    scene.close()
    house.clock.advance(timedelta(minutes=30))
    with house.sexton:
        with holding(scene.database, "hermes", ["dashboard"]) as server:
            plan = house.plan()
            assert reasons(plan) == {"chat": "max_messages"}
            (held,) = plan.held
            assert (held.seen.id, held.holding.code) == ("taken", "terminal")
            assert str(server.pid) in held.holding.text
            golden("plan", "a chat that may be open in a front end", held.holding.text)
            assert house.swept() == {"chat": "done max_messages"}
        with holding(scene.database, "hermes", ["chat", "-q", "Good morning"]):
            assert house.swept() == {"taken": "done max_messages"}


def route(scene: HermesScene, key: str, id: str, used: datetime) -> None:
    """Note, as a gateway does, which session a conversation is in and when it was last used."""
    entry = json.dumps({"session_id": id, "updated_at": in_local_words(used)})
    scene.sql("INSERT OR REPLACE INTO gateway_routing VALUES ('', ?, ?, 1)", key, entry)


def test_whoever_comes_in_the_last_moment_keeps_everything_open(
    house: House, scene: HermesScene
) -> None:
    """After the owners were judged, and before anything is written."""
    scene.start("left")
    scene.close()
    (reap,) = house.plan().actions
    assert isinstance(reap, ReapSession)
    entry = Entry(actor="test", receipt=None, action="reap", result="done", reason=reap.reason)
    with ExitStack() as coming:

        class Late(Ownership):
            def census(self, *, quick: bool = False) -> Census:
                if quick:
                    coming.enter_context(holding(scene.database, "hermes"))
                return super().census(quick=quick)

        late = Late(scene.path, scene.database, house.clock)
        ending = Ending("work", scene.database, late, house.clock, house.ledger.journal)
        assert ending.reap([(reap, entry)], house.clock.now()) == [False]
    assert ends(scene) == {"left": None}


def test_a_gateway_owns_no_row_of_the_command_line(house: House, scene: HermesScene) -> None:
    for id, source in (("left", "cli"), ("job", "cron"), ("asked", "api_server")):
        scene.start(id, source)
    scene.start("talk", "telegram", session_key=TALK)
    scene.close()
    with gateway(scene):
        assert house.swept() == {"left": "done reaped:owner_gone"}
        found = {id: each.verdict for id, each in house.sexton.estate().owners("work").items()}
        assert found == {
            "job": Verdict.UNKNOWN, "asked": Verdict.LIVE, "talk": Verdict.LIVE,
        }  # fmt: skip
        words = {each.question: each.detail for each in house.sexton.why("work/asked").answers}
        golden("why", "owner: a gateway", words["owner"])


def test_a_holder_that_the_ledger_knows_is_proof_enough_beside_any_process(
    house: House, scene: HermesScene
) -> None:
    """As a plugin inside of Hermes registers it."""
    scene.start("held")
    scene.start("lives")
    make_older(scene, DAY)
    house.observe()
    here = house.sexton.processes.myself()
    for id, identity in (("dead", replace(here, started=1, inode=None)), ("alive", here)):
        worker = Worker(
            id=id, identity=identity, kind="hermes", version="1", beat=0,
            registered_at=house.clock.now(),
        )  # fmt: skip
        house.ledger.workers.register(worker)
    for name, worker_id in (("held", "dead"), ("lives", "alive")):
        assert house.ledger.book.join(house.session(name), worker_id, [], house.clock.now())
    assert house.sexton.estate().owners("work")["held"].verdict is Verdict.SUSPECT
    assert house.swept() == {"held": "done reaped:process_gone"}
    assert ends(scene) == {"held": "reaped", "lives": None}
    assert house.session("held").holders == ()
    assert reasons(house.plan()) == {}


def test_what_the_api_server_began_ends_when_it_is_idle(house: House, scene: HermesScene) -> None:
    scene.start("asked", "api_server")
    scene.say("asked", "Good morning")
    make_older(scene, 2 * DAY, "asked")
    scene.start("busy", "api_server")
    scene.close()
    with gateway(scene):
        assert house.swept() == {"asked": "done idle"}
    assert ends(scene) == {"asked": "idle", "busy": None}


def test_a_plugin_that_holds_it_keeps_no_idle_session_of_the_api_server(
    house: House, scene: HermesScene
) -> None:
    scene.start("asked", "api_server")
    scene.say("asked", "Good morning")
    make_older(scene, 2 * DAY)
    scene.close()
    house.observe()
    with gateway(scene), visit(house.sexton, scene.path, "hermes") as inside:
        inside.hold(house.session("asked"))
        assert house.swept() == {"asked": "done idle"}
    assert ends(scene) == {"asked": "idle"}


def test_a_conversation_ends_by_policy_with_the_reason_its_gateway_honours(
    house: House, scene: HermesScene
) -> None:
    (scene.path / "config.yaml").write_text("session_reset: {mode: idle, idle_minutes: 60}")
    scene.start("talk", "telegram", session_key=TALK)
    scene.say("talk", "Good morning")
    scene.ask("append_message", "talk", "assistant", "Good morning to you, too.")
    make_older(scene, timedelta(minutes=70), "talk")
    scene.close()
    with gateway(scene):
        assert house.swept() == {}, "a gateway that runs does it itself"
        (held,) = house.plan().held
        assert (held.wanted.code, held.holding.code) == ("idle", "own_reset")
        house.clock.advance(timedelta(minutes=10))
        assert house.swept() == {"talk": "done idle"}, "or does not"
    assert ends(scene) == {"talk": "session_reset"}
    told = house.ledger.journal.page(None, None, None, 10)
    assert [each.reason.code for each in told if each.action == "end"] == ["idle", "intent"]


def test_without_a_running_gateway_a_conversation_is_reset_when_it_is_due(
    house: House, scene: HermesScene
) -> None:
    (scene.path / "config.yaml").write_text("session_reset: {mode: idle, idle_minutes: 60}")
    scene.start("talk", "telegram", session_key=TALK)
    make_older(scene, timedelta(hours=2), "talk")
    scene.close()
    assert house.swept() == {"talk": "done idle"}
    assert ends(scene) == {"talk": "session_reset"}


def test_a_home_that_is_only_observed_is_changed_at_a_persons_word_only(
    tmp_path: Path, scene: HermesScene
) -> None:
    scene.start("left")
    scene.close()
    house = House(f"sqlite:///{tmp_path / 'ledger.db'}", scene.path, act=False)
    assert house.swept() == {"left": "recorded reaped:owner_gone"}
    assert house.swept() == {}, "it is told once"
    assert ends(scene) == {"left": None}
    scene.close()
    assert house.apply(house.plan()) == {"left": "done"}
    assert ends(scene) == {"left": "reaped"}
    house.sexton.close()


def test_an_undo_opens_what_was_ended_and_never_forks(house: House, scene: HermesScene) -> None:
    (scene.path / "config.yaml").write_text("session_reset: {mode: idle, idle_minutes: 60}")
    other = "agent:main:telegram:dm:8"
    for id, key in (("left", None), ("talk", TALK), ("went on", other), ("branched", None)):
        scene.start(id, "telegram" if key else "cli", session_key=key)
    make_older(scene, DAY)
    scene.close()
    plan = house.plan()
    assert set(house.apply(plan, "ended").values()) == {"done"}
    scene.start("new one", "telegram", session_key=other)
    scene.start("child", parent_session_id="branched")
    house.observe()
    assert house.sexton.undo("ended") == []
    assert ends(scene) == {
        "left": None, "talk": None, "went on": "session_reset", "branched": "reaped",
        "new one": None, "child": None,
    }  # fmt: skip
    assert house.session("left").is_open
    with pytest.raises(NothingToUndo) as refused:
        house.sexton.undo("ended")
    golden("undo", "what is open already, and what has gone on", str(refused.value))
    assert house.session("talk").due_at is not None, "its hour begins anew"
    assert house.swept() == {}, "a sweep does not repeat what a person has taken back"
    told = house.ledger.journal.page(house.session("left"), None, None, 1)
    assert (told[0].action, told[0].reason.code) == ("revive", "undo")
    assert "ended" in told[0].reason.text  # the receipt that it undoes
    with pytest.raises(NothingToUndo):
        house.sexton.undo("never")


def test_an_undo_opens_what_was_used_by_a_clock_that_was_ahead(
    house: House, scene: HermesScene
) -> None:
    scene.start("left")
    scene.say("left", "Good morning")
    make_older(scene, -2 * DAY)
    scene.close()
    assert house.apply(house.plan(), "ended") == {"left": "done"}
    [[ended_at]] = scene.sql("SELECT ended_at FROM sessions")
    assert ended_at == house.clock.now().timestamp()
    scene.close()
    assert house.sexton.undo("ended") == []
    assert ends(scene) == {"left": None}


@pytest.mark.parametrize("started_at", ["garbage", "", 1.7e12, 4.0e9, 0.0, -1.0])
def test_a_row_that_began_at_no_time_is_ended_once_and_opened_again(
    house: House, scene: HermesScene, started_at: object
) -> None:
    scene.start("left")
    scene.sql("UPDATE sessions SET started_at = ? WHERE id = 'left'", started_at)
    scene.close()
    house.observe()
    house.clock.advance(timedelta(minutes=1))
    assert house.swept() == {"left": "done reaped:owner_gone"}
    assert house.swept() == {}
    (done,) = house.ledger.journal.page(house.session("left"), None, None, 10)
    assert done.receipt is not None
    house.sexton.undo(done.receipt)
    assert ends(scene) == {"left": None}
    assert house.swept() == {}, "a person has opened it again"


def test_what_an_undo_opened_is_left_alone_until_it_is_used(
    house: House, scene: HermesScene
) -> None:
    (scene.path / "config.yaml").write_text("session_reset: {mode: idle, idle_minutes: 60}")
    scene.start("left")
    scene.start("talk", "telegram", session_key=TALK)
    make_older(scene, DAY)
    scene.close()
    assert set(house.apply(house.plan(), "ended").values()) == {"done"}
    assert house.sexton.undo("ended") == []
    assert house.swept() == {}
    assert house.plan().actions == ()
    assert ends(scene) == {"left": None, "talk": None}
    house.clock.advance(timedelta(minutes=61))
    assert house.swept() == {"talk": "done idle"}, "the hour of a conversation began anew"
    house.clock.advance(DAY)
    scene.say("left", "I am back")
    scene.sql("UPDATE messages SET timestamp = ?", house.clock.now().timestamp())
    scene.close()
    assert house.swept() == {"left": "done reaped:owner_gone"}, "it was used since"


def test_a_pin_of_ours_outlasts_every_look_and_holds_resets_back(
    house: House, scene: HermesScene
) -> None:
    (scene.path / "config.yaml").write_text("session_reset: {mode: idle, idle_minutes: 60}")
    scene.start("talk", "telegram", session_key=TALK)
    make_older(scene, DAY)
    scene.close()
    house.observe()
    house.ledger.book.mark(house.session("talk").ref, pinned=True)
    scene.say("talk", "Still here")
    make_older(scene, DAY)
    scene.close()
    assert house.swept() == {}
    assert house.session("talk").pinned
    [held] = house.plan().held
    assert held.holding.code == "pinned"
    house.ledger.book.mark(house.session("talk").ref, pinned=False)
    assert house.swept() == {"talk": "done idle"}


def test_what_hermes_compacted_away_counts_for_no_limit_and_terminals_have_none(
    engine_url: str, scene: HermesScene
) -> None:
    house = House(engine_url, scene.path, max_messages=10)
    scene.start("talk", "telegram", session_key=TALK)
    scene.start("typed")
    for number in range(20):
        scene.say("typed", f"word {number}")
        scene.say("talk", f"word {number}")
    scene.ask("archive_and_compact", "talk", [{"role": "user", "content": "all of it"}])
    with gateway(scene):
        house.clock.advance(DAY)  # beyond what Hermes has written by its own clock
        assert house.swept() == {}
        assert house.session("talk").message_count == 21
        for number in range(7):
            scene.say("talk", f"word {number}")
        assert house.swept() == {"talk": "done near_max_messages"}
        [growing] = found(house, scene)
        assert (growing.code, growing.count) == ("growing", 1)
        scene.say("talk", "word")
        scene.ask("append_message", "talk", "assistant", "an answer")  # so no turn runs
        route(scene, TALK, "talk", datetime.now(UTC))
        house.observe()
        [large] = found(house, scene)
        assert (large.code, large.count) == ("large", 1)
        assert house.swept() == {"talk": "done max_messages"}
    assert ends(scene) == {"talk": "session_reset", "typed": None}
    assert house.session("talk").end_reason == "max_messages"
    house.sexton.close()


def found(house: House, scene: HermesScene) -> list[Finding]:
    """What is said of the size of conversations by whoever examines the home."""
    record = house.sexton.estate().records["work"]
    cohorts = house.ledger.homes.census.cohorts(record, house.clock.now())
    every = diagnose(house.sexton, record, cohorts, {})
    assert scene.path == Path(record.path or "")
    return [each for each in every if each.code in ("growing", "large")]


class Dying(Journal):
    """The journal of a keeper that dies before it can tell what it did."""

    def write(self, entries: Iterable[Entry], now: datetime) -> None:
        told = list(entries)
        if any(each.result == "done" for each in told):
            raise LedgerUnreachable("the ledger does not answer")
        super().write(told, now)


def test_an_undo_finds_what_a_keeper_ended_and_did_not_live_to_tell(
    house: House, scene: HermesScene
) -> None:
    names = ["left, a [1]", "used", "reaped again"]
    for name in names:
        scene.start(name)
    make_older(scene, DAY)
    scene.close()
    plan, estate = house.plan(), house.sexton.estate()
    dying = HermesHome(
        scene.path, "work", clock=house.clock, journal=Dying(house.ledger.journal._database)
    )
    with pytest.raises(LedgerUnreachable):
        list(apply(changed(estate, homes={"work": dying}), plan, "died"))
    assert ends(scene) == dict.fromkeys(names, "reaped")
    went_on = "UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ?"
    for name in names[1:]:
        scene.sql(went_on, name)
    scene.sql(
        "UPDATE sessions SET ended_at = ?, end_reason = 'session_reset' WHERE id = 'used'",
        house.clock.now().timestamp() + 60,
    )
    scene.close()
    assert house.apply(house.plan(), "later") == {"reaped again": "done"}
    assert undo_receipt(house.sexton, "died").opened.sessions == 1
    assert ends(scene) == {names[0]: None, "used": "session_reset", "reaped again": "reaped"}
    assert house.session(names[0]).is_open
    scene.close()
    assert undo_receipt(house.sexton, "later").opened.sessions == 1


def test_what_ended_anew_since_it_was_ended_from_here_stays_ended(
    house: House, scene: HermesScene
) -> None:
    scene.start("left")
    make_older(scene, DAY)
    scene.close()
    assert house.apply(house.plan(), "ended") == {"left": "done"}
    scene.sql(
        "UPDATE sessions SET ended_at = ?, end_reason = 'session_reset'",
        house.clock.now().timestamp() + 60,
    )
    scene.close()
    with pytest.raises(NothingToUndo) as refused:
        house.sexton.undo("ended")
    golden("undo", "what ended anew stays ended", str(refused.value))
    assert ends(scene) == {"left": "session_reset"}


def test_what_is_leaked_is_counted_as_such(house: House, scene: HermesScene) -> None:
    for number in range(5):
        scene.start(f"left {number}")
    scene.start("talk", "telegram", session_key=TALK)
    scene.close()

    house.observe()
    estate = house.sexton.estate()
    (sample,) = samples(estate, [estate.records["work"]])
    assert (sample.open, sample.live, sample.leaked, sample.unproven) == (6, 0, 5, 1)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE schema_version SET version = 21",
        "PRAGMA journal_mode = delete",
        "DROP TABLE gateway_routing",
        "CREATE TRIGGER odd AFTER UPDATE ON sessions BEGIN DELETE FROM messages; END",
    ],
)
def test_a_home_that_is_not_as_it_is_known_is_not_changed(
    house: House, scene: HermesScene, damage: str
) -> None:
    scene.start("left")
    scene.sql(damage)
    scene.close()
    house.observe()
    found = house.session("left")
    entry = Entry(actor="test", receipt=None, action="end", result="done", reason=Reason("x", "y"))
    with pytest.raises(HomeRefused) as refused:
        house.sexton.estate().homes["work"].end(
            as_seen(found), Reason("idle", "idle"), entry, house.clock.now()
        )
    golden("homes", f"refused: {damage}", str(refused.value))
    assert ends(scene) == {"left": None}


def test_a_home_that_can_not_be_changed_keeps_no_keeper_from_its_other_work(
    house: House, scene: HermesScene
) -> None:
    scene.start("left")
    scene.sql("UPDATE schema_version SET version = 21")
    scene.close()
    with house.sexton.worker() as worker:
        idle = worker.session("ours", source="chat")
        idle.append(role="user", content="Good morning")
    house.clock.advance(DAY * 400)
    done = house.swept()
    assert done.pop("left") == "skipped reaped:owner_gone"
    assert ends(scene) == {"left": None}


def test_a_database_that_can_not_be_opened_for_writing_is_refused(tmp_path: Path) -> None:
    """As on a disk that is read-only."""
    with pytest.raises(HomeRefused) as refused, changing(tmp_path, ManualClock()):
        pass
    golden("homes", "refused: no file to write to", str(refused.value))


class Hasty(ManualClock):
    """A clock on which everything takes long."""

    def monotonic(self) -> float:
        self.advance(1)
        return super().monotonic()


def test_a_step_that_takes_too_long_is_undone(scene: HermesScene) -> None:
    scene.start("left")
    endless = """
        WITH RECURSIVE many (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM many WHERE i < 1000000)
        UPDATE sessions SET title = (SELECT COUNT(*) FROM many)"""
    with changing(scene.database, Hasty()) as hand:
        hand.step(lambda db: db.change("UPDATE sessions SET source = 'x'", {}))
        with pytest.raises(TooLong):
            hand.step(lambda db: db.change("UPDATE sessions SET source = 'y'; " + endless, {}))
    assert scene.sql("SELECT source, title FROM sessions") == [["x", None]]


def test_nothing_of_a_change_disturbs_whoever_has_the_home_open(
    house: House, scene: HermesScene
) -> None:
    """The log is neither folded in nor cut nor removed, and Hermes's connection goes on."""
    scene.start("left")
    make_older(scene, DAY, "left")
    before = {name: (scene.path / name).stat().st_ino for name in ("state.db", "state.db-wal")}
    size = (scene.path / "state.db-wal").stat().st_size
    assert house.apply(house.plan()) == {"left": "done"}
    assert {name: (scene.path / name).stat().st_ino for name in before} == before
    assert (scene.path / "state.db-wal").stat().st_size > size
    scene.start("next")
    scene.say("next", "Good morning")
    assert scene.sql("SELECT COUNT(*) FROM messages") == [[1]]
    assert is_sound(scene.database)


@contextmanager
def gateway(scene: HermesScene) -> Iterator[None]:
    """A process that the home names as its gateway and that has its database open."""
    with holding(scene.database, "hermes", ["gateway", "run"]) as process:
        record = {"pid": process.pid, "kind": "hermes-gateway", "start_time": ticks(process.pid)}
        (scene.path / "gateway.pid").write_text(json.dumps(record))
        yield
