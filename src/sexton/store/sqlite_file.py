"""The file of a ledger: opened, checked, kept private, and noticed when it is lost."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import NoReturn

import apsw

from sexton.errors import (
    EngineTooOld,
    InvalidMessage,
    LedgerBusy,
    LedgerCorrupt,
    LedgerError,
    LedgerFull,
    LedgerIsDirectory,
    LedgerNotADatabase,
    LedgerReadOnly,
    SextonError,
)
from sexton.store.migrations import migrate_sqlite

APPLICATION_ID = 0x53455854  # "SEXT", in the file's header
PATIENCE = 30.0
WAL_LIMIT = 64 * 1024 * 1024
LOG_PAGES = 4000  # at this length whoever commits copies the log into the file
STALL = 0.05  # seconds for which that waits for those who write or read meanwhile
SMALLEST = 512
LOOKS = 50
SETTLED = 2.5  # seconds; times of directories are no coarser than two on any file system

Identity = tuple[int, ...]

_MOUNT = "Its disk is mounted read-only: mount it writable, or name another place with --ledger."
_IN_URI = str.maketrans({"%": "%25", "?": "%3f", "#": "%23"})

_FIXED_ENGINES = ((3, 51, 3), (3, 50, 7), (3, 44, 6))

_ERRORS: tuple[tuple[type[apsw.Error], type[SextonError], str], ...] = (
    (apsw.FullError, LedgerFull, "no room left for the ledger {path}"),
    (apsw.ReadOnlyError, LedgerReadOnly, "the ledger {path} is read-only"),
    (apsw.CantOpenError, LedgerReadOnly, "the ledger {path} can not be opened for writing"),
    (apsw.PermissionsError, LedgerReadOnly, "no permission to use the ledger {path}"),
    (apsw.BusyError, LedgerBusy, "the ledger {path} stayed locked by another process"),
    (apsw.LockedError, LedgerBusy, "the ledger {path} stayed locked"),
    (apsw.NotADBError, LedgerNotADatabase, "{path} is not a database"),
    (apsw.CorruptError, LedgerCorrupt, "the ledger {path} is damaged"),
    (apsw.IOError, LedgerError, "the disk failed under the ledger {path}"),
    (apsw.NoMemError, LedgerError, "no memory left to use the ledger {path}"),
    (apsw.ConnectionClosedError, LedgerBusy, "the process forked in a write to the ledger {path}"),
    (apsw.CursorClosedError, LedgerBusy, "the process forked in a write to the ledger {path}"),
    (apsw.TooBigError, InvalidMessage, "more than the ledger {path} can hold in one row"),
)


@contextmanager
def errors(path: str) -> Iterator[None]:
    """Turn the engine's errors into ours."""
    try:
        yield
    except apsw.Error as problem:
        explain(problem, path)


def explain(problem: apsw.Error, path: str) -> NoReturn:
    """Raise what the engine's error means to a user; itself if it is a mistake of ours."""
    code = getattr(problem, "extendedresult", None)
    if code == apsw.SQLITE_IOERR_SHMSIZE:  # what its users share could not grow
        raise LedgerFull(f"no room left beside the ledger {path} ({problem})") from problem
    for theirs, ours, words in _ERRORS:
        if isinstance(problem, theirs):
            raise ours(f"{words.format(path=path)} ({problem})") from problem
    raise problem


def check_engine(version: str) -> None:
    """Refuse an engine that can corrupt a database several processes write."""
    numbers = tuple(int(part) for part in version.split("."))
    newest, *backports = _FIXED_ENGINES
    if numbers >= newest or any(
        numbers[:2] == fixed[:2] and numbers >= fixed for fixed in backports
    ):
        return
    raise EngineTooOld(f"SQLite {version} has a known way of corrupting databases in WAL mode")


