"""How are sessions written into one stream of lines?

Each session is followed by a seal, the digest of its lines, and the seals by a manifest of them
all: a reader needs no more memory than the longest line to know that nothing is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256

from sexton.errors import VaultError
from sexton.retention.model import FileContent, Header, SessionContent
from sexton.retention.vault.lines import (
    data_lines,
    directory_line,
    file_line,
    header_line,
    made,
    message_lines,
    row_line,
    session_line,
)
from sexton.retention.vault.seals import Seals, Tally
from sexton.retention.vault.vault_codec import BLOCK

Put = Callable[[bytes], object]


def write_sessions(header: Header, contents: Iterable[SessionContent], put: Put) -> Tally:
    """Write everything there is to each of the sessions."""
    first = header_line(header)
    put(first)
    seals = Seals(first)
    for content in contents:
        part = _Part(put)
        part.write(content)
        put(part.sealed(seals))
    last, tally = seals.manifest()
    put(last)
    return tally


class _Part:
    """One session on its way into the stream."""

    __slots__ = ("_digest", "_put", "_waiting", "bytes", "files", "lines", "messages")

    def __init__(self, put: Put) -> None:
        self._put = put
        self._digest = sha256()
        self._waiting: list[bytes] = []
        self.bytes = self.files = self.lines = self.messages = 0

    def write(self, content: SessionContent) -> None:
        waiting = self._waiting
        waiting.append(session_line(content))
        waiting += [row_line("finalization", row) for row in content.finalizations]
        waiting += [directory_line(path) for path in content.directories]
        weight = 0
        for message in content.messages:
            lines = message_lines(message)
            waiting += lines
            self.messages += 1
            weight += sum(map(len, lines))
            if weight > BLOCK:
                self._flush()
                weight = 0
        for file in content.files:
            self._write_file(file)
            self.files += 1

    def sealed(self, seals: Seals) -> bytes:
        self._flush()
        digest = self._digest.hexdigest()
        return seals.seal(self.messages, self.files, self.lines, self.bytes, digest)

    def _write_file(self, file: FileContent) -> None:
        digest, size = sha256(), 0

        def watched() -> Iterator[bytes]:
            nonlocal size
            for chunk in file.chunks():
                digest.update(chunk)
                size += len(chunk)
                yield chunk

        self._waiting.append(file_line(file))
        for line in data_lines(watched()):
            self._waiting.append(line)
            self._flush()
        if size != file.size:
            raise VaultError(f"{'/'.join(file.path)!r} has {size} bytes instead of {file.size}")
        self._waiting.append(made({"type": "end", "sha256": digest.hexdigest()}))

    def _flush(self) -> None:
        joined = b"".join(self._waiting)
        self.lines += len(self._waiting)
        self.bytes += len(joined)
        self._digest.update(joined)
        self._put(joined)
        self._waiting.clear()
