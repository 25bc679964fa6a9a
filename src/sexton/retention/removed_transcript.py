"""What was said in a session that was removed?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from sexton.core.message import Message, revive_content
from sexton.core.session import Session
from sexton.retention.model import StoredMessage, removed
from sexton.retention.removal_context import Means

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def transcript(means: Means, session: Session, since: int, through: int) -> Iterator[Message]:
    """Its messages after a number, up to another, read from the vault; SessionRemoved if purged."""
    file = means.ledger.vault.of_session(session.ref)
    if file is None:
        raise removed(session.id, session.state, None)
    for content in means.look(file, lambda vault: vault.read(file.name, file.written))[1]:
        if content.row["ref"] == session.ref:
            yield from (_said(each) for each in content.messages if since < each.seq <= through)
            return


def _said(stored: StoredMessage) -> Message:
    return Message(
        seq=stored.seq,
        role=stored.role,
        content=revive_content(stored.content, bool(stored.is_text)),
        at=_EPOCH + timedelta(microseconds=stored.at),
        extra=revive_content(stored.extra, False) or {},
    )
