"""An agent process that holds sessions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from sexton.core.message import one_line
from sexton.core.schedule import Schedule
from sexton.core.session import NATIVE, Relation, check_name
from sexton.errors import InputInvalid, SessionNotFound, WorkerLeft
from sexton.sessions.agent_session import OpenSession
from sexton.sessions.keys import new_id, open_id, open_key
from sexton.sessions.model import Birth
from sexton.sessions.turns import catch_up
from sexton.sessions.worker_context import Desk

if TYPE_CHECKING:
    from sexton.core.machine_ports import Clock
    from sexton.liveness.membership import Membership
    from sexton.processes.agent_processes import SpawnedProcess
    from sexton.processes.process_arguments import Program
    from sexton.rules.rulebook import InForce
    from sexton.store.ledger import Ledger

DEFAULT_SOURCE = "agent"


class AgentWorker:
    """A registered process. Leaving it gives up what it holds; sessions that die with it end.

    A worker that nobody refers to any more, neither itself nor by one of its sessions, leaves too.
    A child that this process forks becomes a worker of its own and holds the sessions that it
    inherited: at its first use of them, when this process dies, or after two seconds.
    """

    _ends_sessions = True

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        dying = desk.rules if self._ends_sessions else None
        give_up = partial(_give_up, desk.ledger, desk.clock, dying, desk.actor)
        tell = partial(catch_up, desk.turns, desk.ledger.workers)
        desk.membership.start(give_up, tell, desk.turns.repeat)

    @property
    def is_open(self) -> bool:
        return not self._desk.membership.has_left

    @property
    def membership(self) -> Membership:
        """What keeps the worker alive in the ledger, for as long as it or a session is in use."""
        return self._desk.membership

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
        return OpenSession(self._desk, open_key(self._desk, birth))

    def resume(self, id: str) -> OpenSession:
        """The open session with that id."""
        self._check_open()
        return OpenSession(self._desk, open_id(self._desk, check_name("id", id)))

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
        if not self.is_open:
            raise WorkerLeft("the worker has left and holds no sessions any more")
        self._desk.membership.ensure()  # a holder that was declared dead would be reaped at once

    def leave(self) -> None:
        """Give up every session; those whose source dies with its owner end `closed`."""
        self._desk.membership.leave()

    def _parent_id(self, parent: OpenSession | str | None) -> str | None:
        if parent is None or isinstance(parent, OpenSession):
            return None if parent is None else parent.id
        if not self._desk.ledger.index.find(NATIVE, check_name("parent", parent)):
            raise SessionNotFound(f"there is no session {parent} that could be a parent")
        return parent

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave()


def _give_up(
    ledger: Ledger,
    clock: Clock,
    rules: Callable[[int | None], InForce] | None,
    actor: str,
    worker: str,
) -> None:
    """Leave all sessions; without rules none of them ends."""
    dying = () if rules is None else rules(None).rules.liveness.dies_with_owner
    ledger.book.leave(worker, dying, clock.now(), actor)


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
