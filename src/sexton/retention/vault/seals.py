"""What closes a session in a vault file, and the file as a whole?

A seal counts and digests the lines since the last one. Whoever has counted them can write the
seal that must follow, so that to check one is to compare two lines.
"""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

SEAL = b'{"type":"seal",'
MANIFEST = b'{"type":"manifest",'


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
