"""Do the defaults of what keepers do and tell act? One test per setting."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sexton.core.plan import Reason
from sexton.core.session import NATIVE
from sexton.errors import SettingsInvalid
from sexton.finalizers.effects import fork_safety
from sexton.finalizers.model import Finalization, Wanted
from sexton.finalizers.policy import next_try
from sexton.finalizers.runner import Runner
from sexton.keeper.keeper import Keeper
from sexton.keeper.swept import Sweep
from sexton.notifications.model import Event
from sexton.notifications.policy import Occasion
from sexton.store.journal import Entry
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from sexton.wiring import keeper_wiring as keeping
from sexton.wiring.channel_wiring import messenger
from sexton.wiring.duties import duties
from tests.scenario.effects_server import Reply, Server, Visit, drip_body, say
from tests.scenario.finalizers_scene import Thinking, wait_until
from tests.unit.conftest import START, Opener
from tests.unit.showing_defaults import shows

DAY = timedelta(days=1)
ANSWER = "- likes the sea"
COMMAND = {"kind": "command", "command": ["true"]}
PYTHON = {"kind": "python", "entry_point": "e"}
HALF_A_DAY = DAY / 2
FOR_EVER = "touch started; while :; do echo; sleep 0.05; done"


@pytest.fixture
def server() -> Iterator[Server]:
    with Server([say(ANSWER)]) as running:
        yield running


def memory(server: Server) -> dict[str, Any]:
    return {"kind": "memory", "base_url": server.url, "model": "m"}


def webhook(server: Server) -> dict[str, Any]:
    return {"kind": "webhook", "url": server.url}


def finalizers(*wanted: dict[str, Any]) -> str:
    """Settings with these finalizers, called 0, 1 and so on."""
    named = [{"name": f"{number}", **each} for number, each in enumerate(wanted)]
    return f"finalizers: {json.dumps(named)}\n"


def over(sexton: Sexton, sessions: int = 1, content: str = "hello", messages: int = 4) -> None:
    """Sessions that have ended."""
    with sexton.worker() as worker:
        for _ in range(sessions):
            session = worker.session(source="telegram")
            session.append_many([{"role": "user", "content": content}] * messages)
            session.end("done")


def owed(sexton: Sexton) -> list[Finalization]:
    return sexton.ledger.finalizing.page(Wanted(), None, 1000)


def runner(sexton: Sexton) -> Runner:
    """Who does the work of the settings, step by step."""
    worker = sexton.worker(kind="keeper")
    ready = duties(sexton.settings, sexton.clock, os.environ)
    read, most = sexton.estate().homes[NATIVE].transcript, sexton.settings.keeper.finalizers_at_once
    return Runner(sexton.ledger, sexton.clock, ready, lambda: worker.id, read, most)


def begun_at_once(sexton: Sexton) -> int:
    """How much work is begun before any is done."""
    ready = runner(sexton)
    begun = ready.begin()
    ready.stop()
    return begun


def done_by_a_sweep(sexton: Sexton, content: str = "hello") -> bool:
    """Whether a sweep does the work of another session."""
    over(sexton, content=content)
    sexton.sweep()
    return str(owed(sexton)[0].state) == "done"


def owes(sexton: Sexton, messages: int = 10, source: str = "telegram") -> list[bool]:
    """Whether a session of so many messages owes the work of each finalizer."""
    with sexton.worker() as worker:
        session = worker.session(source=source)
        session.append_many([{"role": "user", "content": "hello"}] * messages)
        [found] = sexton.ledger.index.find(NATIVE, session.id)
        return [due.owes for due in sexton.ledger.dues.of([found.ref])]


@shows("finalizers")
def test_without_settings_no_work_is_owed(opened: Opener) -> None:
    sexton = opened("")
    over(sexton)
    assert owed(sexton) == []


@shows("finalizers[].name")
def test_a_finalizer_without_a_name_is_refused(opened: Opener) -> None:
    with pytest.raises(SettingsInvalid, match=r"finalizers\[0\]\.name"):
        opened(f"finalizers: [{json.dumps(PYTHON)}]")


@shows("finalizers[].kind")
def test_a_finalizer_without_a_kind_is_refused(opened: Opener) -> None:
    with pytest.raises(SettingsInvalid, match=r"finalizers\[0\]\.kind"):
        opened(finalizers({"command": ["a"]}))


@shows("finalizers[].sources")
def test_sessions_of_every_source_owe_but_cron_owes_no_memories(
    opened: Opener, server: Server
) -> None:
    sexton = opened(finalizers(COMMAND, memory(server)))
    assert owes(sexton, source="anything") == [True, True]
    assert owes(sexton, source="cron") == [True, False]


@shows("finalizers[].min_messages")
def test_memories_need_four_messages_and_other_work_needs_one(
    opened: Opener, server: Server
) -> None:
    sexton = opened(finalizers(COMMAND, memory(server)))
    found = [owes(sexton, messages=count) for count in (0, 1, 3, 4)]
    assert found == [[False, False], [True, False], [True, False], [True, True]]


@shows("finalizers[].attempts")
def test_failing_work_is_given_up_after_the_fourteenth_attempt(
    opened: Opener, clock: ManualClock
) -> None:
    retry = duties(opened(finalizers(COMMAND)).settings, clock, {})["0"].retry
    assert next_try(13, retry, None, START, 0.0) is not None
    assert next_try(14, retry, None, START, 0.0) is None


@shows("finalizers[].concurrency")
def test_four_works_at_once_but_one_of_python_code(opened: Opener, server: Server) -> None:
    sexton = opened(finalizers(memory(server), COMMAND, webhook(server)))
    over(sexton, 5)
    assert begun_at_once(sexton) == 4 + 4 + 4
    other = opened(finalizers(PYTHON))
    over(other, 5)
    assert begun_at_once(other) == 1


@shows("finalizers[].per_minute")
def test_work_is_not_slowed_down_by_itself(
    opened: Opener, server: Server, clock: ManualClock
) -> None:
    every = opened(finalizers(memory(server), COMMAND, webhook(server), PYTHON)).settings
    assert {each.rate for each in duties(every, clock, {}).values()} == {None}
    sexton = opened(finalizers(webhook(server)))
    over(sexton, 21)
    assert sexton.sweep().finalizing == 21  # and no time passes


def after(clock: ManualClock, seconds: float, answer: Reply) -> Reply:
    """An answer that comes after so much time."""

    def reply(visit: Visit) -> None:
        clock.advance(seconds)
        answer(visit)

    return reply


@shows("finalizers[].timeout")
def test_a_model_has_five_minutes_and_all_else_one(
    opened: Opener,
    server: Server,
    clock: ManualClock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for effect, patience in ((memory(server), 300), (webhook(server), 60)):
        # A name for each, so that the work which the first gave back is not the second's.
        sexton = opened(finalizers(effect | {"name": effect["kind"]}))
        server.replies = [
            after(clock, patience * 0.8, say(ANSWER)),
            after(clock, patience, drip_body),
        ]
        assert [done_by_a_sweep(sexton) for _ in range(2)] == [True, False]
    program = {"name": "endless", "kind": "command", "command": ["sh", "-c", FOR_EVER]}
    sexton = opened(finalizers(program))
    over(sexton)
    start = fork_safety.opened

    def start_slowly(*given: Any) -> Any:
        """The program is at work for a minute before whoever started it goes on."""
        started = start(*given)
        wait_until((tmp_path / "started").exists)
        clock.advance(60)
        return started

    monkeypatch.setattr("sexton.finalizers.effects.command_effect.opened", start_slowly)
    runner(sexton).drain()
    assert re.findall(r"\d+ s", owed(sexton)[0].last_error or "")[0] == "60 s"


@shows("finalizers[].command")
def test_kind_command_without_a_command_is_refused(opened: Opener) -> None:
    with pytest.raises(SettingsInvalid, match=r"finalizers\[0\]\.command"):
        opened(finalizers({"kind": "command"}))


@shows("finalizers[].cwd")
def test_a_program_runs_beside_the_settings_file(opened: Opener, tmp_path: Path) -> None:
    sexton = opened(finalizers({"kind": "command", "command": ["touch", "here"]}))
    assert done_by_a_sweep(sexton)
    assert (tmp_path / "here").exists()


@shows("finalizers[].url")
def test_kind_webhook_without_a_url_is_refused(opened: Opener) -> None:
    with pytest.raises(SettingsInvalid, match=r"finalizers\[0\]\.url"):
        opened(finalizers({"kind": "webhook"}))


@shows("finalizers[].secret_env")
def test_posts_of_a_finalizer_are_not_signed_by_themselves(opened: Opener, server: Server) -> None:
    assert done_by_a_sweep(opened(finalizers(webhook(server))))
    [request] = server.requests
    assert "x-sexton-signature" not in request.headers


@shows("finalizers[].base_url")
def test_kind_memory_without_an_endpoint_is_refused(opened: Opener) -> None:
    with pytest.raises(SettingsInvalid, match=r"finalizers\[0\]\.base_url"):
        opened(finalizers({"kind": "memory", "model": "m"}))


@shows("finalizers[].model")
def test_kind_memory_without_a_model_is_refused(opened: Opener) -> None:
    with pytest.raises(SettingsInvalid, match=r"finalizers\[0\]\.model"):
        opened(finalizers({"kind": "memory", "base_url": "http://127.0.0.1"}))


@shows("finalizers[].api_key_env")
def test_no_key_goes_to_an_endpoint_by_itself(
    opened: Opener, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "of somebody else")
    assert done_by_a_sweep(opened(finalizers(memory(server))))
    [request] = server.requests
    assert "authorization" not in request.headers


@shows("finalizers[].file")
def test_memories_are_kept_beside_the_settings_file(
    opened: Opener, server: Server, tmp_path: Path
) -> None:
    assert done_by_a_sweep(opened(finalizers(memory(server))))
    assert ANSWER in (tmp_path / "memories.md").read_text()


@shows("finalizers[].context_tokens")
def test_a_model_is_taken_to_read_32000_tokens(opened: Opener, server: Server) -> None:
    sexton = opened(finalizers(memory(server)))
    questions = []
    for size in (13_500, 14_000):  # of two bytes each, and 4 000 tokens are for the answer
        assert done_by_a_sweep(sexton, "x" * size)
        questions.append(len(server.requests))
        server.requests.clear()
    assert questions == [1, 2]


@shows("finalizers[].daily_calls")
def test_memories_cost_at_most_500_calls_a_day(
    opened: Opener, server: Server, clock: ManualClock
) -> None:
    sexton = opened(finalizers(memory(server)))
    assert sexton.ledger.finalizing.spend("0", clock.now().date(), 499, 500)
    assert [done_by_a_sweep(sexton) for _ in range(2)] == [True, False]
    clock.advance(HALF_A_DAY)  # it was noon
    sexton.sweep()
    assert [str(each.state) for each in owed(sexton)] == ["done", "done"]


@shows("finalizers[].entry_point")
def test_kind_python_without_an_entry_point_is_refused(opened: Opener) -> None:
    with pytest.raises(SettingsInvalid, match=r"finalizers\[0\]\.entry_point"):
        opened(finalizers({"kind": "python"}))


def after_a_reset(opened: Opener, clock: ManualClock, text: str = "") -> Sexton:
    """A house whose keeper has reset a session and told whom the settings name."""
    sexton = opened(f"reset: {{mode: idle}}\n{text}")
    with sexton.worker() as worker:
        worker.session("chat", source="telegram").append(role="user", content="hello")
    clock.advance(DAY)
    sexton.sweep()
    return sexton


def notify(server: Server) -> str:
    return f"notify: {{webhook: '{server.url}'}}"


def letters(sexton: Sexton) -> list[tuple[str, Event]]:
    """What was told whom."""
    found = sexton.ledger.outbox.page(None, None, 100)
    return [(each.target, each.notice.event) for each in found]


@shows("notify.urls_env")
def test_by_default_nobody_is_told_by_apprise(
    opened: Opener, server: Server, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_URLS", f"json://{server.url.removeprefix('http://')}")
    told = letters(after_a_reset(opened, clock, notify(server)))
    assert told == [("webhook", Event.RESET)]


@shows("notify.webhook")
def test_by_default_nothing_is_posted(opened: Opener, clock: ManualClock) -> None:
    assert letters(after_a_reset(opened, clock)) == []


@shows("notify.secret_env")
def test_posts_of_notifications_are_not_signed_by_themselves(
    opened: Opener, server: Server, clock: ManualClock
) -> None:
    after_a_reset(opened, clock, notify(server))
    [request] = server.requests
    assert "x-sexton-signature" not in request.headers


@shows("notify.events")
def test_who_names_a_target_is_told_everything(opened: Opener, server: Server) -> None:
    sexton = opened(notify(server))
    worker = sexton.worker(kind="keeper")
    teller = messenger(sexton, lambda: worker.id)
    assert teller is not None
    teller.tell(
        Occasion(key=event, event=event, at=START, home=NATIVE, session="s", words="did.")
        for event in Event
        if event is not Event.DISK
    )
    teller.remark([Reason("disk", "it is full")])
    assert teller.deliver() == len(Event)
    assert {request.json["event"] for request in server.requests} == set(Event)


@shows("notify.held_after")
def test_a_reset_held_back_for_a_day_is_told(
    opened: Opener, server: Server, clock: ManualClock
) -> None:
    sexton = opened(f"reset: {{mode: idle}}\n{notify(server)}")
    with sexton.worker() as worker:
        session = worker.session("chat", source="telegram")
        session.append(role="user", content="hello")
    sexton.ledger.book.mark(sexton.find(session.id).ref, pinned=True)
    told = []
    for step in (DAY, DAY - timedelta(seconds=1), timedelta(seconds=1)):
        clock.advance(step)
        sexton.sweep()
        told.append(letters(sexton))
    assert told == [[], [], [("webhook", Event.HELD)]]


class Waiting:
    """Watches nobody, and waits without letting time pass."""

    def __init__(self) -> None:
        self.waited = 0.0

    def watch(self, identities: Iterable[object]) -> None:
        del identities

    def wait(self, seconds: float) -> None:
        self.waited += seconds

    def wake(self) -> None:
        """Nobody waits."""

    def close(self) -> None:
        """Nothing is held."""


@shows("keeper.sweep_every")
def test_a_keeper_sweeps_every_minute(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, keepers, waited = Waiting(), list[Keeper](), list[float]()
    monkeypatch.setattr(keeping, "PidfdWatch", lambda: waiting)

    def swept(_: Sweep) -> None:
        waited.append(waiting.waited)
        if len(waited) == 3:
            keepers[0].stop()

    opened("").keep_until(keepers.append, swept)
    assert waited == [0, 60, 120]


@shows("keeper.finalizers_at_once")
def test_a_keeper_does_32_works_at_once(opened: Opener, server: Server) -> None:
    held = Thinking.held()
    server.replies = [held]
    sexton = opened(finalizers(*[webhook(server)] * 9))  # each does four at once
    over(sexton, 4)
    ready = runner(sexton)
    try:
        assert ready.begin() == 32
        assert ready.begin() == 0
    finally:
        held.gate.set()
        ready.stop()
        ready.settle(10)


@shows("keeper.keep_journal")
def test_the_journal_goes_back_a_year(opened: Opener, clock: ManualClock) -> None:
    sexton = opened("")
    noted = Entry(
        actor="somebody", receipt="r", home=None, action="greet", result="done",
        reason=Reason("polite", "it is morning"),
    )  # fmt: skip
    sexton.ledger.journal.write([noted], clock.now())
    for age, known in ((365 * DAY, True), (timedelta(hours=1), False)):
        clock.advance(age)
        sexton.sweep()
        page = sexton.ledger.journal.page(None, None, None, 100)
        assert any(each.action == "greet" for each in page) is known
