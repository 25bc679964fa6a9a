"""Are people told what they want to know, once, whoever dies and whatever is down?"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from sexton.core.plan import Reason
from sexton.core.session import Session
from sexton.errors import ExtraMissing, LedgerBusy, SettingsInvalid
from sexton.finalizers.model import FinalizationState, Wanted
from sexton.finalizers.policy import Owing
from sexton.keeper.keeper import Keeper
from sexton.liveness.policy import LivenessPolicy
from sexton.notifications import sender as notify
from sexton.notifications.channels import NotifyPlan, channels
from sexton.notifications.model import Channel, Event, Letter, LetterState
from sexton.notifications.policy import RETRY, Interest
from sexton.notifications.sender import Messenger
from sexton.resets.policy import Mode, ResetPolicy
from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import NotifySetting, Settings
from sexton.store.journal import Entry
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.contract.ledger_contract_samples import born, race, say
from tests.crash.checking import ask
from tests.golden import golden
from tests.scenario.effects_server import Server, Visit, hang_up, reply
from tests.scenario.fleet import Machine

SAID = "what-was-said"
RULES = Rulebook(
    reset=ResetPolicy(mode=Mode.IDLE, idle_minutes=60, max_messages=10),
    liveness=LivenessPolicy(beat_every=timedelta(days=1)),
    finalizers=(Owing(name="log"),),
)
Open = Callable[..., "Post"]


class Post:
    """A keeper with its messenger; what it can not know after a restart is in the ledger."""

    def __init__(
        self,
        url: str,
        clock: ManualClock,
        found: Mapping[str, Channel],
        interest: Interest,
        patience: float = 240.0,
    ) -> None:
        ledger = open_ledger(url, patience=patience)
        settings = Settings(rulebook=RULES)
        self.house = Sexton(ledger, settings, clock=clock, processes=Machine("host"))
        self.house.publish()
        self.ledger = ledger
        self.clock = clock
        self.worker = self.house.worker(kind="keeper")
        self._keeper = Keeper(self.house.estate, lambda: self.worker.id, 60.0)
        self.messenger = Messenger(ledger, clock, found, lambda: self.worker.id, interest)

    def round(self) -> int:
        """A sweep, and what it is followed by; how many letters arrived."""
        self.messenger.after(self._keeper.sweep().held)
        return self.messenger.deliver()

    def sweep(self) -> None:
        """A sweep after which the keeper is killed."""
        self._keeper.sweep()

    def talk(self, messages: int = 1, title: str | None = None) -> Session:
        """A session in which so much was said."""
        begun = born(self.ledger, None, now=self.clock.now())
        assert say(self.ledger, begun, *[SAID] * messages, now=self.clock.now())
        if title:
            self.ledger.book.mark(begun.ref, title=title)
        return self.house.find(begun.id)

    def letters(self, state: LetterState | None = None) -> list[Letter]:
        return self.ledger.outbox.page(state, None, 1000)

    def texts(self) -> list[str]:
        """What people are told, oldest first."""
        return [each.notice.text for each in self.letters() if not each.notice.folded][::-1]

    def dies(self, session: Session) -> None:
        """The end-of-session work of an ended session is given up."""
        now = self.clock.now()
        taken = self.ledger.finalizing.claim(self.worker.id, ["log"], 100, now)
        for each in taken:
            if each.session == session.id:
                assert self.ledger.finalizing.put_back(each, SAID, None, now, counted=True)
            else:
                assert self.ledger.finalizing.put_back(each, "later", now, now, counted=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server([reply()]) as running:
        yield running


@pytest.fixture
def opened(engine_url: str, manual_clock: ManualClock, server: Server) -> Iterator[Open]:
    """Opens keepers of one ledger, each with a connection of its own."""
    with ExitStack() as stack:

        def open_post(
            found: Mapping[str, Channel] | None = None, interest: Interest | None = None
        ) -> Post:
            usual = found if found is not None else hook(server, manual_clock)
            post = Post(engine_url, manual_clock, usual, interest or Interest())
            stack.callback(post.house.close)
            return post

        yield open_post


def hook(server: Server, clock: ManualClock) -> dict[str, Channel]:
    plan = NotifyPlan(webhook=f"{server.url}/hook", secret_env="HOOK_SECRET")
    return channels(plan, clock, {"HOOK_SECRET": "s3cret"})


def keys(server: Server) -> list[str]:
    return [request.headers["idempotency-key"] for request in server.requests]


def plain(text: str) -> str:
    """A notice without the numbers of this run's sessions."""
    return re.sub(r"\bsession-\d+", "<session>", text)


