"""What closes a session in a vault file and the file as a whole, and does it hold?

A seal counts and digests the lines since the last one. Whoever has counted them can write the
seal that must follow, so that to check one is to compare two lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import NamedTuple

from sexton.errors import VaultDamaged
from sexton.retention.vault.lines import LONGEST

SEAL = b'{"type":"seal",'
MANIFEST = b'{"type":"manifest",'
MESSAGE = b'{"type":"message",'
FILE = b'{"type":"file",'


class Tally(NamedTuple):
    """How much there is of it."""

    sessions: int = 0
    messages: int = 0
    files: int = 0
    lines: int = 0
    bytes: int = 0


class Seals:
    """The seals of one file as they are written or met."""

    def __init__(self, first: bytes) -> None:
        self._chain = sha256(first)
        self._sessions = self._messages = self._files = 0
        self._lines = 1
        self._bytes = len(first)

    def seal(self, messages: int, files: int, lines: int, size: int, digest: str) -> bytes:
        """The seal of a session with so much in it."""
        seal = (
            b'{"type":"seal","messages":%d,"files":%d,"lines":%d,"bytes":%d,"sha256":"%b"}\n'
        ) % (messages, files, lines, size, digest.encode())
        self._chain.update(seal)
        self._sessions += 1
        self._messages += messages
        self._files += files
        self._lines += lines + 1
        self._bytes += size + len(seal)
        return seal

    def manifest(self) -> tuple[bytes, Tally]:
        """The last line, and how much there is with it."""
        tally = Tally(self._sessions, self._messages, self._files, self._lines, self._bytes)
        counts = "".join(f'"{name}":{count},' for name, count in tally._asdict().items())
        line = f'{{"type":"manifest",{counts}"sha256":"{self._chain.hexdigest()}"}}\n'.encode()
        return line, tally._replace(lines=tally.lines + 1, bytes=tally.bytes + len(line))


def split_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a stream, each with its end."""
    waiting: list[bytes] = []
    weight = 0
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if end:
            yield from b"".join((*waiting, block[:end])).splitlines(keepends=True)
            waiting.clear()
            weight = 0
        waiting.append(block[end:])
        weight += len(block) - end
        if weight > LONGEST:
            raise VaultDamaged("a line of it is too long")
    if weight:
        raise VaultDamaged("its last line is not complete")


class CheckedLines:
    """The lines of a stream as they go by; seals and the manifest only if they hold."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._lines = split_lines(blocks)
        self.tally: Tally | None = None
        """What there was, once the last line went by."""

    def __iter__(self) -> Iterator[bytes]:
        first = next(self._lines, b"")
        yield first
        seals, digest = Seals(first), sha256()
        messages = files = lines = size = 0
        for line in self._lines:
            if line.startswith(SEAL):
                if line != seals.seal(messages, files, lines, size, digest.hexdigest()):
                    raise VaultDamaged("a session in it is not as it was written")
                digest = sha256()
                messages = files = lines = size = 0
            elif line.startswith(MANIFEST):
                self._end(line, seals, lines)
            else:
                digest.update(line)
                lines += 1
                size += len(line)
                messages += line.startswith(MESSAGE)
                files += line.startswith(FILE)
            yield line
        if self.tally is None:
            raise VaultDamaged("its manifest is missing")

    def _end(self, line: bytes, seals: Seals, unsealed: int) -> None:
        manifest, self.tally = seals.manifest()
        if unsealed or line != manifest:
            raise VaultDamaged("its manifest does not match what is in it")
        if next(self._lines, None) is not None:
            raise VaultDamaged("something follows its manifest")
