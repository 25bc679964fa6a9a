"""What belongs to a conversation that was compressed, from its first session on?"""

from __future__ import annotations

from collections.abc import Iterator

from sexton.cli.sessions.exporting import messages
from sexton.core.message import Message
from sexton.core.session import Session
from sexton.wiring import Sexton


def history(opened: Sexton, newest: Session) -> Iterator[Message]:
    """Every message as it was first said, without summaries and copies."""
    for part in opened.ledger.compression.chain(newest.ref):
        yield from messages(opened.ledger.messages, part.ref, part.after)
