"""What does a line of a vault file say?

Bytes that are UTF-8 are written as text and all others in base64, so that whoever reads a file
without us can read what was said, and what comes back is the same to the byte.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from json.encoder import encode_basestring
from typing import Any

from sexton.errors import VaultDamaged, VaultError
from sexton.retention.files.descriptors import unfit
from sexton.retention.model import (
    FileContent,
    Header,
    SessionContent,
    StoredMessage,
    VaultKind,
)

VERSION = 1
PIECE = 1 << 20
"""What is longer goes on in lines of its own."""
LONGEST = 32 << 20
"""No line is longer."""

Line = dict[str, Any]

_CONTROLS = bytes(range(32))
_BYTES = (bytes, bytearray, memoryview)

MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)


def made(line: Mapping[str, Any]) -> bytes:
    """The line of an object."""
    try:
        encoded = _ENCODER.encode(line).encode() + b"\n"
    except ValueError as problem:
        raise VaultError(f"a row can not be stored exactly: {problem}") from None
    if len(encoded) > LONGEST:
        raise VaultError(f"a row of {len(encoded)} bytes is too long to be stored")
    return encoded


def row_line(kind: str, row: Mapping[str, Any], **more: Any) -> bytes:
    """The line of a row; columns of bytes are given apart from the others."""
    try:
        return made({"type": kind, **more, "row": row})
    except TypeError:
        raw = {name: value for name, value in row.items() if isinstance(value, _BYTES)}
        rest = {name: value for name, value in row.items() if name not in raw}
        encoded = {name: b64encode(value).decode() for name, value in raw.items()}
    try:
        return made({"type": kind, **more, "row": rest, "row_base64": encoded})
    except TypeError as problem:
        raise VaultError(f"a row can not be stored exactly: {problem}") from None


def session_line(content: SessionContent) -> bytes:
    """The line a session begins with."""
    if content.row_json is None:
        return row_line("session", content.row, owner=content.owner)
    owner = json.dumps(content.owner).encode()
    return b'{"type":"session","owner":%b,"row":%b}\n' % (owner, content.row_json.encode())


def row_of(line: Line) -> dict[str, Any]:
    """A row by column."""
    row: dict[str, Any] = line["row"]
    encoded: dict[str, str] = line.get("row_base64", {})
    return row | {name: b64decode(value, validate=True) for name, value in encoded.items()}


def parsed(line: bytes) -> Line:
    """The object of a line."""
    try:
        found = _DECODER.decode(line.decode())
    except (ValueError, RecursionError):
        raise VaultDamaged("a line of it is not JSON") from None
    if not isinstance(found, dict):
        raise VaultDamaged("a line of it is no object")
    return found


def header_line(header: Header) -> bytes:
    """The first line."""
    return made(
        {
            "sexton_vault": VERSION,
            "kind": header.kind,
            "home": header.home,
            "ledger": header.ledger,
            "schema_version": header.schema_version,
            "made_at": header.made_at.astimezone(UTC).isoformat(),
            "receipt": header.receipt,
        }
    )


def read_header(line: bytes) -> Header:
    """What the first line says; VaultDamaged if it is none of ours."""
    found = parsed(line)
    version = found.get("sexton_vault")
    if version != VERSION:
        raise VaultDamaged(f"its format is {version!r}; this Sexton knows {VERSION}")
    return Header(
        kind=VaultKind(found["kind"]),
        home=found["home"],
        ledger=found["ledger"],
        schema_version=int(found["schema_version"]),
        made_at=datetime.fromisoformat(found["made_at"]),
        receipt=found["receipt"],
    )


def message_lines(message: StoredMessage) -> list[bytes]:
    """One line, followed by more if it is long."""
    seq, at, role, is_text, content, extra = message
    following: list[bytes] = []
    line = b'{"type":"message","seq":%d,"at":%d,"role":%b,"is_text":%d%b%b}\n' % (
        seq,
        at,
        encode_basestring(role).encode(),
        is_text,
        _spelled(b"content", content, following),
        _spelled(b"extra", extra, following),
    )
    return [line, *following]


def message_of(line: Line, following: Callable[[], Line]) -> StoredMessage:
    """The message of a line, and of the lines that follow it if it is long."""
    return StoredMessage(
        seq=int(line["seq"]),
        at=int(line["at"]),
        role=str(line["role"]),
        is_text=int(line["is_text"]),
        content=_read("content", line, following),
        extra=_read("extra", line, following),
    )


def file_line(file: FileContent) -> bytes:
    """What is known of a file; its data follows."""
    facts = {"mode": file.mode, "mtime_ns": file.mtime_ns, "size": file.size, "inode": file.inode}
    return made({"type": "file", **_spelled_path(file.path), **facts})


def directory_line(path: Sequence[str]) -> bytes:
    """An empty directory."""
    return made({"type": "directory", **_spelled_path(path)})


def directory_of(line: Line) -> tuple[str, ...]:
    """Where an empty directory belongs; the session's own has no names."""
    return path_of(line) if line.get("path") != [] else ()


