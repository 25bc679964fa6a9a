"""How is a Hermes database changed beside a running Hermes, so that Hermes never notices?

In steps that are short and leave about as much time free as they took, because Hermes gives a write
up after some seconds. Never is the log folded in beside another process or cut, the file rebuilt or
the schema touched: that is the business of whoever has the database open.
"""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import apsw

from sexton.core.machine_ports import Clock
from sexton.errors import HomeError, HomeOutgrown, HomeRefused
from sexton.homes.hermes.bounds import bound
from sexton.homes.hermes.fingerprint import Shape, recognise
from sexton.homes.hermes.hermes_database import keeps_a_log, signature
from sexton.homes.hermes.hermes_writer import Writer
from sexton.homes.hermes.holders import danger
from sexton.homes.hermes.known_schema import refuse_strangers
from sexton.homes.hermes.known_search import INDEXES
from sexton.homes.hermes.writable import refusal, refuse_unwritable

OLDEST_CHANGEABLE = 22
CHANGEABLE = frozenset({OLDEST_CHANGEABLE, 30})
"""The schemas whose every table and trigger is known: Hermes 0.19 and the newer main."""
PATIENCE = 15.0
"""Seconds to wait for Hermes's own writes; it waits about as long for ours."""
LONG_PATIENCE = 180.0
"""Seconds for what can wait: every thousand writes Hermes puts its search index in order."""
REST = 1.0
"""For such a part of the time a step took, others have the database to themselves afterwards."""
LONGEST_STEP = 3.0
"""Seconds after which a step is undone: it was too big."""
PAGES_IN_LOG = 1000
SHORTEST_NAP, LONGEST_NAP = 0.0005, 0.003
STEPS_BETWEEN_CHECKS = 20_000

TRY_TRIGRAM = "CREATE VIRTUAL TABLE trial USING fts5(words, tokenize = 'trigram')"

Answer = TypeVar("Answer")


class TooLong(Exception):
    """A step took too long and was undone; a smaller one may do."""


class Hand:
    """A connection through which a home is changed, step by step."""

    def __init__(self, db: Writer, database: Path, clock: Clock, inode: int) -> None:
        self._db = db
        self._database = database
        self._inode = inode
        self._refuse_replaced()
        bound(db, database)
        self._schema = _schema(db)
        self.shape = check(db, database)
        self._clock = clock
        self._free_until = float("-inf")
        self.held = 0.0
        """For how many seconds the last step kept others from writing."""
        self.quiet = False
        """Whether nobody else has written since the step before."""
        self._version = 0

    def step(self, job: Callable[[Writer], Answer]) -> Answer:
        """Do something in one transaction, and leave the database alone for a while afterwards.

        HomeRefused, and nothing is changed, if rows changed that the job did not mean to change.
        """
        wait = self._free_until - self._clock.monotonic()
        if wait > 0:
            self._clock.sleep(wait)
        self._db.execute("BEGIN IMMEDIATE")
        version = self._db.data_version()
        self.quiet, self._version = version == self._version, version
        begun = self._clock.monotonic()
        self._limit(begun + LONGEST_STEP)
        try:
            self._recheck()
            self._db.strays = 0
            answer = job(self._db)
            self._refuse_strays()
            self._refuse_replaced()
            self._db.execute("COMMIT")
        except BaseException as problem:
            self._limit(None)
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if isinstance(problem, apsw.InterruptError):
                raise TooLong from None
            raise
        finally:
            self._limit(None)
            ended = self._clock.monotonic()
            self.held = ended - begun
            self._free_until = ended + REST * self.held
        return answer

    def _recheck(self) -> None:
        """Whoever is brought up to date meanwhile may have tables that nobody knows here."""
        schema = _schema(self._db)
        if schema != self._schema:
            self.shape = check(self._db, self._database)
            self._schema = schema

    def _refuse_strays(self) -> None:
        if self._db.strays:
            raise HomeRefused(
                f"{self._database}: rows changed that Sexton did not mean to change",
                hint="The change was rolled back. Look at the triggers and references in the home.",
            )

    def _refuse_replaced(self) -> None:
        """Whatever was found out about the home holds for one file only."""
        if inode_of(self._database) != self._inode:
            raise HomeRefused(f"{self._database} was replaced by another file meanwhile")

    def fold(self, alone: bool) -> None:
        """Let the log be folded in as it grows while nobody else is there who would have to."""
        self._db.pragma("wal_autocheckpoint", PAGES_IN_LOG if alone else 0)

    def _limit(self, deadline: float | None) -> None:
        clock = self._clock
        late = None if deadline is None else lambda: clock.monotonic() > deadline
        self._db.set_progress_handler(late, STEPS_BETWEEN_CHECKS)


