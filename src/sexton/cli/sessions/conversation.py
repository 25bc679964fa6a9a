"""What belongs to a conversation that was compressed, from its first session on?"""

from __future__ import annotations

from collections.abc import Iterator

from sexton.cli.sessions.exporting import messages
from sexton.core.message import Message
from sexton.core.session import NATIVE, Relation, Session
from sexton.wiring import Sexton


def conversation(opened: Sexton, newest: Session) -> list[Session]:
    """The sessions of the conversation up to this one, oldest first."""
    found = [newest]
    while found[-1].relation is Relation.COMPRESSION and found[-1].home == NATIVE:
        elder = opened.ledger.index.find(NATIVE, found[-1].parent or "")
        if not elder or elder[0] in found:
            break
        found += elder
    return found[::-1]


def history(opened: Sexton, newest: Session) -> Iterator[Message]:
    """Every message as it was first said, without summaries and copies."""
    for part in opened.ledger.compression.chain(newest.ref):
        yield from messages(opened.ledger.messages, part.ref, part.after)