def test_a_reset_is_told_once_signed_and_without_a_word_of_what_was_said(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    post = opened()
    session = post.talk(title="A trip to\nRome")
    assert post.round() == 0
    manual_clock.advance(timedelta(hours=2))
    assert post.round() == 1
    assert post.round() == 0
    (request,) = server.requests
    assert request.path == "/hook"
    told = request.json
    assert told["idempotency_key"] == request.headers["idempotency-key"]
    assert (told["event"], told["home"], told["session"]) == ("reset", "native", session.id)
    assert f'"A trip to Rome" ({session.id})' in told["text"]
    golden("notifications", "reset", plain(told["text"]))
    assert SAID not in request.body.decode()
    signed = f"{request.headers['x-sexton-timestamp']}.".encode() + request.body
    digest = hmac.new(b"s3cret", signed, hashlib.sha256).hexdigest()
    assert request.headers["x-sexton-signature"] == f"sha256={digest}"
    assert [each.state for each in post.letters()] == [LetterState.DELIVERED]


def test_two_keepers_tell_it_once(opened: Open, server: Server, manual_clock: ManualClock) -> None:
    first, second = opened(), opened()
    for _ in range(3):
        first.talk()
        manual_clock.advance(timedelta(hours=2))
        race([first.round, second.round])
        race([first.round, second.round])
    assert len(server.requests) == len(set(keys(server))) == 3


def test_a_session_that_comes_near_its_limit_is_told_once(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    post = opened()
    session = post.talk(messages=8)
    post.round()
    opened().round()
    assert keys(server) == [f"limit/native/{session.id}/messages"]
    golden("notifications", "limit: near", plain(server.requests[0].json["text"]))


def test_what_a_keeper_did_before_it_was_killed_or_without_anybody_to_tell_is_told_by_another(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    mute = opened(found={})
    mute.talk()
    manual_clock.advance(timedelta(hours=2))
    mute.round()
    assert mute.letters() == []
    mute.talk(messages=9)
    mute.sweep()
    opened().round()
    assert sorted(key.partition("/")[0] for key in keys(server)) == ["limit", "reset"]


def test_a_reset_that_an_agent_made_when_it_came_back_is_told(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    post = opened()
    with post.house.worker() as agent:
        agent.session(key="chat", source="cli")
        manual_clock.advance(timedelta(hours=2))
        agent.session(key="chat", source="cli")
    post.round()
    assert [key.partition("/")[0] for key in keys(server)] == ["reset"]


def test_without_anybody_to_tell_nothing_is_stored(
    opened: Open, engine_url: str, manual_clock: ManualClock
) -> None:
    post = opened(found={})
    pinned, idle = post.talk(messages=9), post.talk()
    post.ledger.book.mark(pinned.ref, pinned=True)
    manual_clock.advance(timedelta(hours=2))
    post.round()
    post.dies(idle)
    manual_clock.advance(timedelta(days=2))
    post.round()
    assert ask(engine_url, "SELECT * FROM held_resets") == []
    assert ask(engine_url, "SELECT * FROM outbox") == []


def test_old_news_is_not_told(opened: Open, server: Server, manual_clock: ManualClock) -> None:
    opened(found={}).talk()
    manual_clock.advance(timedelta(hours=2))
    opened(found={}).round()
    manual_clock.advance(timedelta(hours=2))
    opened().round()
    assert server.requests == []


def test_news_is_told_however_many_entries_of_the_journal_came_after_it(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    keeper = opened()
    keeper.talk()
    manual_clock.advance(timedelta(hours=2))
    keeper.sweep()  # it resets the session, and is killed
    other = Entry(actor="a", receipt=None, action="noted", result="done", reason=Reason("x", "y"))
    keeper.ledger.journal.write([other] * 5_100, manual_clock.now())
    assert keeper.round() == 1
    assert len(server.requests) == 1


def test_an_entry_with_an_old_time_hides_no_others(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    keeper = opened()
    other = Entry(actor="a", receipt=None, action="noted", result="done", reason=Reason("x", "y"))
    keeper.ledger.journal.write([other], manual_clock.now())
    keeper.round()
    keeper.round()
    keeper.talk()
    manual_clock.advance(timedelta(hours=2))
    keeper.sweep()
    keeper.ledger.journal.write([other], manual_clock.now() - timedelta(days=1))
    keeper.ledger.journal.write([other] * 200, manual_clock.now())
    assert keeper.round() == 1
    assert len(server.requests) == 1


def test_an_entry_from_a_host_whose_clock_is_slow_is_told_once(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    keeper = opened()
    session = keeper.talk()
    other = Entry(actor="a", receipt=None, action="noted", result="done", reason=Reason("x", "y"))
    keeper.ledger.journal.write([other], manual_clock.now())
    keeper.round()
    keeper.round()
    paused = Entry(
        actor="a", receipt=None, action="pause", result="done", reason=Reason("budget:day", "y"),
        home=session.home, session=session.id,
    )  # fmt: skip
    keeper.ledger.journal.write([paused], manual_clock.now() - notify.NEWS - timedelta(minutes=1))
    assert [keeper.round() for _ in range(3)] == [1, 0, 0]
    assert [request.json["event"] for request in server.requests] == ["budget"]


def test_what_nobody_wants_to_know_is_not_posted(opened: Open, manual_clock: ManualClock) -> None:
    post = opened(interest=Interest(events=frozenset({Event.LIMIT})))
    pinned, idle = post.talk(), post.talk()
    post.ledger.book.mark(pinned.ref, pinned=True)
    manual_clock.advance(timedelta(hours=2))
    post.round()
    post.dies(idle)
    manual_clock.advance(timedelta(days=2))
    post.round()
    assert post.letters() == []


def test_many_resets_at_once_are_one_message(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    post = opened()
    for _ in range(7):
        manual_clock.advance(1)
        post.talk()
    manual_clock.advance(timedelta(hours=2))
    for _ in range(3):
        post.round()
        opened().round()
    (request,) = server.requests
    assert re.match(r"7\b", request.json["text"])
    golden("notifications", "reset: many at once", plain(request.json["text"]))
    assert request.json["session"] is None


def test_what_was_told_does_not_make_a_few_more_many(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    post = opened()
    for _ in range(2):
        now = manual_clock.now()
        manual_clock.set(now - timedelta(hours=2))
        for _ in range(3):
            post.talk()
        manual_clock.set(now)
        opened().round()
    assert len(set(keys(server))) == len(server.requests) == 6


def test_a_reset_that_is_held_back_is_told_after_a_day_once_whatever_keeper_comes_and_goes(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    post = opened()
    session = post.talk()
    post.ledger.book.mark(session.ref, pinned=True)
    manual_clock.advance(timedelta(hours=2))
    post.round()
    began = manual_clock.now()
    for _ in range(23):
        manual_clock.advance(timedelta(hours=1))
        opened().round()
    assert server.requests == []
    manual_clock.advance(timedelta(hours=1))
    for _ in range(3):
        opened().round()
        manual_clock.advance(timedelta(days=1))
    (request,) = server.requests
    assert request.json["event"] == "held"
    assert f"{began:%Y-%m-%d %H:%M} UTC" in request.json["text"]
    golden("notifications", "held", plain(request.json["text"]))


def test_a_reset_that_is_held_back_anew_is_told_anew(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    post = opened()
    session = post.talk()
    post.ledger.book.mark(session.ref, pinned=True)
    for _ in range(2):
        manual_clock.advance(timedelta(hours=2))
        post.round()
        manual_clock.advance(timedelta(hours=25))
        post.round()
        current = post.house.find(session.id)
        assert say(post.ledger, current, "again", now=manual_clock.now())
        post.round()
    assert len(set(keys(server))) == len(server.requests) == 2


def test_a_dead_letter_is_told_once_and_again_when_it_dies_again(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    post = opened(interest=Interest(events=frozenset({Event.DEAD_LETTER})))
    session = post.talk()
    manual_clock.advance(timedelta(hours=2))
    post.round()
    post.dies(session)
    post.round()
    opened(interest=Interest(events=frozenset({Event.DEAD_LETTER}))).round()
    assert keys(server) == [f"dead/native/{session.id}/1/log/1"]
    assert SAID not in server.requests[0].body.decode()
    [dead] = post.ledger.finalizing.page(Wanted(state=FinalizationState.DEAD), None, 9)
    post.ledger.finalizing.decide(dead.ref, FinalizationState.PENDING, manual_clock.now())
    post.dies(session)
    post.round()
    assert keys(server)[1:] == [f"dead/native/{session.id}/1/log/2"]


def test_what_still_lasts_when_its_letter_is_forgotten_is_not_told_again(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    post = opened(interest=Interest(events=frozenset({Event.DEAD_LETTER, Event.HELD})))
    pinned, idle = post.talk(), post.talk()
    post.ledger.book.mark(pinned.ref, pinned=True)
    manual_clock.advance(timedelta(hours=2))
    post.round()
    post.dies(idle)
    for _ in range(35):
        manual_clock.advance(timedelta(days=1))
        post.round()
    assert sorted(key.partition("/")[0] for key in keys(server)) == ["dead", "held"]
    assert post.letters() == []


def test_an_old_letter_that_dies_after_many_younger_ones_is_found(
    opened: Open, manual_clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify, "PAGE", 2)
    post = opened(interest=Interest(events=frozenset({Event.DEAD_LETTER})))
    sessions = []
    for _ in range(9):
        manual_clock.advance(1)
        sessions.append(post.talk())
    manual_clock.advance(timedelta(hours=2))
    post.round()
    for session in (*sessions[1:], sessions[0]):
        post.dies(session)
    for _ in range(5):
        post.round()
    assert {each.notice.session for each in post.letters()} == {each.id for each in sessions}


def test_a_server_that_is_down_is_tried_again_with_the_same_key_until_it_is_up(
    opened: Open, server: Server, manual_clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    server.replies[:] = [hang_up, reply(500), reply(503, Retry_After="3600"), reply()]
    post = opened()
    post.talk()
    manual_clock.advance(timedelta(hours=2))
    with caplog.at_level(logging.WARNING, "sexton.notices"):
        assert post.round() == 0
        assert post.round() == 0
        assert len(server.requests) == 1
        for wait in (40, 80, 3000):
            manual_clock.advance(wait)
            assert post.round() == 0
        assert len(server.requests) == 3
        manual_clock.advance(1500)
        assert post.round() == 1
    assert len(server.requests) == 4
    assert len(set(keys(server))) == 1
    assert len(caplog.messages) == 3


def test_a_server_that_asks_to_be_left_alone_is_left_alone(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    server.replies[:] = [reply(429, Retry_After="3600"), reply()]
    post = opened()
    for _ in range(2):
        post.talk()
    manual_clock.advance(timedelta(hours=2))
    post.round()
    manual_clock.advance(3000)
    post.round()
    assert len(server.requests) == 1
    restarted = opened()
    assert restarted.round() == 1
    assert len(set(keys(server))) == 2
    manual_clock.advance(1400)
    assert restarted.round() == 1
    assert len(set(keys(server))) == 2


def test_a_server_that_was_down_while_the_clock_was_ahead_is_tried_again_when_it_is_right(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    server.replies[:] = [reply(503), reply()]
    post = opened()
    post.talk()
    right = manual_clock.advance(timedelta(hours=2))
    manual_clock.set(right + timedelta(days=400))
    assert post.round() == 0
    manual_clock.set(right)
    manual_clock.advance(600)
    assert post.round() == 1
    assert len(set(keys(server))) == 1


def test_a_server_that_is_down_costs_one_try_however_much_waits(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    server.replies[:] = [hang_up, reply()]
    post = opened()
    for _ in range(4):
        manual_clock.advance(1)
        post.talk()
    manual_clock.advance(timedelta(hours=2))
    assert post.round() == 0
    assert len(server.requests) == 1
    manual_clock.advance(60)
    assert post.round() == 4
    assert len(set(keys(server))) == 4


def test_what_can_not_be_delivered_is_given_up_and_stays_visible_for_a_month(
    opened: Open, server: Server, manual_clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    server.replies[:] = [reply(500)]
    post = opened()
    post.talk()
    manual_clock.advance(timedelta(hours=2))
    with caplog.at_level(logging.WARNING, "sexton.notices"):
        for _ in range(RETRY.attempts + 5):
            post.round()
            manual_clock.advance(timedelta(hours=8))
    assert len(caplog.messages) == 2
    assert len(server.requests) == RETRY.attempts
    [letter] = post.letters(LetterState.FAILED)
    assert "500" in (letter.last_error or "")
    manual_clock.advance(timedelta(days=30))
    post.round()
    assert post.letters() == []


def test_what_the_server_will_never_take_is_given_up_at_once_and_the_rest_goes_on(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    server.replies[:] = [reply(422), reply()]
    post = opened()
    for _ in range(2):
        manual_clock.advance(1)
        post.talk()
    manual_clock.advance(timedelta(hours=2))
    assert post.round() == 1
    assert len(post.letters(LetterState.FAILED)) == 1


def test_many_notices_that_are_given_up_are_one_line_a_minute(
    opened: Open, server: Server, manual_clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    server.replies[:] = [reply(422)]
    post = opened()
    for _ in range(5):
        manual_clock.advance(1)
        post.talk()
    manual_clock.advance(timedelta(hours=2))
    with caplog.at_level(logging.WARNING, "sexton.notices"):
        post.round()
    assert len(post.letters(LetterState.FAILED)) == 5
    assert len(caplog.messages) == 1


def test_a_target_that_is_down_does_not_make_another_hear_it_twice(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    server.replies[:] = [reply(500), reply(500), reply()]
    with Server([reply()]) as well:
        both = hook(server, manual_clock) | {"apprise-1": hook(well, manual_clock)["webhook"]}
        post = opened(found=both)
        post.talk()
        manual_clock.advance(timedelta(hours=2))
        for _ in range(4):
            post.round()
            manual_clock.advance(400)
    assert len(server.requests) == 3
    assert len(well.requests) == 1


def test_a_letter_of_a_keeper_that_died_is_delivered_by_another_with_the_same_key(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    post, other = opened(), opened()
    post.talk()
    manual_clock.advance(timedelta(hours=2))
    post.round()
    server.requests.clear()
    post.talk()
    manual_clock.advance(timedelta(hours=2))
    post.sweep()
    post.messenger.after([])
    [taken] = post.ledger.outbox.claim(post.worker.id, "webhook", 1, manual_clock.now())
    assert other.round() == 0
    post.worker.leave()
    manual_clock.advance(60)
    assert other.round() == 1
    assert keys(server) == [taken.notice.key]


def test_what_a_keeper_lost_sight_of_itself_is_delivered_by_it(
    opened: Open, server: Server, manual_clock: ManualClock
) -> None:
    post = opened()
    post.talk()
    manual_clock.advance(timedelta(hours=2))
    post.sweep()
    post.messenger.after([])
    assert post.ledger.outbox.claim(post.worker.id, "webhook", 1, manual_clock.now())
    assert post.messenger.deliver() == 1
    assert len(server.requests) == 1


def test_a_ledger_that_can_not_be_told_of_a_delivery_is_told_later_and_nobody_hears_it_twice(
    tmp_path: Path, manual_clock: ManualClock, server: Server
) -> None:
    path = tmp_path / "ledger.db"
    url, found = f"sqlite:///{path}", hook(server, manual_clock)
    post = Post(url, manual_clock, found, Interest(), patience=1.0)
    locked = threading.Event()

    def lock_and_answer(visit: Visit) -> None:
        if not locked.is_set():
            holder.execute("BEGIN IMMEDIATE")
            locked.set()
        visit.answer(200, b"", {})

    server.replies[:] = [lock_and_answer]
    with closing(apsw.Connection(str(path))) as holder:
        holder.set_busy_timeout(240_000)  # the heartbeat writes too
        post.talk()
        manual_clock.advance(timedelta(hours=2))
        with pytest.raises(LedgerBusy):
            post.round()
        holder.execute("ROLLBACK")
        post.messenger.deliver()
    assert len(server.requests) == 1
    assert [each.state for each in post.letters()] == [LetterState.DELIVERED]
    post.house.close()


def test_news_that_could_not_be_posted_is_posted_later_however_often_that_failed(
    tmp_path: Path, manual_clock: ManualClock, server: Server
) -> None:
    path = tmp_path / "ledger.db"
    post = Post(f"sqlite:///{path}", manual_clock, hook(server, manual_clock), Interest(), 1.0)
    other = Entry(actor="a", receipt=None, action="noted", result="done", reason=Reason("x", "y"))
    post.ledger.journal.write([other], manual_clock.now())
    post.round()
    post.round()
    session = post.talk()
    manual_clock.advance(timedelta(hours=2))
    post.sweep()
    with closing(apsw.Connection(str(path))) as holder:
        holder.set_busy_timeout(240_000)
        for _ in range(2):
            holder.execute("BEGIN IMMEDIATE")
            with pytest.raises(LedgerBusy):
                post.messenger.after([])
            holder.execute("ROLLBACK")
            post.ledger.journal.write([other], manual_clock.now())
    assert post.letters() == []
    post.messenger.after([])
    assert [each.notice.session for each in post.letters()] == [session.id]
    post.house.close()


def test_without_a_target_there_is_no_channel(manual_clock: ManualClock) -> None:
    assert channels(NotifyPlan(), manual_clock, {}) == {}


@pytest.mark.parametrize("value", [{}, {"NAME": " "}])
def test_a_variable_that_is_not_set_is_an_error_that_names_it(
    value: dict[str, str], manual_clock: ManualClock
) -> None:
    told = []
    for plan in (
        NotifyPlan(urls_env="NAME"),
        NotifyPlan(webhook="http://127.0.0.1:9/", secret_env="NAME"),
    ):
        with pytest.raises(SettingsInvalid) as caught:
            channels(plan, manual_clock, value)
        told.append(f"{caught.value}\n{caught.value.hint}")
    golden("settings", "notify: a variable is not set", "\n".join(told))


def test_without_apprise_its_addresses_are_an_error_that_says_how_to_get_it(
    manual_clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    with pytest.raises(ExtraMissing) as caught:
        channels(NotifyPlan(urls_env="NAME"), manual_clock, {"NAME": "json://127.0.0.1/secret"})
    assert "sexton[notify]" in caught.value.hint
    assert "secret" not in f"{caught.value}{caught.value.hint}"


def test_a_keeper_tells_by_its_settings(
    engine_url: str, server: Server, manual_clock: ManualClock
) -> None:
    settings = Settings(rulebook=RULES, notify=NotifySetting(webhook=f"{server.url}/hook"))
    with Sexton(open_ledger(engine_url), settings, clock=manual_clock) as house:
        house.publish()
        born(house.ledger, None, now=manual_clock.now())
        manual_clock.advance(timedelta(hours=2))
        for _ in range(2):
            house.sweep()
    assert [key.partition("/")[0] for key in keys(server)] == ["reset"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what apprise imports
def test_apprise_hands_it_over(opened: Open, server: Server, manual_clock: ManualClock) -> None:
    url = server.url.replace("http", "json")
    post = opened(found=channels(NotifyPlan(urls_env="URLS"), manual_clock, {"URLS": url}))
    post.talk()
    manual_clock.advance(timedelta(hours=2))
    assert post.round() == 1
    golden("notifications", "reset: title", server.requests[0].json["title"])
