"""How is told what would have been done to a home that is only observed?"""

from __future__ import annotations

from sexton.core.wording import counted, number, share, stamp
from sexton.liveness.shadow import Shadow


def shadow_words(shadow: Shadow) -> str:
    """For a person, as a line of a report."""
    count = shadow.count
    if not count.recorded:
        return "only observed: no keeper has found anything to reap in it yet"
    return (
        f"only observed: would have reaped {counted(count.recorded, 'session')} "
        f"since {stamp(shadow.since)}, {number(count.contradicted)} "
        f"({share(count.contradicted, count.recorded)}) contradicted by later activity"
    )
