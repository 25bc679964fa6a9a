"""An agent process that holds sessions."""

from __future__ import annotations

import atexit
from contextlib import suppress
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakValueDictionary

from sexton.agent.desk import Desk
from sexton.agent.opening import new_id, open_id, open_key
from sexton.agent.session import OpenSession
from sexton.agent.turns import catch_up
from sexton.errors import InputInvalid, LedgerError, SessionNotFound, SextonError, WorkerLeft
from sexton.model.message import one_line
from sexton.model.schedule import Schedule
from sexton.model.session import NATIVE, Relation, check_name
from sexton.ports import Birth

if TYPE_CHECKING:
    from sexton.agent.given import Program
    from sexton.agent.processes import SpawnedProcess

DEFAULT_SOURCE = "agent"


class AgentWorker:
    """A registered process. Leaving it gives up what it holds; sessions that die with it end."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._open = True
        self._opened: WeakValueDictionary[int, OpenSession] = WeakValueDictionary()
        desk.membership.returns_by(self._hold_again)
        desk.membership.catches_up_by(lambda: catch_up(self._desk))
        desk.membership.start()
        _present.add(self)

    @property
    def is_open(self) -> bool:
        return self._open

    @property
    def id(self) -> str:
        return self._desk.worker

    def session(
        self,
        key: str | None = None,
        *,
        source: str = DEFAULT_SOURCE,
        parent: OpenSession | str | None = None,
        relation: str | None = None,
        **facts: str | None,
    ) -> OpenSession:
        """The current session of a key: joined, or opened, or the next one if it is over.

        Further facts are `chat_type`, `job` and `title`. Without a key it is always a new one.
        """
        self._check_open()
        unknown = facts.keys() - {"chat_type", "job", "title"}
        if unknown:
            raise InputInvalid(
                f"a session has no '{min(unknown)}'", hint="Known are chat_type, job and title."
            )
        named = {
            name: check_name(name, value) for name, value in facts.items() if value is not None
        }
        if "title" in named:
            named["title"] = one_line(named["title"])
        birth = Birth(
            id=new_id(),
            key=None if key is None else check_name("key", key),
            source=check_name("source", source),
            parent=self._parent_id(parent),
            relation=_relation(parent, relation),
            worker=self.id,
            schedule=Schedule(0),
            **named,
        )
        return self._remembered(OpenSession(self._desk, open_key(self._desk, birth)))

    def resume(self, id: str) -> OpenSession:
        """The open session with that id."""
        self._check_open()
        return self._remembered(OpenSession(self._desk, open_id(self._desk, check_name("id", id))))

    def spawn(
        self,
        arguments: Program,
        *,
        session: OpenSession,
        task: str | None = None,
        kind: str = "job",
        ttl: timedelta | None = None,
        **popen: Any,
    ) -> SpawnedProcess:
        """Start a process that belongs to a session; further options are those of Popen.

        It has a tag in its environment that all it starts inherits, so that it is found again
        whatever becomes of this worker. The ttl is how long it may hold resets back while it works.
        """
        self._check_open()
        return _opened(session).spawn(arguments, task=task, kind=kind, ttl=ttl, **popen)

    def _check_open(self) -> None:
        if not self._open:
            raise WorkerLeft("the worker has left and holds no sessions any more")
        self._desk.membership.ensure()  # a holder that was declared dead would be reaped at once

    def _remembered(self, opened: OpenSession) -> OpenSession:
        self._opened[id(opened)] = opened
        return opened

    def _hold_again(self) -> None:
        """Become a holder again of what others hold too, where the fence stands.

        What nobody holds waits for its next opener: to take it would raise the epoch.
        """
        ledger, now = self._desk.ledger, self._desk.clock.now()
        for opened in filter(None, (reference() for reference in self._opened.valuerefs())):
            for found in ledger.index.find(NATIVE, opened.id):
                if found.holders and found.epoch == opened.epoch:
                    ledger.book.join(found, self.id, (), now)

    def leave(self) -> None:
        """Give up every session; those whose source dies with its owner end `closed`."""
        # A forked child that never used it leaves nothing of its parent's.
        if not self._open or not self._desk.membership.is_mine:
            return
        self._open = False
        with suppress(LedgerError):  # if the ledger is away, leaving says so
            self._desk.turns.repeat()
        self._desk.membership.leave()
        _present.discard(self)
        self._desk.ledger.book.leave(
            self.id, self._dying(), self._desk.clock.now(), self._desk.actor
        )

    def _parent_id(self, parent: OpenSession | str | None) -> str | None:
        if parent is None or isinstance(parent, OpenSession):
            return None if parent is None else parent.id
        if not self._desk.ledger.index.find(NATIVE, check_name("parent", parent)):
            raise SessionNotFound(f"there is no session {parent} that could be a parent")
        return parent

    def _dying(self) -> tuple[str, ...]:
        """The sources whose sessions end when nobody holds them any more."""
        return self._desk.rules(None).rules.liveness.dies_with_owner

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave()


_present: set[AgentWorker] = set()
"""Kept until they leave: a worker nobody refers to any more still holds its sessions."""


@atexit.register
def _leave_at_exit() -> None:
    """A process that ends cleanly without leaving its workers has left them all the same."""
    for worker in list(_present):
        try:
            worker.leave()
        except SextonError as trouble:
            import logging  # noqa: PLC0415  # slow to load, rarely needed

            logging.getLogger("sexton.agent").warning(
                "a worker could not leave its sessions: %s", trouble
            )


def _opened(given: object) -> OpenSession:
    if not isinstance(given, OpenSession):
        hint = "Give what 'worker.session' returned."
        raise InputInvalid(f"a {type(given).__name__} is no session", hint=hint)
    return given


def _relation(parent: OpenSession | str | None, relation: str | None) -> Relation | None:
    if relation is None:
        return None if parent is None else Relation.SUBAGENT
    if parent is None:
        raise InputInvalid("a relation needs a parent", hint="Give parent= beside relation=.")
    try:
        return Relation(relation)
    except ValueError:
        known = ", ".join(Relation)
        raise InputInvalid(f"'{relation}' is no relation", hint=f"Known are {known}.") from None