def open_writer(path: str, patience: float) -> apsw.Connection:
    """A connection that may write; the file is made and brought up to date if need be."""
    check_engine(apsw.sqlite_lib_version())
    with errors(path):
        _prepare(path)
        _refuse_foreign(path, patience)
        connection = _connect(path, apsw.SQLITE_OPEN_READWRITE, patience)
        with ExitStack() as undo:
            undo.callback(connection.close)
            _set_up(connection, patience)
            undo.pop_all()
        return connection


def open_reader(path: str, patience: float) -> apsw.Connection:
    """A connection that can not write."""
    with errors(path):
        connection = _connect(path, apsw.SQLITE_OPEN_READWRITE, patience)
        connection.execute("PRAGMA query_only = 1")
        return connection


def _set_up(connection: apsw.Connection, patience: float) -> None:
    # Each of these writes, so only where it is missing: asking needs no lock and no free byte.
    if connection.pragma("page_count") == 0:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    if connection.pragma("journal_mode") != "wal":
        _retry_while_busy(lambda: connection.pragma("journal_mode", "WAL"), patience)
    connection.execute(
        "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
        f"PRAGMA journal_size_limit = {WAL_LIMIT}"
    ).fetchall()
    migrate_sqlite(connection, APPLICATION_ID)
    connection.set_wal_hook(_log_hook(patience))


def _prepare(path: str) -> None:
    try:
        if os.path.isdir(path):
            raise LedgerIsDirectory(f"the ledger {path} is a directory")
        _make_private(os.path.dirname(os.path.abspath(path)))
        # Private from the first byte; an existing file is never opened here, closing it would
        # drop the locks that other connections of this process hold on it.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        pass
    except NotADirectoryError:
        raise LedgerNotADatabase(f"a part of the path {path} is a file") from None
    except OSError as problem:
        words = f"the ledger {path} can not be created: {problem.strerror}"
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            raise LedgerFull(words) from None
        raise _read_only(path, words) from None


def _read_only(path: str, words: str) -> LedgerReadOnly:
    """With what would help: rights do not on a disk that is mounted to be read only."""
    place = os.path.dirname(os.path.abspath(path))
    while not os.path.exists(place):
        place = os.path.dirname(place)
    is_mounted_so = os.statvfs(place).f_flag & os.ST_RDONLY
    return LedgerReadOnly(words, hint=_MOUNT if is_mounted_so else None)


def _make_private(directory: str) -> None:
    if not os.path.exists(directory):
        _make_private(os.path.dirname(directory))
        with suppress(FileExistsError):
            os.mkdir(directory, mode=0o700)


def _refuse_foreign(path: str, patience: float) -> None:
    """Look at an existing file without any way of changing it, or of leaving one beside it."""
    if not os.path.isfile(path):
        raise LedgerNotADatabase(f"the ledger {path} is not a plain file")
    if not os.access(path, os.W_OK) or not os.access(os.path.dirname(path) or os.curdir, os.W_OK):
        raise _read_only(path, f"the ledger {path} or its directory can not be written")
    for _ in range(LOOKS):
        before = os.stat(path)
        try:
            _look(path, before.st_size, patience)
            return
        except apsw.CorruptError:  # or somebody wrote in the middle of a look at a settled file
            now = os.stat(path)
            if (now.st_size, now.st_mtime_ns) == (before.st_size, before.st_mtime_ns):
                raise
    _look(path, os.stat(path).st_size, patience)


def _look(path: str, size: int, patience: float) -> None:
    if size == 0:
        return
    if size < SMALLEST:  # the engine would take it for an empty database and write over it
        raise LedgerNotADatabase(f"{path} is not a database")
    # Without a -wal nobody has it open in WAL mode, and looking the usual way would make one.
    settled = not os.path.exists(f"{os.path.realpath(path)}-wal")
    name = os.path.abspath(path).translate(_IN_URI)
    uri = f"file://{name}?mode=ro{'&immutable=1' if settled else ''}"
    connection = _connect(uri, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, patience)
    try:
        connection.execute("BEGIN")  # one sight of both: somebody may be making it a ledger now
        application = connection.pragma("application_id")
        if application != APPLICATION_ID and (application or _has_tables(connection)):
            raise LedgerNotADatabase(f"{path} is a database of another program")
    finally:
        connection.close()


