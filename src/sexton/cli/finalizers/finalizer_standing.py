"""How much end-of-session work is not done, and would anybody do it?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sexton.core.record import record
from sexton.finalizers.model import FinalizationState
from sexton.wiring import Sexton


@record
class Work:
    """What one finalizer has left; `is_known` if these settings say how it is done."""

    finalizer: str
    pending: int
    running: int
    dead: int
    is_known: bool


def work_left(opened: Sexton) -> tuple[Work, ...]:
    """Every finalizer with work that is not done."""
    found = opened.ledger.finalizing.tally()
    known = {each.name for each in opened.settings.finalizers}
    return tuple(
        Work(
            finalizer=name,
            is_known=name in known,
            **{state.value: found.get((name, state), 0) for state in _LEFT},
        )
        for name in sorted({name for name, _ in found})
    )


_LEFT = (FinalizationState.PENDING, FinalizationState.RUNNING, FinalizationState.DEAD)


def work_words(work: Sequence[Work]) -> Iterator[str]:
    """The same for people."""
    for each in work:
        counts = {name: getattr(each, name) for name in _LEFT}
        told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        nobody = "" if each.is_known else "; no finalizer of these settings is called that"
        yield f"end-of-session work of {each.finalizer}: {told}{nobody}"


def work_shape(work: Sequence[Work]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            "finalizer": each.finalizer,
            "pending": each.pending,
            "running": each.running,
            "dead": each.dead,
            "configured": each.is_known,
        }
        for each in work
    ]