def _spelled_path(path: Sequence[str]) -> Line:
    raw = [name.encode("utf-8", "surrogateescape") for name in path]
    try:
        return {"path": [name.decode() for name in raw]}
    except UnicodeDecodeError:
        return {"path_base64": [b64encode(name).decode() for name in raw]}


def path_of(line: Line) -> tuple[str, ...]:
    """Where a file belongs; VaultDamaged if that is not below its session's directory."""
    if "path" in line:
        names = tuple(line["path"])
    else:
        raw = [b64decode(name, validate=True) for name in line["path_base64"]]
        names = tuple(name.decode("utf-8", "surrogateescape") for name in raw)
    problem = unfit(names)
    if problem:
        raise VaultDamaged(f"a file in it {problem}")
    return names


def data_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of contents; text is never cut within a character."""
    held = b""
    for chunk in chunks:
        data = held + chunk
        end = _whole(data)
        held = data[end:]
        if end:
            yield _data_line(data[:end])
    if held:
        yield _data_line(held)


def data_of(line: Line) -> bytes:
    """The contents in a line."""
    if "text" in line:
        text: str = line["text"]
        return text.encode()
    return b64decode(line["base64"], validate=True)


def _data_line(data: bytes) -> bytes:
    text = _quoted(data)
    if text is None:
        return b'{"type":"data","base64":"%b"}\n' % b64encode(data)
    return b'{"type":"data","text":%b}\n' % text


def _whole(data: bytes) -> int:
    """Where the last character of UTF-8 text ends that is not cut off."""
    for back in range(1, min(4, len(data) + 1)):
        byte = data[-back]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) - back if needed > back else len(data)
        if byte < 0x80:
            break
    return len(data)


def _spelled(name: bytes, value: bytes | None, following: list[bytes]) -> bytes:
    """A field of a message; what is long goes into the lines that follow it."""
    if value is None:
        return b""
    if len(value) > PIECE:
        pieces = (value[at : at + PIECE] for at in range(0, len(value), PIECE))
        lines = list(data_lines(pieces))
        following += lines
        return b',"%b_lines":%d' % (name, len(lines))
    text = _quoted(value)
    if text is None:
        return b',"%b_base64":"%b"' % (name, b64encode(value))
    return b',"%b":%b' % (name, text)


def _quoted(data: bytes) -> bytes | None:
    """Text as a JSON string, None if it is no text; most of the work of a write is done here."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    escaped = data.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    if len(escaped.translate(None, _CONTROLS)) == len(escaped):
        return b'"%b"' % escaped
    return encode_basestring(text).encode()


def _read(name: str, line: Line, following: Callable[[], Line]) -> bytes | None:
    if name in line:
        text: str = line[name]
        return text.encode()
    if f"{name}_lines" in line:
        return b"".join(data_of(following()) for _ in range(line[f"{name}_lines"]))
    if f"{name}_base64" in line:
        return b64decode(line[f"{name}_base64"], validate=True)
    return None


_DECODER = json.JSONDecoder()
_ENCODER = json.JSONEncoder(
    ensure_ascii=False,
    allow_nan=False,
    check_circular=False,
    separators=(",", ":"),
)
