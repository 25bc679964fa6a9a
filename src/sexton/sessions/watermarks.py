"""How much of each session has this worker seen stored?

A ledger that was set back by less than a heartbeat has every worker and its counter as before. So
whoever uses a session compares how many messages it has with how many were seen here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from sexton.core.session import NATIVE, Session

if TYPE_CHECKING:
    from sexton.liveness.membership import Membership
    from sexton.store.ledger import Ledger

UNKNOWN = -1
"""Less than any session has: that it is there was not compared yet either."""


class Watermark:
    """The highest number of a message that was seen stored; all handles of a session share it.

    It belongs to one `timeline` of the ledger. No heartbeat is needed to tell that `settled` of
    its messages were lost: a later one would be lost with them.
    """

    __slots__ = ("__weakref__", "count", "id", "ref", "settled", "timeline")

    def __init__(self, session: Session, timeline: int) -> None:
        self.id = session.id
        self.ref = session.ref
        self.timeline = timeline
        self.count = 0
        # What another program's home holds may become less; the ledger stores none of it.
        self.settled = UNKNOWN if session.home == NATIVE else 0


class Watermarks:
    """The watermarks of one worker; each is forgotten with the last handle of its session."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._of_ids: WeakValueDictionary[str, Watermark] = WeakValueDictionary()
        self._of_keys: WeakValueDictionary[str, Watermark] = WeakValueDictionary()

    def of(self, session: Session, timeline: int) -> Watermark:
        """The watermark of a session that was just read; it never falls."""
        mark = self._of_ids.get(session.id)
        if mark is None or mark.timeline != timeline or mark.ref != session.ref:
            mark = self._of_ids[session.id] = Watermark(session, timeline)
        if session.home == NATIVE:
            # At most as many as the highest number: what was stored is not to be fewer later.
            mark.count = max(mark.count, session.message_count)
            if session.key is not None:
                self._of_keys[session.key] = mark
        return mark

    def of_id(self, id: str) -> Watermark | None:
        """The watermark of a session that somebody here has a handle of."""
        return self._of_ids.get(id)

    def of_key(self, key: str) -> Watermark | None:
        """The watermark of the session of a key that was opened here last."""
        return self._of_keys.get(key)

    def risen(self, timeline: int) -> dict[Watermark, int]:
        """What was seen since it was settled last."""
        marks = [mark for each in self._of_ids.valuerefs() if (mark := each()) is not None]
        return {
            mark: mark.count
            for mark in marks
            if mark.timeline == timeline and mark.count > mark.settled
        }

    def are_lost(self, seen: Mapping[Watermark, int]) -> bool:
        """Whether the ledger has less than that of any of these sessions."""
        wanted = {mark.ref: count for mark, count in seen.items()}
        return bool(wanted) and bool(self._ledger.messages.lacking(wanted))


def look_back(membership: Membership, mark: Watermark | None) -> bool:
    """Compare a session with what was seen of it; if that is lost, no handle is trusted."""
    if mark is None or not membership.watermarks.are_lost({mark: mark.count}):
        return False
    membership.fall_back(mark.timeline)
    return True


def compare_and_renew(membership: Membership) -> None:
    """Compare what was seen since the last heartbeat, then store the next one.

    A set-back that loses what was compared here loses this heartbeat as well.
    """
    marks, timeline = membership.watermarks, membership.timeline
    risen = marks.risen(timeline)
    if marks.are_lost(risen):
        membership.fall_back(timeline)
    membership.renew()
    for mark, seen in risen.items():
        mark.settled = max(mark.settled, seen)
