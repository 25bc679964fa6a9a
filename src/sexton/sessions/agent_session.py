"""A session in an agent's hands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Unpack

from sexton.core.message import Draft, Message, draft, one_line, preview
from sexton.core.plan import Reason
from sexton.core.session import Session, check_end_reason, check_name
from sexton.errors import InvalidMessage, SessionEnded
from sexton.liveness.policy import UNATTENDED
from sexton.sessions.handle import Handle
from sexton.sessions.keys import Opening, reset, revive
from sexton.sessions.model import Batch
from sexton.sessions.worker_context import Desk

if TYPE_CHECKING:
    from pathlib import Path

    from sexton.processes.agent_processes import Facts, SpawnedProcess
    from sexton.processes.model import Process, Watched
    from sexton.processes.process_arguments import Program
    from sexton.rules.rulebook import InForce
    from sexton.sessions.awaiting import Awaited
    from sexton.sessions.compression import Summarise
    from sexton.sessions.model import Opened, Previous
    from sexton.sessions.policy import Options
    from sexton.sessions.turn import Turn
    from sexton.spending.guard import Guard
    from sexton.spending.model import Spend


_OWN = ("role", "content")
_ROLE = attrgetter("role")


class OpenSession(Handle):
    """Write to a session, read it, end it. Safe to share between threads.

    A write that returns is durable. A write to a session that has ended or was taken over
    raises `SessionEnded` or `SessionFenced` and changes nothing. When the session is compressed,
    here or by another holder, this goes on with the child: its `id` is another one then.
    """

    _guard: Guard | None = None

    def __init__(self, desk: Desk, opening: Opening) -> None:
        session = opening.session
        super().__init__(desk, session)
        self._opening = opening
        desk.membership.handles[id(self)] = self
        self._has_preview = session.preview is not None
        self._is_attended = session.source not in UNATTENDED

    @property
    def opened(self) -> Opened:
        """How this handle came by its session: `new`, `joined`, `adopted` or `reset`."""
        return self._opening.opened

    @property
    def previous(self) -> Previous | None:
        """The session that the key had before: given exactly when `opened` is `reset`."""
        return self._opening.previous

    def append(self, /, *, role: str, content: Any = None, **extra: Any) -> int:
        """Store one message durably; its sequence number."""
        return self._store([draft(role, content, extra)])

    def append_many(self, messages: Iterable[Mapping[str, Any]]) -> int:
        """Store messages durably in one transaction, all or none; the last sequence number."""
        return self._store(_drafts(messages))

    def messages(self, *, after: int = 0) -> Iterator[Message]:
        """The messages in order, read in small pages, so that any number fits in memory."""
        return self._read(self._session.ref, after)

    def history(self) -> Iterator[Message]:
        """Every message of the conversation as it was first said, through all compressions.

        Summaries and copies are left out; numbers begin anew with each session of the chain.
        """
        for part in self._desk.ledger.compression.chain(self._session.ref):
            yield from self._read(part.ref, part.after)

    def turn(self) -> Turn:
        """A context manager around one turn: counts it, and marks the session busy meanwhile.

        Raises `BudgetExceeded` if a budget has no room for a turn.
        """
        from sexton.sessions.turn import Turn  # noqa: PLC0415  # an agent that only writes has none

        return Turn(self._desk, self._session, self._schedule, self._learn, self._guarded())

    def aturn(self) -> Awaited:
        """The same for asyncio: `async with`, and every method of the turn is awaited."""
        from sexton.sessions.awaiting import Awaited  # noqa: PLC0415  # asyncio is slow to load

        return Awaited(self.turn())

    def pin(self, pinned: bool = True) -> None:
        """Keep the session from being reset or collected, or allow it again."""
        self._catch_up()
        reason = Reason("asked", "asked for by the agent")
        entry = self._desk.entry(self._session, "pin" if pinned else "unpin", reason)
        self._mark(pinned=pinned, noted=(entry, self._desk.clock.now()))

    def retitle(self, title: str) -> None:
        """Give the session a title."""
        self._catch_up()
        self._mark(title=one_line(check_name("title", title)))

    @property
    def directory(self) -> Path:
        """Where this session keeps its files; made on first use, for this user alone.

        It is removed, archived and brought back together with the session, or before by retention.
        """
        from sexton.retention.model import AWAY  # noqa: PLC0415  # few sessions have files

        if self._found().state in AWAY:
            raise self._desk.refusal(self._session)
        return self._desk.directory(self.id)

    def register_process(self, pid: int, **facts: Unpack[Facts]) -> Process:
        """Make a running process this session's, so that resets heed it and its end is seen to.

        Facts are its `kind` (`job`, `server`, `mcp`, `browser` or `unknown`), its `task`, and the
        `ttl` for which it may hold resets back while it works.
        """
        from sexton.processes.agent_processes import adopt  # noqa: PLC0415  # few agents have any

        self._desk.membership.ensure()
        return adopt(self._desk, self._reach, pid, facts)

    def processes(self) -> Sequence[Watched]:
        """The processes of this session and what they do, as people and the reset guard see it."""
        self._found()
        return self._desk.overseer().of_native(self._session)

    def spawn(self, arguments: Program, **options: Any) -> SpawnedProcess:
        """Start a process of this session, as `AgentWorker.spawn` does."""
        from sexton.processes.agent_processes import spawn  # noqa: PLC0415  # few agents have any

        self._desk.membership.ensure()
        return spawn(self._desk, self._reach, arguments, options)

    def end(self, reason: str = "closed") -> bool:
        """End the session; False if it had ended already, for then the first reason stands.

        Some reasons are Sexton's own, as others rely on what they say: `compression`, and what
        begins with `reaped:`, `budget:` or `breaker:`.
        """
        check_end_reason(reason)
        said = Reason(reason, "ended by the agent")

        def attempt(session: Session) -> bool | None:
            now, entry = self._desk.clock.now(), self._desk.entry(session, "end", said)
            return self._desk.ledger.book.end_now(session, reason, now, entry) or None

        try:
            return self._reach(attempt)
        except SessionEnded:
            return False

    def reset(self, *, force: bool = False) -> OpenSession:
        """End this session and start the next one of its key.

        Raises `SessionBusy` while a turn runs in it that the caller is not inside of itself,
        unless forced: the writes of such a turn are refused then.
        """
        self._catch_up()
        return OpenSession(self._desk, reset(self._desk, self._session, force=force))

    def revive(self) -> None:
        """Go on with a session that was taken for dead, with all its messages.

        Raises `SessionEnded` if it ended otherwise, or if its conversation goes on in another.
        """
        self._catch_up()
        self._go_on(revive(self._desk, self._session))

    def compress(
        self, summarise: Summarise, *, force: bool = False, **options: Unpack[Options]
    ) -> Message | None:
        """Go on in a child of this session in which a summary stands for its middle.

        `summarise` gets a list of the messages to be replaced and returns text or a message; it
        runs in a thread of its own, `attempts` times (3) and for `timeout` (2 minutes) at most,
        all together. The first `keep_head` (2) and the last `keep_tail` (8) messages are kept
        word for word, and so is what is said meanwhile. The parent ends `compression`, and
        `history` still reads what it holds.

        Returns the summary as stored, or None if nothing had to be done: there was too little to
        summarise, or another holder has compressed it meanwhile. If no summary can be had,
        `on_failure="abort"` raises `SummaryFailed`, changes nothing, and for the `cool_down` (5
        minutes) asks for no other one unless forced; `"fallback"` goes on without a summary and
        says so in its place, in `extra["summary"]`.
        """
        # Most agents never compress, so they do not pay for it when they start.
        from sexton.sessions.compression import go_on_shorter, middle, summary_of  # noqa: PLC0415
        from sexton.sessions.compression_store import Readiness  # noqa: PLC0415
        from sexton.sessions.policy import Terms, checked  # noqa: PLC0415

        terms, compression = checked(Terms(**options)), self._desk.ledger.compression
        ready = self._reach(compression.readiness)
        session = self._session
        old = middle(self._desk.ledger, session, self._read, terms)
        if old is None:
            return None
        summary, trouble = summary_of(
            self._desk, old, summarise, terms, Readiness(None) if force else ready
        )
        self._desk.membership.ensure()
        child = go_on_shorter(self._desk, old, summary, trouble)
        if child is None:
            if self._follow(session):
                return None
            raise self._desk.refusal(session)
        self._go_on(child)
        return next(self._read(child.ref, old.head))

    def _found(self) -> Session:
        """The session as it is in the ledger now, wherever its conversation goes on."""
        self._catch_up()
        found = self._desk.ledger.index.find(self._session.home, self.id)
        if not found:
            raise self._desk.refusal(self._session)
        return found[0]

    def _mark(self, **marks: Any) -> None:
        session = self._session
        if not self._desk.ledger.book.mark(session.ref, epoch=session.epoch, **marks):
            raise self._desk.refusal(session)

    def _store(self, drafts: list[Draft]) -> int:
        if not drafts:
            return 0
        desk = self._desk
        desk.membership.ensure()
        now = desk.clock.now()
        schedule = self._schedule(now)
        preview = None if self._has_preview else self._preview(drafts)
        from_human = self._is_attended and "user" in map(_ROLE, drafts)
        while True:
            session, mark = self._trusted()
            batch = Batch(
                session=session,
                drafts=drafts,
                schedule=schedule,
                preview=preview,
                from_human=from_human,
                spend=self._spent_by(session, len(drafts)) if self._counts_messages else None,
                seen=mark.count,
            )
            appended = desk.ledger.messages.append(batch, now)
            if appended is not None:
                break
            self._press_on(session)
        self._learn(session, appended)
        guard = self._guard or desk.guards.known(desk, session)
        if guard is not None:
            guard.pulse.beat(messages=len(drafts))
        return appended.last_seq

    def _spent_by(self, session: Session, messages: int) -> Spend | None:
        """What messages spend, where any budget but the session's own counts them."""
        return self._guarded().messages(session, messages)

    def _guarded(self) -> Guard:
        if self._guard is None:  # an agent that only writes does not pay for it
            self._guard = self._desk.guards.of(self._desk, self._session)
        self._guard.learn(self._rules)
        return self._guard

    def _preview(self, drafts: list[Draft]) -> str | None:
        lines = (preview(each.revived) for each in drafts if each.role == "user")
        found = next(filter(None, lines), None)
        self._has_preview = found is not None
        return found

    def _obey(self, rules: InForce) -> None:
        super()._obey(rules)
        if self._guard is not None:
            self._guard.learn(rules)


def _drafts(messages: Iterable[Mapping[str, Any]]) -> list[Draft]:
    drafts = []
    for message in messages:
        # Nearly always one of these, and the other question is a slow one.
        if type(message) is not dict and not isinstance(message, Mapping):
            raise InvalidMessage(f"a message is a mapping, not {type(message).__name__}")
        extra = None
        if len(message) > ("role" in message) + ("content" in message):
            extra = {name: message[name] for name in message if name not in _OWN}
        drafts.append(draft(message.get("role", ""), message.get("content"), extra))
    return drafts
