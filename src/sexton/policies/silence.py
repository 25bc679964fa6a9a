"""Who has been silent, and for how long of the observer's own running time?

Timestamps of others are never compared. An observer counts how long it has seen the same beat
while it was itself awake; a gap in its own looks voids all that it had observed.
"""

from __future__ import annotations

from collections.abc import Mapping

from sexton.model.record import made, record


@record(kw_only=False)
class Heard:
    """A worker's beat, the observer's running time when it was first seen, and whether it moves."""

    beat: int
    since: float
    has_moved: bool = False


@record(kw_only=False)
class Look:
    """When an observer looked: on a clock that stops in a suspend, and on one that goes on.

    `drift` is how far the wall clock is ahead of the latter.
    """

    running: float
    elapsed: float
    drift: float = 0.0


@record
class Watch:
    """What an observer has heard so far."""

    last: Look | None = None
    heard: Mapping[str, Heard] = made(dict)

    def silence(self, worker: str, beat: int) -> float:
        """For how many seconds of unbroken observation the worker has stood at that beat.

        None at all if it was last heard with another one: it has beaten since the last look.
        """
        found = self.heard.get(worker)
        if found is None or self.last is None or found.beat != beat:
            return 0.0
        return self.last.running - found.since

    def has_moved(self, worker: str, beat: int) -> bool:
        """Whether the beat of the worker was seen to change, or is another now."""
        found = self.heard.get(worker)
        return found is not None and (found.has_moved or found.beat != beat)


def listen(watch: Watch, beats: Mapping[str, int], look: Look, longest_gap: float) -> Watch:
    """The watch after one more look; whoever is not in `beats` any more is forgotten."""
    before = {} if _is_broken(watch.last, look, longest_gap) else watch.heard
    return Watch(
        last=look,
        heard={
            worker: known
            if (known := before.get(worker)) is not None and known.beat == beat
            else Heard(beat, look.running, known is not None)
            for worker, beat in beats.items()
        },
    )


def _is_broken(last: Look | None, look: Look, longest_gap: float) -> bool:
    if last is None:
        return True
    gaps = (look.running - last.running, look.elapsed - last.elapsed)
    return any(gap < 0 or gap > longest_gap for gap in gaps)
