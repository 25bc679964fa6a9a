"""How is an agent's database read without disturbing the agent?

Everything goes through apsw: opening the file in any other way and closing it again would drop
the locks this process holds on it. If the agent closes its database in the instant between our
look at its files and our opening them, an empty log stays behind, which its next close removes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple, TypeVar
from urllib.parse import quote

import apsw

from sexton.errors import HomeNotFound, HomeUnknown, HomeUnreadable, SextonError
from sexton.homes.hermes.bounds import bound, confine

ATTEMPTS = 5
BUSY_MILLISECONDS = 2_000

Answer = TypeVar("Answer")
FileStamp = tuple[int, int, int]


class Signature(NamedTuple):
    """Inode, size and change time of a database and of its log; they move with every commit."""

    database: FileStamp
    wal: FileStamp | None

    @property
    def newest(self) -> float:
        """When either file last changed, in seconds since 1970."""
        stamps = (self.database, self.wal) if self.wal else (self.database,)
        return max(changed for _, _, changed in stamps) / 1e9


def signature(database: Path) -> Signature:
    """What the files look like from outside; costs two calls of stat."""
    log = database.with_name(database.name + "-wal")
    own, of_log = _status(database), _status(log)
    if own is None:
        raise HomeNotFound(f"{database} does not exist any more")
    for path, status in ((database, own), (log, of_log)):
        if status is not None and not S_ISREG(status.st_mode):
            # To open a pipe would wait for somebody at its other end, for ever.
            raise HomeUnreadable(f"{path} is not a regular file")
    return Signature(_stamp(own), None if of_log is None else _stamp(of_log))


def stamp(path: Path) -> FileStamp | None:
    """Inode, size and change time of a file; None if there is none."""
    status = _status(path)
    return None if status is None else _stamp(status)


def _stamp(status: os.stat_result) -> FileStamp:
    return status.st_ino, status.st_size, status.st_mtime_ns


def _status(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise HomeUnreadable(f"{path} can not be read: {problem.strerror}") from None


def read(database: Path, question: Callable[[apsw.Connection], Answer]) -> Answer:
    """Answer a question in one short read transaction; no file of the agent is made or changed."""
    for _ in range(ATTEMPTS):
        before = signature(database)
        still = before.wal is None and keeps_a_log(database)
        try:
            answer = _ask(database, question, still=still)
        except (apsw.Error, HomeUnknown, UnicodeDecodeError) as problem:
            if signature(database) == before:
                raise _explained(database, problem) from None
        else:
            if not still or signature(database) == before:
                return answer
    raise HomeUnreadable(
        f"{database} changed during each of {ATTEMPTS} attempts to read it",
        hint="Try again in a moment; nothing was changed.",
    )


def _ask(database: Path, question: Callable[[apsw.Connection], Answer], *, still: bool) -> Answer:
    connection = _connect(database, still=still)
    try:
        bound(connection, database)
        connection.execute("BEGIN")
        return question(connection)
    finally:
        connection.close()


def keeps_a_log(database: Path) -> bool:
    """Whether the database is in WAL mode, by its header.

    Without a log beside it such a database has no user, and a plain read-only connection would
    create one: it has to be read as immutable. Any other database is read under its own locks.
    """
    try:
        connection = _connect(database, still=True)
        try:
            complete, header = connection.read("main", 0, 0, 100)
        finally:
            connection.close()
    except apsw.Error as problem:
        raise _explained(database, problem) from None
    return complete and header[19] == 2


def _connect(database: Path, *, still: bool) -> apsw.Connection:
    mode = "immutable=1" if still else "mode=ro"
    connection = apsw.Connection(
        f"file:{quote(os.fsencode(database))}?{mode}",
        flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
    )
    confine(connection, database)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    connection.pragma("query_only", 1)
    return connection


def _explained(database: Path, problem: Exception) -> SextonError:
    match problem:
        case HomeUnknown():
            return problem
        case apsw.SQLError():
            return HomeUnknown(f"{database} has a shape Sexton does not know: {problem}")
        case apsw.ReadOnlyError() if _is_cut_short(problem):
            return HomeUnreadable(
                f"{database} holds a transaction that a crash cut short",
                hint="Start the agent once, so that it can roll it back; nothing was changed.",
            )
        case apsw.InterruptError():
            return HomeUnreadable(
                f"{database} takes more work to read than its size explains",
                hint="Look for views and odd tables in it; nothing was changed.",
            )
        case _:
            return HomeUnreadable(f"{database} can not be read: {problem}")


def _is_cut_short(problem: apsw.Error) -> bool:
    return getattr(problem, "extendedresult", None) == apsw.SQLITE_READONLY_ROLLBACK
