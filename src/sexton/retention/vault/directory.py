"""A directory of vault files: how does one get there whole, and how is it read again?"""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG

from sexton.errors import VaultDamaged, VaultError, VaultMissing
from sexton.retention.files.descriptors import (
    Unfit,
    explained,
    make_file,
    make_place,
    open_plain,
    opened,
    opened_private,
    status_of,
)
from sexton.retention.model import Header, SessionContent, Written, export_name
from sexton.retention.vault.reading import Reader
from sexton.retention.vault.seals import CheckedLines, Tally
from sexton.retention.vault.vault_codec import Format, compressor, decompressed
from sexton.retention.vault.vault_writing import write_sessions

CHUNK = 1 << 18
MUCH = 1 << 22
UNFINISHED = ".part"
_NAME = re.compile(r"[0-9a-f]{32}\.jsonl\.(zst|gz)")


class FileVault:
    """A directory of files that hold what was removed."""

    def __init__(
        self, place: Path, format: Format = Format.ZSTD, *, with_parents: bool = False
    ) -> None:
        """What somebody named must have its parents: a disk may not be mounted."""
        self._place = place
        self._format = format
        self._with_parents = with_parents

    def establish(self, *, anew: bool = True) -> None:
        """See that the directory is there for this user alone; if not, `anew` makes it.

        For the first file of a ledger only: a directory that was there once may be on a disk
        that is not mounted now.
        """
        if anew:
            with explained(self._place):
                make_place(self._place, with_parents=self._with_parents)
        with opened_private(self._place):
            pass

    def new_name(self) -> str:
        """A name for the next file, not used by any other."""
        return f"{secrets.token_hex(16)}.jsonl.{self._format}"

    def write(self, name: str, header: Header, contents: Iterable[SessionContent]) -> Written:
        """Make a file, durable and read back; after any failure nothing of that name is left."""
        part = _checked(name) + UNFINISHED
        with opened_private(self._place) as directory:
            if status_of(name, directory):
                raise VaultError(f"{self._place / name} is there already")
            try:
                output = _Output(make_file(part, directory), _format(name))
                with output:
                    tally = write_sessions(header, contents, output.put)
                os.rename(part, name, src_dir_fd=directory, dst_dir_fd=directory)
                os.fsync(directory)
                written = output.written(tally)
                with self._file(name, directory) as file:
                    _verify(file, name, written, output.raw)
            except BaseException:
                _remove(name, directory)
                raise
        return written

    def verify(self, name: str, expected: Written) -> None:
        """Read all of it and compare; VaultMissing or VaultDamaged."""
        with opened_private(self._place) as directory, self._file(name, directory) as file:
            _verify(file, name, expected)

    def read(self, name: str, expected: Written) -> tuple[Header, Iterator[SessionContent]]:
        """What is in it, one session at a time; use up each before asking for the next.

        What is read can be trusted only after its session was left without VaultDamaged.
        """
        with opened_private(self._place) as directory, self._file(name, directory) as file:
            _compare_digest(file, expected)
            header = Reader(_lines(file, name, expected)).header
        return header, self._sessions(name, expected)

    def remove(self, name: str) -> None:
        """Remove the file and whatever an interrupted write of it left; nothing there is fine."""
        with opened_private(self._place) as directory:
            _remove(_checked(name), directory)

    def names(self) -> Iterator[tuple[str, int]]:
        """What lies there, with sizes; also what an interrupted write left."""
        try:
            with opened_private(self._place) as directory, os.scandir(directory) as entries:
                for entry in entries:
                    name = entry.name.removesuffix(UNFINISHED)
                    status = status_of(entry.name, directory)
                    if status and S_ISREG(status.st_mode) and _NAME.fullmatch(name):
                        yield name, status.st_size
        except VaultMissing:
            return

    def export(self, name: str, expected: Written, target: Path) -> None:
        """Copy the file's JSON lines, decompressed, to a new file for people."""
        with (
            opened_private(self._place) as ours,
            self._file(name, ours) as file,
            explained(target),
            opened(target.parent) as directory,
        ):
            if status_of(target.name, directory):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            part = target.name + UNFINISHED
            _unlink(part, directory)
            descriptor = make_file(part, directory)
            try:
                with open(descriptor, "wb") as copy:
                    for block in decompressed(_chunks(file), _format(name), expected.raw_bytes):
                        copy.write(block)
                    copy.flush()
                    os.fsync(descriptor)
                os.rename(part, target.name, src_dir_fd=directory, dst_dir_fd=directory)
            except BaseException:
                _unlink(part, directory)
                raise

    def _sessions(self, name: str, expected: Written) -> Iterator[SessionContent]:
        with opened_private(self._place) as directory, self._file(name, directory) as file:
            lines = _lines(file, name, expected)
            yield from Reader(lines).sessions()
            _compare(lines.tally, expected)

    @contextmanager
    def _file(self, name: str, directory: int) -> Iterator[int]:
        """A file to be read; what is wrong with it is told with its name."""
        path = self._place / _checked(name)
        try:
            file, _ = open_plain(name, directory)
        except Unfit as problem:
            kind = VaultDamaged if status_of(name, directory) else VaultMissing
            raise kind(f"the vault file {path} {problem}") from None
        try:
            with explained(path):
                yield file
        except VaultDamaged as problem:
            raise VaultDamaged(f"the vault file {path} is damaged: {problem}") from None
        finally:
            os.close(file)


