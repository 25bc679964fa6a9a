"""What is a model shown of a conversation, in parts that fit its context?"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from sexton.core.message import Message, one_line

_EMBEDDED = re.compile(r"(data:[\w/+.-]+;base64,)[A-Za-z0-9+/=]+")
"""Pictures and the like inside of text: long, dear, and nothing to read."""


def parts(messages: Iterable[Message], most: int) -> Iterator[str]:
    """The transcript in parts of at most that many bytes; a message that fits in none is split."""
    gathered: list[bytes] = []
    size = 0
    for message in messages:
        for piece in _pieces(message, most):
            if gathered and size + len(piece) > most:
                yield b"".join(gathered).decode()
                gathered, size = [], 0
            gathered.append(piece)
            size += len(piece)
    if gathered:
        yield b"".join(gathered).decode()


def halves(part: str) -> tuple[str, str]:
    """A part in two, between two lines if there are any near the middle."""
    middle = len(part) // 2
    line = part.find("\n", middle, middle + len(part) // 4) + 1
    return part[: line or middle], part[line or middle :]


def digest(part: str) -> str:
    """What a part is known by."""
    return hashlib.sha256(part.encode()).hexdigest()


def delimited(part: str) -> str:
    """A part between two lines that nothing in it can imitate, as they hold its digest."""
    seal = digest(part)[:16]
    return f"BEGIN TRANSCRIPT {seal}\n{part}END TRANSCRIPT {seal}"


def _pieces(message: Message, most: int) -> Iterator[bytes]:
    text = _readable(message.content)
    if not text:
        return
    role = one_line(message.role)[:40]
    label, rest = f"[{role}]\n".encode(), text.encode("utf-8", "replace")
    while rest:
        room = _whole(rest, max(4, most - len(label) - 2))
        yield label + rest[:room] + b"\n\n"
        rest = rest[room:]
        label = f"[{role}, continued]\n".encode()


def _whole(encoded: bytes, most: int) -> int:
    """How many bytes to take so that no character is torn."""
    if len(encoded) <= most:
        return len(encoded)
    while encoded[most] & 0xC0 == 0x80:
        most -= 1
    return most


def _readable(content: Any) -> str:
    if content is None:
        return ""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return _EMBEDDED.sub(r"\1", text).strip()