def _has_tables(connection: apsw.Connection) -> bool:
    return bool(connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall())


def _connect(name: str, flags: int, patience: float) -> apsw.Connection:
    connection = apsw.Connection(name, flags=flags)
    connection.set_busy_handler(_fair_wait(patience))
    # A misspelt column in double quotes is an error, not a string.
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)
    # Else a statement with a join is planned anew for each set of values, which takes five times
    # as long as it does itself; there are no statistics that would make another plan of it.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    return connection


def _log_hook(patience: float) -> Callable[[apsw.Connection, str, int], int]:
    """After a commit: has a long log copied into the file, so that it begins anew.

    The engine's own way copies what it can without waiting. Where several processes never pause,
    something is always left then, and the log grows without end.
    """
    due = LOG_PAGES

    def begin_anew(connection: apsw.Connection, _name: str, pages: int) -> int:
        nonlocal due
        if pages < LOG_PAGES:
            due = LOG_PAGES
        elif pages >= due:
            due = pages + LOG_PAGES  # not with every commit: somebody may read an old state
            connection.set_busy_handler(_fair_wait(STALL))
            with suppress(apsw.Error):  # the commit stands, whatever comes of the log
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
            connection.set_busy_handler(_fair_wait(patience))
        return apsw.SQLITE_OK

    return begin_anew


def _fair_wait(patience: float) -> Callable[[int], bool]:
    """A busy handler with random short waits; the engine's own lets some processes starve."""
    started = 0.0

    def wait(attempt: int) -> bool:
        nonlocal started
        if attempt == 0:
            started = time.monotonic()
        _pause()
        return time.monotonic() - started < patience

    return wait


def _pause() -> None:
    """A short time, another one in each process."""
    time.sleep(0.0005 + os.urandom(1)[0] / 100_000)


def _retry_while_busy(attempt: Callable[[], object], patience: float) -> None:
    """Switching a fresh file to WAL reports busy past every handler when others do it too."""
    deadline = time.monotonic() + patience
    while True:
        try:
            attempt()
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            _pause()
        else:
            return


class Whereabouts:
    """Which files were at the path and beside it when they were opened, and are they there still?

    Asked after every commit, so in as few calls as possible: as long as nothing has come into their
    directory, gone from it or been renamed in it, they are. And a log must not be asked for its
    times: some systems then note the time of every write to it, which takes longer than the rest.
    """

    def __init__(self, path: str) -> None:
        real = os.path.realpath(path)  # the log is beside the file, not beside a link to it
        self._path = path
        self._log = f"{real}-wal"
        self._directory = os.path.dirname(real)
        self._is_link = real != path
        self._file = identity(path)
        self._log_file = identity(self._log)
        self._stamp: Identity | None = None
        self._since = 0.0
        self._is_settled = False

    @property
    def has_file(self) -> bool:
        """Whether the file is at its path; the log may be another one."""
        return self._file is not None and identity(self._path) == self._file

    def are_known(self) -> bool:
        """Whether both are where they were."""
        stamp = _stamp(self._directory)
        if stamp != self._stamp:
            is_log = identity(self._log) == self._log_file
            self._stamp, self._since, self._is_settled = stamp, time.monotonic(), False
            return is_log and self.has_file
        if self._is_settled:
            return not self._is_link or self.has_file
        # Another change at the same tick of that clock would not show.
        self._is_settled = time.monotonic() - self._since > SETTLED
        return self.has_file and os.access(self._log, os.F_OK) == (self._log_file is not None)


def identity(path: str) -> Identity | None:
    """Which file is at the path, by inode and device; None if there is none."""
    try:
        return os.stat(path)[1:3]
    except OSError:
        return None


def _stamp(directory: str) -> Identity | None:
    try:
        found = os.stat(directory)
    except OSError:
        return None
    # Not the time of its content, which a backup that is put back sets back as well.
    return found.st_ino, found.st_dev, found.st_ctime_ns