@contextmanager
def changing(
    database: Path, clock: Clock, patience: float = PATIENCE, inode: int | None = None
) -> Iterator[Hand]:
    """A connection for changes; HomeRefused if anything about the home is not as it is known.

    `inode` is the file that the caller has looked at, where it looked before.
    """
    unsafe = danger(database)
    if unsafe is not None:
        raise HomeRefused(f"{database} is not changed: {unsafe}")
    refuse_unwritable(database)
    db: Writer | None = None
    try:
        inode = inode_of(database) if inode is None else inode
        db = _connect(database, _Waiting(clock, patience))
        hand = Hand(db, database, clock, inode)
        keep = ctypes.c_int(1)
        db.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, ctypes.addressof(keep))
        yield hand
    except TooLong:
        raise HomeRefused(f"{database}: a step took more than {LONGEST_STEP:.0f} s") from None
    except apsw.Error as problem:
        raise refusal(database, problem, patience) from None
    finally:
        if db is not None:
            db.close()


def inode_of(database: Path) -> int:
    """Which file the database is now; HomeRefused if it is none that can hold one."""
    try:
        return signature(database).database[0]
    except HomeError as problem:
        raise HomeRefused(f"{database} can not be changed: {problem}") from None


def _schema(db: apsw.Connection) -> object:
    """Another number whenever the schema has become another."""
    return db.pragma("schema_version")


def _connect(database: Path, waiting: _Waiting) -> Writer:
    db = Writer(database)
    db.set_busy_handler(waiting)
    db.pragma("foreign_keys", 1)
    db.pragma("secure_delete", 1)
    db.pragma("wal_autocheckpoint", 0)
    db.pragma("synchronous", 2)
    return db


class _Waiting:
    """Waits for other writers in short naps of random length, which is fair to all."""

    def __init__(self, clock: Clock, patience: float) -> None:
        self._clock = clock
        self._patience = patience
        self._until = 0.0

    def __call__(self, tries: int) -> bool:
        if tries == 0:
            self._until = self._clock.monotonic() + self._patience
        self._clock.sleep(random.uniform(SHORTEST_NAP, LONGEST_NAP))  # noqa: S311  # not a secret
        return self._clock.monotonic() < self._until


def check(db: apsw.Connection, database: Path) -> Shape:
    """The shape of the database; HomeRefused unless all that a change would set off is known."""
    shape = recognise(db, database)
    if shape.version not in CHANGEABLE:
        known = ", ".join(map(str, sorted(CHANGEABLE)))
        raise HomeOutgrown(
            f"{database} has schema version {shape.version}; only {known} are changed",
            hint="Upgrade Hermes or Sexton; observing it works all the same.",
        )
    absent = sorted(_absent(db, shape))
    if absent:
        raise HomeRefused(
            f"{database} has schema version {shape.version} but no {absent[0]}",
            hint="Start Hermes once, so that it can finish bringing its home up to date.",
        )
    if not keeps_a_log(database):
        raise HomeRefused(f"{database} keeps no write-ahead log, so its readers would be kept out")
    refuse_strangers(db, database, shape)
    # Every view is known now; the newer indexes read what they are made of through one.
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 1)
    _try_full_text(db, database)
    return shape


def _absent(db: apsw.Connection, shape: Shape) -> Iterator[str]:
    """What speaks against a change but is not there yet: a migration was cut short."""
    needed = _GUARDS | _NEWER_GUARDS if shape.version > OLDEST_CHANGEABLE else _GUARDS
    yield from (f"column sessions.{name}" for name in needed - shape.sessions)
    yield from (f"table {name}" for name in _GUARDING if not db.table_exists("main", name))


_GUARDS = frozenset({"session_key", "parent_session_id", "model_config", "archived", "end_reason"})
_NEWER_GUARDS = frozenset({"pinned", "last_activity_at"})
_GUARDING = ("gateway_routing", "compression_locks")


def _try_full_text(db: apsw.Connection, database: Path) -> None:
    """Every deleted message leaves the indexes of its words, so those must be understood here."""
    tables = [name for name in INDEXES if db.table_exists("main", name)]
    if not tables:
        return
    try:
        trial = apsw.Connection(":memory:")
        try:
            trial.execute(TRY_TRIGRAM)
        finally:
            trial.close()
        for table in tables:
            db.execute(f"SELECT rowid FROM {table} WHERE rowid = -1").fetchall()
    except apsw.Error as problem:
        raise HomeRefused(f"{database}: its full-text index can not be kept: {problem}") from None
