"""Is it in the memory file already, and how does it get there exactly once?

Each block has a marker, an HTML comment with the key of the work. The file is replaced as a
whole, so a crash leaves the old one or the new one, and the marker tells which.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from sexton.core.machine_ports import Clock
from sexton.finalizers.effects.fork_safety import closed, opened
from sexton.finalizers.job import EffectFailed, shortage

LOCK_WAIT = 30.0
LOOK_EVERY = 0.01
TRIES = 10
"""So often a file is read again that somebody changed in between."""
_JOINERS = "\n\t\u200c\u200d"  # line ends, tabs, and what joins letters and emoji


class Changed(OSError):
    """The file is not the one that was read any more."""


class _Block:
    """What somebody wants to add, and what came of it."""

    def __init__(self, key: str, text: bytes) -> None:
        self.key = key
        self.text = text
        self.added: bool | None = None
        self.problem: OSError | None = None


class MemoryFile:
    """A Markdown file to which any number of keepers add blocks, and people what they like.

    Those that wait for it together are added together: the file is written once for all of them.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._waiting: list[_Block] = []

    def holds(self, key: str) -> bool:
        """Whether the work with that key is there; EffectFailed if it could not be added either."""
        with self._explained():
            target = self._target()
            if is_mount_point(target):
                raise OSError(errno.EBUSY, "it is a mount point; mount its directory instead")
            return _holds(target, _read(target, _facts(target)), key)

    def append(self, key: str, heading: str, text: str) -> bool:
        """Add a block and make it durable; False if it was there already."""
        words = f"## {harmless(heading)}\n\n".encode() + _marker(key)
        block = _Block(key, words + f"\n\n{harmless(text).strip()}\n".encode())
        with self._explained():
            with self._lock:
                self._waiting.append(block)
            try:
                with self._my_turn():
                    if block.added is None:
                        self._add_all()
            finally:
                with self._lock:
                    if block in self._waiting:  # nobody came to it
                        self._waiting.remove(block)
            if block.added is None or block.problem is not None:
                raise block.problem or OSError(errno.EIO, "nothing came of it")
            return block.added

    def _add_all(self) -> None:
        """Add every block that waits; they share what goes wrong."""
        with self._lock:
            taken, self._waiting = self._waiting, []
        try:
            target = self._target()
            _make_directory(target.parent)
            with self._locked(target):
                self._add(target, taken)
        except OSError as problem:
            for block in taken:
                block.problem = problem

    def _add(self, target: Path, blocks: Sequence[_Block]) -> None:
        for left in reversed(range(TRIES)):
            facts = _facts(target)
            content = before = _read(target, facts)
            for block in blocks:
                block.added = not _holds(target, content, block.key)
                if block.added:
                    content = _joined(content, block.text)
            try:
                if content != before:
                    _replace(target, content, facts)
            except Changed:  # by a person, who does not know our lock
                if not left:
                    raise
            else:
                return

    def _target(self) -> Path:
        return Path(os.path.realpath(self._path))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            why = problem.strerror or type(problem).__name__
            words = f"the memory file {self._path} can not be used: {why}"
            raise EffectFailed(words, after=shortage(problem)) from None

    @contextmanager
    def _my_turn(self) -> Iterator[None]:
        if not self._turn.acquire(timeout=LOCK_WAIT):
            raise TimeoutError(errno.ETIMEDOUT, "other work keeps it locked")
        try:
            yield
        finally:
            self._turn.release()

    @contextmanager
    def _locked(self, target: Path) -> Iterator[None]:
        """Have the file to ourselves: other processes look again and again."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        name = target.with_name(f".{target.name}.lock")
        descriptor = opened(lambda: os.open(name, flags, 0o600), lambda found: (found,))
        try:
            self._wait_for(descriptor)
            try:
                yield
            finally:
                fcntl.flock(descriptor, fcntl.LOCK_UN)
        finally:
            closed(descriptor, lambda: os.close(descriptor))

    def _wait_for(self, descriptor: int) -> None:
        end = self._clock.monotonic() + LOCK_WAIT
        while True:
            try:
                return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if self._clock.monotonic() >= end:
                    raise TimeoutError(errno.ETIMEDOUT, "another process locks it") from None
            self._clock.sleep(LOOK_EVERY)


def is_mount_point(target: Path) -> bool:
    """Whether the very file is mounted: it can be written, but no other can take its place."""
    try:
        mounts = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return False
    name = os.fsencode(target)
    return any(_unescaped(line.split(b" ")[4]) == name for line in mounts if line.count(b" ") > 4)


def _unescaped(name: bytes) -> bytes:
    """The kernel writes spaces and the like as octal numbers."""
    return re.sub(rb"\\([0-7]{3})", lambda match: bytes([int(match[1], 8)]), name)


def harmless(text: str) -> str:
    """Text that can neither pose as a marker nor hide one."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    shown = "".join(c for c in lines if c.isprintable() or c in _JOINERS)
    return shown.replace("<!--", "&lt;!--").replace("-->", "--&gt;")


def _marker(key: str) -> bytes:
    return f"<!-- sexton: {quote(key).replace('--', '-%2D')} -->".encode()


def _holds(target: Path, content: bytes, key: str) -> bool:
    """Whether a block is there for good: one of a crashed attempt may not be on the disk yet."""
    if _marker(key) not in content:
        return False
    _sync(target, os.O_RDONLY)
    _sync(target.parent, os.O_DIRECTORY)
    return True


def _joined(before: bytes, block: bytes) -> bytes:
    if not before:
        return block
    return before + (b"\n" if before.endswith(b"\n") else b"\n\n") + block


def _facts(target: Path) -> os.stat_result | None:
    """What is known of the file; None if there is none yet. Raises OSError if it is off limits."""
    try:
        facts = os.stat(target)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(facts.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    if not facts.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "it is read-only")
    return facts


def _read(target: Path, facts: os.stat_result | None) -> bytes:
    return b"" if facts is None else target.read_bytes()


def _make_directory(directory: Path) -> None:
    missing = [each for each in (directory, *directory.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def _replace(target: Path, content: bytes, facts: os.stat_result | None) -> None:
    """Put a new file in the old one's place, at once and durably; or leave the old one alone."""
    new = target.with_name(f".{target.name}.new")
    new.unlink(missing_ok=True)  # of somebody who was killed; we have the lock
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        with open(os.open(new, flags, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            _take_after(file.fileno(), facts)
            os.fsync(file.fileno())
        if _version(_facts(target)) != _version(facts):
            raise Changed(errno.EBUSY, "somebody changes it all the time")
        os.replace(new, target)
    except OSError:
        new.unlink(missing_ok=True)
        raise
    _sync(target.parent, os.O_DIRECTORY)


def _take_after(descriptor: int, facts: os.stat_result | None) -> None:
    """Give the new file the owner and mode of the old one."""
    if facts is None:
        return
    mine = os.fstat(descriptor)
    if (mine.st_uid, mine.st_gid) != (facts.st_uid, facts.st_gid):
        os.fchown(descriptor, facts.st_uid, facts.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(facts.st_mode))


def _version(facts: os.stat_result | None) -> tuple[int, int, int] | None:
    return facts and (facts.st_ino, facts.st_size, facts.st_mtime_ns)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
