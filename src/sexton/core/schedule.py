"""When do the policies next have something to say about a session?"""

from __future__ import annotations

from datetime import datetime

from sexton.core.record import record


@record(kw_only=False)
class Schedule:
    """At a time, or when a count is reached, whichever comes first.

    `serial` is the version of the policies it was computed under.
    """

    serial: int
    at: datetime | None = None
    at_messages: int | None = None
    at_bytes: int | None = None
    at_turns: int | None = None
