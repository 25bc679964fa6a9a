"""What is in a vault file, one session after the other?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256

from sexton.errors import VaultDamaged
from sexton.retention.model import FileContent, SessionContent, StoredMessage
from sexton.retention.vault.lines import (
    MALFORMED,
    Line,
    data_of,
    directory_of,
    message_of,
    parsed,
    path_of,
    read_header,
    row_of,
)


class Reader:
    """Sessions as they come; what is left of one is passed over when the next is asked for."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)
        with _understood():
            self.header = read_header(next(self._lines, b""))
        self._ahead = self._parsed()

    def sessions(self) -> Iterator[SessionContent]:
        """All sessions; VaultDamaged at the end of one that is not as it was written."""
        with _understood():
            while not self._is("manifest"):
                begun = self._take("session")
                finalizations = []
                while self._is("finalization"):
                    finalizations.append(row_of(self._take("finalization")))
                directories = []
                while self._is("directory"):
                    directories.append(directory_of(self._take("directory")))
                messages = self._messages()
                files = self._files(messages)
                yield SessionContent(
                    row=row_of(begun),
                    owner=begun["owner"],
                    finalizations=finalizations,
                    directories=directories,
                    messages=messages,
                    files=files,
                )
                _pass_over(files)
                self._take("seal")

    def _messages(self) -> Iterator[StoredMessage]:
        def following() -> Line:
            return self._take("data")

        with _understood():
            while self._is("message"):
                yield message_of(self._take("message"), following)

    def _files(self, messages: Iterable[StoredMessage]) -> Iterator[FileContent]:
        _pass_over(messages)
        with _understood():
            while self._is("file"):
                line = self._take("file")
                size = int(line["size"])
                chunks = self._data(size)
                yield FileContent(
                    path=path_of(line),
                    mode=int(line["mode"]),
                    mtime_ns=int(line["mtime_ns"]),
                    size=size,
                    inode=int(line["inode"]),
                    chunks=chunks.__iter__,
                )
                _pass_over(chunks)

    def _data(self, size: int) -> Iterator[bytes]:
        digest, total = sha256(), 0
        with _understood():
            while self._is("data"):
                data = data_of(self._take("data"))
                digest.update(data)
                total += len(data)
                yield data
            if (self._take("end")["sha256"], total) != (digest.hexdigest(), size):
                raise VaultDamaged("a file in it is not as it was written")

    def _is(self, kind: str) -> bool:
        return self._ahead.get("type") == kind

    def _take(self, kind: str) -> Line:
        line = self._ahead
        if line.get("type") != kind:
            raise VaultDamaged(f"a line of it is not the {kind} it should be")
        self._ahead = self._parsed()
        return line

    def _parsed(self) -> Line:
        line = next(self._lines, None)
        if line is None:
            raise VaultDamaged("it ends too early")
        return parsed(line)


def _pass_over(rest: Iterable[object]) -> None:
    for _ in rest:
        pass


@contextmanager
def _understood() -> Iterator[None]:
    """What a reader of lines does not expect is damage; what their user raises is not met here."""
    try:
        yield
    except MALFORMED:
        raise VaultDamaged("a line of it can not be understood") from None
