"""How does an agent start processes that belong to a session, and add those it started itself?"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from types import TracebackType
from typing import Any, TypedDict

from sexton.core.plan import Reason
from sexton.core.record import replace
from sexton.core.session import Session, check_name
from sexton.errors import InputInvalid, LedgerError, ProcessNotFound, SessionError
from sexton.liveness.model import Identity
from sexton.processes.masking import masked
from sexton.processes.model import Description, Ending, Process, Spared, Stopped
from sexton.processes.process_arguments import (
    Program,
    end_of,
    environment_of,
    grace_of,
    kind_of,
    pid_of,
    place_of,
    program_of,
)
from sexton.sessions.worker_context import Desk

Reach = Callable[[Callable[[Session], Process | None]], Process]
"""Does what needs the fence of a session, wherever its conversation goes on."""

GRACE = timedelta(seconds=10)
KEPT = "a person keeps it"


class Facts(TypedDict, total=False):
    """What can be said of a process when it is registered."""

    task: str | None
    kind: str
    ttl: timedelta | None


class SpawnedProcess:
    """A process that was started for a session; `popen` is what its standard streams belong to.

    It is not stopped when this object is forgotten: what becomes of it when its session ends is
    for the policies to say.
    """

    def __init__(
        self, desk: Desk, popen: subprocess.Popen[Any], process: Process, pidfd: int | None
    ) -> None:
        self._desk = desk
        self.popen = popen
        self.process = process
        self.pidfd = pidfd

    def __repr__(self) -> str:
        return f"<process {self.pid} of session {self.process.session}: {self.process.shown}>"

    @property
    def pid(self) -> int:
        return self.popen.pid

    @property
    def tag(self) -> str:
        """What this process and all that it starts have in their environment."""
        return self.process.tag or ""

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        return self.popen.poll()

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; its exit code."""
        return self.popen.wait(timeout)

    def stop(self, grace: timedelta = GRACE) -> list[Stopped]:
        """Stop it and all that it started: TERM, after the grace KILL; what came of each.

        What a person keeps is spared, be it this one or one that it started.
        """
        given = grace_of(grace)
        spare = {each.ref: each for each in self._kept_by_people()}
        if self.process.ref in spare:
            shown, ref = self.process.shown, self.process.ref
            return [Stopped(pid=self.pid, command=shown, ending=Ending.SPARED, why=KEPT, row=ref)]
        held = {} if self.pidfd is None else {self.pid: self.pidfd}
        others = [Spared(each.identity, each.tag, KEPT) for each in spare.values()]
        done = self._desk.overseer().stopper.stop([self.process], given, held=held, spare=others)
        self.popen.poll()
        if all(each.is_over for each in done):
            now = self._desk.clock.now()
            with suppress(LedgerError):  # what came of it is known; its keeper finds it gone
                self._desk.ledger.registry.end(self.process.ref, "stopped by its agent", now)
        return done

    def _kept_by_people(self) -> list[Process]:
        try:
            running = self._desk.ledger.registry.running()
        except LedgerError:  # then it is the agent's own to stop
            return []
        return [each for each in running if each.is_kept_by_person]

    def close(self) -> None:
        """Let go of it; it runs on."""
        descriptor, self.pidfd = self.pidfd, None
        if descriptor is not None:
            os.close(descriptor)

    def __enter__(self) -> SpawnedProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "pidfd", None) is not None:
            self.close()


def spawn(desk: Desk, reach: Reach, arguments: Program, options: dict[str, Any]) -> SpawnedProcess:
    """Start a process with a tag in its environment, known to the ledger before it runs.

    Whatever happens in between, its keeper finds it by the tag.
    """
    program, words = program_of(arguments)
    said = Facts(
        kind=options.pop("kind", "job"),
        task=options.pop("task", None),
        ttl=options.pop("ttl", None),
    )
    tag = os.urandom(16).hex()
    environ = environment_of(options.get("env"), tag)
    awaited = _process(
        desk,
        said,
        identity=replace(_described(desk, os.getpid()).identity, pid=0, started=0, inode=None),
        tag=tag,
        command=masked(words),
        cwd=place_of(options.get("cwd")),
    )
    row = reach(lambda session: desk.ledger.registry.register(awaited, session))
    try:
        popen = subprocess.Popen(program, **(options | {"env": environ}))
    except BaseException as trouble:
        desk.ledger.registry.end(row.ref, "it could not be started", desk.clock.now())
        if isinstance(trouble, TypeError | ValueError):
            hint = "Options are those of subprocess.Popen."
            raise InputInvalid(f"it can not be started so: {trouble}", hint=hint) from trouble
        raise
    found = desk.overseer().recognise(popen.pid, tag)
    if found is None:  # it has ended, or what it left is known by the tag
        return SpawnedProcess(desk, popen, row, None)
    born = replace(row, identity=found.identity)
    with suppress(LedgerError, SessionError):  # it runs; its keeper does the same, by the tag
        if not desk.ledger.registry.identify(row, found.identity, desk.clock.now()):
            # Who took too long to start it was given up; one its keeper has found stays as it is.
            born = reach(lambda session: _register(desk, born, session))
    return SpawnedProcess(desk, popen, born, found.pidfd)


def adopt(desk: Desk, reach: Reach, pid: int, said: Facts) -> Process:
    """Make a running process of this user a session's."""
    if unknown := said.keys() - Facts.__annotations__.keys():
        hint = "Known are kind, task and ttl."
        raise InputInvalid(f"a process has no '{min(unknown)}'", hint=hint)
    found = _described(desk, pid_of(pid))
    if found.unfit:
        raise InputInvalid(found.unfit, hint="Name one it started.")
    if any(_is_same(each.identity, found.identity) for each in desk.ledger.workers.all()):
        raise InputInvalid(
            f"the process {pid} is an agent or a keeper itself", hint="Name one it started."
        )
    if found.identity.uid != os.getuid():
        raise InputInvalid(f"the process {pid} belongs to another user", hint="Name one of yours.")
    adopted = _process(
        desk,
        said,
        identity=found.identity,
        command=masked(found.command),
        cwd=found.cwd,
        age=timedelta(seconds=found.age),
    )
    return reach(lambda session: _register(desk, adopted, session))


def _register(desk: Desk, process: Process, session: Session) -> Process | None:
    """Register a process; the session that had it before is told whose it is now."""
    reason = Reason("registered", f"{process.name}: it belongs to the session {session.id} now")
    moved = (desk.entry(session, "move_process", reason), desk.clock.now())
    return desk.ledger.registry.register(process, session, moved)


def _is_same(one: Identity, other: Identity) -> bool:
    return replace(one, uid=other.uid) == other


def _described(desk: Desk, pid: int) -> Description:
    found = desk.overseer().describe(pid)
    if found is None:
        raise ProcessNotFound(f"there is no process {pid} here")
    return found


def _process(desk: Desk, said: Facts, *, age: timedelta = timedelta(), **known: Any) -> Process:
    """What is to be registered, or an error that says what is wrong with it."""
    task, started = said.get("task"), desk.clock.now() - age
    return Process(
        session="",
        task=None if task is None else check_name("task", task),
        kind=kind_of(said.get("kind", "unknown")),
        started_at=started,
        expires_at=end_of(said.get("ttl"), started),
        registered_by=desk.worker,
        **known,
    )