class _Output:
    """A file that is being written, and what it will be known by."""

    def __init__(self, descriptor: int, format: Format) -> None:
        self._file = open(descriptor, "wb", buffering=0)  # noqa: SIM115  # closed on leaving
        self._stream = compressor(format)
        self._digest = sha256()
        self._size = self._weight = 0
        self._waiting: list[bytes] = []
        self.raw: bytes | None = None
        """All that went in, unless that was much."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, *_: object) -> None:
        with self._file as file:
            if kind is None:
                raw = b"".join(self._waiting)
                self.raw = None if self._size else raw
                self._store(self._stream.last(raw))
                os.fsync(file.fileno())
                _forget(file.fileno())

    def put(self, raw: bytes) -> None:
        self._waiting.append(raw)
        self._weight += len(raw)
        if self._weight > MUCH:
            self._store(self._stream.more(b"".join(self._waiting)))
            self._waiting.clear()
            self._weight = 0

    def written(self, tally: Tally) -> Written:
        return Written(
            bytes=self._size,
            raw_bytes=tally.bytes,
            sha256=self._digest.hexdigest(),
            sessions=tally.sessions,
            messages=tally.messages,
            files=tally.files,
        )

    def _store(self, data: bytes) -> None:
        self._digest.update(data)
        self._size += len(data)
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) or 0 :]


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise VaultError(f"{name!r} is not the name of a vault file")
    return name


def _format(name: str) -> Format:
    return Format(name.rpartition(".")[2])


def _chunks(file: int) -> Iterator[bytes]:
    at = 0
    while chunk := os.pread(file, CHUNK, at):
        at += len(chunk)
        yield chunk


def _verify(file: int, name: str, expected: Written, raw: bytes | None = None) -> None:
    """Read all of a file, and compare it with what went into it or with its own seals."""
    _compare_digest(file, expected)
    if raw is None:
        lines = _lines(file, name, expected)
        for _ in lines:
            pass
        _compare(lines.tally, expected)
        return
    at = 0
    for block in decompressed(_chunks(file), _format(name), expected.raw_bytes):
        if raw[at : at + len(block)] != block:
            raise VaultDamaged("it does not hold what was written")
        at += len(block)
    if at != len(raw):
        raise VaultDamaged("it does not hold all that was written")


def _lines(file: int, name: str, expected: Written) -> CheckedLines:
    return CheckedLines(decompressed(_chunks(file), _format(name), expected.raw_bytes))


def _compare_digest(file: int, expected: Written) -> None:
    size, digest = os.fstat(file).st_size, sha256()
    if size != expected.bytes:
        raise VaultDamaged(f"it has {size} bytes, not the {expected.bytes} written")
    for chunk in _chunks(file):
        digest.update(chunk)
    if digest.hexdigest() != expected.sha256:
        raise VaultDamaged("its digest is not that of what was written")


def _compare(tally: Tally | None, expected: Written) -> None:
    found = tally and (tally.sessions, tally.messages, tally.files, tally.bytes)
    wanted = (expected.sessions, expected.messages, expected.files, expected.raw_bytes)
    if found != wanted:
        raise VaultDamaged("there is not in it what was written")


def _remove(name: str, directory: int) -> None:
    exported = export_name(name)
    for each in (name, name + UNFINISHED, exported, exported + UNFINISHED):
        _unlink(each, directory)
    os.fsync(directory)


def _unlink(name: str, directory: int) -> None:
    """Where nothing can be written, what is not there is gone all the same."""
    with suppress(FileNotFoundError):
        if status_of(name, directory):
            os.unlink(name, dir_fd=directory)


def _forget_cache() -> Callable[[int], None]:
    """So that reading back asks the disk and not the memory, where that can be had."""
    advise = getattr(os, "posix_fadvise", None)
    if advise is None:
        return lambda _: None
    return lambda file: advise(file, 0, 0, os.POSIX_FADV_DONTNEED)


_forget = _forget_cache()
