"""A message of a session, exactly as it was given."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sexton.core.record import made, record
from sexton.errors import InvalidMessage

PREVIEW_LENGTH = 120
DEEPEST = 100
USUAL_ROLES = ("user", "assistant", "tool", "system")


@record
class Message:
    """What was said; content is text, JSON, or nothing."""

    seq: int
    role: str
    content: Any
    at: datetime
    extra: Mapping[str, Any] = made(dict)


class Draft(NamedTuple):
    """A message on its way into the ledger, already in stored form.

    Text is kept as bytes so that NUL and lone surrogates survive on every engine.
    """

    role: str
    is_text: bool
    content: bytes | None
    extra: bytes | None

    @property
    def size(self) -> int:
        return len(self.content or b"") + len(self.extra or b"")

    @property
    def revived(self) -> Any:
        """The content as it was given."""
        return revive_content(self.content, self.is_text)


def draft(role: str, content: Any = None, extra: Mapping[str, Any] | None = None) -> Draft:
    """Put a message into stored form, or say why it can not be stored exactly."""
    if role not in USUAL_ROLES and not _is_role(role):
        raise InvalidMessage(f"a message needs a role that is plain text, not {_named(role)}")
    more = _json(dict(extra)) if extra else None
    if isinstance(content, str):
        return Draft(role, True, content.encode("utf-8", "surrogatepass"), more)
    return Draft(role, False, None if content is None else _json(content), more)


def revive_content(stored: bytes | None, is_text: bool) -> Any:
    """The content that `draft` was given."""
    if stored is None:
        return None
    text = stored.decode("utf-8", "surrogatepass")
    if is_text:
        return text
    import json  # noqa: PLC0415  # slow to load, and most messages are text

    return json.loads(text)


def preview(content: Any) -> str | None:
    """The first words of a message as one displayable line, or None without text."""
    if not isinstance(content, str):
        return None
    line = one_line(content[: PREVIEW_LENGTH * 4])
    return (line[: PREVIEW_LENGTH - 1] + "…" if len(line) > PREVIEW_LENGTH else line) or None


def one_line(text: str) -> str:
    """Text without line breaks, control characters and what an engine refuses."""
    if text.isprintable():
        return " ".join(text.split())
    shown = (c if c.isprintable() else "\ufffd" if "\ud800" <= c <= "\udfff" else " " for c in text)
    return " ".join("".join(shown).split())


def _check_json(value: Any) -> None:
    """Refuse what would come back changed or not at all.

    JSON turns a number into text, and two keys into one; reading fails where nesting is deep.
    """
    todo = [(value, 0)]
    while todo:
        item, depth = todo.pop()
        if depth > DEEPEST:
            raise InvalidMessage(f"a message is nested more than {DEEPEST} levels deep")
        if isinstance(item, Mapping):
            if not all(isinstance(key, str) for key in item):
                raise InvalidMessage("a message can not be stored as JSON: its keys must be text")
            todo.extend((each, depth + 1) for each in item.values())
        elif isinstance(item, list | tuple):
            todo.extend((each, depth + 1) for each in item)


def _is_role(role: object) -> bool:
    if not isinstance(role, str) or not role or "\0" in role:
        return False
    return role.isascii() or not any("\ud800" <= character <= "\udfff" for character in role)


def _named(value: object) -> str:
    """What a value is, without saying it: it may be content."""
    return type(value).__name__ if not isinstance(value, str) else f"{len(value)} characters"


def _json(value: Any) -> bytes:
    _check_json(value)
    import json  # noqa: PLC0415  # as above

    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as problem:
        raise InvalidMessage(f"a message can not be stored as JSON: {problem}") from None
    return text.encode("utf-8", "surrogatepass")
