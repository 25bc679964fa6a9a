"""How are messages written out, exactly or for reading?

Every writer yields 1 for every message it has written, and holds one page in memory.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, Any, TypeAlias

from sexton.core.message import Message, one_line
from sexton.core.session import Session
from sexton.core.wording import iso, stamp
from sexton.operations import values as shapes
from sexton.sessions.message_store import LedgerMessages

PAGE_BYTES = 4_000_000

Writer: TypeAlias = Callable[[IO[str], Session, Iterable[Message]], Iterator[int]]

_SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
"""Two surrogates side by side: JSON escapes would join them into one character."""


_HARMLESS = "\n\u200c\u200d"  # line ends, and what joins letters and emoji


def messages(store: LedgerMessages, ref: int, after: int = 0) -> Iterator[Message]:
    """The messages in order, read page by page."""
    while page := store.page(ref, after, PAGE_BYTES):
        yield from page
        after = page[-1].seq


def write_jsonl(file: IO[str], session: Session, said: Iterable[Message]) -> Iterator[int]:
    """One message per line."""
    del session
    for message in said:
        file.write(json.dumps(record(message)) + "\n")
        yield 1


def write_json(file: IO[str], session: Session, said: Iterable[Message]) -> Iterator[int]:
    """One document: the session and its messages."""
    file.write('{"session": ' + json.dumps(shapes.session(session)) + ',\n"messages": [')
    separator = "\n"
    for message in said:
        file.write(separator + json.dumps(record(message)))
        separator = ",\n"
        yield 1
    file.write("\n]}\n")


def write_markdown(file: IO[str], session: Session, said: Iterable[Message]) -> Iterator[int]:
    """For reading: every message quoted under its role and time, so that none can pose as two."""
    file.write(f"# {one_line(session.title or session.preview or session.name)}\n")
    for message in said:
        file.write(f"\n## {one_line(message.role)}, {stamp(message.at)}\n\n")
        for line in _readable(message).split("\n"):
            file.write(f"> {line}".rstrip() + "\n")
        yield 1


WRITERS: Mapping[str, Writer] = {
    "jsonl": write_jsonl,
    "json": write_json,
    "markdown": write_markdown,
}


def record(message: Message) -> dict[str, Any]:
    """A message for programs; nothing of it is lost on the way through JSON."""
    extra = dict(message.extra)
    found = {
        "seq": message.seq,
        "at": iso(message.at),
        "role": message.role,
        "content": message.content,
        "extra": extra,
    }
    if _has_split_pair(message.content) or _has_split_pair(extra):
        exact = {"content": message.content, "extra": extra}
        stored = json.dumps(exact, ensure_ascii=False).encode("utf-8", "surrogatepass")
        found["exact_base64"] = base64.b64encode(stored).decode()
    return found


def _has_split_pair(value: Any) -> bool:
    """Whether JSON would join what is stored apart; content may be nested as deep as JSON goes."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text if _SPLIT_PAIR.search(text):
                return True
            case list() as values:
                waiting += values
            case dict() as fields:
                waiting += [*fields, *fields.values()]
    return False


def _readable(message: Message) -> str:
    content = message.content
    if content is None:
        text = ""
    elif isinstance(content, str):
        text = content
    else:
        text = json.dumps(content, indent=2, ensure_ascii=False)
    if message.extra:
        text += "\n\n" + json.dumps(dict(message.extra), indent=2, ensure_ascii=False)
    plain = text.replace("\r\n", "\n").replace("\t", "    ").strip("\n")
    return "".join(_visible(character) for character in plain)


def _visible(character: str) -> str:
    if character.isprintable() or character in _HARMLESS:
        return character
    return " " if character.isspace() else "\ufffd"
