"""What must hold for every foreign home.

A test module gives the suite a fixture `scene` and inherits it:

    class TestMyHome(HomeContract):
        @pytest.fixture
        def scene(self, tmp_path: Path) -> Iterator[Scene]: ...
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from sexton.core.plan import Reason, Seen
from sexton.core.session import Session, State
from sexton.errors import HomeObserved
from sexton.homes.home_ports import Home, Sighting
from sexton.rules.rulebook import decode
from sexton.store.journal import Entry

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Scene(Protocol):
    """A home that is only observed, and its agent, which does what a test asks for."""

    @property
    def home(self) -> Home: ...

    def start(self, id: str) -> None:
        """The agent opens a session with that id."""

    def say(self, id: str, text: str) -> None:
        """The agent stores a message of its user."""

    def end(self, id: str) -> None:
        """The agent ends a session."""

    def remove(self, id: str) -> None:
        """The agent deletes a session and its messages."""

    def settle(self) -> None:
        """Wait until the home's files can be told from changed ones by their times."""


class Notebook:
    """What a ledger would know of a home, in memory; it goes through JSON as a ledger does."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.mark: Mapping[str, Any] | None = None

    def open_ids(self) -> frozenset[str]:
        return frozenset(id for id, session in self.sessions.items() if session.is_open)

    def all_ids(self) -> frozenset[str]:
        return frozenset(self.sessions)

    def look(self, home: Home) -> list[Sighting]:
        """Look at the home and note everything; the parts of the look."""
        parts = []
        for part in home.look(self.mark, self):
            parts.append(part)
            self.note(part)
        return parts

    def note(self, part: Sighting) -> None:
        """Remember one part of a look."""
        self.sessions |= {session.id: session for session in part.seen}
        for id in part.gone:
            self.sessions.pop(id, None)
        if part.mark is not None:
            self.mark = json.loads(json.dumps(part.mark, allow_nan=False))


class HomeContract:
    """Every home passes these, whatever agent lives in it."""

    def test_the_first_look_shows_every_session(self, scene: Scene) -> None:
        scene.start("one")
        scene.say("one", "Good morning")
        scene.say("one", "and good night")
        scene.start("two")
        book = Notebook()
        book.look(scene.home)
        assert book.all_ids() == {"one", "two"}
        assert book.sessions["one"].message_count == 2
        assert book.sessions["one"].byte_count == len("Good morningand good night")
        assert book.sessions["one"].preview == "Good morning"
        assert book.sessions["two"].message_count == 0

    def test_a_session_carries_the_name_of_its_home_and_no_row_of_the_ledger(
        self, scene: Scene
    ) -> None:
        scene.start("one")
        book = Notebook()
        book.look(scene.home)
        session = book.sessions["one"]
        assert scene.home.name
        assert scene.home.kind
        assert (session.home, session.ref, session.epoch) == (scene.home.name, 0, 1)

    def test_the_rules_of_a_home_stay_the_same_text_while_nobody_changes_them(
        self, scene: Scene
    ) -> None:
        rules = scene.home.rules()
        assert rules is None or decode(rules)
        scene.start("one")
        assert scene.home.rules() == rules

    def test_times_are_in_utc_and_in_order(self, scene: Scene) -> None:
        scene.start("one")
        scene.say("one", "Good morning")
        scene.end("one")
        book = Notebook()
        book.look(scene.home)
        session = book.sessions["one"]
        assert session.ended_at is not None
        assert session.started_at <= session.active_at
        assert session.started_at <= session.ended_at
        assert {session.started_at.tzinfo, session.ended_at.tzinfo} == {UTC}

    def test_only_the_last_part_of_a_look_carries_the_mark(self, scene: Scene) -> None:
        scene.start("one")
        parts = Notebook().look(scene.home)
        assert [part.mark is not None for part in parts] == [False] * (len(parts) - 1) + [True]

    def test_a_look_at_an_unchanged_home_yields_nothing_at_all(self, scene: Scene) -> None:
        scene.start("one")
        scene.say("one", "Good morning")
        scene.settle()
        book = Notebook()
        book.look(scene.home)
        assert book.look(scene.home) == []

    def test_a_new_message_is_seen_by_the_next_look(self, scene: Scene) -> None:
        scene.start("one")
        scene.start("two")
        book = Notebook()
        book.look(scene.home)
        scene.say("two", "Good morning")
        parts = book.look(scene.home)
        assert [session.id for part in parts for session in part.seen] == ["two"]
        assert book.sessions["two"].message_count == 1

    def test_a_new_session_is_seen_by_the_next_look(self, scene: Scene) -> None:
        scene.start("one")
        book = Notebook()
        book.look(scene.home)
        scene.start("two")
        book.look(scene.home)
        assert book.open_ids() == {"one", "two"}

    def test_an_ended_session_is_seen_ended(self, scene: Scene) -> None:
        scene.start("one")
        scene.start("two")
        book = Notebook()
        book.look(scene.home)
        scene.end("one")
        book.look(scene.home)
        assert book.sessions["one"].state is State.ENDED
        assert book.sessions["one"].ended_at is not None
        assert book.open_ids() == {"two"}

    def test_a_removed_session_is_gone(self, scene: Scene) -> None:
        for id in ("one", "two", "three"):
            scene.start(id)
        book = Notebook()
        book.look(scene.home)
        scene.remove("two")
        parts = book.look(scene.home)
        assert [id for part in parts for id in part.gone] == ["two"]
        assert book.all_ids() == {"one", "three"}

    def test_a_session_that_takes_the_place_of_a_removed_one_hides_nothing(
        self, scene: Scene
    ) -> None:
        scene.start("one")
        scene.start("two")
        book = Notebook()
        book.look(scene.home)
        scene.remove("two")
        scene.start("three")
        book.look(scene.home)
        assert book.all_ids() == {"one", "three"}

    def test_a_look_that_broke_off_is_made_up_for(self, scene: Scene) -> None:
        scene.start("one")
        book = Notebook()
        book.look(scene.home)
        scene.say("one", "Good morning")
        next(scene.home.look(book.mark, book))
        book.look(scene.home)
        assert book.sessions["one"].message_count == 1

    def test_a_mark_of_an_unknown_kind_means_looking_at_everything(self, scene: Scene) -> None:
        scene.start("one")
        book = Notebook()
        book.mark = {"format": "of another time"}
        book.look(scene.home)
        assert book.all_ids() == {"one"}

    def test_what_the_ledger_knows_too_much_is_gone_after_a_look_at_everything(
        self, scene: Scene
    ) -> None:
        scene.start("one")
        scene.start("two")
        book = Notebook()
        book.look(scene.home)
        scene.remove("two")
        book.mark = None
        book.look(scene.home)
        assert book.all_ids() == {"one"}

    def test_ending_a_session_of_an_observed_home_is_refused(self, scene: Scene) -> None:
        scene.start("one")
        book = Notebook()
        book.look(scene.home)
        assert _refuses_to_end(scene.home, book.sessions["one"])
        book.mark = None
        book.look(scene.home)
        assert book.sessions["one"].is_open


def _refuses_to_end(home: Home, session: Session) -> bool:
    seen = Seen(
        ref=session.ref,
        home=session.home,
        id=session.id,
        epoch=session.epoch,
        active_at=session.active_at,
        message_count=session.message_count,
        turn_count=session.turn_count,
        pinned=session.pinned,
    )
    reason = Reason("idle", "idle for a day")
    entry = Entry(actor="test", receipt=None, action="end", result="done", reason=reason)
    try:
        home.end(seen, reason, entry, NOON)
    except HomeObserved:
        return True
    return False
