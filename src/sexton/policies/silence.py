"""Who has been silent, and for how long of the observer's own running time?

Timestamps of others are never compared. An observer counts how long it has seen the same beat
while it was itself awake; a gap in its own looks voids all that it had observed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Heard:
    """A worker's beat, and the observer's running time when it was first seen."""

    beat: int
    since: float


@dataclass(frozen=True, slots=True)
class Look:
    """When an observer looked: on a clock that stops in a suspend, and on one that goes on."""

    running: float
    elapsed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What an observer has heard so far."""

    last: Look | None = None
    heard: Mapping[str, Heard] = field(default_factory=dict)

    def silence(self, worker: str) -> float:
        """For how many seconds of unbroken observation the worker has not moved its beat."""
        found = self.heard.get(worker)
        return 0.0 if found is None or self.last is None else self.last.running - found.since


def listen(watch: Watch, beats: Mapping[str, int], look: Look, longest_gap: float) -> Watch:
    """The watch after one more look; whoever is not in `beats` any more is forgotten."""
    before = {} if _is_broken(watch.last, look, longest_gap) else watch.heard
    return Watch(
        last=look,
        heard={
            worker: known
            if (known := before.get(worker)) is not None and known.beat == beat
            else Heard(beat, look.running)
            for worker, beat in beats.items()
        },
    )


def _is_broken(last: Look | None, look: Look, longest_gap: float) -> bool:
    if last is None:
        return True
    gaps = (look.running - last.running, look.elapsed - last.elapsed)
    return any(gap < 0 or gap > longest_gap for gap in gaps)
