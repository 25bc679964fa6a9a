"""Which sessions of some homes are open?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sexton.core.session import Session
from sexton.store.ledger import Ledger

PAGE = 500


def open_sessions(ledger: Ledger, homes: Iterable[str]) -> Iterator[Session]:
    """Every open session of some homes, page by page; this costs what is open."""
    for home in homes:
        after: Session | None = None
        while page := ledger.index.open(home, after, PAGE):
            yield from page
            after = page[-1]
