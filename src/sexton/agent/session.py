"""A session in an agent's hands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sexton.agent.desk import Desk
from sexton.agent.opening import reset, revive
from sexton.agent.turn import Turn
from sexton.errors import InvalidMessage, SessionEnded
from sexton.model.message import Draft, Message, draft, one_line, preview
from sexton.model.plan import Reason
from sexton.model.schedule import Schedule
from sexton.model.session import Limit, Session, check_name
from sexton.policies.liveness import UNATTENDED
from sexton.ports import Appended, Batch

PAGE_BYTES = 4_000_000


class OpenSession:
    """Write to a session, read it, end it. Safe to share between threads.

    A write that returns is durable. A write to a session that has ended or was taken over
    raises `SessionEnded` or `SessionFenced` and changes nothing.
    """

    def __init__(self, desk: Desk, session: Session) -> None:
        self._desk = desk
        self._session = session
        self._warned = session.warned
        self._has_preview = session.preview is not None
        self._rules = desk.rules(None)
        self._planned: tuple[tuple[int, Limit] | None, Schedule] = (None, Schedule(0))

    def __repr__(self) -> str:
        return f"<session {self.id} of key {self.key!r}, epoch {self.epoch}>"

    @property
    def id(self) -> str:
        return self._session.id

    @property
    def key(self) -> str | None:
        return self._session.key

    @property
    def source(self) -> str:
        return self._session.source

    @property
    def epoch(self) -> int:
        """The fence; it rises when somebody takes the session over."""
        return self._session.epoch

    def append(self, /, *, role: str, content: Any = None, **extra: Any) -> int:
        """Store one message durably; its sequence number."""
        return self._store([draft(role, content, extra)], [(role, content)])

    def append_many(self, messages: Iterable[Mapping[str, Any]]) -> int:
        """Store messages durably in one transaction, all or none; the last sequence number."""
        given = [dict(message) for message in _checked(messages)]
        said = [(message.get("role", ""), message.get("content")) for message in given]
        drafts = [
            draft(message.pop("role", ""), message.pop("content", None), message)
            for message in given
        ]
        return self._store(drafts, said)

    def messages(self, *, after: int = 0) -> Iterator[Message]:
        """The messages in order, read in small pages, so that any number fits in memory."""
        while page := self._desk.ledger.messages.page(self._session.ref, after, PAGE_BYTES):
            yield from page
            after = page[-1].seq

    def turn(self) -> Turn:
        """A context manager around one turn: counts it, and marks the session busy meanwhile."""
        return Turn(self._desk, self._session, self._schedule, self._learn)

    def pin(self, pinned: bool = True) -> None:
        """Keep the session from being reset or collected, or allow it again."""
        reason = Reason("asked", "asked for by the agent")
        entry = self._desk.entry(self._session, "pin" if pinned else "unpin", reason)
        noted = (entry, self._desk.clock.now())
        self._desk.ledger.book.mark(self._session.ref, pinned=pinned, noted=noted)

    def retitle(self, title: str) -> None:
        """Give the session a title."""
        self._desk.ledger.book.mark(self._session.ref, title=one_line(check_name("title", title)))

    def end(self, reason: str = "closed") -> bool:
        """End the session; False if it had ended already, for then the first reason stands."""
        check_name("end reason", reason)
        session, now = self._session, self._desk.clock.now()
        entry = self._desk.entry(session, "end", Reason(reason, "ended by the agent"))
        if self._desk.ledger.book.end_now(session.ref, session.epoch, reason, now, entry):
            return True
        refusal = self._desk.refusal(session)
        if isinstance(refusal, SessionEnded):
            return False
        raise refusal

    def reset(self, *, force: bool = False) -> OpenSession:
        """End this session and start the next one of its key."""
        return OpenSession(self._desk, reset(self._desk, self._session, force=force))

    def revive(self) -> None:
        """Go on with a session that was taken for dead, with all its messages.

        Raises `SessionEnded` if it ended otherwise, or if its conversation goes on in another.
        """
        self._session = revive(self._desk, self._session)
        self._warned = self._session.warned

    def _store(self, drafts: list[Draft], said: list[tuple[str, Any]]) -> int:
        if not drafts:
            return 0
        self._desk.membership.ensure()
        now = self._desk.clock.now()
        appended = self._desk.ledger.messages.append(
            Batch(
                session=self._session,
                drafts=drafts,
                schedule=self._schedule(now),
                preview=self._preview(said),
                from_human=self._session.source not in UNATTENDED
                and any(role == "user" for role, _ in said),
            ),
            now,
        )
        if appended is None:
            raise self._desk.refusal(self._session)
        self._learn(appended)
        return appended.last_seq

    def _preview(self, said: list[tuple[str, Any]]) -> str | None:
        if self._has_preview:
            return None
        lines = (preview(content) for role, content in said if role == "user")
        found = next(filter(None, lines), None)
        self._has_preview = found is not None
        return found

    def _schedule(self, now: datetime) -> Schedule:
        """When to look again after a write now; without a clock in the policy it stays the same."""
        known, planned = self._planned
        if known == (self._rules.serial, self._warned):
            return planned
        session = replace(self._session, active_at=now, warned=self._warned)
        rules = self._rules.rules
        planned = rules.schedule(session, self._rules.serial)
        if not rules.has_clock(session):
            self._planned = (self._rules.serial, self._warned), planned
        return planned

    def _learn(self, appended: Appended) -> None:
        """Take over what the ledger said: newer rules, warnings already given."""
        self._warned = appended.warned
        if appended.serial != self._rules.serial:
            self._rules = self._desk.rules(appended.serial)


def _checked(messages: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for message in messages:
        if not isinstance(message, Mapping):
            raise InvalidMessage(f"a message is a mapping, not {type(message).__name__}")
        yield message
