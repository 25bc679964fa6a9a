"""What does the user read when the breaker has stopped the tools of a turn?"""

from __future__ import annotations

from sexton.spending.tool_watch import Stop

NEXT = (
    "What to do: mend what the error names (a path, a command, an access), or say how to go on "
    "another way."
)


def words(stop: Stop) -> str:
    """Why the turn is stopped, what failed, until when tools rest, and what to do."""
    failed = f" The tools that failed: {', '.join(stop.tools)}." if stop.tools else ""
    failure = f" {stop.failure}" if stop.failure else failed
    rest = (
        f"Tools rest until {stop.until:%Y-%m-%d %H:%M:%S} UTC. Until then the model can answer a "
        "message, but call no tool; after that one call is let through to try."
    )
    return f"This turn is stopped: {stop.why}.{failure}\n{rest}\n{NEXT}"
